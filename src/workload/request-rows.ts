// Request traces whose rows are one line each and stand in the order of arrival: what a format has to say, and reading.
import { InputError } from "../base/errors.js";
import { eachLine } from "./line-stream.js";
import type { RowPlace } from "./request-fields.js";
import { plainAccount } from "./request-trace.js";
import type { RequestAccount, RequestTrace, TracedRequest } from "./request-trace.js";

/** Reads the lines of one file. @internal */
export interface RowReader {
  /** The request of a line; null for one that holds none, such as a header. Throws `InputError`. */
  take(line: string, place: RowPlace): TracedRequest | null;
  /** What the file did not tell, and what else was counted, at the end. */
  account?(): Partial<Pick<RequestAccount, "invented" | "facts">>;
}

/** One format whose rows are lines. @internal */
export interface RequestReader {
  readonly name: string; // the word in front of the colon
  readonly about: string; // in a few words, for help
  readonly blockTokens: number; // tokens of a block; 0 where there are no ids
  open(): RowReader;
}

/** Reads at most `limit` requests. Throws `InputError` with file and line, the reason of an aborted `signal`. @internal */
export async function readRows(
  format: RequestReader,
  file: string,
  limit: number,
  signal?: AbortSignal,
): Promise<RequestTrace> {
  const requests: TracedRequest[] = [];
  const reader = format.open();
  if (limit > 0) {
    const take = (line: string, number: number): boolean => {
      const request = reader.take(line, { file, line: number });
      if (request !== null) requests.push(request);
      return requests.length < limit;
    };
    await eachLine(file, take, signal);
  }
  if (requests.length === 0) throw new InputError("input_format", "holds no request", { file });
  const account = plainAccount(requests.length, reader.account?.());
  return { name: format.name, blockTokens: format.blockTokens, requests, seed: null, account };
}
