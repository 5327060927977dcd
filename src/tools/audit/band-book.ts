// The pages of one band as a trace tells of them: which id is bound where, and who may still use a page's bytes. Records
// exist for pages that were named once; memory follows those and not the arena.
import { IdQueue } from "../../base/id-queue.js";
import type { BandGeometry, SubPoolConfig } from "../../base/operations.js";

/** Pages freed together while a forward was unprocessed. @internal */
export interface Batch {
  readonly forward: number; // serial
  readonly pages: number[];
  isTouched: boolean; // settled, or perhaps settled: what is left of it cannot be told
}

/** A copy or transfer at a place. @internal */
export interface PlaceUse {
  readonly name: string;
  readonly kind: "copy" | "transfer";
  readonly writes: boolean; // writes the device's pages
  isOver: boolean;
}

/** One physical page. @internal */
export interface PageRecord {
  readonly page: number;
  id: number; // bound here: above 0 an id, below 0 a page reserved without one, 0 free
  boundAt: number; // operation
  takenAt: number; // operation that handed it out; moves keep it
  zeroedAt: number; // operation of the last zeroing
  reader: number; // serial of the newest forward that reads or writes these bytes
  writer: number; // of the newest that writes them
  batch: Batch | null; // pending in it
  uses: PlaceUse[]; // copies and transfers at this place
  fixedBy: string; // the load that reserved it, or nothing
}

/** Readers of a page that a move left. @internal */
export interface LeftPage {
  readonly forward: number; // serial of the newest one then
  readonly uses: readonly PlaceUse[];
}

const NOTHING_YET = { n: -1, page: 0, isFresh: false };

/** One band. @internal */
export class BandBook {
  readonly name: string;
  readonly index: number;
  readonly kind: SubPoolConfig["kind"];
  readonly isState: boolean;
  readonly isWindow: boolean;
  readonly window: number; // tokens; Infinity where unknown, 0 without a window
  readonly grow: BandGeometry["grow"];
  readonly pageBytes: number;
  readonly pages: number; // on the grid, reserved ones included
  readonly firstPage: number;
  /** Ids that can be handed out, oldest first; a window band mints none. */
  readonly freeIds: IdQueue | null;
  readonly places: Map<number, number> = new Map(); // id → page
  /** Ids whose page was given back and waits, for a group's end or for a transfer. */
  readonly given: Set<number> = new Set();
  /** Ids that a load bound and did not publish: nobody finds them in the tree yet. */
  readonly unpublished: Set<number> = new Set();
  readonly batches: Batch[] = [];
  /** Of each page that a move left: who may still read it. Those whose readers are over are forgotten. */
  left: LeftPage[] = [];
  /** The page handed out last, in which operation, and whether it lies beyond what holes could give. */
  last: { readonly n: number; readonly page: number; readonly isFresh: boolean } = NOTHING_YET;
  readonly #records = new Map<number, PageRecord>();

  constructor(pool: SubPoolConfig, geometry: BandGeometry, index: number) {
    this.name = pool.name;
    this.index = index;
    this.kind = pool.kind;
    this.isState = pool.kind === "state";
    this.isWindow = pool.window !== undefined;
    this.window = pool.window === null ? Infinity : (pool.window ?? 0);
    this.grow = geometry.grow;
    this.pageBytes = geometry.page_bytes;
    this.pages = geometry.pages;
    this.firstPage = geometry.first_page;
    this.freeIds = this.isWindow ? null : new IdQueue(0, Math.max(0, this.pages - this.firstPage));
    for (let id = this.firstPage; id < this.pages; id++) this.freeIds?.push(id);
  }

  isUsable(page: number): boolean {
    return page >= this.firstPage && page < this.pages;
  }
  record(page: number): PageRecord {
    let found = this.#records.get(page);
    if (found === undefined) {
      const never = { boundAt: -1, takenAt: -1, zeroedAt: -1, reader: 0, writer: 0 };
      found = { page, id: 0, ...never, batch: null, uses: [], fixedBy: "" };
      this.#records.set(page, found);
    }
    return found;
  }
  peek(page: number): PageRecord | undefined {
    return this.#records.get(page);
  }
  idAt(page: number): number {
    return this.#records.get(page)?.id ?? 0;
  }
  placeOf(id: number): number {
    return this.places.get(id) ?? 0;
  }
  /** Whether a page is bound to the id and was not given back. */
  isHeld(id: number): boolean {
    return this.places.has(id) && !this.given.has(id);
  }
  liveRecords(): PageRecord[] {
    return [...this.places.values()].map((page) => this.record(page));
  }

  bind(id: number, page: number, n: number): PageRecord {
    const record = this.record(page);
    record.id = id;
    record.boundAt = n;
    this.places.set(id, page);
    return record;
  }
  unbind(id: number): PageRecord | null {
    const page = this.places.get(id);
    if (page === undefined) return null;
    this.places.delete(id);
    this.given.delete(id);
    this.unpublished.delete(id);
    const record = this.record(page);
    if (record.id === id) record.id = 0;
    record.fixedBy = "";
    return record;
  }
  /** The page of one id goes on under another, which must be unbound. */
  rename(from: number, to: number, n: number): void {
    const page = this.places.get(from);
    if (page === undefined) return;
    this.places.delete(from);
    this.bind(to, page, n);
  }
}

/** Bytes of a page, half open. @internal */
export function bytesOf(band: BandBook, page: number): readonly [number, number] {
  return [page * band.pageBytes, (page + 1) * band.pageBytes];
}
