// The page map: from one full state to lanes over the arena's bytes. Pure data, for the terminal, for the report page and
// for tests alike; nothing here knows how it is drawn.
//
// A lane is a band on its own page grid. Its cells are runs of pages of one class with the same holders, by ascending
// page. They cover the band's span without a gap; outside the span they cover the pages that lie in nobody's span
// (`free`, or `fenced` where somebody may still use their bytes). Pages that lie in another band's span are no cells.
import type { BandState, State } from "../../base/state.js";
import { countOf } from "../../base/extents.js";
import type { ArenaGeometry, LaneGeometry } from "./geometry.js";
import { type Held, heldOf, type Holder } from "./holders.js";
import { ascendingRuns, cutBy, joinedRuns, type Run } from "./runs.js";
import { type ArenaUse, share, sharesOf } from "./shares.js";

/**
 * - `live`: bound to a virtual id (a state slot's id in the state band);
 * - `fixed`: live, and held in place by a load until its copies are submitted;
 * - `hole`: freed inside the span, ready to be taken; with `waits` a fenced hole, whose bytes a copy or transfer still uses;
 * - `pending`: freed, and a hole once its forward is over;
 * - `vacated`: left by a move while somebody may still read it;
 * - `fenced`: outside every span, but somebody may still use some of its bytes;
 * - `free`: outside every span.
 * @public
 */
export type CellClass = "live" | "fixed" | "hole" | "pending" | "vacated" | "fenced" | "free";

/** Pages `first … first + count - 1` of a lane. @public */
export interface Cell {
  readonly first: number;
  readonly count: number; // pages, at least 1
  readonly class: CellClass;
  /** The id of `first`, ascending with the page: what stays the same while a page moves. Null where none is bound. */
  readonly virtual: number | null;
  /** Who holds these pages, empty where the state does not tell or nobody does. Equal holders are one list. */
  readonly holders: readonly Holder[];
  /** Forwards, copies and transfers that these pages wait for. */
  readonly waits: readonly string[];
}

/** One band. Counts are pages (slots in the state band). @public */
export interface Lane extends LaneGeometry {
  readonly span: readonly [first: number, count: number];
  readonly span_bytes: readonly [from: number, to: number]; // from = to where the span is empty
  readonly live: number; // fixed ones included
  readonly fixed: number;
  readonly holes: number;
  readonly pending: number;
  readonly vacated: number;
  readonly free_ids: number | null; // null: a window takes the owner's ids
  /** The most pages that could be live if every other band kept its live ones, packed without a gap. An upper bound:
   * alignment and what is fixed are not counted. */
  readonly capacity: number;
  readonly occupancy: number; // bytes of live pages by the arena's usable bytes, 0 to 1
  readonly fragmentation: number; // of the span, what is not live, 0 to 1; 0 where the span is empty
  readonly cells: readonly Cell[];
}

/** Bytes `[from, to)` that somebody may still use, whatever band lies there now. @public */
export interface FencedBytes {
  readonly from: number;
  readonly to: number;
  readonly signals: readonly string[];
}

/** The whole arena at one moment. Bytes. @public */
export interface PageMap {
  readonly arena_bytes: number;
  readonly sink_bytes: number;
  readonly usable_bytes: number; // the arena without the sink
  readonly live_bytes: number; // of live pages
  readonly span_bytes: number; // of all spans
  readonly occupancy: number; // live by usable, 0 to 1
  readonly fragmentation: number; // of the spans, what is not live, 0 to 1
  readonly move_epoch: number; // `move` effects so far
  readonly fences: readonly FencedBytes[];
  readonly lanes: readonly Lane[]; // low to high
}

const NOBODY: readonly Holder[] = [];
const NOTHING: readonly string[] = [];

/**
 * The page map of a state. A band that the state does not name is an empty lane.
 * @param geometry - the arena as it was at that operation
 * @public
 */
export function pageMap(state: State, geometry: ArenaGeometry): PageMap {
  const { arena_bytes, sink_bytes, lanes } = geometry;
  const { bands, spans, ...use } = bandsInUse(state, geometry);
  const { liveBytes: totalLive, spanBytes: spanTotal, usableBytes: usable } = use;
  const fences = state.chain.fences.map(({ bytes: [from, to], signals }) => ({
    from,
    to,
    signals,
  }));
  const { occupancy, fragmentation } = sharesOf(use);
  return {
    arena_bytes,
    sink_bytes,
    usable_bytes: usable,
    live_bytes: totalLive,
    span_bytes: spanTotal,
    occupancy,
    fragmentation,
    move_epoch: state.chain.move_epoch,
    fences,
    lanes: lanes.map((lane, index) => {
      const band = bands[index]!; // one a lane
      const liveBytes = band.live * lane.page_bytes;
      const others = usable - (totalLive - liveBytes);
      const room = Math.floor(others / Math.max(1, lane.page_bytes));
      const grid = Math.max(0, lane.pages - lane.first_page);
      return {
        ...lane,
        span: band.span,
        span_bytes: spans[index]!,
        live: band.live,
        fixed: countOf(band.fixed),
        holes: countOf(band.holes),
        pending: sum(band.pending.map(({ pages }) => countOf(pages))),
        vacated: sum(band.vacated.map(({ pages }) => countOf(pages))),
        free_ids: lane.kind === "window" ? null : countOf(band.free_ids),
        capacity: Math.max(band.live, Math.min(grid, room)),
        occupancy: share(liveBytes, usable),
        fragmentation: share(band.span[1] - band.live, band.span[1]),
        cells: cellsOf(state, lane, index, { band, spans, fences }),
      };
    }),
  };
}

