// Request traces: lengths, arrivals and prefix-block identities of real or generated requests, by the word in front
// of the colon: `mooncake:FILE` or `synthetic[:SEED]`.
import { UsageError } from "../base/errors.js";
import { nearestWord } from "../base/nearest.js";
import { readRows } from "./request-rows.js";
import type { RequestReader } from "./request-rows.js";
import type { RequestTrace } from "./request-trace.js";
import { AZURE_LLM } from "./request-traces-azure.js";
import { BAILIAN } from "./request-traces-bailian.js";
import { csvRequests, DEFAULT_COLUMNS, parseColumns } from "./request-traces-csv.js";
import { MOONCAKE } from "./request-traces-mooncake.js";
import { KV_CACHE_TESTER, readSessions } from "./request-traces-sessions.js";
import { syntheticTrace } from "./request-traces-synthetic.js";

export type { BlockRun, RequestAccount, RequestTrace, TracedRequest } from "./request-trace.js";

// A format whose rows are lines is one entry here and a file of its own.
const ROWS: readonly RequestReader[] = [
  MOONCAKE,
  AZURE_LLM,
  BAILIAN,
  csvRequests(parseColumns(DEFAULT_COLUMNS)),
];

/** Formats of files, each with a few words about it. @public */
export const REQUEST_FORMATS: readonly { readonly name: string; readonly about: string }[] = [
  ...ROWS,
  KV_CACHE_TESTER,
].map(({ name, about }) => ({ name, about }));

/** Kinds of request traces. @public */
export const REQUEST_TRACES: readonly string[] = [
  ...REQUEST_FORMATS.map(({ name }) => name),
  "synthetic",
];

/**
 * Opens `FORMAT:FILE` (plain, or `.gz`) or `synthetic[:SEED]` and gives at most `limit` requests; `limit` of a
 * synthetic trace is its length. `columns` is the map of `csv`. Throws `UsageError` for an unknown kind, `InputError`
 * with file, line and field for a row that is not as the format says, the reason of `signal` once that is aborted. @public
 */
export async function openRequestTrace(
  spec: string,
  limit?: number,
  signal?: AbortSignal,
  columns?: string,
): Promise<RequestTrace> {
  const colon = spec.indexOf(":");
  const kind = colon < 0 ? spec : spec.slice(0, colon);
  const rest = colon < 0 ? "" : spec.slice(colon + 1);
  if (columns !== undefined && kind !== "csv")
    throw new UsageError(`--columns goes with csv:FILE, not with ${kind}`);
  if (kind === "synthetic") return syntheticTrace(seedOf(rest), limit ?? SYNTHETIC_REQUESTS);
  if (REQUEST_TRACES.includes(kind)) {
    if (rest === "") throw new UsageError(`${kind} needs a file: ${kind}:FILE`);
    const most = limit ?? Number.POSITIVE_INFINITY;
    if (kind === KV_CACHE_TESTER.name) return readSessions(rest, most, signal);
    const format =
      columns === undefined
        ? ROWS.find(({ name }) => name === kind)
        : csvRequests(parseColumns(columns));
    if (format !== undefined) return readRows(format, rest, most, signal);
  }
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
