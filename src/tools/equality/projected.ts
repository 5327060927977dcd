// Modes `placement-free` and `decisions`: the same comparison on what is left of the answers. Effects and digests follow
// from placement; neither is compared.
import type { Answer } from "../../base/operations.js";
import { valueDifferences } from "../../trace/compare-values.js";
import { ANYTHING } from "../../trace/fields.js";
import { ERROR } from "../../trace/line-specs.js";
import { findOperation } from "../../trace/operation-table.js";
import type { AnsweredLine } from "../answered-line.js";
import type { FieldDifference } from "../outcome.js";
import { type Equality, FIELDS_MAX } from "./equality.js";
import { withoutPlacement } from "./projection.js";

/** @internal */
export class ProjectedEquality implements Equality {
  readonly mode: "placement-free" | "decisions";
  looked = 0;

  constructor(mode: "placement-free" | "decisions") {
    this.mode = mode;
  }

  differences(line: AnsweredLine, candidate: Answer): readonly FieldDifference[] {
    if (namesIds(line)) return []; // ids of the base mean nothing to the other side
    this.looked += 1;
    if (line.ok === candidate.ok && line.err === candidate.err) return []; // the very same values
    const refusals = valueDifferences(ERROR, line.err, candidate.err, FIELDS_MAX);
    const found = refusals.map((each) => ({ ...each, path: `/err${each.path}` }));
    const base = this.#kept(line, line.ok);
    const other = this.#kept(line, candidate.ok);
    const answers = valueDifferences(ANYTHING, base, other, FIELDS_MAX);
    return [...found, ...answers.map((each) => ({ ...each, path: `/ok${each.path}` }))];
  }

  // Of an operation that decides nothing `decisions` keeps that it was granted.
  #kept({ op }: AnsweredLine, ok: unknown): unknown {
    if (ok === undefined) return undefined;
    const spec = findOperation(op);
    if (spec === undefined) return ok;
    const isKept = this.mode === "placement-free" || spec.isQuestion || DECIDING.has(op);
    return isKept ? withoutPlacement(spec.ok, ok) : "granted";
  }
}

function namesIds({ op, args }: AnsweredLine): boolean {
  return op === "ask.translate" && (args as { readonly virtual?: unknown }).virtual !== undefined;
}

// Answers that are verdicts although their operations change something or stand outside the questions.
const DECIDING: ReadonlySet<string> = new Set(["boot", "arena.resize", "tree.match", "check.idle"]);
