// Bytes that a run holds, from its answers alone: what takes gave less what frees listed. An estimate of what is left,
// since grids do not align.
import type { Answer, Operation, PageLists } from "../base/operations.js";

type Fields = Readonly<Record<string, unknown>>;

/** @internal */
export class SeededBytes {
  readonly #pageBytes: ReadonlyMap<string, number>; // by band
  readonly #stateBytes: number; // of a slot; 0 without a state band
  readonly usable: number; // the arena without the sink
  #used = 0;

  constructor(pageBytes: ReadonlyMap<string, number>, state: string | null, usable: number) {
    this.#pageBytes = pageBytes;
    this.#stateBytes = state === null ? 0 : (pageBytes.get(state) ?? 0);
    this.usable = usable;
  }

  get free(): number {
    return Math.max(0, this.usable - this.#used);
  }
  /** Whether nothing is held. */
  get isEmpty(): boolean {
    return this.#used === 0;
  }

  learn({ op }: Operation, { ok }: Answer): void {
    if (ok === undefined) return;
    const fields = ok as Fields;
    this.#used += this.#taken(op, fields) - this.#freed(op, fields);
  }

  #taken(op: Operation["op"], ok: Fields): number {
    switch (op) {
      case "tokens.extend":
      case "tokens.decode":
        return sum(Object.values((ok["pages"] ?? {}) as Fields), (lists) => this.#bytesOf(lists));
      case "net.receive":
      case "host.load_reserve":
      case "request.restore":
        return this.#bytesOf(ok["pages"]);
      case "state.alloc":
        return this.#bytesOf(ok); // the band's name stands beside `slots` and `step`
      case "state.donate":
        return typeof ok["replacement"] === "number" ? this.#stateBytes : 0;
      default:
        return 0;
    }
  }

  #freed(op: Operation["op"], ok: Fields): number {
    if (op === "host.evict") return 0; // host units
    const ended = this.#bytesOf((ok["ended"] as Fields | undefined)?.["freed"]);
    if (op === "net.end") return ended + this.#bytesOf(ok["released"]);
    if (op !== "window.retire") return ended + this.#bytesOf(ok["freed"]);
    const lists = Object.entries(ok).map(([band, each]) => [band, (each as Fields)["freed"]]);
    return ended + this.#bytesOf(Object.fromEntries(lists));
  }

  /** Bytes of the bound pages in an answer's lists; what is no list of a band is left out. */
  #bytesOf(lists: unknown): number {
    return sum([...this.#pageBytes], ([band, pageBytes]) => {
      const extents = (lists as PageLists | undefined)?.[band] ?? [];
      return pageBytes * sum(extents, ([first, count]) => (first === 0 ? 0 : Math.abs(count)));
    });
  }
}

function sum<T>(list: readonly T[], value: (item: T) => number): number {
  let total = 0;
  for (const item of list) total += value(item);
  return total;
}
