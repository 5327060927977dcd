// From paired operations to blocks: what stands between two pairs that are the same, told by kind, with what it opens and
// the block that it follows from.
import type { AlignedBlock, AlignedRange, BlockKind, SideCounts } from "./alignment.js";
import type { Form, Forms } from "./forms.js";
import type { Links } from "./links.js";
import type { Move } from "./moves.js";

/** A block as indices. */
interface RawBlock {
  readonly kind: BlockKind;
  readonly left: readonly number[];
  readonly right: readonly number[];
  readonly i: number; // where it stands on the left, also where it has nothing there
  readonly j: number;
}

/**
 * The blocks in order, and the first operations behind the last of them, null where there is none. @param isOpen - the
 * block at the very end is none: what it lacks may come later @internal
 */
export function blocksOf(
  links: Links,
  moves: readonly Move[],
  isOpen: boolean,
): { readonly blocks: readonly AlignedBlock[]; readonly end: Move | null } {
  const raw = rawBlocks(links, moves, isOpen);
  const causes = causesOf(links, raw);
  const blocks = raw.map((block, index) => describe(links, block, causes[index] ?? index));
  return { blocks, end: raw.length === 0 ? null : behind(links, raw) };
}

function rawBlocks(links: Links, moves: readonly Move[], isOpen: boolean): RawBlock[] {
  const movedLeft = new Map(moves.map(({ i, j }) => [i, j]));
  const movedRight = new Map(moves.map(({ i, j }) => [j, i]));
  const blocks: RawBlock[] = [];
  let [i, j] = [0, 0];
  const [leftEnd, rightEnd] = [links.pairOfLeft.length, links.pairOfRight.length];
  while (i < leftEnd || j < rightEnd) {
    const [fromI, fromJ] = [i, j];
    while (i < leftEnd && !isEqualPair(links, i)) i += 1;
    while (j < rightEnd && !isEqualPairOfRight(links, j)) j += 1;
    const left = range(fromI, i).filter((at) => !movedLeft.has(at));
    const right = range(fromJ, j).filter((at) => !movedRight.has(at));
    const isLast = i === leftEnd && j === rightEnd;
    if (left.length + right.length > 0 && !(isLast && isOpen)) {
      const kind = left.length === 0 ? "inserted" : right.length === 0 ? "removed" : "changed";
      blocks.push({ kind, left, right, i: fromI, j: fromJ });
    }
    for (const run of movedRuns(range(fromI, i), movedLeft)) {
      const others = run.map((at) => movedLeft.get(at) ?? -1);
      blocks.push({ kind: "moved", left: run, right: others, i: run[0] ?? i, j: others[0] ?? j });
    }
    if (i < leftEnd && j < rightEnd) [i, j] = [i + 1, j + 1];
  }
  return blocks;
}

function isEqualPair(links: Links, i: number): boolean {
  return (links.pairOfLeft[i] ?? -1) >= 0 && links.isChanged[i] === 0;
}

function isEqualPairOfRight(links: Links, j: number): boolean {
  const i = links.pairOfRight[j] ?? -1;
  return i >= 0 && links.isChanged[i] === 0;
}

// Operations that stand beside each other on both sides have moved together.
function movedRuns(places: readonly number[], moved: ReadonlyMap<number, number>): number[][] {
  const runs: number[][] = [];
  let before = -2;
  for (const i of places) {
    const j = moved.get(i);
    if (j === undefined) continue;
    const run = runs.at(-1);
    const isNext = run !== undefined && before === i - 1 && moved.get(before) === j - 1;
    if (isNext) run.push(i);
    else runs.push([i]);
    before = i;
  }
  return runs;
}

/**
 * For every block the one whose openings it needs: a block all of whose operations use what an earlier block opens has no
 * cause of its own.
 */
function causesOf(links: Links, blocks: readonly RawBlock[]): number[] {
  const leftBlock = new Map<number, number>();
  const rightBlock = new Map<number, number>();
  for (const [index, { left, right }] of blocks.entries()) {
    for (const i of left) leftBlock.set(i, index);
    for (const j of right) rightBlock.set(j, index);
  }
  const causes: number[] = [];
  for (const [index, { left, right }] of blocks.entries()) {
    const causesHere = new Set([
      ...left.map((i) => causeOf(links.left, i, leftBlock, index, causes)),
      ...right.map((j) => causeOf(links.right, j, rightBlock, index, causes)),
    ]);
    causes.push(causesHere.has(index) ? index : Math.min(...causesHere));
  }
  return causes;
}

