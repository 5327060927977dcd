// Aligns the operations of two recorded runs from their first difference on: an edit script over lives, never over
// positions or addresses. Swapping the sides swaps inserted and removed and changes nothing else: the work is always done
// with the sides in an order that their contents decide.
import type { AlignedBlock, Alignment } from "./alignment.js";
import { anchors } from "./anchors.js";
import { blocksOf } from "./blocks.js";
import type { FormedLine } from "./forms.js";
import { Forms, Numbering } from "./forms.js";
import type { Links } from "./links.js";
import { findMoves, livesOfMoves } from "./moves.js";
import type { Move } from "./moves.js";
import { tokensOf } from "./tokens.js";
import { walk } from "./walk.js";

const ROUNDS = 3; // walks with what the one before found out about moved openings

/** Takes the operations of both sides and aligns them. @internal */
export class Aligner {
  readonly #shapes = new Numbering();
  readonly #base: Forms;
  readonly #candidate: Forms;
  readonly #limit: number;
  readonly #isCut = { base: false, candidate: false };

  /** @param limit - operations of each side that are aligned; what comes after them is not looked at */
  constructor(limit: number) {
    this.#limit = limit;
    this.#base = new Forms(this.#shapes);
    this.#candidate = new Forms(this.#shapes);
  }

  /** Takes the next operation of one side. */
  add(side: "base" | "candidate", line: FormedLine): void {
    const forms = side === "base" ? this.#base : this.#candidate;
    if (forms.forms.length < this.#limit) forms.add(line);
    else this.#isCut[side] = true;
  }

  /** The input ends inside the run on both sides. */
  cut(): void {
    this.#isCut.base = true;
    this.#isCut.candidate = true;
  }

  run(): Alignment {
    const isSwapped = isAfter(this.#base, this.#candidate, this.#shapes);
    const [left, right] = isSwapped ? [this.#candidate, this.#base] : [this.#base, this.#candidate];
    const tokens = new Numbering();
    const [leftTokens, rightTokens] = [tokensOf(left, tokens), tokensOf(right, tokens)];
    const segments = anchors(leftTokens, rightTokens);
    let links = walk(left, right, segments, []);
    let moves: readonly Move[] = findMoves(links, leftTokens, rightTokens);
    for (let round = 1; round < ROUNDS && moves.length > 0; round++) {
      links = walk(left, right, segments, livesOfMoves(links, moves));
      const next = findMoves(links, leftTokens, rightTokens);
      const isSame = next.length === moves.length;
      moves = next;
      if (isSame) break;
    }
    const isCut = this.#isCut.base || this.#isCut.candidate;
    const agreed = equalPairs(links);
    // Where the input was cut, what stands at the end may have its pair behind the cut.
    const { blocks, end } = blocksOf(links, moves, isCut && agreed > 0);
    return {
      blocks: isSwapped ? blocks.map(swapped) : blocks,
      agreed,
      read: { base: this.#base.forms.length, candidate: this.#candidate.forms.length },
      recovers:
        end === null
          ? null
          : sides(left.forms[end.i]?.n ?? 0, right.forms[end.j]?.n ?? 0, isSwapped),
      isWhole: !isCut,
    };
  }
}

function equalPairs({ pairOfLeft, isChanged }: Links): number {
  let count = 0;
  for (const [i, pair] of pairOfLeft.entries()) if (pair >= 0 && isChanged[i] === 0) count += 1;
  return count;
}

function sides(
  left: number,
  right: number,
  isSwapped: boolean,
): { base: number; candidate: number } {
  return isSwapped ? { base: right, candidate: left } : { base: left, candidate: right };
}

function swapped(block: AlignedBlock): AlignedBlock {
  const { kind, base, candidate, operations, summary, opens, cause } = block;
  return {
    kind: kind === "inserted" ? "removed" : kind === "removed" ? "inserted" : kind,
    base: candidate,
    candidate: base,
    operations: { base: operations.candidate, candidate: operations.base },
    summary: summary.map(({ op, ...counts }) => ({
      op,
      base: counts.candidate,
      candidate: counts.base,
    })),
    opens: opens.map(({ what, ...counts }) => ({
      what,
      base: counts.candidate,
      candidate: counts.base,
    })),
    cause,
  };
}

/** Whether the right side comes first: the shorter one, then the one whose first difference is smaller. */
function isAfter(left: Forms, right: Forms, shapes: Numbering): boolean {
  if (left.forms.length !== right.forms.length) return left.forms.length > right.forms.length;
  for (const [index, form] of left.forms.entries()) {
    const other = right.forms[index];
    if (other === undefined) return true;
    const order =
      compareTexts(shapes.texts[form.shape] ?? "", shapes.texts[other.shape] ?? "") ||
      compareTexts(namesOf(left, form.lives), namesOf(right, other.lives));
    if (order !== 0) return order > 0;
  }
  return false;
}

// Numbers of lives are in the order of their first use: the same on both sides as long as the sides are.
function namesOf(side: Forms, lives: readonly number[]): string {
  return lives
    .map((life) => {
      const { opener, kind, name } = side.lives[life] ?? { opener: -1, kind: "", name: "" };
      return opener < 0 ? `~${kind} ${name}` : String(life);
    })
    .join(",");
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
