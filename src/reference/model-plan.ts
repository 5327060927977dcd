// From layers to sub-pools: parts of one lifetime share one, and their order is the chain (allocator.md 1.2).
import { bytesOfElement } from "./model-fields.js";
import type { AttentionPart, Layer, Model, StatePart } from "./model-layers.js";
import { Refusal } from "./refusal.js";

/** A block of every unit as kernels see it. @internal */
export interface View {
  readonly base: number; // bytes from the start of the entry
  readonly elementBytes: number;
}

/** One sub-pool of the plan. @internal */
export interface PlannedPool {
  readonly name: string;
  readonly kind: "state" | "mha" | "mla";
  readonly window: number | null | undefined; // undefined: no window
  readonly layerCount: number;
  readonly unitBytes: number;
  readonly views: readonly View[];
}

/** @internal */
export interface PlanOptions {
  readonly pageSize: number; // tokens
  readonly hasCheckpoints: boolean;
}

/** Sub-pools in chain order, low to high. Refuses with `refused_plan`. @internal */
export function planPools(target: Model, draft: Model | null, options: PlanOptions): PlannedPool[] {
  const drafted = draft?.layers ?? [];
  const hasState = target.layers.some(({ state }) => state !== null);
  if (drafted.some(({ state }) => state !== null) && !(hasState && options.hasCheckpoints))
    refusePlan("draft_needs_state", hasState ? "mamba" : undefined);
  const both = [...target.layers, ...drafted];
  const attention = both.flatMap((layer) => (layer.attention === null ? [] : [layer.attention]));
  if (!attention.some(({ window }) => window === undefined)) refusePlan("no_full_owner");
  const firstWindow = attention.find(({ window }) => window !== undefined);
  if (firstWindow !== undefined && attention.some(({ kind }) => kind === "mla"))
    refusePlan("mla_with_window", nameOf(firstWindow.window));
  checkGeometries(target.layers, drafted, options.pageSize);
  const pools: PlannedPool[] = [];
  if (hasState) pools.push(statePool(target.layers, drafted));
  for (const window of [...windowsOf(both), undefined])
    pools.push(attentionPool(attention, window));
  if (pools.length === 1) refusePlan("full_only", "full");
  return pools;
}

/** Window lengths, longest first; an unknown length is the longest. @internal */
export function windowsOf(layers: readonly Layer[]): (number | null)[] {
  const lengths = layers.flatMap(({ attention }) =>
    attention === null || attention.window === undefined ? [] : [attention.window],
  );
  return [...new Set(lengths)].sort((left, right) => (right ?? Infinity) - (left ?? Infinity));
}

/** The band's name. @internal */
export function nameOf(window: number | null | undefined): string {
  if (window === undefined) return "full";
  return window === null ? "window" : `window_${window}`;
}

/** Refuses the plan. @internal */
export function refusePlan(rule: string, band?: string): never {
  throw new Refusal({ code: "refused_plan", rule, ...(band === undefined ? {} : { band }) });
}

// Of each sub-pool the first part says what the others are. The sub-pools in the order in which they are declared. A
// draft's rows may have other shapes in a sub-pool of the target's; its states may not.
function checkGeometries(
  target: readonly Layer[],
  draft: readonly Layer[],
  pageSize: number,
): void {
  const both = [...target, ...draft];
  const names = both.flatMap(({ attention, state }) => [
    ...(attention === null ? [] : [nameOf(attention.window)]),
    ...(state === null ? [] : ["mamba"]),
  ]);
  for (const name of new Set(names)) {
    let row: AttentionPart | null = null;
    let rowsOfTarget = false; // the draft's rows are guests
    let slot: StatePart | null = null;
    both.forEach(({ attention, state }, index) => {
      if (attention !== null && nameOf(attention.window) === name) {
        row ??= attention;
        rowsOfTarget ||= index < target.length;
        const isOwn = index < target.length || !rowsOfTarget;
        const isOther = isOwn && rowShape(attention) !== rowShape(row);
        const pageTokens = attention.pageTokens ?? pageSize;
        if (attention.kind !== row.kind || isOther || pageTokens !== pageSize)
          refusePlan("two_geometries", name);
      }
      if (state === null || name !== "mamba") return;
      slot ??= state;
      if (stateShape(state) !== stateShape(slot)) refusePlan("two_geometries", name);
    });
  }
}

function attentionPool(
  attention: readonly AttentionPart[],
  window: number | null | undefined,
): PlannedPool {
  const parts = attention.filter((part) => part.window === window);
  const views: View[] = [];
  let unitBytes = 0;
  for (const part of parts) {
    const elementBytes = bytesOf(part.element);
    views.push({ base: unitBytes, elementBytes });
    if (part.kind === "mha")
      views.push({ base: unitBytes + part.heads * part.keyDim * elementBytes, elementBytes });
    unitBytes += part.heads * (part.keyDim + part.valueDim) * elementBytes;
  }
  const kind = parts[0]?.kind ?? "mha";
  return { name: nameOf(window), kind, window, layerCount: parts.length, unitBytes, views };
}

function rowShape({ kind, heads, keyDim, valueDim, element }: AttentionPart): string {
  return [kind, heads, keyDim, valueDim, element].join();
}

// Slot: each conv shape over all layers, then the temporal part over all layers, then the siblings, each from a
// multiple of 8 bytes. A draft's blocks follow the target's.
function statePool(target: readonly Layer[], draft: readonly Layer[]): PlannedPool {
  const runners = [target, draft].map((layers) =>
    layers.flatMap(({ state }) => (state === null ? [] : [state])),
  );
  const views: View[] = [];
  let unitBytes = 0;
  const add = (shape: readonly number[], element: string): void => {
    const elementBytes = bytesOf(element);
    if (product(shape) === 0) return; // an empty part is not viewed
    views.push({ base: unitBytes, elementBytes });
    unitBytes += product(shape) * elementBytes;
  };
  for (const runner of runners) {
    const [first] = runner;
    if (first === undefined) continue;
    for (const shape of first.conv) for (const _ of runner) add(shape, first.convElement);
    for (const _ of runner) add(first.temporal, first.temporalElement);
  }
  for (const runner of runners) {
    for (const { shape, element } of runner[0]?.siblings ?? []) {
      unitBytes = roundedUp(unitBytes, 8);
      for (const _ of runner) add(shape, element);
    }
  }
  if (runners.flat().some(({ siblings }) => siblings.length > 0))
    unitBytes = roundedUp(unitBytes, 8);
  const layerCount = runners.flat().length;
  return { name: "mamba", kind: "state", window: undefined, layerCount, unitBytes, views };
}

function stateShape({ mixer: _, ...shape }: StatePart): string {
  return JSON.stringify(shape);
}

function bytesOf(element: string): number {
  return bytesOfElement(element) ?? 1;
}

function product(shape: readonly number[]): number {
  return shape.reduce((so, dimension) => so * dimension, 1);
}

/** @internal */
export function roundedUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}
