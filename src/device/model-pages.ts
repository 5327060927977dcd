// The pages of one band as the simulated device sees them: what is physically in each page, and what each virtual page
// (or state slot) should hold. Records lie in typed arrays that are allocated block by block, so that memory follows
// the pages touched and not the arena.
//
// Content is a number, not bytes: the sum of a mix of (unit, stamp) over the page's units. A write changes the sum by
// what it replaces; two pages hold the same exactly if their sums agree.
import { LaneSum, mixA, mixB } from "../base/digest.js";
import type { BandGeometry, SubPoolConfig } from "../base/operations.js";
import type { ModelTap } from "./model-tap.js";

const BLOCK_BITS = 8; // 256 records a block
const BLOCK_MASK = (1 << BLOCK_BITS) - 1;
const STRIDE_BITS = 3; // 8 numbers a record

/** Numbers of a physical page's record. @internal */
export const PAGE = {
  holder: 0, // the virtual page (slot id) bound here, 0 = none
  content: 1, // what the page holds
  reader: 2, // newest forward that reads or writes the page at this place
  writer: 3, // newest forward that writes the page at this place
  handed: 4, // operation that hands the page out; negative once it is zeroed
  moved: 5, // `move` effect that named the page
  byOperation: 6, // operation of the last write
  byAct: 7, // what wrote last, an `ACT`
} as const;

/** Numbers of a virtual page's record. @internal */
export const ID = {
  place: 0, // physical page, 0 = unbound
  expected: 1, // content after the forwards that have run
  generation: 2, // number of the binding, of the band's all
  sumA: 3, // content after the forwards that were issued, two lanes
  sumB: 4,
  byOperation: 5, // operation of the last logical write
} as const;

/** What writes a page, or lets somebody write it. @internal */
export const ACT = {
  none: 0,
  handOut: 1,
  zero: 2,
  move: 3,
  copy: 4,
  forward: 5,
  load: 6, // a copy from the host
  receive: 7, // another machine, through the network
  reserve: 8, // a hand-out to a load, which comes behind the forwards on a stream of its own
} as const;
/** @internal */
export type Act = (typeof ACT)[keyof typeof ACT];
/** Words for `Act`, by number. @internal */
export const ACT_WORDS: readonly string[] = [
  "nothing",
  "hand-out",
  "zero",
  "move",
  "state copy",
  "forward",
  "load",
  "receive",
  "reservation",
];

/** What a virtual page or slot holds, apart from where it lies: all issued writes counted as done. @internal */
export interface PageContent {
  readonly a: number; // lane a of the sum over its units
  readonly b: number; // lane b
  readonly stamps: Int32Array; // one a unit, 0 where nothing was written
}

/** Content of a page that nothing was written to since the arena was opened. */
const POISON = 0x7fc17fc1;

const UNIT_FIELD = 0x5801;
const PAGE_FIELD = 0x5802;
const STAMP_FIELD = 0x5803;

/**
 * The stamp that a forward leaves in one unit, in `[1, 2^32)`.
 * @param writer - identifies the writing request and forward, see `writerOf`
 * @param position - tokens before this one; for a state, tokens it stands after
 * @internal
 */
export function stampOf(writer: number, position: number): number {
  return mixA(STAMP_FIELD, position, writer) >>> 0 || 1;
}

/** Identifies one request in one forward by the hashes of their names, in `[0, 2^32)`. @internal */
export function writerOf(requestHash: number, stepHash: number): number {
  return mixB(STAMP_FIELD, requestHash, stepHash) >>> 0;
}

/** First number of a page's or id's record inside its block. @internal */
export function offsetOf(index: number): number {
  return (index & BLOCK_MASK) << STRIDE_BITS;
}

