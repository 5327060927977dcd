// Mode `exact`: results, refusals with their detail, and effects in order, field by field.
import type { Answer } from "../../base/operations.js";
import { answerDifferences, equalAnswers } from "../../trace/compare-values.js";
import type { AnsweredLine } from "../answered-line.js";
import { answerOf } from "../answered-line.js";
import type { FieldDifference } from "../outcome.js";
import { type Equality, FIELDS_MAX, type PartsHolder } from "./equality.js";

const NONE: readonly FieldDifference[] = [];

/** @internal */
export class ExactEquality implements Equality {
  readonly mode = "exact";
  looked = 0;
  readonly #of: PartsHolder;

  constructor(of: PartsHolder) {
    this.#of = of;
  }

  differences(line: AnsweredLine, candidate: Answer): readonly FieldDifference[] {
    this.looked += 1;
    // digests are followed by their values, not line by line
    const { fx } = this.#of.parts;
    if (equalAnswers(line.op, line, candidate, { fx, digest: false })) return NONE;
    const options = { fx, digest: false, limit: FIELDS_MAX };
    return answerDifferences(line.op, answerOf(line), answerOf(candidate), options);
  }
}
