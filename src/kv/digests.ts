// Component digests: which cells each component has at each depth, and which components changed since last asked.
// `docs/trace-format.md` lists the cells; a field number is never used again for another meaning.
import { foldDigests, hashName, hexOf, type Lanes, LaneSum, mixA, mixB } from "../base/digest.js";
import { type Digests, FIXED_COMPONENTS } from "../base/operations.js";
import { BAND_FIELD, type Band } from "./alloc/band.js";
import type { Component } from "./component.js";
import type { KvCore } from "./core.js";

const BAND_COUNT = {
  spanFirst: 1,
  spanCount: 2,
  live: 3,
  holes: 4,
  pending: 5,
  vacated: 6,
  fixed: 7,
  freeIds: 8,
} as const;
const CHAIN = { moveEpoch: 1, fences: 2, fenceFrom: 16, fenceTo: 17, fenceReader: 18 } as const;
const FORWARDS = { unprocessed: 1, open: 2, name: 16, retired: 17, openName: 18 } as const;
const LEDGER = { uses: 1, writer: 16, unknown: 17 } as const;

/** Hash of a band's live contents, where a device holds bytes; only at depth `deep`. @internal */
export type ContentsOf = (band: string) => Lanes;

// What a component is; a number, since every operation asks it of every component.
const KIND = { band: 0, chain: 1, forwards: 2, ledger: 3, rows: 4, other: 5 } as const;
type Kind = (typeof KIND)[keyof typeof KIND];
const KIND_OF: Readonly<Record<(typeof FIXED_COMPONENTS)[number], Kind>> = {
  chain: KIND.chain,
  forwards: KIND.forwards,
  ledger: KIND.ledger,
  rows: KIND.rows,
  tree: KIND.other,
  host: KIND.other,
  net: KIND.other,
};

/** Tracks which component digests changed from operation to operation. @internal */
export class ComponentDigests {
  #core: KvCore;
  readonly #layout: boolean;
  readonly #deep: boolean;
  readonly #names: readonly string[];
  readonly #kinds: readonly Kind[];
  readonly #counts: readonly CountCells[]; // by band
  readonly #lastA: Int32Array;
  readonly #lastB: Int32Array;
  readonly #sum = new LaneSum(); // reused: one component at a time
  #started = false;
  readonly #versions: number[];

  constructor(core: KvCore, parts: { layout: boolean; deep: boolean }) {
    this.#core = core;
    this.#layout = parts.layout;
    this.#deep = parts.deep;
    const { bands } = core.chain;
    this.#names = [...bands.map((band) => band.plan.name), ...FIXED_COMPONENTS];
    this.#kinds = [...bands.map(() => KIND.band), ...FIXED_COMPONENTS.map((name) => KIND_OF[name])];
    this.#counts = bands.map(() => new CountCells());
    this.#lastA = new Int32Array(this.#names.length);
    this.#lastB = new Int32Array(this.#names.length);
    this.#versions = this.#names.map(() => -1);
  }

  /** Goes on with the run that a resize put in place. */
  follow(core: KvCore): void {
    this.#core = core;
    this.#versions.fill(-1);
  }

  /** Digests that changed since the last call, in component order; undefined when none did. */
  takeChanged(contents?: ContentsOf): Digests | undefined {
    let changed: Record<string, string> | undefined;
    const sum = this.#sum;
    const asksContents = this.#deep && contents !== undefined;
    for (let index = 0; index < this.#kinds.length; index++) {
      const version = this.#versionOf(index);
      if (this.#versions[index] === version && !asksContents) continue;
      this.#versions[index] = version;
      this.#addComponent(sum, index, contents);
      if (this.#started && sum.a === this.#lastA[index] && sum.b === this.#lastB[index]) continue;
      this.#lastA[index] = sum.a;
      this.#lastB[index] = sum.b;
      changed ??= {};
      changed[this.#names[index]!] = hexOf(sum.a, sum.b);
    }
    this.#started = true;
    return changed;
  }

  /** The fold of all component digests as they stand. */
  fold(contents?: ContentsOf): string {
    const sum = new LaneSum();
    return foldDigests(
      this.#names.map((_, index) => {
        this.#addComponent(sum, index, contents);
        return hexOf(sum.a, sum.b);
      }),
    );
  }

  #versionOf(index: number): number {
    const { chain, requests } = this.#core;
    switch (this.#kinds[index]!) {
      case KIND.band:
        return chain.bands[index]!.epoch;
      case KIND.chain:
        return chain.moveEpoch + chain.fences.version;
      case KIND.forwards:
        return chain.steps.version;
      case KIND.ledger:
        return chain.steps.version + chain.ledger.version;
      case KIND.rows:
        return requests.version;
      case KIND.other:
        return this.#otherAt(index).version;
    }
  }

