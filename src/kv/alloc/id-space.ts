// Virtual ids: numbers handed to callers that stay while pages move. The owner band mints the virtual pages, the state
// band has its own slot ids. Free ids leave at the head and return at the tail.
import { IdQueue } from "../../base/id-queue.js";
import type { Request } from "../requests.js";

const BLOCK_BITS = 12;
const BLOCK_MASK = (1 << BLOCK_BITS) - 1;

/** One id space, ids `first` to `first + count - 1`. @internal */
export class IdSpace {
  readonly first: number;
  readonly count: number;
  readonly free: IdQueue;
  // In blocks made on first use: one long array would be copied again and again while ids are used for the first time.
  readonly #holders: (Request | undefined)[][] = [];
  /** Ids that a load minted and may yet have to give back, with the load; an id that returns is forgotten. */
  readonly loading = new Map<number, { readonly isSubmitted: boolean }>();
  readonly position: Int32Array; // page index in its row, or index in its purpose's list

  constructor(first: number, count: number, digestField: number) {
    this.first = first;
    this.count = Math.max(0, count);
    this.free = new IdQueue(digestField, this.count + 1);
    for (let id = first; id < first + this.count; id++) this.free.push(id);
    this.position = new Int32Array(first + this.count);
  }

  /** Takes the oldest free id for `holder`; there must be one. */
  mint(holder: Request, position: number): number {
    const id = this.free.shift();
    this.#hold(id, holder);
    this.position[id] = position;
    return id;
  }
  /** Marks a given id as held, for loading a state. */
  assign(id: number, holder: Request, position: number): void {
    this.#hold(id, holder);
    this.position[id] = position;
  }
  /** Leaves an id to the prefix tree: no one request holds it, any row may name it at the same position. */
  share(id: number, position: number): void {
    this.#hold(id, undefined);
    this.position[id] = position;
  }
  /** The one request that holds an id; undefined for free and for shared ids. */
  holder(id: number): Request | undefined {
    return this.#holders[id >> BLOCK_BITS]?.[id & BLOCK_MASK];
  }
  retire(id: number): void {
    if (this.loading.size > 0) this.loading.delete(id);
    this.#hold(id, undefined);
    this.free.push(id);
  }

  #hold(id: number, holder: Request | undefined): void {
    const block = (this.#holders[id >> BLOCK_BITS] ??= new Array<Request | undefined>(
      1 << BLOCK_BITS,
    ).fill(undefined));
    block[id & BLOCK_MASK] = holder;
  }
}
