// The bytes of one rank and its queues: actions run in the order that the rank's completion schedule draws, each after
// all that its clock covers, and read and write what is really there by then.
import { Prng } from "../../base/prng.js";
import type { CellSpace } from "./cells.js";
import type { Action, Actors, Clock } from "./clocks.js";

/** Kinds of bytes. */
const KIND = { none: 0, state: 1, tokens: 2 } as const;
/** Streams of a seed from here on belong to the ranks of the harness. */
const RANK_STREAMS = 2000;
/** Content that nothing is expected of. @internal */
export const UNKNOWN = -1;

/** What a page holds after a write to a part of it: parts of one page may be written in any order. @internal */
export function mixed(content: number, stamp: number): number {
  return content === UNKNOWN ? UNKNOWN : (content + stamp) & 0x7fffffff;
}

/** A page that an action reads, in the order of its list. @internal */
export interface Reading {
  readonly band: number;
  readonly page: number;
  readonly expected: number; // UNKNOWN: whatever is there
}
/** A page that an action writes. @internal */
export interface Writing {
  readonly band: number;
  readonly page: number;
  readonly stamp: number;
  readonly isWhole: boolean; // else only part of the page: what was there counts
}

/** What an action does to the arena when it runs; absent parts do nothing. @internal */
export interface Work extends Action {
  readonly reads?: readonly Reading[];
  readonly writes?: readonly Writing[];
  /** [band, source, target] pages that are copied as they are. */
  readonly moves?: readonly (readonly [band: number, source: number, target: number])[];
  /** Whether it reads token pages as kernels do: bytes of a state would be taken for numbers. */
  readonly isForward?: boolean;
  /** Writes that are known only when it runs. */
  readonly late?: () => readonly Writing[];
  /** Set where another transfer writes what this one reads, which is their caller's business. */
  isUnchecked?: boolean;
}

/** What a rank saw that it should not have. @internal */
export interface Sight {
  readonly check: "lost_write" | "cross_dtype_bytes";
  readonly reader: Work;
  readonly reading: Reading;
  readonly cell: number;
}

/** One rank. @internal */
export class RankMemory {
  readonly rank: number;
  readonly #space: CellSpace;
  readonly #actors: Actors<Work>;
  readonly #prng: Prng;
  readonly #done: Int32Array; // by actor: time of the last action that ran
  readonly #content: Int32Array; // by cell
  readonly #kind: Uint8Array; // by cell
  readonly #writer: (Work | null)[]; // by cell: who wrote it last
  #pace = 0; // how much this rank gets done between operations, most
  #paceLeft = 0; // operations until it is drawn again
  readonly #runnable: number[] = [];
  /** What went wrong since it was last taken. */
  readonly sights: Sight[] = [];

  constructor(space: CellSpace, actors: Actors<Work>, seed: number, rank: number) {
    this.rank = rank;
    this.#space = space;
    this.#actors = actors;
    this.#prng = new Prng(seed, RANK_STREAMS + rank);
    this.#done = new Int32Array(actors.queues.length);
    this.#content = new Int32Array(space.arenaCells).fill(0x7fc17fc1); // poison
    this.#kind = new Uint8Array(space.arenaCells);
    this.#writer = new Array<Work | null>(space.arenaCells).fill(null);
  }

