// Whether an answer about capacity is true, tried on a copy: a yes is taken for real and what was taken is looked at; a no
// is held against a search of its own for any layout at all, which shares nothing with the allocator's pricing.
import type { Answer, BootOk, Demand, DirectConfig, KvOperation } from "../../base/operations.js";
import type { BandState, State } from "../../base/state.js";
import { chainConfig } from "../../kv/config.js";
import { KvCore } from "../../kv/core.js";
import { loadState } from "../../kv/state-io.js";
import { KVStorage } from "../../kv/storage.js";
import { packsOnStages, packsOwn } from "./packing.js";
import { stagesOf } from "./written.js";

const NO_DIGESTS = { layout: false, deep: false };

/** What a question asked for and what it was told. */
interface Claim {
  readonly demand: readonly number[]; // [bands] pages
  readonly fits: boolean;
  readonly step: string | null; // the step that a plan named
}

/** Whether an operation is a claim about capacity that can be tried. @internal */
export function isClaim(operation: KvOperation, answer: Answer): boolean {
  return claimOf(operation, answer, []) !== null;
}

function claimOf(
  operation: KvOperation,
  { ok, err }: Answer,
  bands: readonly string[],
): Claim | null {
  const vector = (...demands: readonly Demand[]): number[] =>
    bands.map((name) => demands.reduce((sum, demand) => sum + (demand[name] ?? 0), 0));
  if (err?.code === "refused_capacity" && operation.op !== "tree.evict")
    return { demand: vector(err.demand ?? {}), fits: false, step: null };
  if (ok === undefined) return null;
  switch (operation.op) {
    case "ask.fits":
      return { demand: vector(operation.args.demand), fits: (ok as Fits).fits, step: null };
    case "ask.prealloc":
      return {
        demand: vector(operation.args.demand, operation.args.held),
        fits: (ok as Fits).fits,
        step: null,
      };
    case "ask.plan": {
      const { step } = ok as { readonly step: string }; // what ask.plan answers
      const fits = step !== "none";
      return { demand: vector(operation.args.demand), fits, step: fits ? step : null };
    }
    default:
      return null;
  }
}
interface Fits {
  readonly fits: boolean; // what ask.fits and ask.prealloc answer
}

/** Tries the claim of an answer. Returns what is wrong with it, null where it is true or makes none.
 * @param state - as the operation found and left it */
export function falseClaim(
  config: DirectConfig,
  boot: BootOk,
  state: State,
  operation: KvOperation,
  answer: Answer,
): string | null {
  const bands = Object.keys(boot.bands);
  const claim = claimOf(operation, answer, bands);
  if (claim === null) return null;
  const asked = describe(bands, claim.demand);
  const core = new KvCore(config, chainConfig(config), NO_DIGESTS);
  loadState(core, state);
  const tried = takeFrom(core, claim.demand);
  if (claim.fits && tried.step === null) return `${asked} was granted, its take: ${tried.wrong}`;
  if (tried.step !== null && tried.wrong !== null) return `the take of ${asked}: ${tried.wrong}`;
  if (!claim.fits && tried.step !== null)
    return `${asked} was denied, its take succeeds (${tried.step})`;
  if (claim.step !== null && claim.step !== tried.step)
    return `${asked} was planned as ${claim.step}, its take is ${String(tried.step)}`;
  const stages = stagesOf(state);
  // with stages a load's window pages are fixed until it names them, and no take is granted until then
  if (stages !== null && hasFixed(state, bands)) return null;
  if (stages === null && (!countsDecide(state, bands) || tried.step === "no_move")) return null;
  const isHeld =
    stages === null
      ? packsOwn(config, boot.bands, state, claim.demand)
      : packsOnStages(config, stages, boot.bands, state, claim.demand);
  if (isHeld === claim.fits) return null;
  return claim.fits
    ? `${asked} was granted, no layout holds it`
    : `${asked} was denied, packed bands hold it`;
}

/**
 * Tries on a copy what an eviction for a demand was told: a refusal, against evicting everything that may go; a grant,
 * against the take. Returns what is wrong with it, null where it is true or no such eviction.
 * @param state - as the operation left it
 * @internal
 */
export function falseEviction(
  config: DirectConfig,
  state: State,
  operation: KvOperation,
  { err }: Answer,
): string | null {
  if (operation.op !== "tree.evict" || operation.args.demand === undefined) return null;
  if (err !== undefined && err.code !== "refused_capacity") return null;
  const { demand } = operation.args;
  const copy = new KVStorage(config, { digestDepth: null });
  copy.load(state);
  if (err !== undefined) {
    const all = Object.fromEntries(config.sub_pools.map(({ name }) => [name, "all" as const]));
    copy.apply({ op: "tree.evict", args: { units: all } });
  }
  const { ok } = copy.apply({ op: "ask.fits", args: { demand } });
  const isServed = ok !== undefined && (ok as Fits).fits; // what ask.fits answers
  if (isServed === (err === undefined)) return null;
  const asked = describe(Object.keys(demand), Object.values(demand));
  return isServed
    ? `an eviction for ${asked} was denied, with all evicted that may go it fits`
    : `an eviction for ${asked} was granted, it does not fit behind it`;
}

function describe(bands: readonly string[], demand: readonly number[]): string {
  const parts = bands.map((name, index) => `${name} ${demand[index] ?? 0}`);
  return `a demand of ${parts.join(", ")}`;
}

/** Takes a demand; `wrong` says why it was refused, or what is unsound about what was taken. */
function takeFrom(
  { chain }: KvCore,
  demand: readonly number[],
): { readonly step: string | null; readonly wrong: string | null } {
  const plan = chain.price(demand);
  if (!("step" in plan)) return { step: null, wrong: `is refused (${plan.code})` };
  const live = chain.bands.map((band) => band.live);
  let taken;
  try {
    taken = chain.take(demand, plan);
  } catch (error) {
    return { step: null, wrong: error instanceof Error ? `throws: ${error.message}` : "throws" };
  }
  let below = 0;
  for (const band of chain.bands) {
    const { plan: grid, spanFirst, spanCount } = band;
    const pages = taken.pages[band.index] ?? [];
    const wanted = demand[band.index] ?? 0;
    const end = spanFirst + spanCount;
    const isInside = (page: number): boolean =>
      page >= spanFirst && page < end && band.p2v[page] === 0;
    const wrong =
      pages.length !== wanted || new Set(pages).size !== wanted
        ? `gives ${pages.length} pages of ${grid.name}`
        : !pages.every(isInside)
          ? `gives pages of ${grid.name} that are bound or outside its span`
          : band.live !== live[band.index]! + wanted
            ? `counts ${band.live} live pages of ${grid.name}`
            : spanCount > 0 && spanFirst * grid.page_bytes < below
              ? `lets ${grid.name} reach into the band below`
              : null;
    if (wrong !== null) return { step: taken.step, wrong };
    if (spanCount > 0) below = end * grid.page_bytes;
  }
  return { step: taken.step, wrong: null };
}

/** Whether counts of pages alone tell which layouts there are: nothing fixed, no transfer. */
function countsDecide(state: State, bands: readonly string[]): boolean {
  const transfers = state.net["transfers"] ?? {};
  return Object.keys(transfers).length === 0 && !hasFixed(state, bands);
}

function hasFixed(state: State, bands: readonly string[]): boolean {
  return bands.some((name) => (state[name] as BandState).fixed.length > 0);
}
