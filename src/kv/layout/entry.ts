// Page-major entries: one page (one slot for state) holds the rows of every layer, so that one copy moves it whole.
import { alignedToSibling, isSibling } from "../decl/parts.js";
import type { ElementType, KVPart } from "../decl/types.js";
import type { SubPoolPlan } from "../plan/plan.js";

/** Rows of one tensor of one layer inside an entry. @public */
export interface EntryBlock {
  readonly layer: number; // 0-based in its own model
  readonly role: KVPart["role"];
  readonly index: number; // of the part in its sub-pool
  readonly name: string; // k, v, latent, index_key, conv0, …, temporal, sibling0, …
  readonly offsetBytes: number; // from the entry's first byte
  readonly rowBytes: number;
  readonly rows: number; // of a page; 1 for state
  readonly shape: readonly number[]; // of one row
  readonly element: ElementType;
}
/** The entry of one sub-pool on one rank. @public */
export interface EntryLayout {
  readonly name: string; // sub-pool
  readonly kind: SubPoolPlan["kind"];
  readonly rows: number; // of a page; 1 for state
  readonly entryBytes: number; // one page or slot
  readonly blocks: readonly EntryBlock[]; // ascending offsets
}

/**
 * The entry of a sub-pool. Tokens: for each layer in order its rows of K, then of V (then of index keys), so that the
 * block of layer l begins at l * rows * (k row + v row). State: conv0 of every layer, conv1 of every layer, …, temporal
 * of every layer, then siblings, each run of them at the next multiple of 8. @public
 */
export function entryLayout(pool: SubPoolPlan): EntryLayout {
  const blocks = pool.kind === "state" ? stateBlocks(pool.parts) : tokenBlocks(pool);
  const end = blocks.reduce(
    (last, block) => Math.max(last, block.offsetBytes + block.rowBytes * block.rows),
    0,
  );
  const hasSibling = pool.parts.some((part) => part.unitBlocks.some(isSibling));
  return {
    name: pool.name,
    kind: pool.kind,
    rows: pool.rowsPerPage,
    entryBytes: hasSibling ? alignedToSibling(end) : end,
    blocks,
  };
}

function tokenBlocks(pool: SubPoolPlan): EntryBlock[] {
  const rows = pool.rowsPerPage;
  const blocks: EntryBlock[] = [];
  let offsetBytes = 0;
  pool.parts.forEach((part, index) => {
    for (const { name, bytes, shape, element } of part.unitBlocks) {
      blocks.push({
        ...place(part, index),
        name,
        offsetBytes,
        rowBytes: bytes,
        rows,
        shape,
        element,
      });
      offsetBytes += bytes * rows;
    }
  });
  return blocks;
}

function stateBlocks(parts: readonly KVPart[]): EntryBlock[] {
  const blocks: EntryBlock[] = [];
  let offsetBytes = 0;
  // Layers of one sub-pool have the same tensors (`two_geometries` otherwise).
  const tensors = parts[0]?.unitBlocks ?? [];
  tensors.forEach((tensor, at) => {
    if (isSibling(tensor)) offsetBytes = alignedToSibling(offsetBytes);
    parts.forEach((part, index) => {
      const block = part.unitBlocks[at];
      if (block === undefined) return;
      const { name, bytes, shape, element } = block;
      blocks.push({
        ...place(part, index),
        name,
        offsetBytes,
        rowBytes: bytes,
        rows: 1,
        shape,
        element,
      });
      offsetBytes += bytes;
    });
  });
  return blocks;
}

function place(
  part: KVPart,
  index: number,
): { readonly layer: number; readonly role: KVPart["role"]; readonly index: number } {
  return { layer: part.layer, role: part.role, index };
}