  /** Whether an action has run here. */
  hasRun(actor: number, time: number): boolean {
    return this.#done[actor]! >= time;
  }
  /** Whether all that a clock covers has run here. */
  covers(clock: Clock): boolean {
    for (let actor = 1; actor < clock.length; actor++)
      if (this.#done[actor]! < clock[actor]!) return false;
    return true;
  }

  /** Time passes between two operations: some heads of queues run, drawn from the schedule. */
  pass(): void {
    if (this.#paceLeft-- <= 0) {
      // Long quiet spells and bursts, so that forwards outlive many operations or none.
      this.#pace = this.#prng.pick([0, 1, 2, 6, 14]);
      this.#paceLeft = this.#prng.between(2, 12);
    }
    if (this.#pace === 0) return;
    for (let left = this.#prng.below(this.#pace + 1); left > 0; left--) {
      this.#runnable.length = 0;
      for (let actor = 1; actor < this.#done.length; actor++) {
        const head = this.#actors.queues[actor]![this.#done[actor]!];
        if (head !== undefined && this.#isReady(head)) this.#runnable.push(actor);
      }
      if (this.#runnable.length === 0) return;
      this.#runNext(this.#prng.pick(this.#runnable));
    }
  }

  /** Runs what a clock covers and no more. */
  runTo(clock: Clock): void {
    for (let actor = 1; actor < clock.length; actor++)
      while (this.#done[actor]! < clock[actor]!) {
        const head = this.#actors.queues[actor]![this.#done[actor]!]!; // clocks count queued actions
        if (!this.#isReady(head)) this.#runBefore(head);
        this.#runNext(actor);
      }
  }

  /** Runs everything. */
  drain(): void {
    const all = new Int32Array(this.#done.length);
    for (const [actor, queue] of this.#actors.queues.entries()) all[actor] = queue.length;
    this.runTo(all);
  }

  /** The first cell of a page that does not hold `expected`, -1 if all do. */
  firstOther(band: number, page: number, expected: number): number {
    const end = this.#space.pageEnd(band, page);
    for (let cell = this.#space.pageStart(band, page); cell < end; cell++)
      if (this.#content[cell] !== expected) return cell;
    return -1;
  }
  /** Who wrote a cell last on this rank. */
  writerOf(cell: number): Work | null {
    return this.#writer[cell] ?? null;
  }

  #isReady(work: Work): boolean {
    const { clock, actor } = work;
    for (let other = 1; other < clock.length; other++)
      if (other !== actor && this.#done[other]! < clock[other]!) return false;
    return true;
  }
  #runBefore({ clock, actor, time }: Work): void {
    const before = clock.slice();
    before[actor] = time - 1;
    this.runTo(before);
  }

  #runNext(actor: number): void {
    const work = this.#actors.queues[actor]![this.#done[actor]!]!; // the caller saw one
    this.#done[actor]! += 1;
    if (work.reads !== undefined && work.isUnchecked !== true)
      for (const reading of work.reads) this.#read(work, reading);
    if (work.moves !== undefined)
      for (const [band, source, target] of work.moves) this.#copy(work, band, source, target);
    if (work.writes !== undefined) for (const writing of work.writes) this.#write(work, writing);
    if (work.late !== undefined) for (const writing of work.late()) this.#write(work, writing);
  }

  #read(work: Work, reading: Reading): void {
    const { band, page, expected } = reading;
    const isTokens = work.isForward === true && !this.#space.bands[band]!.isState;
    const end = this.#space.pageEnd(band, page);
    for (let cell = this.#space.pageStart(band, page); cell < end; cell++) {
      if (isTokens && this.#kind[cell] === KIND.state) {
        this.sights.push({ check: "cross_dtype_bytes", reader: work, reading, cell });
        return;
      }
      if (expected === UNKNOWN || this.#content[cell] === expected) continue;
      this.sights.push({ check: "lost_write", reader: work, reading, cell });
      return;
    }
  }

  #write(work: Work, { band, page, stamp, isWhole }: Writing): void {
    const kind = this.#space.bands[band]!.isState ? KIND.state : KIND.tokens;
    const end = this.#space.pageEnd(band, page);
    for (let cell = this.#space.pageStart(band, page); cell < end; cell++) {
      this.#content[cell] = isWhole ? stamp : mixed(this.#content[cell]!, stamp);
      // What is left of a state in a page stays one.
      if (isWhole || this.#kind[cell] !== KIND.state) this.#kind[cell] = kind;
      this.#writer[cell] = work;
    }
  }

  #copy(work: Work, band: number, source: number, target: number): void {
    const from = this.#space.pageStart(band, source);
    // The two pages may be cut differently: a page holds one content, or is broken and stays so.
    const isWhole = this.firstOther(band, source, this.#content[from]!) < 0;
    const content = isWhole ? this.#content[from]! : ~work.time;
    const until = this.#space.pageEnd(band, source);
    const kind = this.#kind.subarray(from, until).includes(KIND.state) ? KIND.state : KIND.tokens;
    const end = this.#space.pageEnd(band, target);
    for (let cell = this.#space.pageStart(band, target); cell < end; cell++) {
      this.#content[cell] = content;
      this.#kind[cell] = kind;
      this.#writer[cell] = work;
    }
  }
}
