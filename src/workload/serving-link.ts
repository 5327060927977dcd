// What the two runs of a pair know of each other: transfers by name, from the places that a receiver takes to the last
// writer's end. How long a transfer takes and how it ends is drawn when it starts, and both runs tell the same ends.
import { Prng } from "../base/prng.js";
import { NameSource } from "./names.js";
import type { Job } from "./serving-jobs.js";
import type { Clock } from "./serving-script.js";

const LINK_STREAM = 31;
const WRITERS_MOST = 3;
const STEPS_LONGEST = 4; // an ordinary writer takes one step to so many
const STALLS_OF = 12; // one transfer of so many stalls
const STALL_STEPS = [6, 12] as const; // how long, at least and at most
const FAILS_OF = 24; // one writer of so many fails

/** @internal */
export type LinkSide = "send" | "receive";

/** An end of one writer, or of the whole transfer at a timeout. @internal */
export interface TransferEnd {
  readonly writer: string | null; // null: it has no name, or the transfer timed out
  readonly outcome: "ok" | "failed" | "timeout";
  due: number; // step
}

/** What one side has told its allocator. */
interface SideView {
  ends: number; // told so far
  isStalled: boolean;
  isOver: boolean;
  hasLeft: boolean;
}

/** One transfer as both runs see it. @internal */
export class Exchange {
  readonly name: string;
  readonly job: Job; // the receiver's
  readonly from: number; // tokens
  readonly to: number; // tokens
  readonly writers: readonly string[]; // none: one without a name
  isTold = false; // the receiver's places are published
  isGone = false; // a side gave up before it started
  stallDue: number | null = null; // step
  ends: readonly TransferEnd[] = []; // in the order of their telling; empty before the start
  readonly #views: Readonly<Record<LinkSide, SideView>> = { send: newView(), receive: newView() };

  constructor(name: string, job: Job, from: number, writers: readonly string[]) {
    this.name = name;
    this.job = job;
    this.from = from;
    this.to = job.prompt;
    this.writers = writers;
  }

  get hasStarted(): boolean {
    return this.ends.length > 0;
  }
  get isOk(): boolean {
    return this.ends.every(({ outcome }) => outcome === "ok");
  }
  get isTimeout(): boolean {
    return this.ends.some(({ outcome }) => outcome === "timeout");
  }
  get hasBothLeft(): boolean {
    return this.#views.send.hasLeft && this.#views.receive.hasLeft;
  }
  hasLeft(side: LinkSide): boolean {
    return this.#views[side].hasLeft;
  }
  leave(side: LinkSide): void {
    this.#views[side].hasLeft = true;
  }

  /** Whether a side has to tell now that the transfer stalls; true once. */
  takeStall(side: LinkSide, step: number): boolean {
    const view = this.#views[side];
    if (this.stallDue === null || this.stallDue > step || view.isStalled) return false;
    view.isStalled = true;
    return true;
  }

  /** The next end that a side has to tell now, null where none is due. */
  takeEnd(side: LinkSide, step: number): TransferEnd | null {
    const view = this.#views[side];
    const end = this.ends[view.ends];
    if (end === undefined || end.due > step) return null;
    view.ends += 1;
    return end;
  }

  /** Whether a side's part is over with what it told last; true once. */
  takeOver(side: LinkSide): boolean {
    const view = this.#views[side];
    const told = this.ends.slice(0, view.ends);
    const isCut = told.some(
      ({ outcome }) => outcome === "timeout" || (outcome === "failed" && side === "send"),
    );
    if (view.isOver || !(isCut || view.ends === this.ends.length)) return false;
    view.isOver = true;
    return true;
  }

  /** Whether a side has told everything. */
  isDone(side: LinkSide): boolean {
    return this.hasStarted && this.#views[side].ends === this.ends.length;
  }

  /** A side's host has waited for it: it stalls no more, and what is left of it ends now. */
  hurry(side: LinkSide, step: number): void {
    this.#views[side].isStalled = true;
    for (const end of this.ends) end.due = Math.min(end.due, step);
  }
}

function newView(): SideView {
  return { ends: 0, isStalled: false, isOver: false, hasLeft: false };
}

/** Everything under way between the two runs; bounded by what is open. @internal */
export class TransferLink {
  readonly #prng: Prng;
  readonly #clock: Clock;
  readonly #names = new NameSource("t");
  readonly #open = new Map<string, Exchange>();
  #offers: Exchange[] = []; // the sender has not taken them yet
  isClosed = false; // the receiver wants nothing more

  constructor(seed: number, clock: Clock) {
    this.#prng = new Prng(seed, LINK_STREAM);
    this.#clock = clock;
  }

  /** Draws for both sides: one draw of so many is true. */
  chance(of: number): boolean {
    return this.#prng.chance(1, of);
  }

  /** A transfer for a prompt whose first `from` tokens the receiver has. */
  make(job: Job, from: number): Exchange {
    const count = this.#prng.below(WRITERS_MOST + 1);
    const writers = Array.from({ length: count }, (_, index) => `w${String(index + 1)}`);
    return new Exchange(this.#names.fresh(), job, from, writers);
  }

  /** The receiver has taken places for it: the sender may compute the prompt. */
  offer(exchange: Exchange): void {
    this.#open.set(exchange.name, exchange);
    this.#offers.push(exchange);
  }

  /** Offers whose request `isFree` says the sender can open. */
  takeOffers(isFree: (req: string) => boolean): readonly Exchange[] {
    const taken = this.#offers.filter(({ job }) => isFree(job.name));
    this.#offers = this.#offers.filter((exchange) => !taken.includes(exchange));
    return taken;
  }

  /** What a side has not left yet, oldest first. */
  open(side: LinkSide): readonly Exchange[] {
    return [...this.#open.values()].filter((exchange) => !exchange.hasLeft(side));
  }

  /** A side is done with a transfer. */
  leave(exchange: Exchange, side: LinkSide): void {
    exchange.leave(side);
    if (exchange.hasBothLeft) this.#open.delete(exchange.name);
  }

  /** Both sides are under way: draws when its writers end, and how. */
  start(exchange: Exchange): void {
    const prng = this.#prng;
    const now = this.#clock.step;
    const stalls = prng.chance(1, STALLS_OF);
    const late = stalls ? prng.between(...STALL_STEPS) : 0;
    if (stalls) exchange.stallDue = now + 1;
    const names = exchange.writers.length === 0 ? [null] : exchange.writers;
    const ends = names.map((writer): TransferEnd => {
      const outcome = prng.chance(1, FAILS_OF) ? "failed" : "ok";
      return { writer, outcome, due: now + late + prng.between(1, STEPS_LONGEST) };
    });
    // Half of those that stall time out; whether the engine then tells of its writers all the same is drawn too.
    if (stalls && prng.chance(1, 2)) {
      const isTold = prng.chance(1, 2);
      const timeout: TransferEnd = { writer: null, outcome: "timeout", due: now + late };
      exchange.ends = isTold ? [timeout, ...inTurn(ends)] : [timeout];
    } else exchange.ends = inTurn(ends);
  }

  /** Operations of a side have ended these transfers by themselves. */
  ended(names: readonly string[], side: LinkSide): void {
    for (const name of names) this.#open.get(name)?.hurry(side, this.#clock.step);
  }
}

function inTurn(ends: readonly TransferEnd[]): TransferEnd[] {
  return [...ends].sort((left, right) => left.due - right.due);
}
