// Request rows: which virtual pages and state slots a request holds, by position. Rows hold virtual ids only, so a
// page can move without rewriting any row.
import { hashName, LaneSum } from "../base/digest.js";
import { IdQueue } from "../base/id-queue.js";
import type { StatePurpose } from "../base/operations.js";

/** Purposes in the order in which a finish frees them. @internal */
export const PURPOSES: readonly StatePurpose[] = ["main", "track", "replace", "cow"];

/** One open request. Its object identity is its lifetime: a later request of the same name is another object. @internal */
export interface Request {
  readonly name: string;
  readonly row: number;
  readonly pages: number[]; // virtual page by page index, 0 = unbound
  /** Number of the operation that put the tree's page there, by page index; positions that the row filled itself are
   * missing. A forward launched before it read another page at that position. */
  readonly sharedAt: Map<number, number>;
  readonly cursors: number[]; // tokens, by band index; used for window bands
  readonly slots: Record<StatePurpose, number[]>; // slot ids
  allocated: number; // tokens
  protected: number; // tokens, owned by the tree
  checkpoint: number | null; // tokens
  trackCursor: number; // index into slots.track of the ring's current slot
  readonly tracked: (number | null)[]; // tokens of the state that a launch wrote there, by index into slots.track
  reset: boolean; // the next forward resets this row's device state
  grownBy: object | null; // the batch that last named this request: tells a second entry from a first
}

const FIELD = {
  open: 1,
  name: 16,
  allocated: 17,
  protected: 18,
  reset: 19,
  checkpoint: 20,
  trackCursor: 21,
  slot: 24, // + purpose index
  tracked: 28,
  cursor: 64, // + band index
} as const;

/** The request table. Row 0 is padding; rows are handed out first in, first out. @internal */
export class RequestTable {
  readonly rows: number;
  readonly #open = new Map<string, Request>();
  readonly #freeRows: IdQueue;
  /** Rows marked for reset, in hand-out order; closed ones too. */
  readonly marks = new Set<number>();
  readonly #cells = new LaneSum();
  readonly #digesting: boolean; // layout or deep
  #version = 0;

  constructor(rows: number, digesting: boolean) {
    this.rows = rows;
    this.#digesting = digesting;
    this.#freeRows = new IdQueue(0, rows + 1);
    for (let row = 1; row <= rows; row++) this.#freeRows.push(row);
  }

  /** Rises with every change that the digest sees. */
  get version(): number {
    return this.#version;
  }
  get freeRows(): number {
    return this.#freeRows.length;
  }
  get open(): ReadonlyMap<string, Request> {
    return this.#open;
  }
  find(name: string): Request | undefined {
    return this.#open.get(name);
  }

  /** Opens a request on the oldest free row; there must be one. */
  add(name: string, bands: number): Request {
    const request: Request = {
      name,
      row: this.#freeRows.shift(),
      pages: [],
      sharedAt: new Map(),
      cursors: new Array<number>(bands).fill(0),
      slots: { main: [], track: [], replace: [], cow: [] },
      allocated: 0,
      protected: 0,
      checkpoint: null,
      trackCursor: 0,
      tracked: [],
      reset: true,
      grownBy: null,
    };
    this.#open.set(name, request);
    // A row marked by an earlier holder keeps its place: one reset serves both.
    this.marks.add(request.row);
    this.#join(request);
    return request;
  }

  /** Puts back a request of a loaded state; its row leaves the free list with `setFreeRows`. */
  restore(request: Request): void {
    this.#open.set(request.name, request);
    this.#join(request);
  }

  /** Closes a request; its row goes to the tail of the free list. */
  close(request: Request): void {
    this.#leave(request);
    this.#open.delete(request.name);
    this.#freeRows.push(request.row);
  }

