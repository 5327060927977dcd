// The request rows of the simulated device, rebuilt from operations and answers: which virtual pages and state slots
// each open request holds, by position.
import { hashName } from "../base/digest.js";
import type { StatePurpose } from "../base/operations.js";
import { fail } from "./model-fault.js";
import type { BandPages } from "./model-pages.js";
import type { ModelTap } from "./model-tap.js";
import type { ModelLock } from "./model-tree.js";

/** Purposes in the order in which a finish frees them. */
const PURPOSES: readonly StatePurpose[] = ["main", "track", "replace", "cow"];

/** One open request. @internal */
export class ModelRow {
  readonly req: string;
  readonly hash: number; // of the name
  readonly row: number;
  allocated = 0; // tokens
  protected = 0; // tokens whose pages are the tree's
  lock: ModelLock | null = null; // keeps the path of the tree's part
  pageCount = 0;
  virtual: Int32Array = new Int32Array(8); // virtual page by page index, 0 = none; `pageCount` of them are in use
  readonly slots: Record<StatePurpose, number[]> = { main: [], track: [], replace: [], cow: [] };
  trackCursor = 0; // index of the ring's current slot
  readonly tracked = new Map<number, number>(); // tokens of the state in a tracking slot
  readonly retired: number[] = []; // by band index: row pages below are behind the window's cursor
  changedFrom: number = Infinity; // first cell that changed since it was told
  readonly #tap: ModelTap | null;

  constructor(req: string, row: number, tap: ModelTap | null) {
    this.#tap = tap;
    this.req = req;
    this.hash = hashName(req);
    this.row = row;
  }

  push(virtual: number): void {
    if (this.pageCount === this.virtual.length) this.#widen(this.pageCount * 2);
    this.put(this.pageCount++, virtual);
  }

  /** Writes one cell. */
  put(index: number, virtual: number): void {
    this.virtual[index] = virtual;
    if (this.#tap === null) return;
    this.changedFrom = Math.min(this.changedFrom, index);
    this.#tap.rowChanged(this);
  }

  /** Makes an empty row as long as `pages` pages, none of them there yet. */
  resize(pages: number): void {
    if (pages > this.virtual.length) this.#widen(pages);
    this.pageCount = pages;
  }

  #widen(pages: number): void {
    const wider = new Int32Array(pages);
    wider.set(this.virtual);
    this.virtual = wider;
  }

  /** Notes that a forward writes the state after `len` tokens into the ring's current slot, which moves on. */
  track(slot: number, len: number): void {
    this.tracked.set(slot, len);
    this.trackCursor = (this.trackCursor + 1) % this.slots.track.length;
  }
  /** The newest tracked state at or before `len` tokens. */
  newestTracked(len: number): { readonly slot: number; readonly len: number } | null {
    const { track } = this.slots;
    for (let back = 1; back <= track.length; back++) {
      const slot = track[(this.trackCursor - back + track.length) % track.length]!; // in the ring
      const tracked = this.tracked.get(slot);
      if (tracked !== undefined && tracked <= len) return { slot, len: tracked };
    }
    return null;
  }
  /** Puts another slot in the place of one. */
  replaceSlot(slot: number, by: number): void {
    const at = this.slots.track.indexOf(slot);
    if (at >= 0) this.slots.track[at] = by;
    this.tracked.delete(slot);
  }
  /** Takes one slot out of whatever purpose it serves. */
  removeSlot(slot: number): void {
    for (const purpose of PURPOSES) {
      const at = this.slots[purpose].indexOf(slot);
      if (at >= 0) this.slots[purpose].splice(at, 1);
    }
    this.tracked.delete(slot);
  }

  /** All slot ids in the order in which a finish frees them. */
  allSlots(): number[] {
    return PURPOSES.flatMap((purpose) => this.slots[purpose]);
  }

  /** Shortens the row to `tokens`, which end with a page. */
  shorten(tokens: number, pages: number): void {
    this.allocated = tokens;
    this.pageCount = pages;
    for (const [slot, len] of this.tracked) if (len > tokens) this.tracked.delete(slot);
  }

  /** Takes a purpose's slots out of the row. */
  takeSlots(purpose: StatePurpose): number[] {
    if (purpose === "track") this.forgetTracked();
    return this.slots[purpose].splice(0);
  }

  forgetTracked(): void {
    this.trackCursor = 0;
    this.tracked.clear();
  }
}

/** The open requests and the rows that wait for their reset. @internal */
export class ModelRows {
  readonly size: number; // rows 1 to `size`
  readonly pageSize: number; // tokens
  readonly open: Map<string, ModelRow> = new Map();
  readonly #taken = new Set<number>();
  readonly #unreset = new Set<number>();
  readonly #tap: ModelTap | null;

  constructor(size: number, pageSize: number, tap: ModelTap | null = null) {
    this.#tap = tap;
    this.size = size;
    this.pageSize = pageSize;
  }

  require(req: string): ModelRow {
    return this.open.get(req) ?? fail("bad_effect", `request ${req} is not open`);
  }

  add(req: string, row: number): void {
    if (this.open.has(req)) fail("bad_effect", `request ${req} is opened twice`);
    if (row < 1 || row > this.size)
      fail("bad_effect", `row ${row} of ${req} is not in 1 to ${this.size}`);
    if (this.#taken.has(row))
      fail("bad_effect", `row ${row} is handed to ${req} while it is taken`);
    this.open.set(req, new ModelRow(req, row, this.#tap));
    this.#taken.add(row);
    this.#unreset.add(row);
  }

  /** A row that is written whole is not reset. */
  clearMark(row: ModelRow): void {
    this.#unreset.delete(row.row);
  }

  close(row: ModelRow): void {
    this.open.delete(row.req);
    this.#taken.delete(row.row);
  }

  /** Carries out a reset; only a row handed out since its last reset may be named. */
  reset(row: number): void {
    if (!this.#unreset.delete(row))
      fail("bad_effect", `reset of row ${row}, which was not handed out since its last reset`);
  }

  /** Pages that `tokens` cover, the last one perhaps in part. */
  pagesOf(tokens: number): number {
    return Math.ceil(tokens / this.pageSize);
  }

  /** `r1 tokens 8 to 11`, `r1 main`, or nothing for an id that no open request holds. */
  nameHolder(band: BandPages, id: number): string {
    for (const row of this.open.values()) {
      if (band.isState) {
        const purpose = PURPOSES.find((candidate) => row.slots[candidate].includes(id));
        if (purpose !== undefined) return `${row.req} ${purpose}`;
        continue;
      }
      const page = row.virtual.subarray(0, row.pageCount).indexOf(id);
      if (page < 0) continue;
      const first = page * this.pageSize;
      const last = first + this.pageSize - 1;
      return first === last ? `${row.req} token ${first}` : `${row.req} tokens ${first} to ${last}`;
    }
    return "";
  }
}
