// Aligns what lies between two anchors: the fewest operations that are missing, more, or have other arguments. The
// furthest-reaching paths of each cost are kept; names correspond as the path itself has paired the operations that open
// them, so no path contradicts itself. After a stated cost the best path is taken as far as it goes and the search
// starts again from there: the work for an operation is bounded, the script then no longer the shortest.
import type { Links } from "./links.js";

interface GapPair {
  readonly i: number;
  readonly j: number;
  readonly isChanged: boolean;
}

const COST_MAX = 256; // of one search; the work and the memory of it grow with the square

/** A path: an edit, then operations that are the same. */
interface Path {
  readonly before: Path | null;
  readonly isChange: boolean; // the edit pairs two operations with other arguments
  readonly i: number; // where the equal operations begin
  readonly j: number;
  readonly count: number; // equal operations
}

/** Pairs operations of `[i0, i1)` of the left with some of `[j0, j1)` of the right. @internal */
export function searchGap(links: Links, i0: number, i1: number, j0: number, j1: number): void {
  let [i, j] = [i0, j0];
  while (i < i1 && j < j1) {
    const path = new GapSearch(links, i, i1, j, j1).run();
    for (const pair of pairsOf(path)) links.pair(pair.i, pair.j, pair.isChanged);
    [i, j] = [path.i + path.count, path.j + path.count];
  }
}

function pairsOf(path: Path): GapPair[] {
  const paths: Path[] = [];
  for (let at: Path | null = path; at !== null; at = at.before) paths.push(at);
  return paths.reverse().flatMap(({ i, j, count, isChange }) => {
    const pairs: GapPair[] = isChange ? [{ i: i - 1, j: j - 1, isChanged: true }] : [];
    for (let at = 0; at < count; at++) pairs.push({ i: i + at, j: j + at, isChanged: false });
    return pairs;
  });
}

class GapSearch {
  readonly #links: Links;
  readonly #i0: number;
  readonly #i1: number;
  readonly #j0: number;
  readonly #j1: number;

  constructor(links: Links, i0: number, i1: number, j0: number, j1: number) {
    this.#links = links;
    this.#i0 = i0;
    this.#i1 = i1;
    this.#j0 = j0;
    this.#j1 = j1;
  }

  /** The cheapest path to the end, or the furthest one of the highest cost. */
  run(): Path {
    let reached = new Map<number, Path>(); // diagonal i-j → furthest path
    const first = this.#onward(null, false, this.#i0, this.#j0);
    if (this.#isEnd(first)) return first;
    reached.set(first.i - first.j, first);
    for (let cost = 1; cost <= COST_MAX; cost++) {
      const next = new Map<number, Path>();
      const middle = this.#i0 - this.#j0;
      for (let k = -cost; k <= cost; k++) {
        const path = this.#furthest(reached, middle + k);
        if (path === null) continue;
        if (this.#isEnd(path)) return path;
        next.set(middle + k, path);
      }
      reached = next;
    }
    return best(reached.values()) ?? first;
  }

  // In this order where two reach equally far: other arguments, missing, more.
  #furthest(reached: ReadonlyMap<number, Path>, diagonal: number): Path | null {
    let found: Path | null = null;
    const take = (path: Path | null): void => {
      if (path !== null && (found === null || path.i + path.count > found.i + found.count)) {
        found = path;
      }
    };
    const same = reached.get(diagonal);
    if (same !== undefined) take(this.#changed(same));
    const above = reached.get(diagonal - 1);
    if (above !== undefined && endI(above) < this.#i1) {
      take(this.#onward(above, false, endI(above) + 1, endJ(above)));
    }
    const below = reached.get(diagonal + 1);
    if (below !== undefined && endJ(below) < this.#j1) {
      take(this.#onward(below, false, endI(below), endJ(below) + 1));
    }
    return found;
  }

  #changed(path: Path): Path | null {
    const [i, j] = [endI(path), endJ(path)];
    if (i >= this.#i1 || j >= this.#j1 || !this.#isSameKind(path, i, j)) return null;
    return this.#onward(path, true, i + 1, j + 1);
  }

  #onward(before: Path | null, isChange: boolean, i: number, j: number): Path {
    const path = { before, isChange, i, j, count: 0 };
    while (i + path.count < this.#i1 && j + path.count < this.#j1) {
      if (!this.#isSame(path, i + path.count, j + path.count)) break;
      path.count += 1;
    }
    return path;
  }

  #isEnd(path: Path): boolean {
    return endI(path) === this.#i1 && endJ(path) === this.#j1;
  }

  #isSame(path: Path, i: number, j: number): boolean {
    const { left, right } = this.#links;
    return left.forms[i]?.shape === right.forms[j]?.shape && this.#isSameNames(path, i, j);
  }

  #isSameKind(path: Path, i: number, j: number): boolean {
    const { left, right } = this.#links;
    return left.forms[i]?.op === right.forms[j]?.op && this.#isSameNames(path, i, j);
  }

  #isSameNames(path: Path, i: number, j: number): boolean {
    const { left, right } = this.#links;
    const [names, others] = [left.forms[i]?.lives ?? [], right.forms[j]?.lives ?? []];
    if (names.length !== others.length) return false;
    return names.every((life, at) => {
      const other = others[at] ?? -1;
      const linked = this.#links.partner(life);
      if (linked >= 0) return linked === other;
      if (this.#links.isTaken(other)) return false;
      const [opened, openedThere] = [left.lives[life], right.lives[other]];
      if (opened === undefined || openedThere === undefined) return false;
      if (opened.kind !== openedThere.kind || opened.slot !== openedThere.slot) return false;
      if (opened.opener === i || openedThere.opener === j) {
        return opened.opener === i && openedThere.opener === j;
      }
      return opened.opener >= 0 && isPaired(path, opened.opener, openedThere.opener);
    });
  }
}

const endI = ({ i, count }: Path): number => i + count;
const endJ = ({ j, count }: Path): number => j + count;

/** Whether the path pairs two operations. */
function isPaired(path: Path, i: number, j: number): boolean {
  for (let at: Path | null = path; at !== null; at = at.before) {
    const from = at.isChange ? at.i - 1 : at.i;
    if (i >= from) return i < at.i + at.count && j - i === at.j - at.i;
  }
  return false;
}

// The furthest in both together; of several the one with more of the left, so that the choice is one.
function best(paths: Iterable<Path>): Path | null {
  let found: Path | null = null;
  for (const path of paths) {
    const [far, than] = [endI(path) + endJ(path), found === null ? -1 : endI(found) + endJ(found)];
    if (far > than || (far === than && found !== null && endI(path) > endI(found))) found = path;
  }
  return found;
}
