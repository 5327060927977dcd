// Lists in digests: the id at place i counts (2i + 1) times.
import { type LaneSum, mixA, mixB } from "../base/digest.js";

/** @internal */
export function addWeighted(sum: LaneSum, field: number, index: number, id: number): void {
  const weight = 2 * index + 1;
  sum.join({ a: Math.imul(weight, mixA(field, 0, id)), b: Math.imul(weight, mixB(field, 0, id)) });
}
