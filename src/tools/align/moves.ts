// Operations that both sides have, at different places: a whole stretch that is unpaired on the left is unpaired on the
// right, as often here as there.
import type { Links } from "./links.js";
import type { LifePair } from "./walk.js";

/** An operation at another place. @internal */
export interface Move {
  readonly i: number;
  readonly j: number;
}

/** The moves among what a walk has left, in the order of the left. @internal */
export function findMoves(
  links: Links,
  leftTokens: Int32Array,
  rightTokens: Int32Array,
): readonly Move[] {
  const there = stretches(links.pairOfRight, rightTokens);
  const moves: Move[] = [];
  for (const [tokens, starts] of stretches(links.pairOfLeft, leftTokens)) {
    const others = there.get(tokens);
    // more on one side than on the other: which one moved is anyone's guess
    if (others?.length !== starts.length) continue;
    const length = tokens.split(" ").length;
    for (const [at, start] of starts.entries()) {
      const other = others[at] ?? 0;
      if (!hasNames(links, start, length)) continue;
      for (let step = 0; step < length; step++) moves.push({ i: start + step, j: other + step });
    }
  }
  return moves.sort((one, other) => one.i - other.i);
}

/** The lives that moved operations open. @internal */
export function livesOfMoves(links: Links, moves: readonly Move[]): LifePair[] {
  const pairs: LifePair[] = [];
  for (const { i, j } of moves) {
    const [left, right] = [links.left.forms[i], links.right.forms[j]];
    if (left === undefined || right === undefined) continue;
    for (const [at, life] of left.lives.entries()) {
      const other = right.lives[at] ?? -1;
      const isOpened =
        links.left.lives[life]?.opener === i && links.right.lives[other]?.opener === j;
      if (isOpened) pairs.push([life, other]);
    }
  }
  return pairs;
}

// A stretch without a name is nobody's: it has not moved, another question is asked.
function hasNames(links: Links, start: number, length: number): boolean {
  const forms = links.left.forms.slice(start, start + length);
  return forms.some(({ lives }) => lives.length > 0);
}

/** Unpaired stretches by their tokens: where each begins. */
function stretches(pairs: Int32Array, tokens: Int32Array): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (let from = 0; from < pairs.length; from++) {
    if ((pairs[from] ?? -1) >= 0) continue;
    let to = from + 1;
    while (to < pairs.length && (pairs[to] ?? -1) < 0) to += 1;
    const key = tokens.subarray(from, to).join(" ");
    const known = found.get(key);
    if (known === undefined) found.set(key, [from]);
    else known.push(from);
    from = to;
  }
  return found;
}
