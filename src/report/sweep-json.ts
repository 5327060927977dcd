// The document of `sweep`.
import type { Sweep, SweepPoint } from "../tools/sweep/outcome.js";
import { errorOrNull } from "./error-json.js";

/** `broken`: the implementation broke a promise at a value; `incomplete`: a part was left out. @public */
export type SweepVerdict = "swept" | "broken" | "incomplete";

/** @public */
export function sweepVerdict({ points, isPartial, error }: Sweep): SweepVerdict {
  if (points.some(({ outcome }) => outcome === "broken")) return "broken";
  return isPartial || error !== null ? "incomplete" : "swept";
}

/** `trace`: the hash of the file. @public */
export function sweepJson(result: Sweep, trace: string | null): unknown {
  const { key, values, refusals, points, runs, operations, error } = result;
  const head = { command: "sweep", verdict: sweepVerdict(result), trace, key, values };
  return {
    ...head,
    refusals,
    points: points.map(pointJson),
    ...{ runs, operations },
    error: errorOrNull(error),
  };
}

function pointJson({ heap, ...point }: SweepPoint): object {
  const bytes = heap && { requested_bytes: heap.requestedBytes, end_bytes: heap.endBytes };
  return { ...point, heap: bytes };
}
