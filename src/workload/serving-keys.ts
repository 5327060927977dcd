// Tree keys of requests: the trace's block ids for the input, a segment of its own for what a request generates.
import type { Key } from "../base/operations.js";
import type { Job } from "./serving-jobs.js";

/**
 * The key of a request's first `len` tokens: a segment for each run of ids, named by the run's first id. Runs are as long
 * as can be, so two keys with equal leading ids have equal segments up to the first id that differs: there one run ends or
 * begins with another name. A block that the input fills in part has an identity of its own in the traces. Input beyond
 * the blocks is shared with nobody. @internal
 */
export function keyOf(job: Job, blockTokens: number, len: number): Key {
  const segments: (readonly [number | string, number])[] = [];
  const shared = Math.min(len, job.input);
  let from = 0;
  for (const [first, count] of job.blocks) {
    if (from >= shared) break;
    const tokens = Math.min(count * blockTokens, shared - from);
    segments.push([first, tokens]);
    from += tokens;
  }
  if (from < len) segments.push([job.name, len - from]);
  return segments;
}
