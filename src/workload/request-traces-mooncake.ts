// Reader of Mooncake request traces: one JSON object a line with `timestamp` (ms), `input_length`, `output_length`
// (tokens) and `hash_ids`, one id for each 512 tokens of the input. Lengths and ids must agree, else the file is
// refused with the line: a trace that lost blocks would silently share less.
import { InputError } from "../base/errors.js";
import { notJson, shown } from "../trace/messages.js";
import { eachLine } from "./line-stream.js";
import type { RequestTrace, TracedRequest } from "./request-trace.js";
import { isObject } from "./spec-names.js";

const BLOCK_TOKENS = 512;

/** Reads at most `limit` requests. Throws `InputError` with file and line, the reason of an aborted `signal`. @internal */
export async function readMooncake(
  file: string,
  limit: number,
  signal?: AbortSignal,
): Promise<RequestTrace> {
  const requests: TracedRequest[] = [];
  let latest = 0;
  if (limit > 0) {
    const take = (line: string, number: number): boolean => {
      const request = readRow(line, { file, line: number });
      if (request.arrival < latest) {
        const message = `timestamp ${String(request.arrival)} is before that of the line above (${String(latest)})`;
        throw new InputError("input_format", message, { file, line: number });
      }
      latest = request.arrival;
      requests.push(request);
      return requests.length < limit;
    };
    await eachLine(file, take, signal);
  }
  if (requests.length === 0) throw new InputError("input_format", "holds no request", { file });
  return { name: "mooncake", blockTokens: BLOCK_TOKENS, requests, seed: null };
}

interface Place {
  readonly file: string;
  readonly line: number; // 1-based
}

function readRow(line: string, place: Place): TracedRequest {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (error) {
    throw new InputError("input_format", `not JSON: ${notJson(line)}`, place, error);
  }
  if (!isObject(row)) throw new InputError("input_format", "a request is a JSON object", place);
  const arrival = wholeNumber(row, "timestamp", place);
  const input = wholeNumber(row, "input_length", place);
  const output = wholeNumber(row, "output_length", place);
  const blocks = row["hash_ids"];
  if (!Array.isArray(blocks) || !blocks.every((id) => Number.isSafeInteger(id) && id >= 0)) {
    throw new InputError("input_format", "hash_ids must be a list of whole numbers", place);
  }
  const needed = Math.ceil(input / BLOCK_TOKENS);
  if (blocks.length !== needed) {
    const covered = `${String(blocks.length)} hash_ids x ${String(BLOCK_TOKENS)} tokens`;
    const message = `${covered} do not cover input_length ${String(input)}: expected ${String(needed)} ids`;
    throw new InputError("input_format", message, place);
  }
  // every one is a safe integer
  return { arrival, input, output, blocks: blocks as number[] };
}

function wholeNumber(row: Readonly<Record<string, unknown>>, key: string, place: Place): number {
  const value = row[key];
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  const message = `${key} must be a whole number of at least 0, found ${shown(value)}`;
  throw new InputError("input_format", message, place);
}
