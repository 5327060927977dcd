// `arena.resize` and pipeline stages.
import type { KvArgs, KvOk } from "../base/operations.js";
import { bootAnswer, bootWorld } from "./boot.js";
import { invalid, Refusal } from "./refusal.js";
import { type Band, liveCount, pendingCount, type StageShape, type World } from "./world.js";

/** @internal */
export function arenaResize(world: World, args: KvArgs["arena.resize"]): KvOk["arena.resize"] {
  const isInUse = world.bands.some(
    (band) => liveCount(band) + pendingCount(band) + band.vacated.length > 0,
  );
  if (isInUse || world.copies.length + world.transfers.length > 0 || world.stages !== null)
    invalid("resize_in_use");
  const growth = args.arena_bytes - world.arenaBytes;
  const chunks = Math.ceil(Math.max(0, growth) / (args.chunk_bytes ?? Math.max(1, growth)));
  if (args.fail_chunk !== undefined && args.fail_chunk <= chunks)
    throw new Refusal({ code: "refused_backing" });
  const booted = bootWorld(world.config, args.arena_bytes);
  world.bands = booted.bands;
  world.arenaBytes = booted.arenaBytes;
  return bootAnswer(world);
}

/** @internal */
export function stagesInstall(
  world: World,
  { stages, self }: KvArgs["stages.install"],
): Record<string, never> {
  if (world.transfers.length > 0) invalid("feature_conflict");
  const refuse = (): never => {
    throw new Refusal({ code: "refused_plan", rule: "stage_sub_pools" });
  };
  world.stages = stages.map((stage): StageShape => {
    const config = {
      ...world.config,
      arena_bytes: stage.arena_bytes,
      sub_pools: stage.sub_pools,
      page_size: stage.page_size ?? world.config.page_size,
    };
    const booted = bootWorld(config);
    const isSame =
      config.page_size === world.config.page_size &&
      booted.bands.length === world.bands.length &&
      booted.bands.every((band, place) => isAlike(band, world.bands[place]));
    return isSame ? { arenaBytes: booted.arenaBytes, bands: booted.bands } : refuse();
  });
  const own = world.stages[self];
  const isOwn =
    own?.arenaBytes === world.arenaBytes &&
    own.bands.every((band, place) => band.unitBytes === world.bands[place]?.unitBytes);
  if (!isOwn) refuse();
  return {};
}

function isAlike(band: Band, other: Band | undefined): boolean {
  return band.name === other?.name && band.role === other.role && band.window === other.window;
}
