// Capacity of pipeline stages: what all stages hold alike, packed on each stage's own grids.
import type { Demand } from "../base/operations.js";
import { type Band, liveCount, type StageShape, type World } from "./world.js";

/** Where a band lies when a stage is packed, `[low, high)` in pages of its grid. @internal */
export interface PackedSpan {
  readonly band: Band;
  readonly low: number;
  readonly high: number;
}

/** The chain of a stage with what is live and a demand: ends at their bases, floats as low as they go. @internal */
export function packedSpans(world: World, stage: StageShape, demand: Demand = {}): PackedSpan[] {
  let cursor = 0; // high byte of the last band
  return stage.bands.map((band, place) => {
    const count = liveOf(world, place) + (demand[band.name] ?? 0);
    if (band.grow === "down") return { band, low: band.pages - count, high: band.pages };
    if (band.grow === "float" && count === 0) return { band, low: band.pages, high: band.pages };
    const start = band.grow === "up" ? band.firstPage : Math.ceil(cursor / band.pageBytes);
    const low = Math.max(start, band.firstPage);
    cursor = (low + count) * band.pageBytes;
    return { band, low, high: low + count };
  });
}

/** Whether every band of a stage packs, with what is live and the demand. The greedy pack decides (see layout). @internal */
export function stagePacks(world: World, stage: StageShape, demand: Demand): boolean {
  let cursor = 0; // high byte of the bands below
  return packedSpans(world, stage, demand).every(({ band, low, high }) => {
    if (low === high && band.grow !== "up") return true;
    if (high > band.pages || low * band.pageBytes < cursor) return false;
    cursor = high * band.pageBytes;
    return true;
  });
}

/** Whether a band of a stage has too few page numbers. @internal */
export function stageIsShort(
  world: World,
  stage: StageShape,
  demand: Demand,
  place: number,
): boolean {
  const band = stage.bands[place]!; // stages have the same bands
  const need = liveOf(world, place) + (demand[band.name] ?? 0);
  return need > Math.max(0, band.pages - band.firstPage);
}

function liveOf(world: World, place: number): number {
  const band = world.bands[place];
  return band === undefined ? 0 : liveCount(band);
}

/** Free ids of a band: those of the stage that has the fewest. @internal */
export function freeIdCount(world: World, band: Band): number {
  const held = Math.max(0, band.pages - band.firstPage) - band.freeIds.length;
  const place = world.bands.indexOf(band);
  const totals = (world.stages ?? []).map((stage) => {
    const { pages, firstPage } = stage.bands[place]!; // stages have the same bands
    return Math.max(0, pages - firstPage) - held;
  });
  return Math.max(0, Math.min(band.freeIds.length, ...totals));
}
