// Reference allocators of domain `heap`: one arena, a policy that says where objects lie, and the operations over them.
import type { Answer, HeapArgs, HeapOperationName, Operation } from "../base/operations.js";
import { BuddyArena } from "./buddy.js";
import { CoalescingArena } from "./coalescing.js";
import { bestFit, firstFit, SegregatedFit } from "./free-index.js";
import type { PlacementPolicy } from "./policy.js";

/** First fit, best fit, the buddy system, two-level segregated fit. @public */
export const HEAP_POLICIES = ["first-fit", "best-fit", "buddy", "tlsf"] as const;
/** A reference allocator. @public */
export type HeapPolicyName = (typeof HEAP_POLICIES)[number];

const POLICIES: Readonly<Record<HeapPolicyName, (bytes: number) => PlacementPolicy>> = {
  "first-fit": (bytes) => new CoalescingArena(bytes, firstFit()),
  "best-fit": (bytes) => new CoalescingArena(bytes, bestFit()),
  buddy: (bytes) => new BuddyArena(bytes),
  tlsf: (bytes) => new CoalescingArena(bytes, new SegregatedFit()),
};

/** Operations that a reference allocator answers. @public */
export const HEAP_ALLOCATOR_OPERATIONS: readonly HeapOperationName[] = [
  "heap.alloc",
  "heap.free",
  "heap.realloc",
  "heap.copy",
  "heap.release",
  "heap.coalesce",
  "pool.make",
];

/** What an arena without a size has: more than any trace asks for. @public */
export const UNBOUNDED_BYTES: number = 2 ** 50;

/** Bytes in use, and the most there were. @public */
export interface HeapUse {
  readonly live: number; // objects
  readonly requestedBytes: number; // that objects asked for
  readonly usedBytes: number; // of their blocks
  readonly endBytes: number; // where the last block ends
}

const EMPTY: Answer = { ok: {} };
const REFUSED: Answer = { err: { code: "refused_capacity", limit: "bytes" } };

interface Placed {
  readonly offset: number;
  readonly bytes: number; // as asked for
  readonly align: number;
}

/** One arena. Pools and streams are names here: all of them take from the same bytes. @public */
export class HeapAllocator {
  readonly #policy: PlacementPolicy;
  readonly #objects = new Map<string, Placed>();
  #requestedBytes = 0;

  /** @param arenaBytes - null: as large as need be */
  constructor(policy: HeapPolicyName, arenaBytes: number | null) {
    this.#policy = POLICIES[policy](arenaBytes ?? UNBOUNDED_BYTES);
  }

  get use(): HeapUse {
    return {
      live: this.#objects.size,
      requestedBytes: this.#requestedBytes,
      usedBytes: this.#policy.usedBytes,
      endBytes: this.#policy.end,
    };
  }

  /** The answer to one operation of domain `heap`. */
  apply(operation: Operation): Answer {
    switch (operation.op) {
      case "heap.alloc":
        return this.#alloc(operation.args);
      case "heap.free":
        return this.#free(operation.args);
      case "heap.realloc":
        return this.#realloc(operation.args);
      case "heap.copy":
        return this.#unknown(operation.args.from) ?? this.#unknown(operation.args.to) ?? EMPTY;
      case "heap.release": // nothing is cached
      case "heap.coalesce": // free neighbours are merged at once
      case "pool.make":
        return EMPTY;
      default:
        return { err: { code: "unsupported" } };
    }
  }

  #alloc({ id, size_bytes: bytes, align_bytes: align = 1 }: HeapArgs["heap.alloc"]): Answer {
    if (this.#objects.has(id)) return { err: { code: "invalid", rule: "name_state", req: id } };
    const offset = this.#policy.allocate(bytes, align);
    if (offset === null) return REFUSED;
    this.#objects.set(id, { offset, bytes, align });
    this.#requestedBytes += bytes;
    return { ok: { address_offset: offset } };
  }

  #free({ id }: HeapArgs["heap.free"]): Answer {
    const object = this.#objects.get(id);
    if (object === undefined) return unknownName(id);
    this.#objects.delete(id);
    this.#policy.free(object.offset);
    this.#requestedBytes -= object.bytes;
    return EMPTY;
  }

  /** Where the block cannot grow in its place, the new one is taken before the old one is given back, as a copy needs both. */
  #realloc({ id, size_bytes: bytes }: HeapArgs["heap.realloc"]): Answer {
    const object = this.#objects.get(id);
    if (object === undefined) return unknownName(id);
    let { offset } = object;
    if (!this.#policy.resize(offset, bytes)) {
      const moved = this.#policy.allocate(bytes, object.align);
      if (moved === null) return REFUSED;
      this.#policy.free(offset);
      offset = moved;
    }
    this.#objects.set(id, { ...object, offset, bytes });
    this.#requestedBytes += bytes - object.bytes;
    return { ok: { address_offset: offset } };
  }

  #unknown(id: string): Answer | null {
    return this.#objects.has(id) ? null : unknownName(id);
  }
}

function unknownName(id: string): Answer {
  return { err: { code: "invalid", rule: "unknown_request", req: id } };
}
