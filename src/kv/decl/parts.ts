// From a geometry to the bytes of one token or slot, with the checks that a declaration must pass.
import { InputError } from "../../base/errors.js";
import type {
  AllocationUnit,
  ElementType,
  KVGeometry,
  KVLayerDecl,
  KVLifetime,
  KVModelRole,
  KVPart,
  UnitBlock,
} from "./types.js";
import { ELEMENT_BYTES } from "./types.js";

const SIBLING_ALIGN_BYTES = 8;

/** Where a part belongs. @internal */
export interface PartPlace {
  readonly layer: number; // 0-based in its own model
  readonly role: KVModelRole;
  readonly pageTokens?: number; // a page size of the part's own; absent: that of the run
}

/** Elements of a tensor; 0 when a dimension is 0. @internal */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, dimension) => product * dimension, 1);
}

/** The next multiple of the alignment of siblings. @internal */
export function alignedToSibling(bytes: number): number {
  return Math.ceil(bytes / SIBLING_ALIGN_BYTES) * SIBLING_ALIGN_BYTES;
}

/** A part with its unit blocks. Throws `InputError` (`config`) naming the layer and the field. @public */
export function kvPart(geometry: KVGeometry, lifetime: KVLifetime, place: PartPlace): KVPart {
  const where = `${place.role} layer ${place.layer}`;
  checkGeometry(geometry, where);
  checkLifetime(lifetime, geometry, where);
  const unit: AllocationUnit =
    geometry.kind === "state"
      ? { kind: "slot" }
      : { kind: "page", tokens: place.pageTokens ?? null };
  const { layer, role } = place;
  return { layer, role, geometry, lifetime, unit, unitBlocks: unitBlocks(geometry) };
}

/** A layer of at least one part. @public */
export function kvLayer(parts: readonly KVPart[]): KVLayerDecl {
  const first = parts[0];
  if (first === undefined) throw new InputError("config", "a layer declares no part");
  return { layer: first.layer, role: first.role, parts };
}

/** Bytes of one token row or slot of a part, the padding of siblings left out. @public */
export function partBytes(part: KVPart): number {
  return part.unitBlocks.reduce((sum, block) => sum + block.bytes, 0);
}

/** Bytes of one unit over all parts of one sub-pool: the sum over layers. Siblings of a state begin at the next
 * multiple of 8 and the slot then ends on one; without a sibling nothing is rounded. @public */
export function unitBytesOf(parts: readonly KVPart[]): number {
  let bytes = 0;
  for (const part of parts) {
    for (const block of part.unitBlocks) if (!isSibling(block)) bytes += block.bytes;
  }
  // Sibling i of every layer forms one run of bytes, aligned at its beginning.
  for (const run of siblingRuns(parts)) bytes = alignedToSibling(bytes) + run;
  return parts.some((part) => part.unitBlocks.some(isSibling)) ? alignedToSibling(bytes) : bytes;
}

/** @internal */
export function isSibling(block: UnitBlock): boolean {
  return block.name.startsWith("sibling");
}

function siblingRuns(parts: readonly KVPart[]): number[] {
  const runs: number[] = [];
  for (const part of parts) {
    part.unitBlocks.filter(isSibling).forEach((block, index) => {
      runs[index] = (runs[index] ?? 0) + block.bytes;
    });
  }
  return runs;
}

function unitBlocks(geometry: KVGeometry): UnitBlock[] {
  const blocks: UnitBlock[] = [];
  const add = (name: string, shape: readonly number[], element: ElementType): void => {
    blocks.push({ name, bytes: elementCount(shape) * ELEMENT_BYTES[element], shape, element });
  };
  if (geometry.kind === "mha") {
    add("k", [geometry.heads, geometry.keyDim], geometry.element);
    add("v", [geometry.heads, geometry.valueDim], geometry.element);
  } else if (geometry.kind === "mla") {
    add("latent", [1, geometry.latentDim + geometry.ropeDim], geometry.element);
  } else {
    geometry.conv.forEach(({ shape, element }, index) => add(`conv${index}`, shape, element));
    add("temporal", geometry.temporal.shape, geometry.temporal.element);
    geometry.siblings.forEach(({ shape, element }, index) =>
      add(`sibling${index}`, shape, element),
    );
    return blocks;
  }
  if (geometry.indexKey !== undefined)
    add("index_key", geometry.indexKey.shape, geometry.indexKey.element);
  return blocks;
}

function checkGeometry(geometry: KVGeometry, where: string): void {
  if (geometry.kind === "mha") {
    positive(geometry.heads, `${where}: KV heads`);
    positive(geometry.keyDim, `${where}: K head dimension`);
    positive(geometry.valueDim, `${where}: V head dimension`);
  } else if (geometry.kind === "mla") {
    positive(geometry.latentDim, `${where}: latent dimension`);
    if (geometry.ropeDim !== 0) positive(geometry.ropeDim, `${where}: rope dimension`);
  } else {
    if (geometry.conv.length === 0)
      throw new InputError("config", `${where}: a state needs at least one conv shape`);
    for (const { shape } of [...geometry.conv, ...geometry.siblings])
      for (const dimension of shape) positive(dimension, `${where}: state dimension`);
    for (const dimension of geometry.temporal.shape)
      if (dimension !== 0) positive(dimension, `${where}: temporal dimension`);
    return;
  }
  for (const dimension of geometry.indexKey?.shape ?? [])
    positive(dimension, `${where}: index-key dimension`);
}

function checkLifetime(lifetime: KVLifetime, geometry: KVGeometry, where: string): void {
  if ((lifetime.kind === "state") !== (geometry.kind === "state"))
    throw new InputError(
      "config",
      `${where}: a ${geometry.kind} part cannot live as ${lifetime.kind}`,
    );
  if (lifetime.kind === "window" && lifetime.tokens !== null)
    positive(lifetime.tokens, `${where}: window length`);
}

function positive(value: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InputError("config", `${what} is ${value}, expected an integer of 1 or more`);
}
