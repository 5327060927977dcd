// From the points of a sweep: where operations of each kind begin to be refused, with which code.
import type { RefusalCount, RefusalSpan, SweepPoint } from "./outcome.js";

/**
 * One span for each operation kind and code, by kind and then code. A point that is not swept tells nothing of refusals:
 * beside it an edge is not clear. @internal
 */
export function refusalSpans(points: readonly SweepPoint[]): RefusalSpan[] {
  const names = new Map<string, { readonly op: string; readonly code: string }>();
  for (const { refusals } of points)
    for (const { op, code } of refusals) names.set(`${op} ${code}`, { op, code });
  const sorted = [...names].sort(([left], [right]) => (left < right ? -1 : 1));
  return sorted.map(([, { op, code }]) => spanOf(points, op, code));
}

function spanOf(points: readonly SweepPoint[], op: string, code: string): RefusalSpan {
  const found = points.map(({ refusals }) =>
    refusals.find((refusal) => refusal.op === op && refusal.code === code),
  );
  const at = found.flatMap((refusal, index) => (refusal === undefined ? [] : [index]));
  const [first, last] = [at[0]!, at.at(-1)!]; // some point has it
  const isGranted = (index: number): boolean =>
    points[index]?.outcome === "swept" && found[index] === undefined;
  const edge = isGranted(first - 1) ? first : isGranted(last + 1) ? last : null;
  const valueAt = (index: number): number => points[index]!.value;
  return {
    ...{ op, code, values: at.length },
    ...{ first: valueAt(first), last: valueAt(last) },
    begins: edge === null ? null : beginOf(valueAt(edge), found[edge]!), // an edge is refused
  };
}

function beginOf(value: number, { run, n, count }: RefusalCount): RefusalSpan["begins"] {
  return { value, run, n, count };
}
