// What "equal" means. A mode is followed along a run: it is asked once for every operation, in order.
import type { Answer, Operation } from "../../base/operations.js";
import type { AnsweredLine, ComparedParts } from "../answered-line.js";
import type { BrokenRenaming, FieldDifference } from "../outcome.js";
import type { CompareMode } from "./modes.js";

/** Most differing fields that are kept of one operation. @internal */
export const FIELDS_MAX = 200;

/** One way of being equal, with what it has to remember of the run so far. @internal */
export interface Equality {
  readonly mode: CompareMode;
  /** Operations at which something was compared. */
  readonly looked: number;
  /** Where the two answers to one operation part, at most `FIELDS_MAX` places; none: they agree. */
  differences(line: AnsweredLine, candidate: Answer): readonly FieldDifference[];
  /** The first two ids that cannot stand for each other. */
  readonly broken?: BrokenRenaming | null;
  /** The operation as the candidate has to be asked it: ids in its arguments are the candidate's own. */
  asked?(operation: Operation): Operation;
}

/** Whose parts are compared; they may turn out fewer while the run goes on. @internal */
export interface PartsHolder {
  readonly parts: ComparedParts;
}
