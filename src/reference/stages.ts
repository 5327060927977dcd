// Capacity of pipeline stages: what all stages hold alike, packed on each stage's own grids.
import type { Demand } from "../base/operations.js";
import { leastPlan, type Plan } from "./layout.js";
import { type Band, liveCount, type StageShape, type World } from "./world.js";

/** Where the bands of a stage lie with what is live and a demand, laid out anew; null: there is no such layout. @internal */
export function stagePlan(
  world: World,
  { arenaBytes, bands }: StageShape,
  demand: Demand,
): Plan | null {
  const filled = bands.map((band, place): Band => {
    const { bindings, reserved } = world.bands[place]!; // stages have the same bands
    return { ...band, bindings, reserved };
  });
  const limits = { fixed: () => [], avoidsSends: false };
  return leastPlan({ ...world, arenaBytes, bands: filled }, demand, limits, ["relayout"]);
}

/** Whether a stage has a layout for what is live and the demand. @internal */
export function stagePacks(world: World, stage: StageShape, demand: Demand): boolean {
  return stagePlan(world, stage, demand) !== null;
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
