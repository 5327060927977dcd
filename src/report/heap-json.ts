// JSON of what is said of heaps.
import type { HeapPoint } from "../tools/heap-curve.js";
import type { HeapStudy } from "../tools/heap-study.js";
import type { HeapStats } from "../tools/stats-heap.js";

const POINT = 1_000_000; // shares are told to so many parts

/** The heap of a trace. @internal */
export function heapStatsJson(heap: HeapStats): unknown {
  return {
    objects: heap.objects,
    failed: heap.failed,
    live: heap.live,
    peak_objects: heap.peakObjects,
    peak_requested_bytes: heap.peakRequestedBytes,
    peak_bytes: heap.peakBytes,
    curve: curveJson(heap.curve),
  };
}

/** The document of `stats --allocators`. @public */
export function heapStudyJson(studies: readonly HeapStudy[]): unknown {
  return {
    command: "stats",
    verdict: "counted",
    allocators: studies.map((study) => ({
      file: study.file,
      run: study.run,
      allocator: study.allocator,
      arena_bytes: study.arenaBytes,
      fits: study.failed === 0,
      operations: study.operations,
      failed: study.failed,
      first_failure: study.firstFailure,
      left: study.left,
      peak_objects: study.peakObjects,
      peak_requested_bytes: study.peakRequestedBytes,
      peak_used_bytes: study.peakUsedBytes,
      peak_bytes: study.peakBytes,
      idle_share: Math.round(study.idleShare * POINT) / POINT,
      operations_per_second: study.operationsPerSecond,
      curve: curveJson(study.curve),
    })),
    operations: studies.reduce((sum, { operations }) => sum + operations, 0),
  };
}

/** Points as `[n, requested, used, end]`. */
function curveJson(curve: readonly HeapPoint[]): unknown {
  return curve.map(({ n, requestedBytes, usedBytes, endBytes }) => [
    n,
    requestedBytes,
    usedBytes,
    endBytes,
  ]);
}
