// Lists of ids in answers of someone else's: nobody promised that they are any.
import type { Extents } from "../base/operations.js";

/** Whether a value is a list of pairs of numbers, as lists of ids and of moves are. @internal */
export function isPairs(list: unknown): list is Extents {
  if (!Array.isArray(list)) return false;
  return list.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isNumber));
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}
