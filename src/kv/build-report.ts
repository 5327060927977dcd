// What `show --plan` prints, as data: sub-pools and their layers, grids, entries, views, tree slots, budget, notices.
import type { RunConfig } from "../base/operations.js";
import { chainConfig, planRefusal } from "./config.js";
import type { Derived } from "./build.js";
import { deriveConfig, isModelConfig } from "./build.js";
import type { SubPoolPlan } from "./plan/plan.js";
import type { BuildRefusal } from "./plan/refusals.js";
import { planRefused, PLAN_RULES } from "./plan/refusals.js";
import { arenaLayout } from "./layout/arena.js";
import type { ArenaLayout } from "./layout/arena.js";
import type { HostLayout } from "./layout/host.js";
import { bandPlans, sinkBytes } from "./memory/geometry.js";
import { PRESETS } from "./presets/presets.js";

/** One row of the plan: a band with its grid and, from a model form, its layers. @public */
export interface PlanReportBand {
  readonly name: string;
  readonly kind: SubPoolPlan["kind"];
  readonly grow: "up" | "down" | "float";
  readonly window: number | null; // tokens
  readonly unitBytes: number;
  readonly pageBytes: number;
  readonly pages: number; // on the grid
  readonly firstPage: number;
  readonly usablePages: number;
  readonly topBytes: number; // above the grid's last page: out of reach for this band
  readonly layers: {
    readonly target: readonly number[];
    readonly draft: readonly number[];
  } | null; // null in the direct form
  readonly layerBytes: number | null; // of one unit, one layer of the target; null in the direct form
}
/** @public */
export interface PlanReport {
  readonly model: string | null; // null in the direct form
  readonly source: string | null; // of a preset
  readonly pageTokens: number;
  readonly contextRanks: number;
  readonly arenaBytes: number;
  readonly sinkBytes: number;
  readonly rows: number;
  readonly rowTokens: number;
  readonly bands: readonly PlanReportBand[]; // chain order
  readonly treeSlots: readonly string[];
  readonly targets: Readonly<Record<string, number>>; // empty in the direct form
  readonly floor: Readonly<Record<string, number>>; // terms of the boot floor; empty in the direct form
  readonly notices: readonly string[];
  readonly layout: ArenaLayout | null; // null in the direct form
  readonly host: HostLayout | null; // null in the direct form
}

/** The plan of a configuration in either form, or why there is none. Throws as `deriveConfig` does. @public */
export function planReport(
  config: RunConfig,
): { readonly report: PlanReport } | { readonly refusal: BuildRefusal } {
  if (isModelConfig(config)) {
    const derived = deriveConfig(config);
    return "refusal" in derived ? derived : { report: modelReport(config.model, derived) };
  }
  const refusal = planRefusal(config);
  if (refusal !== null) {
    const rule = PLAN_RULES.find((known) => known === refusal.rule) ?? "no_full_owner";
    return { refusal: planRefused(rule, `the sub-pools break ${rule}`, refusal.band) };
  }
  const chain = chainConfig(config);
  const windows = chain.subPools.filter(
    (pool) => pool.kind !== "state" && pool.window !== undefined,
  );
  const primary = config.primary_window ?? windows[0]?.name;
  const others = windows.filter((pool) => pool.name !== primary).map((pool) => pool.name);
  const hasState = chain.subPools.some((pool) => pool.kind === "state");
  return {
    report: {
      model: null,
      source: null,
      pageTokens: config.page_size,
      contextRanks: 1,
      arenaBytes: config.arena_bytes,
      sinkBytes: sinkBytes(chain),
      rows: config.rows,
      rowTokens: config.row_tokens,
      bands: bandPlans(chain).map((band) => reportBand(band, config.arena_bytes, null)),
      treeSlots: [
        ...chain.subPools
          .filter((pool) => pool.kind !== "state" && pool.window === undefined)
          .map((pool) => pool.name),
        ...(primary === undefined ? [] : [primary]),
        ...others,
        ...(hasState ? chain.subPools.slice(0, 1).map((pool) => pool.name) : []),
      ],
      targets: {},
      floor: {},
      notices: [],
      layout: null,
      host: null,
    },
  };
}

function modelReport(
  model: Readonly<Record<string, unknown>>,
  { derived, plan, sizing, targets, notices, host, model: declared }: Derived,
): PlanReport {
  const chain = chainConfig(derived);
  const preset = PRESETS.find((entry) => entry.name === model["preset"]);
  return {
    model: declared.name,
    source: preset?.source ?? null,
    pageTokens: plan.pageTokens,
    contextRanks: plan.contextRanks,
    arenaBytes: derived.arena_bytes,
    sinkBytes: sizing.sinkBytes,
    rows: derived.rows,
    rowTokens: derived.row_tokens,
    bands: bandPlans(chain).map((band, index) =>
      reportBand(band, derived.arena_bytes, plan.subPools[index] ?? null),
    ),
    treeSlots: plan.treeSlots,
    targets,
    floor: sizing.floor,
    notices,
    layout: arenaLayout(plan, derived.arena_bytes),
    host,
  };
}

function reportBand(
  band: ReturnType<typeof bandPlans>[number],
  arenaBytes: number,
  pool: SubPoolPlan | null,
): PlanReportBand {
  const layersOf = (role: "target" | "draft"): number[] =>
    pool === null ? [] : pool.parts.filter((part) => part.role === role).map((part) => part.layer);
  const firstPart = pool?.parts[0];
  return {
    name: band.name,
    kind: band.kind,
    grow: band.grow,
    window: band.window,
    unitBytes: band.unit_bytes,
    pageBytes: band.page_bytes,
    pages: band.pages,
    firstPage: band.first_page,
    usablePages: Math.max(0, band.pages - band.first_page),
    topBytes: arenaBytes - band.pages * band.page_bytes,
    layers: pool === null ? null : { target: layersOf("target"), draft: layersOf("draft") },
    layerBytes:
      firstPart === undefined
        ? null
        : firstPart.unitBlocks.reduce((sum, block) => sum + block.bytes, 0),
  };
}
