// Request traces: lengths, arrivals and prefix-block identities of real or generated requests.
import { InternalError } from "../base/errors.js";

/** @public */
export interface TracedRequest {
  readonly arrival: number; // ms from the start of the trace
  readonly input: number; // tokens
  readonly output: number; // tokens
  readonly blocks: readonly number[]; // prefix-block ids, in order
}
/** @public */
export interface RequestTrace {
  readonly name: string; // "mooncake", "synthetic"
  readonly blockTokens: number; // tokens a block id stands for
  readonly requests: readonly TracedRequest[]; // in file order, arrivals ascending
  readonly seed: number | null; // of a synthetic trace
}

/**
 * `mooncake:FILE` (JSONL or .gz) or `synthetic[:SEED]`; at most `limit` requests. Throws `UsageError` for an unknown
 * name and `InputError` with file and line for a row that breaks a conservation rule. @public
 */
export async function openRequestTrace(spec: string, limit?: number): Promise<RequestTrace> {
  throw new InternalError(`openRequestTrace is not there yet ${spec}${String(limit)}`);
}
