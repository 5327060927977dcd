// `planStorage`: groups parts into sub-pools and orders them into a chain. Pure; refusals are values.
import { partBytes, unitBytesOf } from "../decl/parts.js";
import type { KVGeometry, KVLayerDecl, KVLifetime, KVPart } from "../decl/types.js";
import type { PlanRefusal } from "./refusals.js";
import { planRefused } from "./refusals.js";

/** One sub-pool: parts of the same lifetime and allocation unit. @public */
export interface SubPoolPlan {
  readonly name: string; // full, window_LENGTH, window, mamba
  readonly kind: KVGeometry["kind"];
  readonly lifetime: KVLifetime;
  readonly grow: "up" | "down" | "float";
  readonly parts: readonly KVPart[]; // layer order, the target's before the draft's
  readonly unitBytes: number; // one token or slot over all layers, on all ranks of decode context parallelism
  readonly rankUnitBytes: number; // what one rank stores of it; of a state the same
  readonly rowsPerPage: number; // rows that one rank stores of a page; 1 for state
}
/** @public */
export interface KVStoragePlan {
  readonly pageTokens: number; // the scheduler's page size: rows of a page times the ranks
  readonly contextRanks: number; // decode context parallel width
  readonly subPools: readonly SubPoolPlan[]; // chain order: state, windows from the longest, full
  readonly treeSlots: readonly string[]; // full, the target's primary window, other windows from the longest, state
  readonly primaryWindow: string | null;
}
/** @public */
export interface PlanOptions {
  readonly pageTokens: number; // rows of a page on one rank
  readonly contextRanks?: number; // decode context parallel width, default 1
  readonly primaryWindow?: string; // overrides the target's longest window
  readonly allowFullOnly?: boolean; // the allocator works with one band, the product refuses it
}
/** @public */
export type Planned = { readonly plan: KVStoragePlan } | { readonly refusal: PlanRefusal };

/** Plans the storage of a target's layers and of a draft's fused into them. @public */
export function planStorage(decls: readonly KVLayerDecl[], options: PlanOptions): Planned {
  const parts = decls.flatMap((decl) => decl.parts);
  const ordered = [...ofRole(parts, "target"), ...ofRole(parts, "draft")];
  const refusal = groupRefusal(ordered, options);
  if (refusal !== null) return { refusal };
  const groups = groupsOf(ordered).sort(
    (left, right) => lifetimeRank(left.lifetime) - lifetimeRank(right.lifetime),
  );
  const ranks = options.contextRanks ?? 1;
  const dcp = contextRefusal(groups, ranks);
  if (dcp !== null) return { refusal: dcp };
  const last = groups.length - 1;
  const subPools = groups.map((group, index) =>
    subPool(group, index === last ? "down" : index === 0 ? "up" : "float", ranks, options),
  );
  const primaryWindow = primaryOf(subPools, options.primaryWindow);
  if (options.primaryWindow !== undefined && primaryWindow !== options.primaryWindow)
    return {
      refusal: planRefused(
        "feature_conflict",
        `primary_window "${options.primaryWindow}" is no window of this plan`,
      ),
    };
  const pageTokens = options.pageTokens * ranks;
  const treeSlots = treeSlotsOf(subPools, primaryWindow);
  return { plan: { pageTokens, contextRanks: ranks, subPools, treeSlots, primaryWindow } };
}

/** The name of the sub-pool that a lifetime goes to. @public */
export function subPoolName(lifetime: KVLifetime): string {
  if (lifetime.kind === "full") return "full";
  if (lifetime.kind === "state") return "mamba";
  return lifetime.tokens === null ? "window" : `window_${lifetime.tokens}`;
}

/** The sub-pool of a name. @public */
export function subPoolNamed(plan: KVStoragePlan, name: string): SubPoolPlan | undefined {
  return plan.subPools.find((pool) => pool.name === name);
}

interface Group {
  readonly lifetime: KVLifetime;
  readonly parts: KVPart[];
}

function ofRole(parts: readonly KVPart[], role: KVPart["role"]): KVPart[] {
  return parts.filter((part) => part.role === role).sort((left, right) => left.layer - right.layer); // stable: parts of a layer keep their order
}

// Lifetimes are equal when their names are: a window by its exact length, a state whatever its checkpoint grid.
function groupsOf(parts: readonly KVPart[]): Group[] {
  const groups = new Map<string, Group>();
  for (const part of parts) {
    const name = subPoolName(part.lifetime);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, { lifetime: part.lifetime, parts: [part] });
    else group.parts.push(part);
  }
  return [...groups.values()];
}

// Ascending in chain order. A window of unknown length outlives every known one.
function lifetimeRank(lifetime: KVLifetime): number {
  if (lifetime.kind === "state") return -Infinity;
  if (lifetime.kind === "full") return 1;
  return lifetime.tokens === null ? -Number.MAX_SAFE_INTEGER : -lifetime.tokens;
}

function subPool(
  { lifetime, parts }: Group,
  grow: SubPoolPlan["grow"],
  ranks: number,
  options: PlanOptions,
): SubPoolPlan {
  const isState = lifetime.kind === "state";
  const unitBytes = unitBytesOf(parts);
  return {
    name: subPoolName(lifetime),
    kind: kindOf(parts),
    lifetime,
    grow,
    parts,
    unitBytes,
    rankUnitBytes: isState ? unitBytes : unitBytes / ranks,
    rowsPerPage: isState ? 1 : options.pageTokens,
  };
}

