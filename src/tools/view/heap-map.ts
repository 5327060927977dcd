// Domain `heap`: the objects of a run in address space, from the answers alone.
import type { Answer, HeapArgs } from "../../base/operations.js";
import type { OpLine } from "../../trace/lines.js";

/** A live object. Bytes from its pool's base. @public */
export interface HeapBlock {
  readonly id: string;
  readonly from: number;
  readonly bytes: number; // as it was asked for
}

/** The live objects of one pool, by address. @public */
export interface HeapLane {
  readonly pool: string; // "" where the trace names none
  readonly blocks: readonly HeapBlock[];
  readonly unplaced: number; // live objects whose address no answer told
  readonly live_bytes: number; // that live objects asked for
  readonly end_bytes: number; // of the highest object
  readonly peak_bytes: number; // the highest end so far
  readonly gap_bytes: number; // below `end_bytes`, in no object
  readonly largest_gap_bytes: number; // the largest stretch of them
}

/** @public */
export interface HeapMap {
  readonly arena_bytes: number | null; // null: the run does not say
  readonly objects: number; // live
  readonly live_bytes: number;
  readonly lanes: readonly HeapLane[]; // in the order in which the pools were first named
}

interface Placed {
  readonly pool: string;
  readonly from: number | null;
  readonly bytes: number;
}

/** Follows the operations of one run of domain `heap`. @internal */
export class HeapTrack {
  readonly #arenaBytes: number | null;
  readonly #objects = new Map<string, Placed>();
  readonly #peaks = new Map<string, number>();
  /** Whether any answer told an address. */
  tellsAddresses = false;

  constructor(config: Readonly<Record<string, unknown>>) {
    const bytes = config["arena_bytes"];
    this.#arenaBytes = typeof bytes === "number" ? bytes : null;
  }

  note({ op, args }: Pick<OpLine, "op" | "args">, { ok }: Answer): void {
    if (ok === undefined) return;
    const { address_offset: from } = ok as { readonly address_offset?: number };
    if (op === "heap.alloc") {
      const { id, size_bytes: bytes, pool = "" } = args as HeapArgs["heap.alloc"];
      this.#place(id, { pool, from: from ?? null, bytes });
    } else if (op === "heap.realloc") {
      const { id, size_bytes: bytes } = args as HeapArgs["heap.realloc"];
      const known = this.#objects.get(id);
      if (known !== undefined) this.#place(id, { ...known, from: from ?? known.from, bytes });
    } else if (op === "heap.free") {
      this.#objects.delete((args as HeapArgs["heap.free"]).id);
    } else if (op === "pool.make") {
      this.#pool((args as HeapArgs["pool.make"]).pool);
    }
  }

  map(): HeapMap {
    const objects = [...this.#objects];
    const lanes = [...this.#peaks].map(([pool, peak]) =>
      laneOf(
        pool,
        peak,
        objects.filter(([, placed]) => placed.pool === pool),
      ),
    );
    return {
      arena_bytes: this.#arenaBytes,
      objects: objects.length,
      live_bytes: objects.reduce((total, [, { bytes }]) => total + bytes, 0),
      lanes,
    };
  }

  #place(id: string, placed: Placed): void {
    this.#objects.set(id, placed);
    this.#pool(placed.pool);
    if (placed.from === null) return;
    this.tellsAddresses = true;
    const peak = this.#peaks.get(placed.pool) ?? 0;
    this.#peaks.set(placed.pool, Math.max(peak, placed.from + placed.bytes));
  }

  #pool(name: string): void {
    if (!this.#peaks.has(name)) this.#peaks.set(name, 0);
  }
}

function laneOf(pool: string, peak: number, objects: readonly [string, Placed][]): HeapLane {
  const blocks = objects.flatMap(([id, { from, bytes }]) =>
    from === null ? [] : [{ id, from, bytes }],
  );
  blocks.sort((left, right) => left.from - right.from || left.bytes - right.bytes);
  let end = 0;
  let gaps = 0;
  let largest = 0;
  for (const { from, bytes } of blocks) {
    const gap = Math.max(0, from - end);
    gaps += gap;
    largest = Math.max(largest, gap);
    end = Math.max(end, from + bytes);
  }
  return {
    pool,
    blocks,
    unplaced: objects.length - blocks.length,
    live_bytes: objects.reduce((total, [, { bytes }]) => total + bytes, 0),
    end_bytes: end,
    peak_bytes: peak,
    gap_bytes: gaps,
    largest_gap_bytes: largest,
  };
}
