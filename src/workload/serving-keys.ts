// Tree keys of requests: the trace's block ids for the input, a segment of its own for what a request generates.
import type { Key } from "../base/operations.js";
import type { Job } from "./serving-jobs.js";

/**
 * The key of a request's first `len` tokens. A block that the input fills in part has an identity of its own in the
 * traces, so a segment's hash and the offset in it tell two tokens apart. Input beyond the blocks is shared with nobody. @internal
 */
export function keyOf(job: Job, blockTokens: number, len: number): Key {
  const segments: (readonly [number | string, number])[] = [];
  const shared = Math.min(len, job.input);
  let from = 0;
  for (const block of job.blocks) {
    if (from >= shared) break;
    const tokens = Math.min(blockTokens, shared - from);
    segments.push([block, tokens]);
    from += tokens;
  }
  if (from < len) segments.push([job.name, len - from]);
  return segments;
}
