// What a trace tells of a heap: objects and the bytes they asked for and, where answers tell addresses, how far they reach.
import type { OpLine } from "../trace/lines.js";
import { HeapCurve } from "./heap-curve.js";
import type { HeapPoint } from "./heap-curve.js";

/** @public */
export interface HeapStats {
  readonly objects: number; // allocated
  readonly failed: number; // requests that were refused
  readonly live: number; // at the end
  readonly peakObjects: number;
  readonly peakRequestedBytes: number;
  readonly peakBytes: number | null; // the farthest end of an object; null where no answer tells an address
  readonly curve: readonly HeapPoint[];
}

/** Follows the runs of a trace. @internal */
export class HeapCounter {
  #live = new Map<string, number>(); // object → bytes
  #requested = 0;
  #objects = 0;
  #failed = 0;
  #peakObjects = 0;
  #peakRequested = 0;
  #peakEnd: number | null = null;
  #operations = 0;
  readonly #curve = new HeapCurve();

  /** Another run begins. */
  run(): void {
    this.#live = new Map();
    this.#requested = 0;
  }

  operation(line: OpLine): void {
    if (!line.op.startsWith("heap.")) return;
    this.#operations += 1;
    const { id, size_bytes: bytes } = line.args as {
      readonly id: string;
      readonly size_bytes: number;
    };
    if (line.err !== undefined) {
      if (line.err.code !== "invalid") this.#failed += 1;
    } else if (line.op === "heap.alloc" || line.op === "heap.realloc") {
      const { address_offset: offset } = line.ok as { readonly address_offset?: number };
      this.#dies(id);
      this.#lives(id, bytes, offset);
      if (line.op === "heap.alloc") this.#objects += 1;
    } else if (line.op === "heap.free") this.#dies(id);
    this.#curve.add({ n: line.n, requestedBytes: this.#requested, usedBytes: 0, endBytes: 0 });
  }

  /** Null where no run is of domain `heap`. */
  result(): HeapStats | null {
    if (this.#operations === 0) return null;
    return {
      objects: this.#objects,
      failed: this.#failed,
      live: this.#live.size,
      peakObjects: this.#peakObjects,
      peakRequestedBytes: this.#peakRequested,
      peakBytes: this.#peakEnd,
      curve: this.#curve.points,
    };
  }

  #lives(id: string, bytes: number, offset: number | undefined): void {
    if (offset !== undefined) this.#peakEnd = Math.max(this.#peakEnd ?? 0, offset + bytes);
    this.#live.set(id, bytes);
    this.#requested += bytes;
    this.#peakObjects = Math.max(this.#peakObjects, this.#live.size);
    this.#peakRequested = Math.max(this.#peakRequested, this.#requested);
  }

  #dies(id: string): void {
    this.#requested -= this.#live.get(id) ?? 0;
    this.#live.delete(id);
  }
}
