// Compares one run of two recorded traces, operation by operation up to its first difference, and aligns what comes after
// that.
import { canonicalJson } from "../base/canonical-json.js";
import type { Operation } from "../base/operations.js";
import type { OpLine } from "../trace/lines.js";
import { Aligner } from "./align/align.js";
import type { Alignment } from "./align/alignment.js";
import type { RunComparer } from "./compare-run.js";
import { NamePairs } from "./equality/name-pairs.js";
import { operationsPast } from "./past.js";
import type { TraceCursor } from "./trace-cursor.js";

const STEP = 256; // operations of a run read from each side at once

/** How far the comparison goes past a difference. @internal */
export interface PairChoices {
  readonly first?: boolean;
  readonly past?: number; // operations of a side that are aligned
}

/** @internal */
export class PairComparison {
  readonly #comparer: RunComparer;
  readonly #base: TraceCursor;
  readonly #candidate: TraceCursor;
  readonly #limit: number;
  readonly #isFirstOnly: boolean;
  readonly #names: NamePairs | null; // in mode `renamed`, where names need not be the same
  #aligner: Aligner | null = null; // once the sides have parted
  #parted: { readonly base: OpLine | null; readonly candidate: OpLine | null } | null = null;
  #isCut = false; // a side cannot be read to the end of the run
  #sinceParting = 0; // operations of the base behind the one where they parted

  constructor(
    comparer: RunComparer,
    base: TraceCursor,
    candidate: TraceCursor,
    choices: PairChoices,
  ) {
    this.#comparer = comparer;
    this.#base = base;
    this.#candidate = candidate;
    this.#isFirstOnly = choices.first === true;
    this.#limit = operationsPast(choices);
    this.#names = comparer.mode === "renamed" ? new NamePairs() : null;
  }

  /** Reads the run on both sides; `onRead` is told what was read. A damaged line hides no difference before it. */
  async run(
    onRead: (left: readonly OpLine[], right: readonly OpLine[]) => Promise<void>,
  ): Promise<void> {
    try {
      await this.#readOn(onRead);
    } finally {
      this.#finish();
    }
  }

  async #readOn(
    onRead: (left: readonly OpLine[], right: readonly OpLine[]) => Promise<void>,
  ): Promise<void> {
    for (;;) {
      const [left, right] = await this.#step();
      if (left.length === 0 && right.length === 0) break;
      const equal = this.#isOver ? 0 : this.#compare(left, right);
      if (this.#isOver) this.#goOn(left.slice(equal), right.slice(equal));
      await onRead(left, right);
      if (this.#isOver && this.#isFirstOnly && this.#sinceParting >= this.#limit) break;
    }
  }

  /** The next operations of both sides; equally many where one of them is damaged behind them. */
  async #step(): Promise<readonly [readonly OpLine[], readonly OpLine[]]> {
    const left = await this.#base.operations(STEP);
    const right = await this.#candidate.operations(STEP);
    if (!this.#base.isDamaged && !this.#candidate.isDamaged) return [left, right];
    this.#isCut = true;
    if (this.#isOver) return [left, right];
    const both = Math.min(left.length, right.length);
    return [left.slice(0, both), right.slice(0, both)];
  }

  get #isOver(): boolean {
    return this.#comparer.isOver || this.#parted !== null;
  }

  /** Compares two stretches that begin at the same place, up to the first difference; the operations before it. */
  #compare(left: readonly OpLine[], right: readonly OpLine[]): number {
    const count = Math.max(left.length, right.length);
    for (let i = 0; i < count; i++) {
      const [base, candidate] = [left[i] ?? null, right[i] ?? null];
      const told = base === null || candidate === null ? null : this.#told(base, candidate);
      if (base === null || told === null) {
        this.#parted = { base, candidate };
        return i;
      }
      if (!this.#comparer.compare(base, told)) return i;
    }
    return count;
  }

  /** The candidate's line as the base would name things; null where the two do not ask the same. */
  #told(base: OpLine, candidate: OpLine): OpLine | null {
    if (this.#names === null) return isSameOperation(base, candidate) ? candidate : null;
    // ids among the arguments as the candidate has them, from the answers so far
    const { args } = this.#comparer.asked({ op: base.op, args: base.args } as Operation);
    return this.#names.told(base, { ...base, args } as OpLine, candidate);
  }

  // Everything from the difference on, that operation itself included.
  #goOn(left: readonly OpLine[], right: readonly OpLine[]): void {
    if (this.#aligner === null) this.#sinceParting = -1;
    this.#sinceParting += left.length;
    if (this.#comparer.invalid !== null) return; // the run means nothing
    this.#aligner ??= new Aligner(this.#limit);
    for (const line of left) this.#aligner.add("base", line);
    for (const line of right) this.#aligner.add("candidate", line);
  }

  #finish(): void {
    const comparer = this.#comparer;
    if (this.#aligner !== null) {
      const isTruncated = this.#base.truncated !== null || this.#candidate.truncated !== null;
      if (isTruncated || this.#isCut) this.#aligner.cut();
      comparer.alignment = this.#aligner.run();
    }
    if (this.#parted !== null) {
      const { base, candidate } = this.#parted;
      comparer.misalign(kindOf(comparer.alignment, base, candidate), base, candidate);
    }
    if (this.#sinceParting > 0) comparer.operations += this.#sinceParting;
  }
}

// What the first block says; the base's operation is missing where it is another one on both sides.
function kindOf(
  alignment: Alignment | null,
  base: OpLine | null,
  candidate: OpLine | null,
): "missing operation" | "extra operation" {
  if (base === null) return "extra operation";
  if (candidate === null) return "missing operation";
  const first = alignment?.blocks[0];
  const isMovedUp = first?.kind === "moved" && first.candidate.from === candidate.n;
  return first?.kind === "inserted" || isMovedUp ? "extra operation" : "missing operation";
}

function isSameOperation(left: OpLine, right: OpLine): boolean {
  if (left.op !== right.op) return false;
  if (JSON.stringify(left.args) === JSON.stringify(right.args)) return true;
  return canonicalJson(left.args) === canonicalJson(right.args);
}