/** Bytes in use and in spans as a state tells them. @internal */
export function useOfState(state: State, geometry: ArenaGeometry): ArenaUse {
  const { liveBytes, spanBytes, usableBytes } = bandsInUse(state, geometry);
  return { liveBytes, spanBytes, usableBytes };
}

interface BandsInUse extends ArenaUse {
  readonly bands: readonly BandState[]; // one a lane
  readonly spans: readonly (readonly [from: number, to: number])[];
}

function bandsInUse(state: State, { arena_bytes, sink_bytes, lanes }: ArenaGeometry): BandsInUse {
  const bands = lanes.map((lane) => bandOf(state, lane.band));
  const spans = lanes.map((lane, index) => spanBytes(lane, bands[index]!)); // one a lane
  return {
    bands,
    spans,
    liveBytes: sum(lanes.map(({ page_bytes }, index) => bands[index]!.live * page_bytes)),
    spanBytes: sum(spans.map(([from, to]) => to - from)),
    usableBytes: Math.max(0, arena_bytes - sink_bytes),
  };
}

/** The cell of a page, null where the page is in no cell. @public */
export function cellAt(lane: Lane, page: number): Cell | null {
  let low = 0;
  let high = lane.cells.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const cell = lane.cells[middle]!; // the index is in range
    if (cell.first + cell.count <= page) low = middle + 1;
    else high = middle;
  }
  const cell = lane.cells[low];
  return cell !== undefined && cell.first <= page ? cell : null;
}

/** The bytes `[from, to)` of a run of pages. @public */
export function bytesOf(
  lane: LaneGeometry,
  { first, count }: Run,
): readonly [from: number, to: number] {
  return [first * lane.page_bytes, (first + count) * lane.page_bytes];
}

const EMPTY_BAND: BandState = {
  span: [0, 0],
  live: 0,
  holes: [],
  pending: [],
  vacated: [],
  fixed: [],
  bindings: [],
  free_ids: [],
};

function bandOf(state: State, name: string): BandState {
  return (state[name] as BandState | undefined) ?? EMPTY_BAND; // a band's name holds its state
}

function spanBytes(lane: LaneGeometry, { span }: BandState): readonly [number, number] {
  const [first, count] = span;
  return bytesOf(lane, { first, count });
}

interface Surroundings {
  readonly band: BandState;
  readonly spans: readonly (readonly [from: number, to: number])[];
  readonly fences: readonly FencedBytes[];
}

function cellsOf(
  state: State,
  lane: LaneGeometry,
  index: number,
  { band, spans, fences }: Surroundings,
): Cell[] {
  const held = heldOf(state, lane, index);
  const cells = [
    ...liveCells(band, held),
    ...idleCells(state, lane, band),
    ...outsideCells(lane, spans, fences),
  ].sort((left, right) => left.first - right.first);
  return withoutOverlap(cells);
}

function liveCells(band: BandState, held: Held): Cell[] {
  const fixed = joinedRuns(ascendingRuns(band.fixed));
  const cells: Cell[] = [];
  const bound: Run[] = [];
  for (const [virtual, physical, count] of band.bindings) {
    bound.push({ first: physical, count });
    for (const part of cutBy({ first: virtual, count }, held.ids)) {
      const first = physical + part.first - virtual;
      for (const piece of cutBy({ first, count: part.count }, fixed)) {
        cells.push({
          first: piece.first,
          count: piece.count,
          class: piece.by === null ? "live" : "fixed",
          virtual: part.first + piece.first - first,
          holders: part.by?.holders ?? NOBODY,
          waits: NOTHING,
        });
      }
    }
  }
  // A page that a load took and did not bind yet is live without an id.
  const taken = joinedRuns(bound);
  for (const run of fixed) {
    for (const { first, count, by } of cutBy(run, taken)) {
      if (by !== null) continue;
      for (const part of cutBy({ first, count }, held.pages)) {
        const holders = part.by?.holders ?? NOBODY;
        const { first: from, count: pages } = part;
        const plain = { class: "fixed", virtual: null, holders, waits: NOTHING } as const;
        cells.push({ first: from, count: pages, ...plain });
      }
    }
  }
  return cells;
}

