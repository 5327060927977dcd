// What the calls of the C allocation functions mean, whichever format tells them.
import type { EventSpan } from "./import-heap.js";
import type { LogPlace } from "./import-format.js";
import { LogRun } from "./import-log-run.js";

/** One call. Addresses are in one spelling, null for the null pointer. @internal */
export interface MallocCall {
  readonly size: number; // bytes
  readonly align?: number; // bytes
  readonly thread?: string;
}

/** @internal */
export class MallocRun extends LogRun {
  /** An allocation by `malloc`, `calloc`, `memalign` and the like. */
  allocate(address: string | null, call: MallocCall, at: EventSpan, place: LogPlace): void {
    // An allocator may give nothing for nothing; that is no failure.
    if (address === null && call.size === 0) this.heap.tally.drop("allocation of nothing");
    else this.heap.allocate(address, requestOf(call), at, place);
  }

  free(address: string | null, thread: string | undefined, at: EventSpan, place: LogPlace): void {
    if (address === null) this.heap.tally.drop("free of the null pointer");
    else this.heap.free(address, at, place, thread === undefined ? {} : { stream: thread });
  }

  /** `to` is what came back. From nothing it is an allocation, to nothing a free. */
  reallocate(
    from: string | null,
    to: string | null,
    call: MallocCall,
    at: EventSpan,
    place: LogPlace,
  ): void {
    if (from === null) {
      this.allocate(to, call, at, place);
    } else if (to === null && call.size === 0) {
      this.heap.tally.count("reallocations_to_nothing");
      this.free(from, call.thread, at, place);
    } else {
      this.heap.resize(from, to, call.size, at, place, call.thread ?? null);
    }
  }
}

function requestOf({ size, align, thread }: MallocCall) {
  return {
    size,
    ...(align === undefined ? {} : { align }),
    ...(thread === undefined ? {} : { stream: thread }),
  };
}
