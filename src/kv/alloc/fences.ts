// Fenced bytes: ranges that left a band while forwards may still read them. Whichever band writes such bytes next waits
// first. Byte ranges, not pages, since another band's grid covers them differently.
import type { ForwardStep } from "./forward-steps.js";
import { newer } from "./signals.js";

/** Bytes `[from, to)` and who may still read them. @internal */
export interface Fence {
  readonly from: number;
  readonly to: number;
  readonly readers: readonly ForwardStep[]; // oldest first
}

/** All fences of an arena, by first byte. @internal */
export class FenceList {
  list: Fence[] = [];
  version = 0;

  /** Fences a byte range; touching ranges with the same readers become one. */
  add(from: number, to: number, readers: readonly ForwardStep[]): void {
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

  /** The newest forward that may still read any of the bytes `[from, to)`, or null. */
  newestReader(from: number, to: number): ForwardStep | null {
    let newest: ForwardStep | null = null;
    for (const fence of this.list) {
      if (fence.from >= to || fence.to <= from) continue;
      for (const reader of fence.readers) if (!reader.retired) newest = newer(newest, reader);
    }
    return newest;
  }

  /** Forgets fences whose readers are all retired. */
  dropRetired(): void {
    if (this.list.length === 0) return;
    const kept = this.list.filter((fence) => fence.readers.some((reader) => !reader.retired));
    if (kept.length !== this.list.length) this.version += 1;
    this.list = kept;
  }
}

function sameReaders(left: readonly ForwardStep[], right: readonly ForwardStep[]): boolean {
  return left.length === right.length && left.every((reader, index) => reader === right[index]);
}
