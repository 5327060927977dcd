// Who still uses which bytes, followed from effects alone: engines, copies and forwards may touch their bytes until they
// are waited for or ended. Says what a list of effects does wrong.
import type { Effect } from "../../src/base/effects.js";
import { expand } from "../../src/base/extents.js";
import type { KvCore } from "../../src/kv/core.js";

export interface Range {
  readonly from: number;
  readonly to: number;
}

interface ByteUse {
  readonly name: string;
  readonly kind: "forward" | "copy" | "transfer";
  readonly reads: readonly Range[];
  readonly writes: readonly Range[];
  writesAnything: boolean;
}

/** What effects touched of transfers that were open when the operation began. */
export interface Seen {
  readonly problems: string[];
  readonly waited: string[]; // hosts waits, in order
  readonly touched: Set<string>; // transfers whose page was moved or whose bytes were written
  moves: number;
}

export class ByteUses {
  readonly #core: KvCore;
  #uses: ByteUse[] = [];

  constructor(core: KvCore) {
    this.#core = core;
  }

  /** The same uses, followed on a copy of the run. */
  copyFor(core: KvCore): ByteUses {
    const copy = new ByteUses(core);
    copy.#uses = this.#uses.map((use) => ({ ...use }));
    return copy;
  }

  rangeOf(band: string, page: number): Range {
    const size = this.#core.chain.bandNamed(band)!.plan.page_bytes;
    return { from: page * size, to: (page + 1) * size };
  }

  add(
    name: string,
    kind: ByteUse["kind"],
    reads: readonly Range[],
    writes: readonly Range[],
  ): void {
    this.#uses.push({ name, kind, reads, writes, writesAnything: false });
  }
  setWritesAnything(name: string): void {
    for (const use of this.#uses) if (use.name === name) use.writesAnything = true;
  }
  end(name: string): void {
    this.#uses = this.#uses.filter((use) => use.name !== name);
  }
  has(name: string): boolean {
    return this.#uses.some((use) => use.name === name);
  }
  /** A wait for a forward covers the earlier ones. */
  endThrough(forward: string): void {
    if (!this.has(forward)) return;
    const last = this.#uses.findIndex((use) => use.name === forward);
    this.#uses = this.#uses.filter((use, index) => use.kind !== "forward" || index > last);
  }

  /**
   * Follows an operation's effects.
   *
   * @param handedOut - pages that the answer hands out without zeroing them
   * @param isLoad - a host load writes them: its copy stream runs behind all forwards
   */
  follow(effects: readonly Effect[], handedOut: readonly Range[] = [], isLoad = false): Seen {
    const seen: Seen = { problems: [], waited: [], touched: new Set(), moves: 0 };
    const before = this.#uses.filter((use) => use.kind === "transfer");
    let hasWaited = false;
    for (const effect of effects) {
      switch (effect[0]) {
        case "hostread":
          if (hasWaited) seen.problems.push("a host read after a wait");
          break;
        case "wait":
          hasWaited = true;
          this.#wait(effect[1], seen);
          break;
        case "hostwait":
          seen.waited.push(effect[1]);
          if (!this.has(effect[1])) seen.problems.push(`waits ${effect[1]}, which is over`);
          this.end(effect[1]);
          break;
        case "move":
          seen.moves += effect[2].length;
          for (const [source, target] of effect[2]) {
            this.#read(this.rangeOf(effect[1], source), seen, before, true);
            this.#write(this.rangeOf(effect[1], target), seen, before);
          }
          break;
        case "zero":
          for (const page of expand(effect[2]))
            this.#write(this.rangeOf(effect[1], page), seen, before);
          break;
        case "copy":
          for (const [source, target] of effect[2]) {
            this.#read(this.rangeOf(effect[1], source), seen, before, false);
            this.#write(this.rangeOf(effect[1], target), seen, before);
          }
          break;
        case "net":
          this.#start(effect[1], effect[2] === "send", effect[3]);
          break;
        default:
      }
    }
    for (const range of handedOut) this.#write(range, seen, before, isLoad);
    return seen;
  }

  #start(name: string, isSend: boolean, pages: Readonly<Record<string, readonly unknown[]>>): void {
    const ranges = Object.entries(pages).flatMap(([band, extents]) =>
      expand(extents as Parameters<typeof expand>[0]).map((page) => this.rangeOf(band, page)),
    );
    this.add(name, "transfer", isSend ? ranges : [], isSend ? [] : ranges);
  }

  #wait(name: string, seen: Seen): void {
    const use = this.#uses.find((each) => each.name === name);
    if (use === undefined) seen.problems.push(`waits ${name}, which is over`);
    else if (use.kind === "forward") this.endThrough(name);
    else this.end(name);
  }

  #read(range: Range, seen: Seen, before: readonly ByteUse[], isMove: boolean): void {
    if (isMove) note(range, seen, before);
    for (const use of this.#uses) {
      if (use.writesAnything && isMove) seen.problems.push(`moves while ${use.name} may write`);
      if (meetsAny(range, use.writes)) seen.problems.push(`reads what ${use.name} writes`);
    }
  }

  #write(range: Range, seen: Seen, before: readonly ByteUse[], isLoad = false): void {
    note(range, seen, before);
    for (const use of this.#uses) {
      if (isLoad && use.kind === "forward") continue;
      if (meetsAny(range, use.reads)) seen.problems.push(`overwrites what ${use.name} reads`);
      if (meetsAny(range, use.writes)) seen.problems.push(`overwrites what ${use.name} writes`);
    }
  }
}

function note(range: Range, seen: Seen, before: readonly ByteUse[]): void {
  for (const use of before) {
    if (meetsAny(range, use.reads) || meetsAny(range, use.writes)) seen.touched.add(use.name);
  }
}

function meetsAny(range: Range, others: readonly Range[]): boolean {
  return others.some((other) => other.from < range.to && other.to > range.from);
}
