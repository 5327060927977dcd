// The typed views that kernels read and write: shape, strides and base of every block over the whole arena, how kernel
// ids follow from physical pages, and what alignment they need.
import { ELEMENT_BYTES } from "../decl/types.js";
import type { ElementType } from "../decl/types.js";
import type { EntryBlock, EntryLayout } from "./entry.js";

/** How kernels address a sub-pool. `strided`: one strided view a block, kernel id = page * rows + offset. `shifted`:
 * equal rows one after another, one shifted view a block, kernel id = page * (rows * blocks) + offset. `slots`: a state
 * view by slot. @public */
export type ViewForm = "strided" | "shifted" | "slots";

/** One tensor over the arena. Element (i, j, …) lies at `baseBytes` + element size * sum(index * stride). @public */
export interface KVView {
  readonly block: string; // k, v, latent, …
  readonly layer: number | null; // null: all layers of a state, the first axis
  readonly role: "target" | "draft";
  readonly element: ElementType;
  readonly shape: readonly number[];
  readonly strides: readonly number[]; // elements
  readonly baseBytes: number; // from the arena's first byte
}
/** Views of one sub-pool and the ids its kernels use. @public */
export interface SubPoolViews {
  readonly name: string;
  readonly form: ViewForm;
  readonly views: readonly KVView[];
  readonly pageStride: number; // kernel ids from one page to the next
  readonly kernelIds: number; // all ids of the grid; below 2^31
  readonly tailPadBytes: number; // how far the views reach behind the arena's page math at most
}

/** First kernel id that 32-bit kernels cannot name. @public */
export const KERNEL_ID_LIMIT: number = 2 ** 31;

/** Whether all blocks of an entry are rows of one size, as the shifted form needs. @public */
export function hasEqualRows(entry: EntryLayout): boolean {
  const first = entry.blocks[0];
  return entry.blocks.every(
    (block) =>
      block.rowBytes === first?.rowBytes &&
      block.element === first.element &&
      block.rows === first.rows,
  );
}

/** The form a sub-pool's views have: latent rows are shifted, MHA rows strided unless kernel rows are asked for, a
 * state goes by slot. @public */
export function viewFormOf(entry: EntryLayout, kernelRows = false): ViewForm {
  if (entry.kind === "state") return "slots";
  const isShifted = entry.kind === "mla" || kernelRows;
  return isShifted && hasEqualRows(entry) ? "shifted" : "strided";
}

/**
 * Views over a grid of `pages` entries. @param pages - of the band's grid, reserved ones included; @param kernelRows -
 * the shifted form for MHA as well, where its rows are equal. @public
 */
export function subPoolViews(entry: EntryLayout, pages: number, kernelRows = false): SubPoolViews {
  const form = viewFormOf(entry, kernelRows);
  const views =
    form === "slots"
      ? slotViews(entry, pages)
      : entry.blocks.map((block) =>
          form === "shifted" ? shiftedView(entry, block, pages) : stridedView(entry, block, pages),
        );
  const pageStride =
    form === "slots" ? 1 : form === "shifted" ? entry.rows * entry.blocks.length : entry.rows;
  return {
    name: entry.name,
    form,
    views,
    pageStride,
    kernelIds: pages * pageStride,
    tailPadBytes: form === "shifted" ? entry.entryBytes : 0,
  };
}

// (pages, rows, ...shape of a row): K of MHA has strides (page / size, row / size, head dimension, 1).
function stridedView(entry: EntryLayout, block: EntryBlock, pages: number): KVView {
  const size = ELEMENT_BYTES[block.element];
  return {
    ...named(block),
    shape: [pages, block.rows, ...block.shape],
    strides: [entry.entryBytes / size, block.rowBytes / size, ...rowStrides(block.shape)],
    baseBytes: block.offsetBytes,
  };
}

// (all rows of the grid, ...shape of a row), shifted so that id page * (rows * blocks) + offset is this block's row.
function shiftedView(entry: EntryLayout, block: EntryBlock, pages: number): KVView {
  const size = ELEMENT_BYTES[block.element];
  return {
    ...named(block),
    shape: [pages * block.rows * entry.blocks.length, ...block.shape],
    strides: [block.rowBytes / size, ...rowStrides(block.shape)],
    baseBytes: block.offsetBytes,
  };
}

// (layers, slots, ...shape) for each tensor: layers lie next to one another, slots an entry apart.
function slotViews(entry: EntryLayout, slots: number): KVView[] {
  const layers = entry.blocks.reduce((most, block) => Math.max(most, block.index + 1), 0);
  return entry.blocks
    .filter((block) => block.index === 0)
    .map((block) => ({
      ...named(block),
      layer: null,
      shape: [layers, slots, ...block.shape],
      strides: [
        block.rowBytes / ELEMENT_BYTES[block.element],
        entry.entryBytes / ELEMENT_BYTES[block.element],
        ...rowStrides(block.shape),
      ],
      baseBytes: block.offsetBytes,
    }));
}

function named(block: EntryBlock): {
  readonly block: string;
  readonly layer: number;
  readonly role: "target" | "draft";
  readonly element: ElementType;
} {
  return { block: block.name, layer: block.layer, role: block.role, element: block.element };
}

/** Strides of a packed row, in elements. @internal */
export function rowStrides(shape: readonly number[]): number[] {
  const strides: number[] = [];
  let stride = 1;
  for (const dimension of [...shape].reverse()) {
    strides.unshift(stride);
    stride *= dimension;
  }
  return strides;
}

/** A view whose base, row or entry is no multiple of its element. @public */
export interface AlignmentFault {
  readonly band: string;
  readonly block: string;
  readonly layer: number;
  readonly what: "base" | "row" | "entry";
  readonly bytes: number;
  readonly elementBytes: number;
}

/** Every misaligned base offset, row and entry; empty when all views are sound. Tensors of no bytes need nothing.
 * @public */
export function alignmentFaults(entry: EntryLayout): AlignmentFault[] {
  const faults: AlignmentFault[] = [];
  for (const block of entry.blocks) {
    const elementBytes = ELEMENT_BYTES[block.element];
    if (block.rowBytes === 0) continue;
    const checked = [
      ["base", block.offsetBytes],
      ["row", block.rowBytes],
      ["entry", entry.entryBytes],
    ] as const;
    for (const [what, bytes] of checked) {
      if (bytes % elementBytes === 0) continue;
      const { name, layer } = block;
      faults.push({ band: entry.name, block: name, layer, what, bytes, elementBytes });
    }
  }
  return faults;
}
