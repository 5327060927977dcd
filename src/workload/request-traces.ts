// Request traces: lengths, arrivals and prefix-block identities of real or generated requests, by the word in front
// of the colon: `mooncake:FILE` or `synthetic[:SEED]`.
import { UsageError } from "../base/errors.js";
import { nearestWord } from "../base/nearest.js";
import type { RequestTrace } from "./request-trace.js";
import { readMooncake } from "./request-traces-mooncake.js";
import { syntheticTrace } from "./request-traces-synthetic.js";

export type { RequestTrace, TracedRequest } from "./request-trace.js";

/** Kinds of request traces. @public */
export const REQUEST_TRACES = ["mooncake", "synthetic"] as const;

/**
 * Opens `mooncake:FILE` (JSONL, or `.gz`) or `synthetic[:SEED]` and reads at most `limit` requests; `limit` of a
 * synthetic trace is its length. Throws `UsageError` for an unknown kind, `InputError` with file and line for a row
 * that is not as the format says, the reason of `signal` once that is aborted. @public
 */
export async function openRequestTrace(
  spec: string,
  limit?: number,
  signal?: AbortSignal,
): Promise<RequestTrace> {
  const colon = spec.indexOf(":");
  const kind = colon < 0 ? spec : spec.slice(0, colon);
  const rest = colon < 0 ? "" : spec.slice(colon + 1);
  if (kind === "mooncake") {
    if (rest === "") throw new UsageError("mooncake needs a file: mooncake:FILE");
    return readMooncake(rest, limit ?? Number.POSITIVE_INFINITY, signal);
  }
  if (kind === "synthetic") return syntheticTrace(seedOf(rest), limit ?? SYNTHETIC_REQUESTS);
  const nearest = nearestWord(kind, REQUEST_TRACES);
  const hint =
    nearest === null ? `known: ${REQUEST_TRACES.join(", ")}` : `did you mean "${nearest}"?`;
  throw new UsageError(`unknown request trace "${kind}"; ${hint}`);
}

/** Requests of a synthetic trace where no limit is given. */
const SYNTHETIC_REQUESTS = 200;

function seedOf(text: string): number {
  if (text === "") return 1;
  const seed = Number(text);
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(seed)) return seed;
  throw new UsageError(`the seed of synthetic:SEED is a whole number below 2^53, not "${text}"`);
}
