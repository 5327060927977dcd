// Proposes which stretches of two sequences belong together: common beginnings and ends, then windows of tokens that
// occur once on each side, the longest chain of them that keeps the order, and so on between those. Deterministic.

/** Tokens `[i, i+count)` of the left are those `[j, j+count)` of the right. @internal */
export interface Segment {
  readonly i: number;
  readonly j: number;
  readonly count: number;
}

const WINDOWS = [32, 8, 2, 1]; // tokens; long windows are surer, short ones find what lies between

/** Segments in order on both sides, none overlapping. @internal */
export function anchors(left: Int32Array, right: Int32Array): Segment[] {
  const found: Segment[] = [];
  new AnchorSearch(left, right, found).region(0, left.length, 0, right.length);
  return found;
}

class AnchorSearch {
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #found: Segment[];

  constructor(left: Int32Array, right: Int32Array, found: Segment[]) {
    this.#left = left;
    this.#right = right;
    this.#found = found;
  }

  region(i0: number, i1: number, j0: number, j1: number): void {
    const [left, right] = [this.#left, this.#right];
    let front = 0;
    const most = Math.min(i1 - i0, j1 - j0);
    while (front < most && left[i0 + front] === right[j0 + front]) front += 1;
    this.#add(i0, j0, front);
    let back = 0;
    while (back < most - front && left[i1 - 1 - back] === right[j1 - 1 - back]) back += 1;
    this.#between(i0 + front, i1 - back, j0 + front, j1 - back);
    this.#add(i1 - back, j1 - back, back);
  }

  #between(i0: number, i1: number, j0: number, j1: number): void {
    if (i0 === i1 || j0 === j1) return;
    for (const size of WINDOWS) {
      const chain = longestChain(this.#unique(size, i0, i1, j0, j1));
      if (chain.length === 0) continue;
      this.#along(chain, size, i0, i1, j0, j1);
      return;
    }
  }

  // Each window of the chain grows both ways; what is between two of them is a region of its own.
  #along(
    chain: readonly (readonly [i: number, j: number])[],
    size: number,
    i0: number,
    i1: number,
    j0: number,
    j1: number,
  ): void {
    const [left, right] = [this.#left, this.#right];
    let [i, j] = [i0, j0];
    for (const [wi, wj] of chain) {
      if (wi < i || wj < j) continue; // an earlier one grew over it
      let back = 0;
      while (wi - back > i && wj - back > j && left[wi - back - 1] === right[wj - back - 1]) {
        back += 1;
      }
      let end = size;
      while (wi + end < i1 && wj + end < j1 && left[wi + end] === right[wj + end]) end += 1;
      this.region(i, wi - back, j, wj - back);
      this.#add(wi - back, wj - back, back + end);
      [i, j] = [wi + end, wj + end];
    }
    this.region(i, i1, j, j1);
  }

  #add(i: number, j: number, count: number): void {
    if (count > 0) this.#found.push({ i, j, count });
  }

  // Where windows of this size stand that occur once on each side, in the order of the left.
  #unique(size: number, i0: number, i1: number, j0: number, j1: number): [number, number][] {
    const inLeft = windows(this.#left, size, i0, i1);
    const inRight = windows(this.#right, size, j0, j1);
    const found: [number, number][] = [];
    for (const [hash, i] of inLeft) {
      const j = inRight.get(hash);
      if (i < 0 || j === undefined || j < 0) continue;
      if (this.#isSame(i, j, size)) found.push([i, j]);
    }
    return found.sort(([a], [b]) => a - b);
  }

  #isSame(i: number, j: number, size: number): boolean {
    for (let at = 0; at < size; at++) {
      if (this.#left[i + at] !== this.#right[j + at]) return false;
    }
    return true;
  }
}

/** Window → place, -1 where it occurs more than once. Different windows of one hash count as one: that loses an anchor. */
function windows(tokens: Int32Array, size: number, from: number, to: number): Map<number, number> {
  const places = new Map<number, number>();
  for (let at = from; at + size <= to; at++) {
    let hash = 0;
    for (let k = at; k < at + size; k++)
      hash = (Math.imul(hash, 0x01000193) ^ (tokens[k] ?? 0)) | 0;
    places.set(hash, places.has(hash) ? -1 : at);
  }
  return places;
}

/** The longest part of the pairs, sorted by their first number, in which the second one grows too. */
function longestChain(
  pairs: readonly (readonly [number, number])[],
): (readonly [number, number])[] {
  const tails: number[] = []; // tails[k]: index of the pair with the smallest end of a chain of k+1
  const before = new Int32Array(pairs.length).fill(-1);
  for (const [index, [, j]] of pairs.entries()) {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      // every tail is an index of a pair
      if (pairs[tails[middle]!]![1] < j) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[index] = tails[low - 1]!; // the chain before it has an end
    tails[low] = index;
  }
  const chain: (readonly [number, number])[] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    chain.push(pairs[at]!); // indices of pairs only
  }
  return chain.reverse();
}
