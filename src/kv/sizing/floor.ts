// The boot floor: what one request at batch size 1 needs, term by term, and the bytes that never enter the arena.
import type { KVStoragePlan, SubPoolPlan } from "../plan/plan.js";
import type { FloorRefusal } from "../plan/refusals.js";

const ROW_ENTRY_BYTES = 8; // one token id of a request row
const FLOOR_STATE_SLOTS = 3; // one active and two checkpoints

/** What the rows of the request table cost. @public */
export interface RowCosts {
  readonly rowTokens: number; // width of a request row
  readonly rowStateBytes: number; // request-scoped device state of a row
  readonly scratchBytes: number;
}

/** Bytes beside the arena for a concurrency: the request table with its padding row, row state, scratch. @public */
export function fixedBytes(costs: RowCosts, concurrency: number): number {
  return (concurrency + 1) * rowBytes(costs) + costs.scratchBytes;
}

/** Bytes that one more request row costs. @internal */
export function rowBytes(costs: RowCosts): number {
  return ROW_ENTRY_BYTES * costs.rowTokens + costs.rowStateBytes;
}

/** The reserved low bytes: the largest unit and the largest token page. A state unit counts once, never times the page
 * size. @public */
export function planSinkBytes(plan: KVStoragePlan): number {
  let sink = 0;
  for (const pool of plan.subPools)
    sink = Math.max(sink, pool.rankUnitBytes, pageBytesOf(plan, pool));
  return sink;
}

/** Bytes of one page (of one slot for state) on one rank. @public */
export function pageBytesOf(plan: KVStoragePlan, pool: SubPoolPlan): number {
  return pool.kind === "state" ? pool.rankUnitBytes : pool.rankUnitBytes * plan.pageTokens;
}

/** Rows of a window that one request keeps: `min(context, window + page)`, the whole context when the length is
 * unknown. @public */
export function floorWindowTokens(
  plan: KVStoragePlan,
  pool: SubPoolPlan,
  contextTokens: number,
): number {
  const tokens = pool.lifetime.kind === "window" ? pool.lifetime.tokens : null;
  return tokens === null ? contextTokens : Math.min(contextTokens, tokens + plan.pageTokens);
}

/** Terms of the floor in bytes, by name: each window, the state, `sink`, and `fixed` for one request. Full-attention
 * tokens are no term: the memory clip and admission judge a whole request. @public */
export function floorTerms(
  plan: KVStoragePlan,
  contextTokens: number,
  costs: RowCosts,
): Readonly<Record<string, number>> {
  const terms: Record<string, number> = {};
  for (const pool of plan.subPools) {
    if (pool.lifetime.kind === "state") terms[pool.name] = FLOOR_STATE_SLOTS * pool.rankUnitBytes;
    if (pool.lifetime.kind === "window")
      terms[pool.name] = floorWindowTokens(plan, pool, contextTokens) * pool.rankUnitBytes;
  }
  terms["sink"] = planSinkBytes(plan);
  terms["fixed"] = fixedBytes(costs, 1);
  return terms;
}

/** Sum of the terms, bytes: the smallest budget that boots. @public */
export function floorBytes(terms: Readonly<Record<string, number>>): number {
  return Object.values(terms).reduce((sum, bytes) => sum + bytes, 0);
}

/** Refuses a budget below the floor; equality passes. @internal */
export function floorRefusal(
  budgetBytes: number,
  terms: Readonly<Record<string, number>>,
): FloorRefusal | null {
  const least = floorBytes(terms);
  if (budgetBytes >= least) return null;
  const named = Object.entries(terms).map(([name, bytes]) => `${name} ${bytes}`);
  return {
    code: "refused_floor",
    terms,
    message: `budget ${budgetBytes} bytes is below the floor of one request, ${least}: ${named.join(" + ")}`,
  };
}