/** One band. @internal */
export class BandPages {
  readonly name: string;
  readonly index: number; // position in the chain
  readonly isState: boolean;
  readonly isWindow: boolean;
  readonly window: number; // tokens; Infinity where the length is unknown, 0 for bands without a window
  readonly units: number; // units a page: the page size, 1 for state
  readonly pageBytes: number;
  readonly pages: number; // pages on the grid, reserved ones included
  readonly firstPage: number; // first usable page
  /** First and last-plus-one byte that was ever written or handed out. */
  touchedFromBytes: number = Infinity;
  touchedToBytes = 0;
  /** Whether what is written over a page is noted even where no page of the block was ever used. */
  isWatched = false;
  tap: ModelTap | null = null; // who follows with bytes
  /** Sum over the live pages of a mix of (virtual, content as issued); pages of zeros add nothing. */
  readonly contents: LaneSum = new LaneSum();
  readonly #pages: (Int32Array | undefined)[] = [];
  readonly #ids: (Int32Array | undefined)[] = [];
  readonly #stamps: (Int32Array | undefined)[] = [];
  readonly #liveOfBlock: number[] = []; // bound ids by id block
  #bindings = 0;

  constructor(pool: SubPoolConfig, geometry: BandGeometry, index: number, pageSize: number) {
    this.name = pool.name;
    this.index = index;
    this.isState = pool.kind === "state";
    this.isWindow = pool.window !== undefined;
    this.window = pool.window === null ? Infinity : (pool.window ?? 0);
    this.units = this.isState ? 1 : pageSize;
    this.pageBytes = geometry.page_bytes;
    this.pages = geometry.pages;
    this.firstPage = geometry.first_page;
  }

  /** The block that holds a physical page's record; made on first use. */
  page(page: number): Int32Array {
    return this.#pages[page >> BLOCK_BITS] ?? this.#makePages(page >> BLOCK_BITS);
  }
  /** The same, or undefined where no page of the block was ever used. */
  peekPage(page: number): Int32Array | undefined {
    return this.#pages[page >> BLOCK_BITS];
  }
  /** The block that holds a virtual page's record; made on first use. */
  id(id: number): Int32Array {
    return this.#ids[id >> BLOCK_BITS] ?? this.#makeIds(id >> BLOCK_BITS);
  }
  /** The physical page that an id is bound to, 0 = none. */
  placeOf(id: number): number {
    const block = this.#ids[id >> BLOCK_BITS];
    return block === undefined ? 0 : block[offsetOf(id) + ID.place]!; // inside the block
  }
  /** The id bound to a physical page, 0 = none. */
  holderOf(page: number): number {
    const block = this.#pages[page >> BLOCK_BITS];
    return block === undefined ? 0 : block[offsetOf(page) + PAGE.holder]!; // inside the block
  }
  /** Whether an id is bound, and by that very binding. */
  isBinding(id: number, generation: number): boolean {
    const ids = this.id(id);
    const i = offsetOf(id);
    return ids[i + ID.place] !== 0 && ids[i + ID.generation] === generation;
  }
  isUsable(page: number): boolean {
    return page >= this.firstPage && page < this.pages;
  }

  /** Widens the touched bytes by a page. */
  touch(page: number): void {
    const from = page * this.pageBytes;
    if (from < this.touchedFromBytes) this.touchedFromBytes = from;
    if (from + this.pageBytes > this.touchedToBytes) this.touchedToBytes = from + this.pageBytes;
  }

  /** Binds an unbound id to a free page. `expected` is the content that the page shall keep until the first write. */
  bind(id: number, page: number, expected: number, operation: number): void {
    this.bindNowhere(id, operation);
    this.id(id)[offsetOf(id) + ID.expected] = expected;
    this.place(id, page);
  }

  /** Binds an unbound id to a page that is not known yet; nothing is written to it so far. */
  bindNowhere(id: number, operation: number): void {
    const ids = this.id(id);
    const i = offsetOf(id);
    ids[i + ID.expected] = 0;
    ids[i + ID.generation] = ++this.#bindings;
    ids[i + ID.sumA] = 0;
    ids[i + ID.sumB] = 0;
    ids[i + ID.byOperation] = operation;
    const stamps = this.#stampsOf(id);
    const first = (id & BLOCK_MASK) * this.units;
    for (let unit = first; unit < first + this.units; unit++) stamps[unit] = 0;
    this.tap?.renewed(this, id);
    this.#liveOfBlock[id >> BLOCK_BITS] = (this.#liveOfBlock[id >> BLOCK_BITS] ?? 0) + 1;
  }

