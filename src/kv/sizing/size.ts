// `sizePlan`: one byte budget solved for fixed allocations, state slots and the most full-attention tokens whose window
// targets fit too. Boot targets only: at run time a band may take any free bytes. Tokens, windows and concurrency grow
// with the budget and never shrink (test/kv/sizing/size-laws.test.ts).
import type { KVStoragePlan, SubPoolPlan } from "../plan/plan.js";
import type { FloorRefusal } from "../plan/refusals.js";
import type { RowCosts } from "./floor.js";
import {
  fixedBytes,
  floorBytes,
  floorRefusal,
  floorTerms,
  floorWindowTokens,
  planSinkBytes,
  rowBytes,
} from "./floor.js";
import type { Ratio } from "./ratio.js";
import { floorOf, pagesUpOf, ratioOf } from "./ratio.js";

/** @public */
export interface SizingOptions extends RowCosts {
  readonly budgetBytes: number; // measured
  readonly memoryFraction?: number; // of the measured bytes, default 1
  readonly contextTokens: number; // longest request
  readonly maxRunningRequests: number; // at least 1
  readonly maxTotalTokens?: number; // full-attention tokens wanted: the smallest budget that gives them is used
  readonly windowRatio: number; // window tokens a full token
  readonly stateShare: number; // of the arena
  readonly stateSlots?: number; // explicit count, instead of the share
  readonly slotsPerRequest: number; // main and tracking slots, the least state target
}
/** @public */
export interface Sizing {
  readonly budgetBytes: number; // of which the arena and the fixed allocations are made
  readonly fixedBytes: number;
  readonly arenaBytes: number; // what is left of the budget, to the byte
  readonly sinkBytes: number;
  readonly concurrency: number; // request rows
  readonly tokens: number; // full-attention target, whole pages
  readonly windowTokens: Readonly<Record<string, number>>; // target a window sub-pool
  readonly stateSlots: number; // target; 0 without a state sub-pool
  readonly floor: Readonly<Record<string, number>>; // terms of the boot floor, bytes
}
/** @public */
export type Sized = { readonly sizing: Sizing } | { readonly refusal: FloorRefusal };

/** Sizes a plan, or refuses a budget below the boot floor. @public */
export function sizePlan(plan: KVStoragePlan, options: SizingOptions): Sized {
  const solver = new Solver(plan, options);
  const usable = floorOf(options.budgetBytes, ratioOf(options.memoryFraction ?? 1, "mem_fraction"));
  const refusal = floorRefusal(usable, solver.floor);
  if (refusal !== null) return { refusal };
  const budget =
    options.maxTotalTokens === undefined
      ? usable
      : solver.smallestBudget(options.maxTotalTokens, usable);
  return { sizing: solver.solve(budget) };
}

/** Sizing with the concurrency given: after the stages of a pipeline agreed on one, or after the request table was
 * allocated. `budgetBytes` is used as it is. @internal */
export function sizeAtConcurrency(
  plan: KVStoragePlan,
  options: SizingOptions,
  budgetBytes: number,
  concurrency: number,
): Sizing {
  return new Solver(plan, options).at(budgetBytes, concurrency);
}

class Solver {
  readonly floor: Readonly<Record<string, number>>;
  readonly #plan: KVStoragePlan;
  readonly #options: SizingOptions;
  readonly #sinkBytes: number;
  readonly #windows: readonly SubPoolPlan[];
  readonly #state: SubPoolPlan | undefined;
  readonly #full: SubPoolPlan | undefined;
  readonly #floorWindowBytes: number;
  readonly #windowRatio: Ratio;
  readonly #stateShare: Ratio;

  constructor(plan: KVStoragePlan, options: SizingOptions) {
    this.#plan = plan;
    this.#options = options;
    this.floor = floorTerms(plan, options.contextTokens, options);
    this.#sinkBytes = planSinkBytes(plan);
    this.#windows = plan.subPools.filter((pool) => pool.lifetime.kind === "window");
    this.#state = plan.subPools.find((pool) => pool.lifetime.kind === "state");
    this.#full = plan.subPools.find((pool) => pool.lifetime.kind === "full");
    this.#floorWindowBytes = this.#windowBytes(0);
    this.#windowRatio = ratioOf(options.windowRatio, "swa_full_tokens_ratio");
    this.#stateShare = ratioOf(options.stateShare, "mamba_full_memory_ratio");
  }

