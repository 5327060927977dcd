// Two recorded runs side by side where one has operations that the other lacks: which of them stand alone. All others go in
// pairs, in the order in which they come on either side.
import type { AlignedBlock } from "../align/alignment.js";
import type { TraceCursor } from "../trace-cursor.js";
import type { OpLine } from "../../trace/lines.js";

const BATCH = 256;

/** One step of a walk through both sides; a side that has nothing there is null. @internal */
export interface PairStep {
  readonly base: OpLine | null;
  readonly candidate: OpLine | null;
  readonly n: number; // the base's operation, or the one before which the candidate's comes
  readonly m: number; // the candidate's, likewise
}

/** Operations of one side without a partner where they stand. */
interface Alone {
  readonly from: number;
  readonly to: number; // behind the last
  readonly block: AlignedBlock;
}

/** Walks two runs in pairs. @internal */
export class PairWalk {
  readonly #base: OperationQueue;
  readonly #candidate: OperationQueue;
  /** Operations of either side that stood alone so far. */
  readonly alone: { base: number; candidate: number } = { base: 0, candidate: 0 };
  readonly #alone: { readonly base: AloneRanges; readonly candidate: AloneRanges };

  /** @param blocks - what differs, as the alignment tells it */
  constructor(base: TraceCursor, candidate: TraceCursor, blocks: readonly AlignedBlock[]) {
    this.#base = new OperationQueue(base);
    this.#candidate = new OperationQueue(candidate);
    this.#alone = {
      base: new AloneRanges(blocks.flatMap((block) => aloneOf(block, "base", "candidate"))),
      candidate: new AloneRanges(blocks.flatMap((block) => aloneOf(block, "candidate", "base"))),
    };
  }

  /** The next step, null behind the last one. */
  async next(): Promise<PairStep | null> {
    const base = await this.#base.peek();
    const candidate = await this.#candidate.peek();
    if (base === null && candidate === null) return null;
    const here = base === null ? null : this.#alone.base.at(base.n);
    const there = candidate === null ? null : this.#alone.candidate.at(candidate.n);
    // what moved to where the other side has it as well is a pair after all
    const isPair = here === there;
    const isAlone = base !== null && (candidate === null || (here !== null && !isPair));
    const isOther =
      candidate !== null && !isAlone && (base === null || (there !== null && !isPair));
    const [n, m] = [this.#base.number, this.#candidate.number];
    if (isAlone) this.alone.base += 1;
    if (isOther) this.alone.candidate += 1;
    if (!isOther) this.#base.take();
    if (!isAlone) this.#candidate.take();
    return { base: isOther ? null : base, candidate: isAlone ? null : candidate, n, m };
  }
}

/** The operations of a block that have no partner. Changed ones are paired as far as both sides have some. */
function aloneOf(
  block: AlignedBlock,
  side: "base" | "candidate",
  other: "base" | "candidate",
): Alone[] {
  const { from, to } = block[side];
  const paired = block.kind === "changed" ? block[other].to - block[other].from : 0;
  return from + paired < to ? [{ from: from + paired, to, block }] : [];
}

/** Ranges of one side, asked for operations that do not descend. */
class AloneRanges {
  readonly #ranges: readonly Alone[];
  #at = 0;

  constructor(ranges: readonly Alone[]) {
    this.#ranges = [...ranges].sort((one, other) => one.from - other.from);
  }

  /** The block that operation `n` stands alone in; null: it has a partner. */
  at(n: number): AlignedBlock | null {
    while ((this.#ranges[this.#at]?.to ?? Infinity) <= n) this.#at += 1;
    const range = this.#ranges[this.#at];
    return range !== undefined && range.from <= n ? range.block : null;
  }
}

/** The operations of a run, one by one. */
class OperationQueue {
  readonly #cursor: TraceCursor;
  #lines: readonly OpLine[] = [];
  #at = 0;
  #last = -1; // operation
  #isOver = false;

  constructor(cursor: TraceCursor) {
    this.#cursor = cursor;
  }

  /** Number of the operation at hand; behind the last one the next there would be. */
  get number(): number {
    return this.#lines[this.#at]?.n ?? this.#last + 1;
  }

  async peek(): Promise<OpLine | null> {
    if (this.#at >= this.#lines.length && !this.#isOver) {
      this.#lines = await this.#cursor.operations(BATCH);
      this.#at = 0;
      this.#isOver = this.#lines.length < BATCH;
    }
    return this.#lines[this.#at] ?? null;
  }

  take(): void {
    this.#last = this.#lines[this.#at]?.n ?? this.#last;
    this.#at += 1;
  }
}