  /** Says where a bound id lies. */
  place(id: number, page: number): void {
    this.id(id)[offsetOf(id) + ID.place] = page;
    this.page(page)[offsetOf(page) + PAGE.holder] = id;
    this.tap?.bound(this, id, page);
  }

  /** Ends a binding; what the page holds stays. */
  unbind(id: number): void {
    const ids = this.id(id);
    const i = offsetOf(id);
    const page = ids[i + ID.place]!; // inside the block, as everywhere below
    this.#leaveContents(id, ids[i + ID.sumA]!, ids[i + ID.sumB]!);
    ids[i + ID.place] = 0;
    this.page(page)[offsetOf(page) + PAGE.holder] = 0;
    this.#liveOfBlock[id >> BLOCK_BITS]! -= 1;
    this.tap?.unbound(this, id);
  }

  /**
   * Issues the writes of units `[from, to)` of a bound id: the logical content changes now, the page when the forward
   * runs. Returns by how much lane a of the content grows. Units are tokens `firstToken + unit`.
   */
  issue(id: number, from: number, to: number, firstToken: number, writer: number): number {
    const stamps = this.#stampsOf(id);
    const first = (id & BLOCK_MASK) * this.units;
    let a = 0;
    let b = 0;
    for (let unit = from; unit < to; unit++) {
      const old = stamps[first + unit]! >>> 0;
      if (old !== 0) {
        a -= mixA(UNIT_FIELD, unit, old);
        b -= mixB(UNIT_FIELD, unit, old);
      }
      const stamp = stampOf(writer, firstToken + unit);
      stamps[first + unit] = stamp;
      a = (a + mixA(UNIT_FIELD, unit, stamp)) | 0;
      b = (b + mixB(UNIT_FIELD, unit, stamp)) | 0;
    }
    this.#changeSums(id, a | 0, b | 0);
    return a | 0;
  }

  /** Lane a of an id's content after all issued writes. */
  issuedContent(id: number): number {
    return this.id(id)[offsetOf(id) + ID.sumA]!;
  }

  /** Lane b of the same. */
  issuedContentB(id: number): number {
    return this.id(id)[offsetOf(id) + ID.sumB]!;
  }

  /** Sets a bit for each unit that was written. @param mask - ceil(units / 32) words of zeros */
  writeMask(id: number, mask: Uint32Array): void {
    const stamps = this.#stampsOf(id);
    const first = (id & BLOCK_MASK) * this.units;
    for (let unit = 0; unit < this.units; unit++)
      if (stamps[first + unit] !== 0) mask[unit >> 5]! |= 1 << (unit & 31);
  }

  /** Gives a bound page to an unbound id: where it lies, what it holds and which binding it is stay. */
  rename(from: number, to: number): void {
    const content = this.contentOf(from);
    const source = this.id(from);
    const target = this.id(to);
    const s = offsetOf(from);
    const t = offsetOf(to);
    const page = source[s + ID.place]!;
    const [generation, expected] = [source[s + ID.generation]!, source[s + ID.expected]!];
    const byOperation = source[s + ID.byOperation]!;
    this.unbind(from);
    this.bind(to, page, expected, byOperation);
    target[t + ID.generation] = generation;
    this.hold(to, content);
  }

  /** What an id holds once all issued writes are done; a copy. */
  contentOf(id: number): PageContent {
    const ids = this.id(id);
    const i = offsetOf(id);
    const first = (id & BLOCK_MASK) * this.units;
    const stamps = this.#stampsOf(id).slice(first, first + this.units);
    return { a: ids[i + ID.sumA]!, b: ids[i + ID.sumB]!, stamps };
  }