function causeOf(
  side: Forms,
  operation: number,
  blockOf: ReadonlyMap<number, number>,
  own: number,
  causes: readonly number[],
): number {
  let cause = own;
  for (const life of side.forms[operation]?.lives ?? []) {
    const opener = side.lives[life]?.opener ?? -1;
    const block = opener < 0 || opener === operation ? undefined : blockOf.get(opener);
    if (block !== undefined && block < own) cause = Math.min(cause, causes[block] ?? block);
  }
  return cause;
}

function describe(links: Links, block: RawBlock, cause: number): AlignedBlock {
  const { kind, left, right, i, j } = block;
  return {
    kind,
    base: rangeOf(links.left.forms, left, i),
    candidate: rangeOf(links.right.forms, right, j),
    operations: { base: left.length, candidate: right.length },
    summary: counted(left, right, (side, at) => formOf(links, side, at).op).map(([op, counts]) => ({
      op,
      ...counts,
    })),
    opens: openedIn(links, left, right),
    cause,
  };
}

function formOf(links: Links, side: "left" | "right", at: number): Form {
  return links[side].forms[at]!; // blocks hold indices of operations
}

function openedIn(
  links: Links,
  left: readonly number[],
  right: readonly number[],
): AlignedBlock["opens"] {
  const opened = (side: Forms, places: readonly number[]): string[] =>
    places.flatMap((at) =>
      (side.forms[at]?.lives ?? []).flatMap((life) => {
        const { opener, kind } = side.lives[life] ?? { opener: -1, kind: "object" };
        return opener === at ? [kind] : [];
      }),
    );
  const kinds = { left: opened(links.left, left), right: opened(links.right, right) };
  const indices = (list: readonly string[]): number[] => list.map((_, index) => index);
  return counted(
    indices(kinds.left),
    indices(kinds.right),
    (side, at) => kinds[side][at] ?? "",
  ).map(([what, counts]) => ({ what, ...counts }));
}

/** Counts by name on both sides; the most frequent first, then by name: the same whichever side is which. */
function counted(
  left: readonly number[],
  right: readonly number[],
  nameOf: (side: "left" | "right", at: number) => string,
): [string, SideCounts][] {
  const counts = new Map<string, { base: number; candidate: number }>();
  const count = (name: string, side: "base" | "candidate"): void => {
    const known = counts.get(name) ?? { base: 0, candidate: 0 };
    known[side] += 1;
    counts.set(name, known);
  };
  for (const at of left) count(nameOf("left", at), "base");
  for (const at of right) count(nameOf("right", at), "candidate");
  return [...counts].sort(
    ([name, one], [other, two]) =>
      two.base + two.candidate - one.base - one.candidate || (name < other ? -1 : 1),
  );
}

function rangeOf(forms: readonly Form[], places: readonly number[], at: number): AlignedRange {
  const [first, last] = [forms[places[0] ?? -1], forms[places.at(-1) ?? -1]];
  if (first === undefined || last === undefined) {
    const n = forms[at]?.n ?? (forms.at(-1)?.n ?? -1) + 1;
    return { from: n, to: n, events: null };
  }
  const events: AlignedRange["events"] =
    first.events === null || last.events === null ? null : [first.events[0], last.events[1] + 1];
  return { from: first.n, to: last.n + 1, events };
}

// The operations behind every block on both sides: the sides agree from there on.
function behind(links: Links, blocks: readonly RawBlock[]): Move | null {
  let [i, j] = [-1, -1];
  for (const { left, right } of blocks) {
    i = Math.max(i, left.at(-1) ?? -1);
    for (const at of right) j = Math.max(j, at);
  }
  for (let at = i + 1; at < links.pairOfLeft.length; at++) {
    const pair = links.pairOfLeft[at] ?? -1;
    if (pair > j && isEqualPair(links, at)) return { i: at, j: pair };
  }
  return null;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}
