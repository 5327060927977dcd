// boot, arena.resize: the geometry of the arena.
import type { Answer, BandGeometry, BootOk, KvArgs } from "../../base/operations.js";
import { invalid, type KvCore } from "../core.js";
import type { ChainConfig } from "../config.js";
import { bandPlans, sinkBytes, tooLarge } from "../memory/geometry.js";

/** @internal */
export function boot(core: KvCore): Answer<"boot"> {
  return { ok: geometryOf(core.config) };
}

/**
 * Grows or shrinks the arena while nothing is live. The backing grows in `ceil(growth / chunk_bytes)` chunks, all or
 * nothing: when the chunk numbered `fail_chunk` (from 1) fails, everything stays as it was. @internal
 */
export function arenaResize(core: KvCore, args: KvArgs["arena.resize"]): Answer<"arena.resize"> {
  const inUse = core.chain.bands.some(
    (band) => band.spanCount > 0 && band.live + band.pendingPages + band.vacated.length > 0,
  );
  // A copy or transfer goes on using bytes of the old grid, whoever holds them.
  const isMoving = !core.chain.ledger.isEmpty || core.net.open.size > 0;
  if (inUse || isMoving || core.chain.stages !== null) return { err: invalid("resize_in_use") };
  const growth = Math.max(0, args.arena_bytes - core.config.arenaBytes);
  const chunks = Math.ceil(growth / (args.chunk_bytes ?? Math.max(1, growth)));
  if (args.fail_chunk !== undefined && args.fail_chunk <= chunks)
    return { err: { code: "refused_backing" } };
  const resized = { ...core.config, arenaBytes: args.arena_bytes };
  // A backing whose books cannot be held does not grow.
  return tooLarge(resized) === null
    ? { ok: geometryOf(resized) }
    : { err: { code: "refused_backing" } };
}

function geometryOf(config: ChainConfig): BootOk {
  const bands: Record<string, BandGeometry> = {};
  for (const { name, grow, unit_bytes, page_bytes, pages, first_page } of bandPlans(config)) {
    bands[name] = { grow, unit_bytes, page_bytes, pages, first_page };
  }
  return { bands, sink_bytes: sinkBytes(config) };
}
