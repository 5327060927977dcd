// The budget of one admission pass: what waits in the queue is admitted, cut, left waiting or given up, priced beside
// the pass's reserve and what it admitted already. A pass changes nothing.
import type { AdmitVerdict, QueueEntry } from "../../base/operations.js";
import { chunkGrid, countedMatch, type DemandRules, requestDemand } from "../alloc/demand.js";
import type { KvCore } from "../core.js";
import { type Request, PURPOSES } from "../requests.js";
import { fitsEmptyChain, largest } from "./empty-chain.js";

/** What the prefix tree could give back for this pass, beside the tokens a request matched. @internal */
export interface Evictable {
  /** Pages by band index that eviction could free while `key`'s matched part stays. */
  credit(entry: QueueEntry): readonly number[];
  /** Matched tokens of a request. */
  matched(entry: QueueEntry): number;
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
      waiting ||= verdict.verdict === "wait";
    }
    return verdicts;
  }

  #judge(entry: QueueEntry): AdmitVerdict {
    const held = this.#core.requests.find(entry.req);
    const done = this.#computed(entry, held);
    const rest = entry.input - done;
    const limit = this.#chunk === null ? rest : Math.min(this.#chunk, rest);
    const hasRow = held !== undefined || this.#core.requests.freeRows - this.#rows > 0;
    if (hasRow && this.#fits(entry, held, limit))
      return this.#admit(entry, held, this.#cut(done, limit, rest), rest);
    // At the smallest chunk the window demand is least: what fails there fits at no chunk limit.
    const least = chunkGrid(this.#rules);
    if (
      !fitsEmptyChain(this.#core.chain, this.#rules, {
        input: entry.input,
        maxNew: entry.max_new,
        chunk: least,
      })
    ) {
      return { verdict: "abort", tokens: 0, reason: "never_fits" };
    }
    if (!hasRow || this.#givesBack(held)) return WAIT;
    const units = Math.floor((Math.min(limit, rest) - 1) / least);
    if (units > 0 && this.#fits(entry, held, least)) {
      const best = largest(1, units, (count) => this.#fits(entry, held, count * least));
      return this.#admit(entry, held, this.#cut(done, best * least, rest), rest);
    }
    return { verdict: "abort", tokens: 0, reason: "unschedulable" };
  }

  /** Prompt tokens that need no computing: the tree's match, or what a chunked request holds already. */
  #computed(entry: QueueEntry, held: Request | undefined): number {
    const matched = countedMatch(this.#core.config, entry.input, this.#evictable.matched(entry));
    return Math.min(entry.input, Math.max(matched, held?.allocated ?? 0));
  }

  /** Tokens of this pass: a chunk that is not the prompt's last ends on the grid, counted from the prompt's start. */
  #cut(done: number, limit: number, rest: number): number {
    if (limit >= rest) return rest;
    const grid = chunkGrid(this.#rules);
    const end = Math.floor((done + limit) / grid) * grid;
    return end > done ? end - done : limit;
  }

  #admit(entry: QueueEntry, held: Request | undefined, tokens: number, rest: number): AdmitVerdict {
    const demand = this.#demand(entry, held, tokens);
    for (const [index, pages] of demand.entries()) this.#taken[index]! += pages;
    if (held === undefined) this.#rows += 1;
    this.#admitted += 1;
    return { verdict: tokens < rest ? "chunk" : "admit", tokens, reason: null };
  }

  #fits(entry: QueueEntry, held: Request | undefined, chunk: number): boolean {
    if (entry.input + entry.max_new > this.#core.config.rowTokens) return false;
    const demand = this.#demand(entry, held, chunk);
    const total = demand.map((pages, index) => pages + this.#taken[index]!);
    return this.#core.chain.fitsReclaimed(total, this.#evictable.credit(entry));
  }

  /** The request's demand less what it holds already. */
  #demand(entry: QueueEntry, held: Request | undefined, chunk: number): number[] {
    const matched = held === undefined ? this.#evictable.matched(entry) : held.allocated;
    const shape = { input: entry.input, maxNew: entry.max_new, matched, chunk };
    const demand = requestDemand(this.#rules, shape, "admit");
    if (held === undefined) return demand;
    const matchedPages =
      countedMatch(this.#core.config, entry.input, matched) / this.#core.config.pageSize;
    const slots = PURPOSES.reduce((sum, purpose) => sum + held.slots[purpose].length, 0);
    return demand.map((pages, index) => {
      const band = this.#core.chain.bands[index]!; // one demand a band
      if (band.plan.kind === "state") return Math.max(0, pages - slots);
      if (!band.plan.isWindow) return Math.max(0, pages - (held.pages.length - matchedPages));
      const bound = held.pages.filter((id) => id > 0 && this.#core.isWindowBound(band, id)).length;
      return Math.max(0, pages - bound);
    });
  }

  /** Whether something will give memory back: work of this pass, a forward in flight, a row that others hold. */
  #givesBack(held: Request | undefined): boolean {
    const { steps } = this.#core.chain;
    if (this.#admitted > 0 || steps.open !== null) return true;
    if (steps.unprocessed.length > 0 || steps.unrecorded.length > 0) return true;
    return this.#core.requests.open.size > (held === undefined ? 0 : 1);
  }
}

const WAIT: AdmitVerdict = { verdict: "wait", tokens: 0, reason: null };
