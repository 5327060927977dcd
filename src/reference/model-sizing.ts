// One byte budget, solved for the requests it serves at once and the tokens and slots to start from (allocator.md 1.3,
// decisions 17 to 20).
import { type PlannedPool, roundedUp } from "./model-plan.js";
import { Refusal } from "./refusal.js";

/** What sizing needs to know. @internal */
export interface SizingInput {
  readonly pools: readonly PlannedPool[];
  readonly pageSize: number; // tokens
  readonly budgetBytes: number;
  readonly limit: number; // most requests at once
  readonly rowTokens: number;
  readonly contextTokens: number; // longest sequence
  readonly rowStateBytes: number; // beside the row's 8 bytes a token
  readonly scratchBytes: number;
  readonly windowRatio: number; // window tokens of a full token
  readonly stateRatio: number; // share of the chain
  readonly stateSlots: number | null; // explicit count
  readonly slotsOfRequest: number;
  readonly totalTokens: number | null; // shrinks the budget
}

/** Boot targets. @internal */
export interface Sizes {
  readonly budgetBytes: number;
  readonly fixedBytes: number;
  readonly arenaBytes: number;
  readonly concurrency: number;
  readonly fullTokens: number;
  readonly windowTokens: readonly { readonly name: string; readonly tokens: number }[];
  readonly stateSlots: number | null; // null: no state band
}

/** Refuses with `refused_floor` a budget that one request does not fit in. @internal */
export function sizesOf(input: SizingInput): Sizes {
  const terms = floorTerms(input);
  const floor = Object.values(terms).reduce((sum, bytes) => sum + bytes, 0);
  if (input.budgetBytes < floor) throw new Refusal({ code: "refused_floor", terms });
  const { totalTokens } = input;
  const whole = sizesWithin(input, input.budgetBytes);
  if (totalTokens === null || whole.fullTokens < totalTokens) return whole;
  // The tokens never shrink as the budget grows.
  const least =
    1 +
    lastWhere(floor - 1, input.budgetBytes, (budget) => {
      return budget < floor || sizesWithin(input, budget).fullTokens < totalTokens;
    });
  return sizesWithin(input, least);
}

/** The sink: no band's dummy writes reach beyond it. @internal */
export function sinkBytesOf(pools: readonly PlannedPool[], pageSize: number): number {
  return Math.max(
    ...pools.map(({ kind, unitBytes }) => (kind === "state" ? unitBytes : unitBytes * pageSize)),
  );
}

// Bytes that a single request needs beside its full-attention tokens.
function floorTerms(input: SizingInput): Record<string, number> {
  const terms: Record<string, number> = {};
  for (const pool of input.pools) {
    if (pool.kind === "state") terms[pool.name] = 3 * pool.unitBytes;
    else if (pool.window !== undefined)
      terms[pool.name] = leastWindowTokens(input, pool) * pool.unitBytes;
  }
  terms["sink"] = sinkBytesOf(input.pools, input.pageSize);
  terms["fixed"] = fixedBytes(input, 1);
  return terms;
}

function fixedBytes(input: SizingInput, requests: number): number {
  return (requests + 1) * (8 * input.rowTokens + input.rowStateBytes) + input.scratchBytes;
}

// A window of unknown length keeps the whole sequence.
function leastWindowTokens(input: SizingInput, { window }: PlannedPool): number {
  const context = Math.min(input.contextTokens, input.rowTokens);
  return window === null || window === undefined
    ? context
    : Math.min(context, window + input.pageSize);
}

function windowTarget(input: SizingInput, pool: PlannedPool, fullTokens: number): number {
  const ratio = pool.window === null ? 1 : input.windowRatio;
  const share = roundedUp(timesDecimal(fullTokens, ratio, "up"), input.pageSize);
  return Math.max(share, leastWindowTokens(input, pool));
}

function sizesWithin(input: SizingInput, budgetBytes: number): Sizes {
  const tokensAt = (requests: number): number =>
    fullTokensIn(input, budgetBytes - fixedBytes(input, requests));
  const concurrency = Math.max(
    1, // the floor holds
    lastWhere(0, input.limit, (requests) => requests <= Math.floor(tokensAt(requests) / 2)),
  );
  // Below the limit only what these requests need: otherwise the step to one request more would take tokens away.
  const most = tokensAt(concurrency);
  const isAtLimit = concurrency >= input.limit;
  const fullTokens = isAtLimit ? most : Math.min(most, roundedUp(2 * concurrency, input.pageSize));
  const fixed = fixedBytes(input, concurrency);
  const arenaBytes = budgetBytes - fixed;
  const state = input.pools.find(({ kind }) => kind === "state");
  const windows = input.pools.filter(({ window }) => window !== undefined);
  return {
    budgetBytes,
    fixedBytes: fixed,
    arenaBytes,
    concurrency,
    fullTokens,
    windowTokens: windows.map((pool) => ({
      name: pool.name,
      tokens: windowTarget(input, pool, fullTokens),
    })),
    stateSlots:
      state === undefined ? null : Math.floor(stateBytesIn(input, arenaBytes) / state.unitBytes),
  };
}

// The bytes of state: a share of the chain or an explicit count, no more than the floor's windows leave.
function stateBytesIn(input: SizingInput, chainBytes: number): number {
  const state = input.pools.find(({ kind }) => kind === "state");
  if (state === undefined) return 0;
  const asked =
    input.stateSlots !== null
      ? input.stateSlots * state.unitBytes
      : Math.max(
          timesDecimal(chainBytes, input.stateRatio, "down"),
          input.slotsOfRequest * state.unitBytes,
        );
  return Math.min(
    asked,
    chainBytes - sinkBytesOf(input.pools, input.pageSize) - tokenBytes(input, 0),
  );
}

// The bytes of all token bands at so many full tokens.
function tokenBytes(input: SizingInput, fullTokens: number): number {
  let bytes = 0;
  for (const pool of input.pools) {
    if (pool.kind === "state") continue;
    const tokens = pool.window === undefined ? fullTokens : windowTarget(input, pool, fullTokens);
    bytes += tokens * pool.unitBytes;
  }
  return bytes;
}

// The most full-attention tokens, whole pages, whose windows fit too.
function fullTokensIn(input: SizingInput, chainBytes: number): number {
  if (chainBytes <= 0) return 0;
  const sink = sinkBytesOf(input.pools, input.pageSize);
  const left = chainBytes - sink - stateBytesIn(input, chainBytes);
  const pages = lastWhere(0, Math.floor(chainBytes / input.pageSize), (count) => {
    return tokenBytes(input, count * input.pageSize) <= left;
  });
  return pages * input.pageSize;
}

// The last of low … high that holds, where all up to it hold; `low` is taken to hold.
function lastWhere(low: number, high: number, holds: (value: number) => boolean): number {
  let [yes, no] = [low, high + 1];
  while (no - yes > 1) {
    const middle = Math.floor((yes + no) / 2);
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

// Exact: a ratio is the decimal that is written, not the nearest binary fraction.
function timesDecimal(value: number, ratio: number, direction: "up" | "down"): number {
  const digits = ratio.toFixed(20).replace(/0+$/, "");
  const shortest = String(ratio).includes("e") ? digits : String(ratio);
  const [whole = "0", fraction = ""] = shortest.split(".");
  const scale = 10n ** BigInt(fraction.length);
  const product = BigInt(value) * BigInt(whole + fraction);
  const down = product / scale;
  return Number(direction === "up" && down * scale < product ? down + 1n : down);
}
