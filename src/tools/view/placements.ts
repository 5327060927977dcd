// Which pages lie elsewhere on the other side: both maps after one operation, id by id.
import type { Placement } from "./view-data.js";
import { CELL_NUMBERS, type MapTracker } from "./map-changes.js";
import type { Labels } from "./labels.js";

/** @internal */
export const PLACEMENTS_MAX = 64;

interface Place {
  readonly page: number;
  readonly label: number;
}

/** The placements in which two sides differ after one operation, by band, in the order of the ids. @internal */
export function placementsOf(
  base: MapTracker,
  candidate: MapTracker,
  labels: Labels,
): readonly Placement[] {
  const found: Placement[] = [];
  const lanes = base.geometry?.lanes ?? [];
  for (const [lane, { band, page_bytes: pageBytes }] of lanes.entries()) {
    const left = placesOf(base.lanes[lane]);
    const right = placesOf(candidate.lanes[lane]);
    const [leftBefore, rightBefore] = [base.before[lane], candidate.before[lane]].map(placesOf);
    const ids = [...new Set([...left.keys(), ...right.keys()])].sort((one, other) => one - other);
    for (const virtual of ids) {
      const [here, there] = [left.get(virtual), right.get(virtual)];
      if (here?.page === there?.page) continue;
      const before = leftBefore?.get(virtual)?.page ?? null;
      const isAgreed = before === (rightBefore?.get(virtual)?.page ?? null);
      const holder = labels.list[(here ?? there)?.label ?? 0]?.text ?? "";
      const pages = { base: here?.page ?? null, candidate: there?.page ?? null };
      found.push({ band, virtual, holder, before: isAgreed ? before : null, ...pages, pageBytes });
    }
  }
  return found;
}

function placesOf(cells: readonly number[] = []): Map<number, Place> {
  const places = new Map<number, Place>();
  for (let at = 0; at < cells.length; at += CELL_NUMBERS) {
    const virtual = cells[at + 4]!; // whole cells
    if (virtual === 0) continue;
    for (let index = 0; index < cells[at + 1]!; index++)
      places.set(virtual + index, { page: cells[at]! + index, label: cells[at + 3]! });
  }
  return places;
}
