// The budget of one admission pass: what waits in the queue is admitted, cut, left waiting or given up, priced beside
// the pass's reserve and what it admitted already. A pass changes nothing.
import type { AdmitVerdict, QueueEntry } from "../../base/operations.js";
import { chunkGrid, countedMatch, type DemandRules } from "../alloc/demand.js";
import type { KvCore } from "../core.js";
import type { Request } from "../requests.js";
import { fitsEmptyChain, largest } from "./empty-chain.js";
import { heldDemand, type Holdings } from "./held-demand.js";

/** What the prefix tree could give back for this pass, beside the tokens a request matched. @internal */
export interface Evictable {
  /** Pages by band index that eviction could free while `key`'s matched part stays. */
  credit(entry: QueueEntry): readonly number[];
  /** Matched tokens of a request. */
  matched(entry: QueueEntry): number;
  /** Notes that a request was admitted: from here on its matched part stays for the requests behind it too. */
  keep(entry: QueueEntry): void;
}

/** A queue entry with what the run knows of it. */
interface Candidate {
  readonly entry: QueueEntry;
  readonly isOpen: boolean; // it has a row
  readonly isMatch: boolean; // it holds no tokens: the tree's match counts
  readonly held: Holdings; // its row's, or an empty row's after the tree's match
  readonly done: number; // prompt tokens that need no computing
  readonly rest: number; // prompt tokens to compute
}

/** One pass over the queue, in order. @internal */
export class PrefillBudget {
  readonly #core: KvCore;
  readonly #rules: DemandRules;
  readonly #evictable: Evictable;
  readonly #chunk: number | null;
  readonly #taken: number[]; // by band: reserve and what the pass admitted
  #rows = 0; // rows the pass took
  #admitted = 0;

  constructor(
    core: KvCore,
    chunk: number | null,
    reserve: readonly number[],
    evictable: Evictable,
  ) {
    this.#core = core;
    this.#rules = { config: core.config, plans: core.chain.bands.map((band) => band.plan) };
    this.#chunk = chunk;
    this.#taken = [...reserve];
    this.#evictable = evictable;
  }

  /** Verdicts keyed by request; after one that waits all others wait. */
  pass(queue: readonly QueueEntry[]): Record<string, AdmitVerdict> {
    const verdicts: Record<string, AdmitVerdict> = {};
    let waiting = false;
    for (const entry of queue) {
      const verdict: AdmitVerdict = waiting ? WAIT : this.#judge(entry);
      verdicts[entry.req] = verdict;
      const isServed = verdict.verdict === "admit" || verdict.verdict === "chunk";
      this.#core.chain.stages?.fold("admit", [verdict.tokens], isServed);
      waiting ||= verdict.verdict === "wait";
    }
    return verdicts;
  }

  #judge(entry: QueueEntry): AdmitVerdict {
    const candidate = this.#candidate(entry);
    const { isOpen, done, rest } = candidate;
    const limit = this.#chunk === null ? rest : Math.min(this.#chunk, rest);
    const hasRow = isOpen || this.#core.requests.freeRows - this.#rows > 0;
    if (hasRow && this.#fits(candidate, limit))
      return this.#admit(candidate, this.#cut(done, limit, rest));
    // At the smallest chunk the window demand is least: what fails there fits at no chunk limit.
    const grid = chunkGrid(this.#rules);
    const { input, max_new: maxNew } = entry;
    if (!fitsEmptyChain(this.#core.chain, this.#rules, { input, maxNew, chunk: grid })) {
      return { verdict: "abort", tokens: 0, reason: "never_fits" };
    }
    if (!hasRow || this.#givesBack(isOpen)) return WAIT;
    // Smaller chunks end on the grid, counted from the prompt's start: at these multiples of it.
    const first = Math.floor(done / grid) + 1;
    const last = Math.ceil((done + limit) / grid) - 1;
    const fitsTo = (multiple: number): boolean => this.#fits(candidate, multiple * grid - done);
    if (first <= last && fitsTo(first))
      return this.#admit(candidate, largest(first, last, fitsTo) * grid - done);
    return { verdict: "abort", tokens: 0, reason: "unschedulable" };
  }

  /** The request as this pass meets it: what its row holds, or what the tree would give an empty one. */
  #candidate(entry: QueueEntry): Candidate {
    const { config, chain, requests } = this.#core;
    const request = requests.find(entry.req);
    const none = { bound: chain.bands.map(() => 0), mainSlots: 0, trackSlots: 0 };
    const holdings = request === undefined ? none : this.#holdingsOf(request);
    let allocated = request?.allocated ?? 0;
    let pages = request?.pages.length ?? 0;
    const isMatch = allocated === 0;
    if (isMatch) {
      allocated = countedMatch(config, entry.input, this.#evictable.matched(entry));
      pages = allocated / config.pageSize;
    }
    const done = Math.min(entry.input, allocated);
    return {
      entry,
      isOpen: request !== undefined,
      isMatch,
      held: { ...holdings, allocated, pages },
      done,
      rest: entry.input - done,
    };
  }

  #holdingsOf(request: Request): Omit<Holdings, "allocated" | "pages"> {
    const bound = this.#core.chain.bands.map((band) => {
      if (!band.plan.isWindow) return 0;
      // What the tree owns is charged like a fresh match: in full.
      const own = request.pages.slice(this.#core.pagesOf(request.protected));
      return own.filter((id) => id > 0 && this.#core.isWindowBound(band, id)).length;
    });
    const { main, track } = request.slots;
    return { bound, mainSlots: main.length, trackSlots: track.length };
  }

  /** Tokens of this pass: a chunk that is not the prompt's last ends on the grid, counted from the prompt's start. */
  #cut(done: number, limit: number, rest: number): number {
    if (limit >= rest) return rest;
    const grid = chunkGrid(this.#rules);
    const end = Math.floor((done + limit) / grid) * grid;
    return end > done ? end - done : limit;
  }

  #admit(candidate: Candidate, tokens: number): AdmitVerdict {
    for (const [index, pages] of this.#demand(candidate, tokens).entries())
      this.#taken[index]! += pages;
    if (candidate.isMatch) this.#evictable.keep(candidate.entry);
    if (!candidate.isOpen) this.#rows += 1;
    this.#admitted += 1;
    return { verdict: tokens < candidate.rest ? "chunk" : "admit", tokens, reason: null };
  }

  #fits(candidate: Candidate, chunk: number): boolean {
    const { entry } = candidate;
    if (entry.input + entry.max_new > this.#core.config.rowTokens) return false;
    const total = this.#demand(candidate, chunk).map((pages, index) => pages + this.#taken[index]!);
    return this.#core.chain.fitsReclaimed(total, this.#evictable.credit(entry));
  }

  #demand({ entry, held }: Candidate, chunk: number): number[] {
    const { input, max_new: maxNew } = entry;
    return heldDemand(this.#rules, held, { input, maxNew }, chunk);
  }

  /** Whether something will give memory back: work of this pass, a forward in flight, an open host copy, a row that others
   * hold. */
  #givesBack(isOpen: boolean): boolean {
    const { steps } = this.#core.chain;
    if (this.#admitted > 0 || steps.open !== null) return true;
    if (steps.unprocessed.length > 0 || steps.unrecorded.length > 0) return true;
    if (this.#core.host.copies.size > 0) return true;
    return this.#core.requests.open.size > (isOpen ? 1 : 0);
  }
}

const WAIT: AdmitVerdict = { verdict: "wait", tokens: 0, reason: null };
