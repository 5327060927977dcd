// Operations that both sides have, at different places: unpaired on the left, unpaired on the right, as often here as
// there.
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
  const there = unpaired(links.pairOfRight, rightTokens);
  const moves: Move[] = [];
  for (const [token, places] of unpaired(links.pairOfLeft, leftTokens)) {
    const others = there.get(token);
    // more on one side than on the other: which one moved is anyone's guess
    if (others?.length !== places.length) continue;
    // an operation without a name is nobody's: it has not moved, another one is asked
    if ((links.left.forms[places[0] ?? -1]?.lives.length ?? 0) === 0) continue;
    for (const [at, i] of places.entries()) moves.push({ i, j: others[at] ?? -1 });
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

function unpaired(pairs: Int32Array, tokens: Int32Array): Map<number, number[]> {
  const places = new Map<number, number[]>();
  for (const [index, pair] of pairs.entries()) {
    if (pair >= 0) continue;
    const token = tokens[index] ?? -1;
    const known = places.get(token);
    if (known === undefined) places.set(token, [index]);
    else known.push(index);
  }
  return places;
}
