// Fields of the JSON lines of foreign logs, read with the line in every complaint.
import { InputError } from "../base/errors.js";
import { notJson, shown } from "../trace/messages.js";
import type { LogPlace } from "./import-format.js";
import { isObject } from "./spec-names.js";

/** An object of a log. @internal */
export type LogObject = Readonly<Record<string, unknown>>;

const NOTHING: LogObject = {};

/** A line as an object. Throws `InputError`. @internal */
export function logObject(text: string, place: LogPlace): LogObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputError("input_format", `not JSON: ${notJson(text)}`, place, error);
  }
  if (isObject(value)) return value;
  throw new InputError("input_format", `an event is a JSON object, found ${shown(value)}`, place);
}

/** A member that is an object; an empty one where it is absent. @internal */
export function part(of: LogObject, key: string, place: LogPlace): LogObject {
  const value = own(of, key);
  if (value === undefined) return NOTHING;
  if (isObject(value)) return value;
  throw new InputError("input_format", `${key} must be an object, found ${shown(value)}`, place);
}

/** A text. @internal */
export function textField(of: LogObject, key: string, place: LogPlace): string {
  const value = own(of, key);
  if (typeof value === "string") return value;
  throw new InputError("input_format", `${key} must be a text, found ${shown(value)}`, place);
}

/** A whole number of at least 0; digits in quotes count. @internal */
export function countField(of: LogObject, key: string, place: LogPlace): number {
  const value = own(of, key);
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= 0) return number;
  const message = `${key} must be a whole number of at least 0 and below 2^53, found ${shown(value)}`;
  throw new InputError("input_format", message, place);
}

/** An address in one spelling; null for the null pointer. @internal */
export function addressField(of: LogObject, key: string, place: LogPlace): string | null {
  const value = textField(of, key, place);
  const address = addressOf(value);
  if (address !== undefined) return address;
  throw new InputError("input_format", `${key} must be an address, found ${shown(value)}`, place);
}

/** An address in one spelling, null for the null pointer; undefined for a text that is none. @internal */
export function addressOf(text: string): string | null | undefined {
  if (/^0x[1-9a-f][0-9a-f]{0,15}$/.test(text)) return text; // most are
  if (text === "(nil)" || /^(?:0x)?0+$/i.test(text)) return null;
  return /^0x[0-9a-f]{1,16}$/i.test(text) ? `0x${BigInt(text).toString(16)}` : undefined;
}

/** `address - bytes`; the address itself where that would be below 0. @internal */
export function addressBelow(address: string, bytes: number): string {
  const below = BigInt(address) - BigInt(bytes);
  return below < 0n ? address : `0x${below.toString(16)}`;
}

/** A member of its own, whatever its name. @internal */
export function own(of: LogObject, key: string): unknown {
  return Object.hasOwn(of, key) ? of[key] : undefined;
}
