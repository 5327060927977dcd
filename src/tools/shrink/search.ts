// Looks for smaller cases that fail in the same way. Candidates are judged in the order in which a pass gives them, the
// first that fails is taken; several may be judged at once, which changes the time and nothing else.
import { isSameFailure } from "../findings.js";
import type { Finding } from "../findings.js";
import { caseDigest, caseOf, compareCases } from "./case.js";
import type { Judge, Judgement, ShrinkCase, Work } from "./case.js";

/** A smaller case to try; `cursor` tells the pass where to go on once it was taken. @internal */
export interface Attempt {
  readonly work: Work | null; // null: nothing meaningful is left
  readonly cursor: number;
}

/** What a pass did. @public */
export interface PassCount {
  readonly name: string;
  tried: number; // candidates judged, those known from before included
  kept: number; // candidates that failed in the same way
}

/** Another failure met on the way, with the smallest case seen. @internal */
export interface OtherFailure {
  readonly case: ShrinkCase;
  readonly finding: Finding;
}

/** @internal */
export interface SearchOptions {
  readonly judge: Judge;
  readonly jobs: number; // cases judged at once
  readonly triesMax?: number; // candidates; then the search ends as if its time were over
  /** Asked before each candidate; a reason ends the search. */
  readonly mustStop: () => StopReason | null;
  /** A smaller case was found. */
  readonly onBetter: (work: Work, finding: Finding) => Promise<void>;
  readonly onTried: (operations: number, tried: number) => Promise<void>; // now and then
}

/** @internal */
export type StopReason = "time budget" | "interrupted";

/** An attempt that is being judged. */
interface Waiting {
  readonly work: Work;
  readonly cursor: number;
  readonly judgement: Promise<Judgement>;
}

/** Ends a search from inside; the best case stays. @internal */
export class SearchStopped extends Error {
  readonly reason: StopReason;
  constructor(reason: StopReason) {
    super(reason);
    this.reason = reason;
  }
}
SearchStopped.prototype.name = "SearchStopped";

const OTHERS_MAX = 8; // signatures remembered beside the one that is shrunk
const CACHE_MAX = 100_000;
const TRIES_PER_BREATH = 16;

/** @internal */
export class Search {
  readonly #options: SearchOptions;
  readonly #known = new Map<string, Promise<Judgement>>();
  readonly others = new Map<string, OtherFailure>();
  readonly passes: PassCount[] = [];
  best: Work;
  finding: Finding;
  tried = 0;

  constructor(best: Work, finding: Finding, options: SearchOptions) {
    this.best = best;
    this.finding = finding;
    this.#options = options;
  }

  /**
   * Runs a pass to its end: attempts from a cursor on, again from where the taken one says. True where one was taken.
   */
  async sweep(
    name: string,
    start: number,
    attempts: (best: Work, cursor: number) => Iterable<Attempt>,
  ): Promise<boolean> {
    const count = this.#count(name);
    let isBetter = false;
    for (let cursor: number | null = start; cursor !== null;) {
      cursor = await this.#first(attempts(this.best, cursor), count);
      isBetter ||= cursor !== null;
    }
    return isBetter;
  }

  #count(name: string): PassCount {
    const known = this.passes.find((pass) => pass.name === name);
    if (known !== undefined) return known;
    const count = { name, tried: 0, kept: 0 };
    this.passes.push(count);
    return count;
  }

  /** Takes the first attempt that fails in the same way and gives its cursor; null where none does. */
  async #first(attempts: Iterable<Attempt>, count: PassCount): Promise<number | null> {
    const ahead: Waiting[] = []; // judged, or being judged, in order
    const source = attempts[Symbol.iterator]();
    try {
      for (;;) {
        this.#lookAhead(source, ahead);
        const next = ahead.shift();
        if (next === undefined) return null;
        const judgement = await next.judgement;
        await this.#noteTry(count);
        if (!this.#isSame(next.work, judgement)) continue;
        count.kept += 1;
        this.best = next.work;
        this.finding = judgement.finding;
        await this.#options.onBetter(next.work, judgement.finding);
        return next.cursor;
      }
    } finally {
      // judged in vain: nothing may still run when the next attempts begin
      await Promise.allSettled(ahead.map(({ judgement }) => judgement));
    }
  }

  #lookAhead(source: Iterator<Attempt, unknown>, ahead: Waiting[]): void {
    while (ahead.length < this.#options.jobs) {
      const next = source.next();
      if (next.done === true) return;
      const { work, cursor } = next.value;
      if (work === null || !this.#isAllowed(work)) continue;
      const reason = this.#options.mustStop();
      if (reason !== null) throw new SearchStopped(reason);
      ahead.push({ work, cursor, judgement: this.#judge(caseOf(work)) });
    }
  }

  async #noteTry(count: PassCount): Promise<void> {
    // counted where a result is used, so that the number does not depend on how many are judged ahead
    const { triesMax, onTried } = this.#options;
    if (this.tried === triesMax) throw new SearchStopped("time budget");
    count.tried += 1;
    this.tried += 1;
    if (this.tried % TRIES_PER_BREATH === 0) await onTried(this.best.pieces.length, this.tried);
  }

  /** Smaller than the best, with what must stay still there. */
  #isAllowed(work: Work): boolean {
    const held = this.best.pieces.at(-1);
    const last = work.pieces.at(-1);
    if (held !== undefined && held.hold !== "free") {
      if (last?.hold !== held.hold) return false;
      const isSame = JSON.stringify(last.operation) === JSON.stringify(held.operation);
      if (held.hold === "unchanged" && !isSame) return false;
    }
    return compareCases(caseOf(work), caseOf(this.best)) < 0;
  }

  #judge(value: ShrinkCase): Promise<Judgement> {
    const digest = caseDigest(value);
    const known = this.#known.get(digest);
    if (known !== undefined) return known;
    if (this.#known.size >= CACHE_MAX) this.#known.clear();
    const judgement = this.#options.judge(value);
    this.#known.set(digest, judgement);
    // awaited in order; until then a failure of a later one is not unheard
    judgement.catch(() => undefined);
    return judgement;
  }

  #isSame(work: Work, judgement: Judgement): judgement is Judgement & { readonly kind: "fails" } {
    if (judgement.kind !== "fails") return false;
    // a contract broken only because something is missing is no failure of the implementation
    if (judgement.illegal?.some((n) => work.pieces[n]?.wasIllegal === false) === true) return false;
    const { finding } = judgement;
    if (isSameFailure(finding.signature, this.finding.signature)) return true;
    this.#remember({ case: caseOf(work), finding });
    return false;
  }

  #remember(other: OtherFailure): void {
    const { check, op, component } = other.finding.signature;
    const key = JSON.stringify([check, op, component]);
    const known = this.others.get(key);
    if (known === undefined && this.others.size >= OTHERS_MAX) return;
    if (known === undefined || compareCases(other.case, known.case) < 0)
      this.others.set(key, other);
  }
}
