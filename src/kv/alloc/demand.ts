// What one request needs from each sub-pool, wherever its demand is asked: one function, so that the memory clip of an
// arriving request and its admission cannot disagree.
import type { ChainConfig } from "../config.js";
import type { BandPlan } from "../memory/geometry.js";

/** Why a demand is asked. @internal */
export type DemandPurpose = "ceiling" | "admit" | "load_back" | "decode_prealloc";

/** The request as its demand sees it; tokens throughout. @internal */
export interface RequestShape {
  readonly input: number; // prompt
  readonly maxNew: number; // expected output
  readonly matched: number; // prefix that the tree already holds
  readonly chunk: number | null; // prompt tokens of this pass, null: the whole prompt
  readonly tail?: number; // DECODE_PREALLOC: window tokens received
  readonly loaded?: readonly number[]; // LOAD_BACK: [bands] pages of host rows, slots for state
}

/** What the demand rules need to know of a run. @internal */
export interface DemandRules {
  readonly config: ChainConfig;
  readonly plans: readonly BandPlan[]; // chain order
}

/** Slots that a request's state tracking takes beside its main slot: `extra_buffer` 2 with overlap, else 1; lazy 1. */
export function trackingSlots(config: ChainConfig): number {
  switch (config.checkpoint?.strategy) {
    case "extra_buffer":
      return config.overlap ? 2 : 1;
    case "extra_buffer_lazy":
      return 1;
    default:
      return 0;
  }
}

/** Checkpoint interval in tokens where window retirement keeps a floor, else 0. @internal */
export function floorInterval({ config, plans }: DemandRules): number {
  const { checkpoint, prefixSharing } = config;
  const hasState = plans.some((plan) => plan.kind === "state");
  if (!prefixSharing || !hasState || !checkpoint || checkpoint.strategy === "no_buffer") return 0;
  return checkpoint.interval ?? 0;
}

/** Tokens on whose multiples every chunk but a prompt's last ends: `lcm(page, interval)`, or the page alone where no
 * floor exists or no window retires. @internal */
export function chunkGrid(rules: DemandRules): number {
  const size = rules.config.pageSize;
  const interval = floorInterval(rules);
  if (interval === 0 || !rules.plans.some((plan) => plan.isWindow)) return size;
  return (size / gcd(size, interval)) * interval;
}

/** The matched prefix that a demand may leave out: whole pages, and at least one token is computed anew. @internal */
export function countedMatch(
  { pageSize }: Pick<ChainConfig, "pageSize">,
  input: number,
  matched: number,
): number {
  return Math.floor(Math.max(0, Math.min(matched, input - 1)) / pageSize) * pageSize;
}

/**
 * Pages by band index (slots for state) that a request is charged.
 *
 * Owner `ceil(T/ps) - m/ps` with `T = input + max_new`; a window the smaller of that and `ceil((n-1)/ps) + 1`,
 * `n = R + max(1, min(chunk, input - m))`, `R` the window (at least a page with sharing) plus the checkpoint interval
 * where a floor exists; state 1 and the tracking slots. DECODE_PREALLOC: the prompt's pages, of windows those of the
 * tail only. LOAD_BACK: ADMIT and the loaded pages of each window, one slot if a state is loaded.
 * Source: `docs/trace-format.md`, "Demand of a request". @internal
 */
export function requestDemand(
  rules: DemandRules,
  shape: RequestShape,
  purpose: DemandPurpose,
): number[] {
  const { config, plans } = rules;
  const size = config.pageSize;
  const slots = 1 + trackingSlots(config);
  if (purpose === "decode_prealloc") {
    const pages = Math.ceil(shape.input / size);
    const first = Math.max(0, Math.floor((shape.input - (shape.tail ?? shape.input)) / size));
    return plans.map((plan) =>
      plan.kind === "state" ? slots : plan.isWindow ? pages - first : pages,
    );
  }
  const matched = purpose === "ceiling" ? 0 : countedMatch(config, shape.input, shape.matched);
  const owner = Math.ceil((shape.input + shape.maxNew) / size) - matched / size;
  return plans.map((plan, index) => {
    const loaded = purpose === "load_back" ? (shape.loaded?.[index] ?? 0) : 0;
    if (plan.kind === "state") return slots + Math.min(1, loaded);
    if (!plan.isWindow) return owner;
    return Math.min(owner, windowPeak(rules, plan, shape, matched)) + loaded;
  });
}

/** The most pages of one window that a request holds at once; unbounded where the window's length is unknown. */
function windowPeak(
  rules: DemandRules,
  plan: BandPlan,
  shape: RequestShape,
  matched: number,
): number {
  if (plan.window === null) return Number.MAX_SAFE_INTEGER;
  const { pageSize, prefixSharing } = rules.config;
  const retained =
    (prefixSharing ? Math.max(plan.window, pageSize) : plan.window) + floorInterval(rules);
  const rest = shape.input - matched;
  const computed =
    retained + Math.max(1, shape.chunk === null ? rest : Math.min(shape.chunk, rest));
  return Math.ceil((computed - 1) / pageSize) + 1;
}

function gcd(left: number, right: number): number {
  return right === 0 ? left : gcd(right, left % right);
}
