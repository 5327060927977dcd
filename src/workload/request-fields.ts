// Fields of the rows of request traces, read with file, line, field and what was expected in every complaint.
import { InputError } from "../base/errors.js";
import type { ErrorPlace } from "../base/errors.js";
import { below, notJson, shown } from "../trace/messages.js";
import { blockCount, runsOf } from "./request-trace.js";
import type { BlockRun, TracedRequest } from "./request-trace.js";
import { isObject } from "./spec-names.js";

/** Where a row stands. @internal */
export interface RowPlace {
  readonly file: string;
  readonly line: number; // 1-based
  readonly path?: string; // JSON pointer of the object in the line, where it is not the whole line
}

/** An object of a row. @internal */
export type Row = Readonly<Record<string, unknown>>;

/** Throws the `InputError` of one field. @internal */
export function wrongField(place: RowPlace, key: string, expected: string, message: string): never {
  const at: ErrorPlace = { ...place, path: below(place.path ?? "", key), expected };
  throw new InputError("input_format", message, at);
}

/** A line as an object. @internal */
export function rowObject(line: string, place: RowPlace, what = "a request"): Row {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (error) {
    throw new InputError("input_format", `not JSON: ${notJson(line)}`, place, error);
  }
  return asRow(row, place, what);
}

/** A value as an object. @internal */
export function asRow(value: unknown, place: RowPlace, what: string): Row {
  if (isObject(value)) return value;
  const expected = `${what} is a JSON object`;
  throw new InputError("input_format", expected, { ...place, expected });
}

const WHOLE = "a whole number of at least 0";

/** A whole number of at least 0 and below 2^53. @internal */
export function wholeField(row: Row, key: string, place: RowPlace): number {
  const value = Object.hasOwn(row, key) ? row[key] : undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  return wrongField(place, key, WHOLE, `${key} must be ${WHOLE}, found ${shown(value)}`);
}

/** Seconds as a number of at least 0, in whole milliseconds. @internal */
export function secondsField(row: Row, key: string, place: RowPlace): number {
  const value = Object.hasOwn(row, key) ? row[key] : undefined;
  const ms = typeof value === "number" ? Math.round(value * 1000) : Number.NaN;
  if (Number.isSafeInteger(ms) && ms >= 0) return ms;
  const expected = "a number of seconds of at least 0";
  return wrongField(place, key, expected, `${key} must be ${expected}, found ${shown(value)}`);
}

/** A text. @internal */
export function wordField(row: Row, key: string, place: RowPlace): string {
  const value = Object.hasOwn(row, key) ? row[key] : undefined;
  if (typeof value === "string") return value;
  return wrongField(place, key, "a text", `${key} must be a text, found ${shown(value)}`);
}

/** A list of block ids, as runs. @internal */
export function blocksField(row: Row, key: string, place: RowPlace): BlockRun[] {
  const value = Object.hasOwn(row, key) ? row[key] : undefined;
  const isList = Array.isArray(value) && value.every((id) => Number.isSafeInteger(id) && id >= 0);
  if (isList) return runsOf(value as number[]); // every one was looked at
  const expected = "a list of whole numbers";
  return wrongField(place, key, expected, `${key} must be ${expected}`);
}

/**
 * Refuses block ids that do not cover the input, or more than cover it. @param partial - whether a block that the input
 * fills in part has an id
 */
export function checkCover(
  { input, blocks }: Pick<TracedRequest, "input" | "blocks">,
  blockTokens: number,
  partial: boolean,
  keys: { readonly ids: string; readonly input: string },
  place: RowPlace,
): void {
  const blocksOfInput = input / blockTokens;
  const needed = partial ? Math.ceil(blocksOfInput) : Math.floor(blocksOfInput);
  const count = blockCount(blocks);
  if (count === needed) return;
  const covered = `${String(count)} ${keys.ids} x ${String(blockTokens)} tokens`;
  const whole = partial ? "" : " whole blocks of";
  const message = `${covered} do not cover${whole} ${keys.input} ${String(input)}: expected ${String(needed)} ids`;
  wrongField(place, keys.ids, `${String(needed)} ids`, message);
}

/** Refuses an arrival before the one above. Times are in the file's own unit. @internal */
export function checkOrder(key: string, time: number, latest: number, place: RowPlace): void {
  if (time >= latest) return;
  const message = `${key} ${String(time)} is before that of the line above (${String(latest)})`;
  wrongField(place, key, "rows in the order of their arrival", message);
}
