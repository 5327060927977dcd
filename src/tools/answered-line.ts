// A line of a trace as what it is to a comparison: an operation and an answer in one.
import type { Answer, OperationName } from "../base/operations.js";

/** What both sides can tell, and therefore what is compared. @internal */
export interface ComparedParts {
  readonly fx: boolean;
  readonly digest: boolean;
}

/** One line of a trace that answers an operation: an operation and an answer in one. @internal */
export interface AnsweredLine extends Answer {
  readonly n: number;
  readonly op: OperationName;
  readonly args: unknown;
}

/** The answer alone, of a line or of an implementation. @internal */
export function answerOf(line: Answer): Answer {
  return {
    ...(line.ok === undefined ? {} : { ok: line.ok }),
    ...(line.err === undefined ? {} : { err: line.err }),
    ...(line.fx === undefined ? {} : { fx: line.fx }),
    ...(line.digest === undefined ? {} : { digest: line.digest }),
    ...(line.message === undefined ? {} : { message: line.message }),
  };
}
