// What the report page shows of one run, as data: frames (operations with what changed in the page maps), geometries and
// labels. The page's packing and its drawing know nothing of adapters; this file knows nothing of either.
import type { ArenaGeometry } from "./geometry.js";

/** A page (a slot of the state band) that the two sides do not have at the same place. @public */
export interface Placement {
  readonly band: string;
  readonly virtual: number; // its id; of a state slot the slot's
  readonly holder: string; // who holds it, as text; empty where nobody tells
  readonly before: number | null; // its page before the operation, null: it had none, or the sides did not agree
  readonly base: number | null; // its page after the operation, null: it has none on this side
  readonly candidate: number | null;
  readonly pageBytes: number;
}

/** Classes of a page in a packed map; `elsewhere`: in another band's span. Their index is their code. @public */
export const CELL_CODES = [
  "elsewhere",
  "free",
  "live",
  "fixed",
  "hole",
  "pending",
  "vacated",
  "fenced",
] as const;
/** @public */
export type CellCode = (typeof CELL_CODES)[number];

/** Numbers of one run in `SideChanges.runs`: lane, class code, first page, pages, label, virtual id of the first (0: none).
 * @public */
export const RUN_NUMBERS = 6;

/** What changed in one side's page map since the frame before. Later runs win. @public */
export interface SideChanges {
  readonly geometry: number | null; // the arena was laid out anew (index of a geometry): every page begins `elsewhere`
  readonly runs: readonly number[]; // RUN_NUMBERS a run
}

/** Who holds pages, or what they wait for. @public */
export interface CellLabel {
  readonly text: string; // `r7`, `r7 main`, `r1 + tree`, `waits f3`; empty for label 0
  readonly owner: string; // what pages of one colour share: a request, `tree`, a load; empty: nobody
}

/** One operation that the page can show. @public */
export interface ViewFrame {
  readonly n: number; // number of the operation
  readonly op: string;
  readonly args: string; // JSON
  readonly base: FrameSide;
  readonly candidate: FrameSide | null; // null with one side
  readonly pair?: FramePair; // of two recorded runs where one has operations that the other lacks
}

/** Where a frame stands in two runs of which one has operations that the other lacks. Its `n` is the base's operation, or
 * the one before which the candidate's comes. @public */
export interface FramePair {
  readonly m: number; // the candidate's operation, likewise
  readonly only: "base" | "candidate" | null; // the side that alone has this operation
}

/** @public */
export interface FrameSide {
  readonly answer: string | null; // JSON of `ok` or `err` and `fx`; null where the side gave none
  readonly changes: SideChanges | null; // null: nothing changed, or the map is not known
}

/** One side of the page. @public */
export interface ViewSide {
  readonly name: string; // what the reader sees: a file, `self`, …
  readonly maps: string; // where its page maps are from
  readonly knownTo: number | null; // last operation whose map is known, null: none is
  readonly note: string | null; // why maps end or are missing
}

/** @public */
export interface ViewData {
  readonly run: string;
  readonly pageTokens: number;
  readonly base: ViewSide;
  readonly candidate: ViewSide | null;
  readonly geometries: readonly ArenaGeometry[];
  readonly labels: readonly CellLabel[];
  readonly frames: readonly ViewFrame[]; // ascending
  readonly operations: number; // of the run (of the base's), as far as it was read
  readonly alone?: { readonly base: number; readonly candidate: number }; // operations without a partner, where frames are paired
  readonly stride: number; // between frames that are not near a focus; 1: every operation is a frame
  readonly near: number; // operations on either side of a focus that are all frames, where stride > 1
  readonly placements: readonly Placement[]; // at the divergence, at most PLACEMENTS_MAX
  readonly placementsLeft: number; // further ones
}
