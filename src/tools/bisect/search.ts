// Where between two points an outcome changes: halving, with points that cannot be judged passed over.

/** What a point shows. @public */
export type PointOutcome = "good" | "bad" | "skipped";

const SKIPS_MAX = 64; // in a row; then what is left between the points counts as not to be judged

/**
 * Which of `count` points, best first, is tried after so many skips in a row: the best one, then points spread over the
 * rest and nearer to its front, because what cannot be judged comes in clusters. @internal
 */
export function choiceAfter(skips: number, count: number): number {
  let fraction = 0;
  let weight = 0.5;
  // digits of the count mirrored at the point: 1/2, 1/4, 3/4, 1/8, …
  for (let rest = skips; rest > 0; rest = Math.floor(rest / 2)) {
    fraction += (rest % 2) * weight;
    weight /= 2;
  }
  return Math.floor(count * fraction * fraction);
}

/** Where the search on a line ended. @internal */
export interface LineEnd {
  readonly good: number; // last point that is known to be good
  readonly bad: number; // first one that is known to be bad; between the two are only skipped ones, if any
  readonly isOver: boolean; // false: the time was over
}

/** @internal */
export interface LineSearch {
  readonly good: number; // known to be good
  readonly bad: number; // known to be bad, above `good`
  readonly test: (point: number) => Promise<PointOutcome>;
  readonly isTimeOver?: () => boolean;
}

/** Searches whole numbers between `good` and `bad`. What is bad is taken to stay bad towards `bad`. @internal */
export async function searchLine(search: LineSearch): Promise<LineEnd> {
  let { good, bad } = search;
  const skipped = new Set<number>();
  let skips = 0;
  while (bad - good > 1) {
    const point = choose(good, bad, skipped, skips);
    if (point === null || skips >= SKIPS_MAX) break;
    if (search.isTimeOver?.() === true) return { good, bad, isOver: false };
    const outcome = await search.test(point);
    skips = outcome === "skipped" ? skips + 1 : 0;
    if (outcome === "good") good = point;
    else if (outcome === "bad") bad = point;
    else skipped.add(point);
  }
  return { good, bad, isOver: true };
}

// The points in between, the middle first, then outwards by turns.
function choose(
  good: number,
  bad: number,
  skipped: ReadonlySet<number>,
  skips: number,
): number | null {
  const count = bad - good - 1;
  const middle = good + Math.floor((bad - good) / 2);
  const nth = (index: number): number =>
    middle + (index % 2 === 0 ? -Math.floor(index / 2) : Math.ceil(index / 2));
  const from = choiceAfter(skips, count);
  for (let index = 0; index < Math.min(count, skipped.size + 1); index++) {
    const point = nth((from + index) % count);
    if (point > good && point < bad && !skipped.has(point)) return point;
  }
  return null;
}
