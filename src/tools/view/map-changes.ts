// From page maps in a row to what changed between them: runs of pages with their new class, label and id.
import type { State } from "../../base/state.js";
import type { ArenaGeometry } from "./geometry.js";
import type { Labels } from "./labels.js";
import { type Cell, pageMap } from "./page-map.js";
import { CELL_CODES, RUN_NUMBERS, type SideChanges } from "./view-data.js";

/** Numbers of one cell in a lane's list: first page, pages, class code, label, virtual id (0: none). @internal */
export const CELL_NUMBERS = 5;
const ELSEWHERE = 0;

/** The geometries of a run, each once. @internal */
export class Geometries {
  readonly list: ArenaGeometry[] = [];
  readonly #numbers = new Map<string, number>();

  of(geometry: ArenaGeometry): number {
    const key = JSON.stringify(geometry);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.list.push(geometry);
    this.#numbers.set(key, this.list.length - 1);
    return this.list.length - 1;
  }
}

/** Follows one side's page map. @internal */
export class MapTracker {
  readonly #labels: Labels;
  readonly #geometries: Geometries;
  #geometry: ArenaGeometry | null = null;
  #isNew = false; // laid out anew since the last map
  #lanes: readonly (readonly number[])[] = [];
  #before: readonly (readonly number[])[] = [];

  constructor(labels: Labels, geometries: Geometries) {
    this.#labels = labels;
    this.#geometries = geometries;
  }

  get geometry(): ArenaGeometry | null {
    return this.#geometry;
  }
  /** The cells of each lane, low to high, CELL_NUMBERS a cell. */
  get lanes(): readonly (readonly number[])[] {
    return this.#lanes;
  }
  /** The same as the map before the last one had them. */
  get before(): readonly (readonly number[])[] {
    return this.#before;
  }

  /** The arena was laid out: at the beginning, by `boot`, by a resize. */
  lay(geometry: ArenaGeometry): void {
    this.#geometry = geometry;
    this.#isNew = true;
  }
  /** What changed since the last map; null: nothing. */
  follow(state: State): SideChanges | null {
    const geometry = this.#geometry;
    if (geometry === null) return null;
    const isNew = this.#isNew;
    if (isNew) this.#lanes = geometry.lanes.map(() => []);
    this.#isNew = false;
    const runs: number[] = [];
    const lanes = pageMap(state, geometry).lanes.map(({ cells }) => this.#flat(cells));
    for (const [lane, cells] of lanes.entries()) laneChanges(lane, this.#lanes[lane]!, cells, runs);
    this.#before = this.#lanes;
    this.#lanes = lanes;
    if (!isNew && runs.length === 0) return null;
    return { geometry: isNew ? this.#geometries.of(geometry) : null, runs };
  }

  /** Goes on from another side's map. */
  adopt(other: MapTracker): void {
    this.#geometry = other.#geometry;
    this.#isNew = other.#isNew;
    this.#lanes = other.#lanes;
    this.#before = other.#before;
  }

  /** Nothing changed since the last map. */
  rest(): void {
    this.#before = this.#lanes;
  }

  #flat(cells: readonly Cell[]): number[] {
    const flat: number[] = [];
    for (const cell of cells) {
      const code = CELL_CODES.indexOf(cell.class);
      flat.push(cell.first, cell.count, code, this.#labels.of(cell), cell.virtual ?? 0);
    }
    return flat;
  }
}

/** Two changes in a row as one. @internal */
export function joinedChanges(
  first: SideChanges | null,
  second: SideChanges | null,
): SideChanges | null {
  if (first === null || second === null) return second ?? first;
  if (second.geometry !== null) return second;
  return { geometry: first.geometry, runs: [...first.runs, ...second.runs] };
}

/**
 * Appends what differs between two lists of cells of one lane, as runs.
 * @param before - CELL_NUMBERS a cell, ascending, disjoint; pages in no cell are elsewhere
 * @internal
 */
export function laneChanges(
  lane: number,
  before: readonly number[],
  after: readonly number[],
  runs: number[],
): void {
  let left = 0;
  let right = 0;
  let page = 0;
  for (;;) {
    while (left < before.length && before[left]! + before[left + 1]! <= page) left += CELL_NUMBERS;
    while (right < after.length && after[right]! + after[right + 1]! <= page) right += CELL_NUMBERS;
    if (left >= before.length && right >= after.length) return;
    const end = Math.min(partEnd(before, left, page), partEnd(after, right, page));
    if (!isSamePart(before, left, after, right, page)) push(runs, lane, page, end, after, right);
    page = end;
  }
}

/** Where the part at `page` ends: with its cell, or where the next begins. */
function partEnd(cells: readonly number[], at: number, page: number): number {
  if (at >= cells.length) return Infinity;
  const first = cells[at]!;
  return first > page ? first : first + cells[at + 1]!;
}

function isSamePart(
  before: readonly number[],
  left: number,
  after: readonly number[],
  right: number,
  page: number,
): boolean {
  const isLeft = left < before.length && before[left]! <= page;
  const isRight = right < after.length && after[right]! <= page;
  if (!isLeft || !isRight) return isLeft === isRight;
  return (
    before[left + 2] === after[right + 2] &&
    before[left + 3] === after[right + 3] &&
    virtualAt(before, left, page) === virtualAt(after, right, page)
  );
}

function virtualAt(cells: readonly number[], at: number, page: number): number {
  const virtual = cells[at + 4]!;
  return virtual === 0 ? 0 : virtual + page - cells[at]!;
}

function push(
  runs: number[],
  lane: number,
  page: number,
  end: number,
  cells: readonly number[],
  at: number,
): void {
  const isCell = at < cells.length && cells[at]! <= page;
  const code = isCell ? cells[at + 2]! : ELSEWHERE;
  const label = isCell ? cells[at + 3]! : 0;
  const virtual = isCell ? virtualAt(cells, at, page) : 0;
  const last = runs.length - RUN_NUMBERS;
  if (last >= 0) {
    const count = runs[last + 3]!;
    const isNext = runs[last] === lane && runs[last + 2]! + count === page;
    const isSame = runs[last + 1] === code && runs[last + 4] === label;
    const next = runs[last + 5] === 0 ? 0 : runs[last + 5]! + count;
    if (isNext && isSame && next === virtual) {
      runs[last + 3] = end - runs[last + 2]!;
      return;
    }
  }
  runs.push(lane, code, page, end - page, label, virtual);
}
