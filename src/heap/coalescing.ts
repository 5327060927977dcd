// An arena whose free blocks are merged at once with what is free beside them; which of them is taken, an index decides.
import type { FreeIndex } from "./free-index.js";
import { aligned, GRAIN_BYTES, wholeGrains } from "./policy.js";
import type { PlacementPolicy } from "./policy.js";
import type { FreeBlock } from "./sorted-blocks.js";

/** @internal */
export class CoalescingArena implements PlacementPolicy {
  readonly #index: FreeIndex;
  readonly #arenaBytes: number;
  readonly #live = new Map<number, number>(); // offset → bytes
  readonly #freeAt = new Map<number, FreeBlock>(); // by where it begins
  readonly #freeBefore = new Map<number, FreeBlock>(); // by where it ends
  usedBytes = 0;

  /** @param arenaBytes - what is beyond the last whole grain is not used */
  constructor(arenaBytes: number, index: FreeIndex) {
    this.#index = index;
    this.#arenaBytes = Math.floor(arenaBytes / GRAIN_BYTES) * GRAIN_BYTES;
    if (this.#arenaBytes > 0) this.#insert({ offset: 0, size: this.#arenaBytes });
  }

  get end(): number {
    return this.#freeBefore.get(this.#arenaBytes)?.offset ?? this.#arenaBytes;
  }

  allocate(bytes: number, align: number): number | null {
    const size = wholeGrains(bytes);
    const grainAlign = Math.max(GRAIN_BYTES, aligned(align, GRAIN_BYTES));
    const block = this.#index.find(size, grainAlign);
    if (block === undefined) return null;
    this.#remove(block);
    const offset = aligned(block.offset, grainAlign);
    const before = offset - block.offset;
    const behind = block.size - before - size;
    if (before > 0) this.#insert({ offset: block.offset, size: before });
    if (behind > 0) this.#insert({ offset: offset + size, size: behind });
    this.#live.set(offset, size);
    this.usedBytes += size;
    return offset;
  }

  free(offset: number): void {
    const size = this.#live.get(offset) ?? 0;
    this.#live.delete(offset);
    this.usedBytes -= size;
    this.#giveBack(offset, size);
  }

  resize(offset: number, bytes: number): boolean {
    const size = this.#live.get(offset) ?? 0;
    const wanted = wholeGrains(bytes);
    if (wanted > size) {
      const behind = this.#freeAt.get(offset + size);
      if (behind === undefined || behind.size < wanted - size) return false;
      this.#remove(behind);
      const rest = behind.size - (wanted - size);
      if (rest > 0) this.#insert({ offset: offset + wanted, size: rest });
    } else if (wanted < size) {
      this.#giveBack(offset + wanted, size - wanted);
    }
    this.#live.set(offset, wanted);
    this.usedBytes += wanted - size;
    return true;
  }

  #giveBack(offset: number, size: number): void {
    const before = this.#freeBefore.get(offset);
    const behind = this.#freeAt.get(offset + size);
    if (before !== undefined) this.#remove(before);
    if (behind !== undefined) this.#remove(behind);
    const first = before?.offset ?? offset;
    const end = offset + size + (behind?.size ?? 0);
    this.#insert({ offset: first, size: end - first });
  }

  #insert(block: FreeBlock): void {
    this.#freeAt.set(block.offset, block);
    this.#freeBefore.set(block.offset + block.size, block);
    this.#index.insert(block);
  }

  #remove(block: FreeBlock): void {
    this.#freeAt.delete(block.offset);
    this.#freeBefore.delete(block.offset + block.size);
    this.#index.remove(block);
  }
}
