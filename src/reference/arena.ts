// `arena.resize`, pipeline stages and the observers' estimates.
import type { KvArgs, KvOk } from "../base/operations.js";
import { bootAnswer, bootWorld } from "./boot.js";
import { isTransparent } from "./pages.js";
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
  { stages }: KvArgs["stages.install"],
): Record<string, never> {
  if (world.transfers.length > 0) invalid("feature_conflict");
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
    if (!isSame) throw new Refusal({ code: "refused_plan", rule: "stage_sub_pools" });
    return { arenaBytes: booted.arenaBytes, bands: booted.bands };
  });
  return {};
}

function isAlike(band: Band, other: Band | undefined): boolean {
  return band.name === other?.name && band.role === other.role && band.window === other.window;
}

/** @internal */
export function askEstimates(
  world: World,
  { inside }: KvArgs["ask.estimates"],
): KvOk["ask.estimates"] {
  if (inside !== undefined && world.config.invariants === 2) invalid("observe_only_read");
  return Object.fromEntries(world.bands.map((band) => [band.name, estimate(world, band)]));
}

function estimate(
  world: World,
  band: Band,
): { readonly held: number; readonly available: number; readonly usage: number } {
  const tokens = band.role === "state" ? 1 : world.config.page_size;
  const held = liveCount(band);
  const span = band.high - band.low;
  const room = band.pages - band.firstPage - span;
  const fresh = Math.max(0, Math.min(gapPages(world, band), room));
  const available = fresh + band.holes.length + pendingCount(band);
  const usage = held === 0 ? 0 : Math.floor((100 * held) / (held + available));
  return { held: held * tokens, available: available * tokens, usage };
}

// Free bytes on the side where the band grows, of a float on the better side, in pages.
function gapPages(world: World, band: Band): number {
  const at = world.bands.indexOf(band);
  const under = world.bands.slice(0, at).findLast((other) => !isTransparent(other));
  const over = world.bands.slice(at + 1).find((other) => !isTransparent(other));
  const from = under === undefined ? 0 : under.high * under.pageBytes;
  const to = over === undefined ? world.arenaBytes : over.low * over.pageBytes;
  if (isTransparent(band)) {
    const first = Math.max(Math.ceil(from / band.pageBytes), band.firstPage);
    return Math.min(Math.floor(to / band.pageBytes), band.pages) - first;
  }
  const low = band.low * band.pageBytes - from;
  const high = to - band.high * band.pageBytes;
  const bytes = band.grow === "up" ? high : band.grow === "down" ? low : Math.max(low, high);
  return Math.floor(bytes / band.pageBytes);
}