function kindOf(parts: readonly KVPart[]): KVGeometry["kind"] {
  const first = parts[0];
  return first === undefined ? "mha" : first.geometry.kind; // a group has at least one part
}

function groupRefusal(parts: readonly KVPart[], options: PlanOptions): PlanRefusal | null {
  const draftState = draftStateRefusal(parts);
  if (draftState !== null) return draftState;
  if (!parts.some((part) => part.lifetime.kind === "full"))
    return planRefused(
      "no_full_owner",
      "no layer attends in full: the full-attention sub-pool owns the virtual ids",
    );
  const isLatent = parts.some((part) => part.geometry.kind === "mla");
  const window = parts.find((part) => part.lifetime.kind === "window");
  if (isLatent && window !== undefined)
    return planRefused(
      "mla_with_window",
      "latent attention together with sliding-window layers is not supported",
      subPoolName(window.lifetime),
    );
  const geometries = geometryRefusal(parts, options);
  if (geometries !== null) return geometries;
  const isFullOnly = parts.every((part) => part.lifetime.kind === "full");
  if (isFullOnly && options.allowFullOnly !== true)
    return planRefused(
      "full_only",
      `full attention only (${isLatent ? "MLA" : "MHA"}): there is no second kind of memory to share the arena with`,
      "full",
    );
  return null;
}

function draftStateRefusal(parts: readonly KVPart[]): PlanRefusal | null {
  const isStateOf = (role: KVPart["role"]) => (part: KVPart) =>
    part.role === role && part.lifetime.kind === "state";
  if (!parts.some(isStateOf("draft"))) return null;
  const target = parts.find(isStateOf("target"));
  if (target === undefined)
    return planRefused(
      "draft_needs_state",
      "the draft has recurrent layers and the target no state band for them",
    );
  const { lifetime } = target;
  if (lifetime.kind === "state" && lifetime.checkpointTokens === null)
    return planRefused(
      "draft_needs_state",
      "the draft has recurrent layers and the target's state band no checkpoint policy",
      subPoolName(lifetime),
    );
  return null;
}

// One sub-pool holds one geometry, in pages of the run's size. The draft's token rows may have other heads, not another
// kind of row.
function geometryRefusal(parts: readonly KVPart[], options: PlanOptions): PlanRefusal | null {
  for (const group of groupsOf(parts)) {
    const [first] = group.parts;
    if (first === undefined) continue;
    const name = subPoolName(group.lifetime);
    for (const part of group.parts) {
      const difference = geometryDifference(first, part, options);
      if (difference === null) continue;
      const where = `${part.role} layer ${part.layer}`;
      return planRefused("two_geometries", `${name}: ${where} has ${difference}`, name);
    }
  }
  return null;
}

function geometryDifference(first: KVPart, part: KVPart, options: PlanOptions): string | null {
  const than = `than ${first.role} layer ${first.layer}`;
  const { unit } = part;
  if (unit.kind === "page" && (unit.tokens ?? options.pageTokens) !== options.pageTokens)
    return `pages of ${unit.tokens ?? 0} tokens, the run has ${options.pageTokens}`;
  if (part.geometry.kind !== first.geometry.kind) return `another kind of row ${than}`;
  const isFusedMha = part.geometry.kind === "mha" && part.role !== first.role;
  if (isFusedMha || shapeKey(part) === shapeKey(first)) return null;
  return `other shapes or element types ${than}`;
}

function shapeKey(part: KVPart): string {
  const blocks = part.unitBlocks.map((block) => [block.name, block.shape, block.element]);
  return JSON.stringify(blocks);
}

function contextRefusal(groups: readonly Group[], ranks: number): PlanRefusal | null {
  if (ranks === 1) return null;
  const full = groups.find((group) => group.lifetime.kind === "full");
  if (full === undefined || kindOf(full.parts) !== "mla")
    return planRefused(
      "feature_conflict",
      `dcp_size ${ranks} needs latent attention: other rows have no masked write path`,
      "full",
    );
  const bytes = full.parts.reduce((sum, part) => sum + partBytes(part), 0);
  if (bytes % ranks !== 0)
    return planRefused(
      "feature_conflict",
      `dcp_size ${ranks} does not divide the ${bytes} bytes of a token`,
      "full",
    );
  return null;
}

function primaryOf(subPools: readonly SubPoolPlan[], wanted: string | undefined): string | null {
  const windows = subPools.filter((pool) => pool.lifetime.kind === "window");
  if (wanted !== undefined) return windows.find((pool) => pool.name === wanted)?.name ?? null;
  // Chain order lists the longest first; a draft's own window comes after every window of the target.
  const ofTarget = windows.find((pool) => pool.parts.some((part) => part.role === "target"));
  return (ofTarget ?? windows[0])?.name ?? null;
}

function treeSlotsOf(subPools: readonly SubPoolPlan[], primary: string | null): string[] {
  const named = (kind: KVLifetime["kind"]): string[] =>
    subPools.filter((pool) => pool.lifetime.kind === kind).map((pool) => pool.name);
  const windows = named("window");
  const others = windows.filter((name) => name !== primary);
  return [...named("full"), ...(primary === null ? [] : [primary]), ...others, ...named("state")];
}
