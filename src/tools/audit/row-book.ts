// Open requests: which ids stand in their rows, which slots they have, what their forwards read.
import type { StatePurpose } from "../../base/operations.js";
import type { Forward } from "./uses.js";
import type { PathLock } from "./page-tree.js";

/** @internal */
export const PURPOSES: readonly StatePurpose[] = ["main", "track", "replace", "cow"];

/** An open request. @internal */
export interface RowBook {
  readonly req: string;
  readonly row: number;
  allocated: number; // tokens
  protected: number; // tokens that the tree owns
  checkpoint: number; // tokens
  readonly ids: number[]; // by page of the row, 0 where it has none
  readonly since: number[]; // operation that put the id there
  readonly cursors: number[]; // tokens, by band index
  readonly slots: Record<StatePurpose, number[]>;
  readonly tracked: (number | null)[]; // tokens of the state in each tracking slot
  ring: number;
  lock: PathLock | null; // of its protected length
  forward: Forward | null; // newest that was launched over it and recorded, or will be
  readPages: number; // pages of the row that it reads
}

/** @internal */
export function emptyRow(req: string, row: number, bands: number): RowBook {
  return {
    req,
    row,
    allocated: 0,
    protected: 0,
    checkpoint: 0,
    ids: [],
    since: [],
    cursors: new Array<number>(bands).fill(0),
    slots: { main: [], track: [], replace: [], cow: [] },
    tracked: [],
    ring: 0,
    lock: null,
    forward: null,
    readPages: 0,
  };
}

/** The row ends at `tokens` from now on; what was tracked beyond is forgotten. @internal */
export function shortenTo(row: RowBook, tokens: number): void {
  row.allocated = tokens;
  for (const [index, tracked] of row.tracked.entries())
    if (tracked !== null && tracked > tokens) row.tracked[index] = null;
}

/** Puts an id into a row. @internal */
export function setId(row: RowBook, page: number, id: number, n: number): void {
  while (row.ids.length < page) row.ids.push(0);
  row.ids[page] = id;
  row.since[page] = n;
}

/** The slot that stands for a purpose, 0 = none. @internal */
export function currentSlot(row: RowBook, purpose: StatePurpose): number {
  return row.slots[purpose][purpose === "track" ? row.ring : 0] ?? 0;
}

/** Takes one slot out of whichever purpose has it. @internal */
export function removeSlot(row: RowBook, slot: number): boolean {
  for (const purpose of PURPOSES) {
    const at = row.slots[purpose].indexOf(slot);
    if (at < 0) continue;
    row.slots[purpose].splice(at, 1);
    if (purpose === "track") row.tracked.splice(at, 1);
    return true;
  }
  return false;
}

/** The newest tracking slot whose length passes; below 0 where none does. @internal */
export function trackedIndex(row: RowBook, passes: (tokens: number) => boolean): number {
  const count = row.slots.track.length;
  for (let back = 1; back <= count; back++) {
    const index = (row.ring - back + count) % count;
    const tokens = row.tracked[index] ?? null;
    if (tokens !== null && passes(tokens)) return index;
  }
  return -1;
}