  /** A row that gives up its tail forgets the states that were tracked there. */
  setAllocated(request: Request, tokens: number): void {
    this.#change(FIELD.allocated, request.row, request.allocated, tokens);
    if (tokens < request.allocated)
      for (const [index, tracked] of request.tracked.entries())
        if (tracked !== null && tracked > tokens) this.setTracked(request, index, null);
    request.allocated = tokens;
  }
  /** Sets how many tokens of the row the tree owns. */
  setProtected(request: Request, tokens: number): void {
    this.#change(FIELD.protected, request.row, request.protected, tokens);
    request.protected = tokens;
  }
  /** Sets the position of the latest checkpoint, null for none. */
  setCheckpoint(request: Request, tokens: number | null): void {
    const cell = (value: number | null): number => (value === null ? 0 : value + 1);
    this.#change(FIELD.checkpoint, request.row, cell(request.checkpoint), cell(tokens));
    request.checkpoint = tokens;
  }
  setCursor(request: Request, band: number, tokens: number): void {
    const old = request.cursors[band]!; // one cursor a band
    if (old === tokens) return;
    this.#change(FIELD.cursor + band, request.row, old, tokens);
    request.cursors[band] = tokens;
  }
  setTrackCursor(request: Request, index: number): void {
    this.#change(FIELD.trackCursor, request.row, request.trackCursor, index);
    request.trackCursor = index;
  }
  /** Notes the length of the state that a launch writes into a tracking slot; null: none, or it was given away. */
  setTracked(request: Request, index: number, tokens: number | null): void {
    const before = request.tracked[index] ?? null;
    request.tracked[index] = tokens;
    if (!this.#digesting || before === tokens) return;
    const place = request.row * 65536 + index;
    if (before !== null) this.#cells.remove(FIELD.tracked, place, before);
    if (tokens !== null) this.#cells.add(FIELD.tracked, place, tokens);
    this.#version += 1;
  }
  addSlot(request: Request, purpose: StatePurpose, slot: number): void {
    const list = request.slots[purpose];
    this.#slotCell(request.row, purpose, list.length, slot, true);
    list.push(slot);
    if (purpose === "track") this.setTracked(request, list.length - 1, null);
    this.#version += 1;
  }
  /** Puts another slot in the place of one. */
  replaceSlot(request: Request, purpose: StatePurpose, index: number, slot: number): void {
    const list = request.slots[purpose];
    this.#slotCell(request.row, purpose, index, list[index]!, false); // the caller found it there
    this.#slotCell(request.row, purpose, index, slot, true);
    list[index] = slot;
    this.#version += 1;
  }
  /** Empties a purpose's list and returns what was in it. */
  clearSlots(request: Request, purpose: StatePurpose): readonly number[] {
    const list = request.slots[purpose];
    if (list.length === 0) return list;
    for (const [index, slot] of list.entries())
      this.#slotCell(request.row, purpose, index, slot, false);
    request.slots[purpose] = [];
    if (purpose === "track") {
      for (const index of list.keys()) this.setTracked(request, index, null);
      request.tracked.length = 0;
      this.setTrackCursor(request, 0);
    }
    this.#version += 1;
    return list;
  }

  /** Takes one slot out of a purpose's list; false where it is not there. */
  removeSlot(request: Request, purpose: StatePurpose, slot: number): boolean {
    const list = this.clearSlots(request, purpose);
    for (const other of list) if (other !== slot) this.addSlot(request, purpose, other);
    return list.includes(slot);
  }
  /** Forgets the reset mark of a row that is written whole. */
  clearMark(request: Request): void {
    this.marks.delete(request.row);
    this.#change(FIELD.reset, request.row, request.reset ? 1 : 0, 0);
    request.reset = false;
  }

  /** Takes the marks: rows to reset, in hand-out order. */
  takeMarks(): readonly number[] {
    if (this.marks.size === 0) return [];
    for (const request of this.#open.values()) {
      if (!request.reset) continue;
      this.#change(FIELD.reset, request.row, 1, 0);
      request.reset = false;
    }
    const rows = [...this.marks];
    this.marks.clear();
    return rows;
  }

  freeRowList(): number[] {
    return this.#freeRows.toArray();
  }
  setFreeRows(rows: readonly number[]): void {
    this.#freeRows.replace(rows);
    this.#version += 1;
  }

  /** Adds this component's cells to `sum`. */
  digestInto(sum: LaneSum): void {
    sum.add(FIELD.open, 0, this.#open.size);
    sum.join(this.#cells);
  }

  /** The cells recomputed from content, to check the running sum against. */
  recomputed(): LaneSum {
    const sum = new LaneSum();
    if (this.#digesting) for (const request of this.#open.values()) addCells(sum, request);
    return sum;
  }
  get cells(): LaneSum {
    return this.#cells;
  }

  #change(field: number, row: number, from: number, to: number): void {
    if (this.#digesting && from !== to) {
      this.#cells.remove(field, row, from);
      this.#cells.add(field, row, to);
      this.#version += 1;
    }
  }
  #slotCell(row: number, purpose: StatePurpose, index: number, slot: number, add: boolean): void {
    if (!this.#digesting) return;
    const field = FIELD.slot + PURPOSES.indexOf(purpose);
    if (add) this.#cells.add(field, row * 65536 + index, slot);
    else this.#cells.remove(field, row * 65536 + index, slot);
  }
  #join(request: Request): void {
    if (this.#digesting) addCells(this.#cells, request);
    this.#version += 1;
  }
  #leave(request: Request): void {
    if (this.#digesting) {
      const cells = new LaneSum();
      addCells(cells, request);
      this.#cells.a = (this.#cells.a - cells.a) | 0;
      this.#cells.b = (this.#cells.b - cells.b) | 0;
    }
    this.#version += 1;
  }
}

function addCells(sum: LaneSum, request: Request): void {
  const row = request.row;
  sum.add(FIELD.name, row, hashName(request.name));
  sum.add(FIELD.allocated, row, request.allocated);
  sum.add(FIELD.protected, row, request.protected);
  sum.add(FIELD.reset, row, request.reset ? 1 : 0);
  sum.add(FIELD.checkpoint, row, request.checkpoint === null ? 0 : request.checkpoint + 1);
  sum.add(FIELD.trackCursor, row, request.trackCursor);
  for (const [place, tokens] of request.tracked.entries())
    if (tokens !== null) sum.add(FIELD.tracked, row * 65536 + place, tokens);
  for (const [band, cursor] of request.cursors.entries()) sum.add(FIELD.cursor + band, row, cursor);
  for (const [index, purpose] of PURPOSES.entries()) {
    for (const [place, slot] of request.slots[purpose].entries()) {
      sum.add(FIELD.slot + index, row * 65536 + place, slot);
    }
  }
}