function idleCells(state: State, lane: LaneGeometry, band: BandState): Cell[] {
  const cells: Cell[] = [];
  const add = (run: Run, kind: CellClass, waits: readonly string[]): void => {
    const { first, count } = run;
    cells.push({ first, count, class: kind, virtual: null, holders: NOBODY, waits });
  };
  const users = placeUsers(state, lane.band);
  for (const hole of joinedRuns(ascendingRuns(band.holes)))
    for (const part of cutBy(hole, users)) add(part, "hole", part.by?.signals ?? NOTHING);
  for (const { key, pages } of band.pending)
    for (const run of joinedRuns(ascendingRuns(pages))) add(run, "pending", [key]);
  for (const { pages, readers } of band.vacated)
    for (const run of ascendingRuns(pages)) add(run, "vacated", readers);
  return cells;
}

const PLACE_USES: ReadonlySet<string> = new Set([
  "copy_read",
  "copy_write",
  "network_read",
  "network_write",
]);

/** Copies and transfers that use pages of a band where they lie, whoever holds them now. */
function placeUsers(state: State, band: string): (Run & { readonly signals: readonly string[] })[] {
  const records = state.ledger.filter(
    (record) => record.band === band && PLACE_USES.has(record.use),
  );
  const runs = records.flatMap(({ pages, signal }) =>
    ascendingRuns(pages).map(({ first, count }) => ({ first, count, signal })),
  );
  const edges = [...new Set(runs.flatMap(({ first, count }) => [first, first + count]))];
  edges.sort((left, right) => left - right);
  runs.sort((left, right) => left.first - right.first);
  return edges.slice(1).flatMap((end, index) => {
    const first = edges[index]!; // one before each
    const signals = runs
      .filter((run) => run.first <= first && run.first + run.count >= end)
      .map(({ signal }) => signal);
    return signals.length === 0 ? [] : [{ first, count: end - first, signals }];
  });
}

/** Whole pages in nobody's span. */
function outsideCells(
  lane: LaneGeometry,
  spans: readonly (readonly [number, number])[],
  fences: readonly FencedBytes[],
): Cell[] {
  const size = Math.max(1, lane.page_bytes);
  const taken = joinedRuns(spans.flatMap(([from, to]) => coveringPages(from, to, size)));
  const fenced = fences.map(({ from, to, signals }) => ({
    ...coveringPages(from, to, size)[0]!, // a fence is never empty
    signals,
  }));
  const usable = { first: lane.first_page, count: Math.max(0, lane.pages - lane.first_page) };
  const cells: Cell[] = [];
  for (const gap of cutBy(usable, taken)) {
    if (gap.by !== null || gap.count === 0) continue;
    for (const part of fencedParts(gap, fenced)) {
      cells.push({
        first: part.first,
        count: part.count,
        class: part.signals.length === 0 ? "free" : "fenced",
        virtual: null,
        holders: NOBODY,
        waits: part.signals,
      });
    }
  }
  return cells;
}

/** The pages that touch bytes `[from, to)`. */
function coveringPages(from: number, to: number, size: number): Run[] {
  if (to <= from) return [];
  const first = Math.floor(from / size);
  return [{ first, count: Math.ceil(to / size) - first }];
}

interface Fenced extends Run {
  readonly signals: readonly string[];
}

/** A gap cut at its fences; two fences may touch one page. */
function fencedParts(gap: Run, fences: readonly Fenced[]): Fenced[] {
  const end = gap.first + gap.count;
  const here = fences.filter(({ first, count }) => first < end && first + count > gap.first);
  const edges = new Set([gap.first, end]);
  for (const { first, count } of here) {
    edges.add(Math.max(gap.first, first));
    edges.add(Math.min(end, first + count));
  }
  const sorted = [...edges].sort((left, right) => left - right);
  return sorted.slice(1).map((to, index) => {
    const first = sorted[index]!; // one before each
    const users = here.filter((fence) => fence.first <= first && fence.first + fence.count >= to);
    return {
      first,
      count: to - first,
      signals: [...new Set(users.flatMap(({ signals }) => signals))],
    };
  });
}

/** A page is in one cell, also where a damaged state names it twice: then the cell that begins first keeps it. */
function withoutOverlap(cells: readonly Cell[]): Cell[] {
  const kept: Cell[] = [];
  let end = -1;
  for (const cell of cells) {
    if (cell.first >= end) {
      kept.push(cell);
      end = cell.first + cell.count;
      continue;
    }
    const skipped = end - cell.first;
    if (skipped >= cell.count) continue;
    const virtual = cell.virtual === null ? null : cell.virtual + skipped;
    kept.push({ ...cell, first: end, count: cell.count - skipped, virtual });
    end = cell.first + cell.count;
  }
  return kept;
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