  /** The content of a page with these stamps, one a unit. */
  contentOfStamps(stamps: Int32Array): PageContent {
    let [a, b] = [0, 0];
    for (const [unit, stamp] of stamps.entries()) {
      if (stamp === 0) continue;
      a = (a + mixA(UNIT_FIELD, unit, stamp >>> 0)) | 0;
      b = (b + mixB(UNIT_FIELD, unit, stamp >>> 0)) | 0;
    }
    return { a, b, stamps };
  }

  /** Says that an id holds `content` once all issued writes are done. */
  hold(id: number, content: PageContent): void {
    const ids = this.id(id);
    const i = offsetOf(id);
    this.#changeSums(id, (content.a - ids[i + ID.sumA]!) | 0, (content.b - ids[i + ID.sumB]!) | 0);
    this.#stampsOf(id).set(content.stamps, (id & BLOCK_MASK) * this.units);
    this.tap?.changed(this, id);
  }

  /** Gives `to` the logical content of `from`. */
  copyLogical(from: number, to: number, operation: number): void {
    this.hold(to, this.contentOf(from));
    const target = this.id(to);
    const t = offsetOf(to);
    target[t + ID.expected] = this.id(from)[offsetOf(from) + ID.expected]!;
    target[t + ID.byOperation] = operation;
  }

  /** The first bound id that its page does not bear out, 0 = none. */
  firstLost(): number {
    for (let block = 0; block < this.#ids.length; block++) {
      if ((this.#liveOfBlock[block] ?? 0) === 0) continue;
      const ids = this.#ids[block]!; // has live ids
      for (let i = 0; i < ids.length; i += 1 << STRIDE_BITS) {
        const page = ids[i + ID.place]!;
        if (page === 0) continue;
        const id = (block << BLOCK_BITS) | (i >> STRIDE_BITS);
        const pages = this.page(page);
        const p = offsetOf(page);
        if (pages[p + PAGE.content] !== ids[i + ID.expected] || pages[p + PAGE.holder] !== id)
          return id;
      }
    }
    return 0;
  }

  /** Every bound id in ascending order; for messages. */
  *liveIds(): Generator<number> {
    for (let block = 0; block < this.#ids.length; block++) {
      if ((this.#liveOfBlock[block] ?? 0) === 0) continue;
      for (let record = 0; record <= BLOCK_MASK; record++) {
        const id = (block << BLOCK_BITS) | record;
        if (this.placeOf(id) !== 0) yield id;
      }
    }
  }

  #changeSums(id: number, deltaA: number, deltaB: number): void {
    const ids = this.id(id);
    const i = offsetOf(id);
    const a = ids[i + ID.sumA]!;
    const b = ids[i + ID.sumB]!;
    this.#leaveContents(id, a, b);
    ids[i + ID.sumA] = a + deltaA;
    ids[i + ID.sumB] = b + deltaB;
    this.#joinContents(id, (a + deltaA) | 0, (b + deltaB) | 0);
  }
  #joinContents(id: number, a: number, b: number): void {
    if (a === 0 && b === 0) return;
    this.contents.a = (this.contents.a + mixA(PAGE_FIELD, id, a >>> 0)) | 0;
    this.contents.b = (this.contents.b + mixB(PAGE_FIELD, id, b >>> 0)) | 0;
  }
  #leaveContents(id: number, a: number, b: number): void {
    if (a === 0 && b === 0) return;
    this.contents.a = (this.contents.a - mixA(PAGE_FIELD, id, a >>> 0)) | 0;
    this.contents.b = (this.contents.b - mixB(PAGE_FIELD, id, b >>> 0)) | 0;
  }

  #makePages(block: number): Int32Array {
    const made = new Int32Array(1 << (BLOCK_BITS + STRIDE_BITS));
    for (let p = PAGE.content; p < made.length; p += 1 << STRIDE_BITS) made[p] = POISON;
    return (this.#pages[block] = made);
  }
  #makeIds(block: number): Int32Array {
    return (this.#ids[block] = new Int32Array(1 << (BLOCK_BITS + STRIDE_BITS)));
  }
  #stampsOf(id: number): Int32Array {
    const block = id >> BLOCK_BITS;
    return (this.#stamps[block] ??= new Int32Array(this.units << BLOCK_BITS));
  }
}
