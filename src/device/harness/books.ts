// What every bound page should hold, all issued writes counted as done, wherever it lies: in program order, which is what
// the bytes must bear out once the writes have run.
import type { HarnessBand } from "./cells.js";
import { UNKNOWN, type Work } from "./memory.js";

/** One band's bindings and what they hold. @internal */
export class BandBook {
  readonly band: HarnessBand;
  /** Physical page by id, 0 = unbound. */
  readonly places: Int32Array;
  /** Id by physical page, 0 = none. */
  readonly holders: Int32Array;
  /** By id: what its page holds once all issued writes have run; UNKNOWN: whatever was there. */
  readonly expected: Int32Array;
  /** By id: the last piece of work that wrote or moved its page, null: none since it was bound. */
  readonly touched: (Work | null)[];
  /** By page: the last zeroing. */
  readonly zeroed: (Work | null)[];
  /** By id: how often it was bound. */
  readonly generations: Int32Array;

  constructor(band: HarnessBand, ids: number) {
    this.band = band;
    this.places = new Int32Array(ids);
    this.holders = new Int32Array(band.pages);
    this.expected = new Int32Array(ids);
    this.touched = new Array<Work | null>(ids).fill(null);
    this.zeroed = new Array<Work | null>(band.pages).fill(null);
    this.generations = new Int32Array(ids);
  }

  /** What a physical page should hold. */
  expectedAt(page: number): number {
    const id = this.holders[page]!; // on the grid
    return id === 0 ? UNKNOWN : this.expected[id]!;
  }

  /** Notes that a bound id's page will hold `content` once `work` has run. */
  hold(id: number, content: number, work: Work): void {
    if (id === 0) return;
    this.expected[id] = content;
    this.touched[id] = work;
  }

  /** A page's content and id go to another page. */
  move(source: number, target: number, work: Work): number {
    const id = this.holders[source]!; // on the grid
    this.holders[source] = 0;
    this.holders[target] = id;
    if (id === 0) return 0;
    this.places[id] = target;
    this.touched[id] = work;
    return id;
  }

  /**
   * Brings the bindings up to the map as it is after an operation. What is bound anew was zeroed by this operation, had
   * another id until now, or holds whatever lies there. Returns the ids whose entry changed.
   */
  follow(map: Int32Array, operation: number): readonly number[] {
    const changed: number[] = [];
    for (let id = 1; id < map.length; id++)
      if (Math.max(map[id]!, 0) !== this.places[id]) changed.push(id);
    if (changed.length === 0) return changed;
    const left = new Map<number, readonly [expected: number, touched: Work | null]>();
    for (const id of changed) {
      const page = this.places[id]!; // as many ids
      if (page === 0) continue;
      left.set(page, [this.expected[id]!, this.touched[id] ?? null]);
      if (this.holders[page] === id) this.holders[page] = 0;
      this.places[id] = 0;
    }
    for (const id of changed) {
      const page = Math.max(map[id]!, 0);
      if (page > 0) this.#bind(id, page, operation, left);
    }
    return changed;
  }

  #bind(
    id: number,
    page: number,
    operation: number,
    left: ReadonlyMap<number, readonly [number, Work | null]>,
  ): void {
    this.places[id] = page;
    this.holders[page] = id;
    this.generations[id]! += 1;
    const zero = this.zeroed[page] ?? null;
    const [expected, touched] =
      zero?.operation === operation ? [0, zero] : (left.get(page) ?? [UNKNOWN, null]);
    this.expected[id] = expected;
    this.touched[id] = touched;
  }
}