  /** Sets `sum` to one component's cells. */
  #addComponent(sum: LaneSum, index: number, contents?: ContentsOf): void {
    sum.a = 0;
    sum.b = 0;
    const { chain, requests } = this.#core;
    switch (this.#kinds[index]!) {
      case KIND.band: {
        const band = chain.bands[index]!; // a band's index is its place in the chain
        this.#addBand(sum, band);
        if (this.#deep && contents !== undefined) sum.join(contents(band.plan.name));
        return;
      }
      case KIND.chain:
        this.#addChain(sum);
        return;
      case KIND.forwards:
        this.#addForwards(sum);
        return;
      case KIND.ledger:
        this.#addLedger(sum);
        return;
      case KIND.rows:
        requests.digestInto(sum);
        return;
      case KIND.other:
        this.#otherAt(index).digestInto(sum, this.#layout);
        return;
    }
  }

  /** `tree`, `host` or `net`. */
  #otherAt(index: number): Component {
    const { tree, host, net } = this.#core;
    const name = this.#names[index];
    return name === "tree" ? tree : name === "host" ? host : net;
  }

  #addBand(sum: LaneSum, band: Band): void {
    const { chain } = this.#core;
    const counts = this.#counts[band.index]!; // one a band
    counts.put(sum, BAND_COUNT.spanFirst, band.spanFirst);
    counts.put(sum, BAND_COUNT.spanCount, band.spanCount);
    counts.put(sum, BAND_COUNT.live, band.live);
    counts.put(sum, BAND_COUNT.holes, band.holes.length);
    counts.put(sum, BAND_COUNT.pending, band.pendingPages);
    counts.put(sum, BAND_COUNT.vacated, band.vacated.length);
    if (band.fixed.size > 0) counts.put(sum, BAND_COUNT.fixed, band.fixed.size);
    const ids = band.plan.isOwner ? chain.virtual : band.plan.kind === "state" ? chain.slots : null;
    if (ids !== null) counts.put(sum, BAND_COUNT.freeIds, ids.free.length);
    if (!this.#layout) return;
    sum.a = (sum.a + band.holes.orderA) | 0;
    sum.b = (sum.b + band.holes.orderB) | 0;
    sum.join(band.cells);
    if (this.#deep && ids !== null) {
      sum.a = (sum.a + ids.free.orderA) | 0;
      sum.b = (sum.b + ids.free.orderB) | 0;
    }
  }

  #addChain(sum: LaneSum): void {
    const { moveEpoch, fences } = this.#core.chain;
    sum.add(CHAIN.moveEpoch, 0, moveEpoch);
    sum.add(CHAIN.fences, 0, fences.list.length);
    if (!this.#layout) return;
    for (const [index, fence] of fences.list.entries()) {
      sum.add(CHAIN.fenceFrom, index, fence.from);
      sum.add(CHAIN.fenceTo, index, fence.to);
      for (const reader of fence.readers) sum.add(CHAIN.fenceReader, index, hashName(reader.name));
    }
  }

  #addForwards(sum: LaneSum): void {
    const { steps } = this.#core.chain;
    sum.add(FORWARDS.unprocessed, 0, steps.unprocessed.length);
    sum.add(FORWARDS.open, 0, steps.open === null ? 0 : 1);
    if (!this.#layout) return;
    for (const [index, step] of steps.unprocessed.entries())
      sum.add(FORWARDS.name, index, hashName(step.name));
    if (steps.newestRetired !== null) sum.add(FORWARDS.retired, 0, hashName(steps.newestRetired));
    if (steps.open !== null) sum.add(FORWARDS.openName, 0, hashName(steps.open.name));
  }

  #addLedger(sum: LaneSum): void {
    const unretired = this.#core.chain.steps.unretired();
    sum.add(LEDGER.uses, 0, unretired.length);
    this.#core.chain.ledger.digestInto(sum, this.#layout);
    if (!this.#layout) return;
    for (const step of unretired) {
      sum.add(step.unknownWrites ? LEDGER.unknown : LEDGER.writer, 0, hashName(step.name));
    }
  }
}

/** The cells of a band's counts, each mixed again only when its value changed. */
class CountCells {
  readonly #values = new Float64Array(9).fill(-1); // by field
  readonly #a = new Int32Array(9);
  readonly #b = new Int32Array(9);

  put(sum: LaneSum, field: number, value: number): void {
    if (this.#values[field] !== value) {
      this.#values[field] = value;
      this.#a[field] = mixA(field, 0, value);
      this.#b[field] = mixB(field, 0, value);
    }
    sum.a = (sum.a + this.#a[field]!) | 0;
    sum.b = (sum.b + this.#b[field]!) | 0;
  }
}

/** A band's running cells computed anew from its content. @internal */
export function recomputedCells(band: Band): LaneSum {
  const sum = new LaneSum();
  if (!band.keepsCells) return sum;
  for (const [virtual, page] of band.v2p.entries())
    if (page > 0) sum.add(BAND_FIELD.binding, virtual, page);
  for (const { forward, pages } of band.pending) {
    const field = BAND_FIELD.pending + hashName(forward.name);
    for (const [index, page] of pages.entries()) sum.add(field, index, page);
  }
  for (const { page, readers } of band.vacated) {
    sum.add(BAND_FIELD.vacated, page, hashName(readers.at(-1)?.name ?? ""));
  }
  for (const page of band.fixed) sum.add(BAND_FIELD.fixed, page, 1);
  return sum;
}
