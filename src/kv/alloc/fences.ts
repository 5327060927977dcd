// Fenced bytes: ranges that left a band while somebody may still use them. Whichever band writes such bytes next clears
// them first. Byte ranges, not pages, since another band's grid covers them differently.
import { isOver, type Signal } from "./signals.js";

/** Bytes `[from, to)` and who may still use them. @internal */
export interface Fence {
  readonly from: number;
  readonly to: number;
  readonly readers: readonly Signal[]; // forwards, copies, transfers, each oldest first; none of them over
}

/** All fences of an arena, by first byte. @internal */
export class FenceList {
  list: Fence[] = [];
  version = 0;

  /** Fences a byte range; touching ranges with the same users become one. */
  add(from: number, to: number, readers: readonly Signal[]): void {
    this.version += 1;
    const all = [...this.list, { from, to, readers }].sort((left, right) => left.from - right.from);
    this.list = [];
    for (const fence of all) {
      const last = this.list.at(-1);
      if (last !== undefined && last.to >= fence.from && sameReaders(last.readers, fence.readers)) {
        this.list[this.list.length - 1] = { ...last, to: Math.max(last.to, fence.to) };
      } else {
        this.list.push(fence);
      }
    }
  }

  /** Calls `visit` with everybody who may still use any of the bytes `[from, to)`. */
  eachUser(from: number, to: number, visit: (user: Signal) => void): void {
    for (const fence of this.list) {
      if (fence.from >= to) return; // by first byte
      if (fence.to <= from) continue;
      for (const user of fence.readers) if (!isOver(user)) visit(user);
    }
  }

  /** Ranges that an unreleased transfer still uses. */
  heldByTransfers(): readonly Fence[] {
    if (this.list.length === 0) return NONE;
    return this.list.filter((fence) =>
      fence.readers.some((user) => user.kind === "transfer" && !user.isOver),
    );
  }

  /** Forgets users that are over, and fences without one. */
  dropOver(): void {
    if (this.list.length === 0) return;
    const before = this.list;
    this.list = [];
    let changed = false;
    for (const fence of before) {
      const left = fence.readers.filter((user) => !isOver(user));
      if (left.length === fence.readers.length) {
        this.list.push(fence);
        continue;
      }
      changed = true;
      if (left.length > 0) this.list.push({ ...fence, readers: left });
    }
    if (!changed) return;
    const kept = this.list;
    this.list = [];
    for (const fence of kept) this.add(fence.from, fence.to, fence.readers);
    this.version += 1;
  }
}

const NONE: readonly Fence[] = [];

function sameReaders(left: readonly Signal[], right: readonly Signal[]): boolean {
  return left.length === right.length && left.every((reader, index) => reader === right[index]);
}
