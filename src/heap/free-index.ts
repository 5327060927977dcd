// Which free block is taken: the orders of first fit, best fit and two-level segregated fit.
import { aligned, GRAIN_BYTES } from "./policy.js";
import { SortedBlocks } from "./sorted-blocks.js";
import type { FreeBlock } from "./sorted-blocks.js";

/** The free blocks of an arena. No two of them touch. @internal */
export interface FreeIndex {
  insert(block: FreeBlock): void;
  remove(block: FreeBlock): void;
  /** A block in which `size` bytes find a place at a multiple of `align`; undefined where there is none. */
  find(size: number, align: number): FreeBlock | undefined;
}

/** Whether a block has `size` bytes at a multiple of `align`. */
function holds({ offset, size: bytes }: FreeBlock, size: number, align: number): boolean {
  return aligned(offset, align) + size <= offset + bytes;
}

class SortedIndex implements FreeIndex {
  readonly #blocks: SortedBlocks;

  constructor(compare: (left: FreeBlock, right: FreeBlock) => number) {
    this.#blocks = new SortedBlocks(compare);
  }
  insert(block: FreeBlock): void {
    this.#blocks.insert(block);
  }
  remove(block: FreeBlock): void {
    this.#blocks.remove(block);
  }
  find(size: number, align: number): FreeBlock | undefined {
    return this.#blocks.first(size, (block) => holds(block, size, align));
  }
}

/** First fit: the block at the lowest offset. @internal */
export function firstFit(): FreeIndex {
  return new SortedIndex((left, right) => left.offset - right.offset);
}

/** Best fit: the smallest block, of equal ones the one at the lowest offset. @internal */
export function bestFit(): FreeIndex {
  return new SortedIndex((left, right) => left.size - right.size || left.offset - right.offset);
}

interface Node {
  readonly block: FreeBlock;
  newer: Node | null; // of the same class
  older: Node | null;
}

const SECOND_LEVEL = 16; // classes in each doubling

/**
 * Two-level segregated fit: classes of sizes, sixteen in each doubling. A block is taken from the first class all of whose
 * blocks are large enough, the newest of it: good in constant time, not best. @internal
 */
export class SegregatedFit implements FreeIndex {
  readonly #newest: (Node | undefined)[] = []; // by class
  readonly #nodes = new Map<number, Node>(); // by offset

  insert(block: FreeBlock): void {
    const at = classOf(block.size);
    const older = this.#newest[at] ?? null;
    const node: Node = { block, newer: null, older };
    if (older !== null) older.newer = node;
    while (this.#newest.length < at) this.#newest.push(undefined);
    this.#newest[at] = node;
    this.#nodes.set(block.offset, node);
  }

  remove({ offset, size }: FreeBlock): void {
    const node = this.#nodes.get(offset);
    if (node === undefined) return;
    this.#nodes.delete(offset);
    if (node.older !== null) node.older.newer = node.newer;
    if (node.newer !== null) node.newer.older = node.older;
    else this.#newest[classOf(size)] = node.older ?? undefined;
  }

  find(size: number, align: number): FreeBlock | undefined {
    // with the bytes that aligning may cost, any block of the class will do
    const wanted = align <= GRAIN_BYTES ? size : size + align - GRAIN_BYTES;
    const from = classOf(wanted) + (lowestOf(classOf(wanted)) < wanted ? 1 : 0);
    for (let at = from; at < this.#newest.length; at++) {
      const node = this.#newest[at];
      if (node !== undefined) return node.block;
    }
    return undefined;
  }
}

/** The class of blocks of `size` bytes. Below sixteen grains each number of grains is one of its own. */
function classOf(size: number): number {
  const grains = size / GRAIN_BYTES;
  if (grains < SECOND_LEVEL) return grains;
  let doubling = 4;
  while (2 ** (doubling + 1) <= grains) doubling += 1; // a logarithm could round up
  const low = 2 ** doubling;
  return (doubling - 3) * SECOND_LEVEL + Math.floor(((grains - low) * SECOND_LEVEL) / low);
}

/** The smallest size of a class, in bytes. */
function lowestOf(index: number): number {
  if (index < SECOND_LEVEL) return index * GRAIN_BYTES;
  const low = 2 ** (Math.floor(index / SECOND_LEVEL) + 3);
  return Math.ceil(low + ((index % SECOND_LEVEL) * low) / SECOND_LEVEL) * GRAIN_BYTES;
}