  /**
   * The largest concurrency that its own tokens carry: at most the user's limit and half of the tokens that are left
   * once its rows are paid, but one request wherever the floor holds. While the tokens are what limits it, the target
   * is just the tokens it needs, so that more budget never means fewer tokens.
   */
  solve(budgetBytes: number): Sizing {
    const limit = this.#options.maxRunningRequests;
    const affordable = Math.floor(
      (budgetBytes - this.#options.scratchBytes) / Math.max(1, rowBytes(this.#options)),
    );
    const carried = (count: number): boolean =>
      this.#tokensAt(budgetBytes, count) >= this.#tokensFor(count);
    const most = Math.max(1, Math.min(limit, affordable));
    const concurrency = Math.max(
      1,
      largest(0, most, (count) => count === 0 || carried(count)),
    );
    if (concurrency === limit) return this.at(budgetBytes, concurrency);
    const tokens = Math.min(this.#tokensAt(budgetBytes, concurrency), this.#tokensFor(concurrency));
    return this.#sizing(budgetBytes, concurrency, tokens);
  }

  at(budgetBytes: number, concurrency: number): Sizing {
    return this.#sizing(budgetBytes, concurrency, this.#tokensAt(budgetBytes, concurrency));
  }

  /** The smallest budget within `[floor, usable]` whose sizing gives `tokens` or more; all of it when none does. */
  smallestBudget(tokens: number, usable: number): number {
    const enough = (budget: number): boolean => this.solve(budget).tokens >= tokens;
    const least = floorBytes(this.floor);
    if (!enough(usable)) return usable;
    if (enough(least)) return least;
    // largest budget that is too small, plus 1: solve() is monotone
    return largest(least, usable, (budget) => !enough(budget)) + 1;
  }

  #sizing(budgetBytes: number, concurrency: number, tokens: number): Sizing {
    const fixed = fixedBytes(this.#options, concurrency);
    const arenaBytes = budgetBytes - fixed;
    const windowTokens: Record<string, number> = {};
    for (const pool of this.#windows) windowTokens[pool.name] = this.#windowTarget(pool, tokens);
    const stateSlots =
      this.#state === undefined
        ? 0
        : Math.floor(this.#stateBytes(arenaBytes) / this.#state.rankUnitBytes);
    return {
      budgetBytes,
      fixedBytes: fixed,
      arenaBytes,
      sinkBytes: this.#sinkBytes,
      concurrency,
      tokens,
      windowTokens,
      stateSlots,
      floor: this.floor,
    };
  }

  // Full-attention tokens, whole pages, that fit beside the rows, the sink, the state share and the windows.
  #tokensAt(budgetBytes: number, concurrency: number): number {
    const full = this.#full;
    const arenaBytes = budgetBytes - fixedBytes(this.#options, concurrency);
    const bytes = arenaBytes - this.#sinkBytes - this.#stateBytes(arenaBytes);
    if (full === undefined || bytes < this.#floorWindowBytes) return 0;
    const page = this.#plan.pageTokens;
    const pageBytes = full.rankUnitBytes * page;
    const fits = (pages: number): boolean =>
      pages * pageBytes + this.#windowBytes(pages * page) <= bytes;
    return largest(0, Math.floor(bytes / pageBytes), fits) * page;
  }

  // A share is taken as bytes: what is left of it after whole slots stays free, so that one byte more of arena never
  // costs a slot's worth of tokens.
  #stateBytes(arenaBytes: number): number {
    const state = this.#state;
    if (state === undefined) return 0;
    const { stateSlots, slotsPerRequest } = this.#options;
    const wanted =
      stateSlots === undefined
        ? Math.max(
            floorOf(Math.max(0, arenaBytes), this.#stateShare),
            slotsPerRequest * state.rankUnitBytes,
          )
        : stateSlots * state.rankUnitBytes;
    const most = arenaBytes - this.#sinkBytes - this.#floorWindowBytes;
    return Math.max(0, Math.min(wanted, most));
  }

  #windowBytes(tokens: number): number {
    return this.#windows.reduce(
      (sum, pool) => sum + this.#windowTarget(pool, tokens) * pool.rankUnitBytes,
      0,
    );
  }

  // The ratio of the full tokens in whole pages, never less than one request's rows; all of them where the length is
  // unknown: such a window is never retired.
  #windowTarget(pool: SubPoolPlan, tokens: number): number {
    const least = floorWindowTokens(this.#plan, pool, this.#options.contextTokens);
    if (tokens === 0) return least;
    const isUnknown = pool.lifetime.kind === "window" && pool.lifetime.tokens === null;
    const share = isUnknown ? tokens : pagesUpOf(tokens, this.#windowRatio, this.#plan.pageTokens);
    return Math.max(share, least);
  }

  // Tokens that a concurrency needs: two a request, whole pages.
  #tokensFor(concurrency: number): number {
    const page = this.#plan.pageTokens;
    return Math.ceil((2 * concurrency) / page) * page;
  }
}

// Largest integer in [low, high] for which `holds`, given that it holds at low and never again after it failed.
function largest(low: number, high: number, holds: (value: number) => boolean): number {
  let yes = low;
  let no = high + 1;
  while (no - yes > 1) {
    const middle = yes + Math.floor((no - yes) / 2);
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}
