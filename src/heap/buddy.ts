// The buddy system: blocks are powers of two and lie at multiples of their size; two halves of one block are buddies, and
// merge when both are free. An arena of another size is a row of such blocks.
import { GRAIN_BYTES, wholeGrains } from "./policy.js";
import type { PlacementPolicy } from "./policy.js";

/** @internal */
export class BuddyArena implements PlacementPolicy {
  readonly #arenaBytes: number;
  readonly #live = new Map<number, number>(); // offset → bytes
  readonly #free = new Map<number, Set<number>>(); // bytes → offsets, the longest free first
  readonly #freeBefore = new Map<number, number>(); // end → offset
  usedBytes = 0;

  /** @param arenaBytes - what is beyond the last whole grain is not used */
  constructor(arenaBytes: number) {
    this.#arenaBytes = Math.floor(arenaBytes / GRAIN_BYTES) * GRAIN_BYTES;
    for (let offset = 0; offset < this.#arenaBytes;) {
      const size = powerAtMost(this.#arenaBytes - offset);
      this.#put(offset, size);
      offset += size;
    }
  }

  get end(): number {
    let end = this.#arenaBytes;
    for (;;) {
      const offset = this.#freeBefore.get(end);
      if (offset === undefined) return end;
      end = offset;
    }
  }

  allocate(bytes: number, align: number): number | null {
    const size = powerAtLeast(Math.max(wholeGrains(bytes), align));
    for (let from = size; from <= this.#arenaBytes; from *= 2) {
      const offset = this.#free.get(from)?.values().next().value;
      if (offset === undefined) continue;
      this.#take(offset, from);
      this.#cut(offset, from, size);
      this.#live.set(offset, size);
      this.usedBytes += size;
      return offset;
    }
    return null;
  }

  free(offset: number): void {
    const size = this.#live.get(offset) ?? 0;
    this.#live.delete(offset);
    this.usedBytes -= size;
    this.#giveBack(offset, size);
  }

  resize(offset: number, bytes: number): boolean {
    const size = this.#live.get(offset) ?? 0;
    const wanted = powerAtLeast(wholeGrains(bytes));
    if (wanted > size) return false;
    this.#cut(offset, size, wanted);
    this.#live.set(offset, wanted);
    this.usedBytes += wanted - size;
    return true;
  }

  /** Halves the block at `offset` until it is of `to` bytes; the upper halves are free. */
  #cut(offset: number, from: number, to: number): void {
    for (let size = from / 2; size >= to; size /= 2) this.#put(offset + size, size);
  }

  #giveBack(at: number, bytes: number): void {
    let [offset, size] = [at, bytes];
    for (;;) {
      const isLower = (offset / size) % 2 === 0;
      const buddy = isLower ? offset + size : offset - size;
      if (this.#free.get(size)?.has(buddy) !== true) break;
      this.#take(buddy, size);
      offset = Math.min(offset, buddy);
      size *= 2;
    }
    this.#put(offset, size);
  }

  #put(offset: number, size: number): void {
    const same = this.#free.get(size);
    if (same === undefined) this.#free.set(size, new Set([offset]));
    else same.add(offset);
    this.#freeBefore.set(offset + size, offset);
  }

  #take(offset: number, size: number): void {
    this.#free.get(size)?.delete(offset);
    this.#freeBefore.delete(offset + size);
  }
}

function powerAtLeast(bytes: number): number {
  const power = powerAtMost(bytes);
  return power < bytes ? power * 2 : power;
}

function powerAtMost(bytes: number): number {
  let power = GRAIN_BYTES;
  while (power * 2 <= bytes) power *= 2;
  return power;
}
