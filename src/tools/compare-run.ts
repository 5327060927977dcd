// Compares the answers of one run, operation by operation, and keeps what a report needs of its first difference.
import type { AdapterFailure } from "../adapter/adapter.js";
import type { Answer, Operation, OperationName } from "../base/operations.js";
import { answerDifferences, equalAnswers } from "../trace/compare-values.js";
import { changesNames, OpenNames } from "../trace/open-names.js";
import type { Alignment } from "./align/alignment.js";
import { DigestPair } from "./digests.js";
import type {
  AnsweredOperation,
  CompareVerdict,
  Divergence,
  DivergenceKind,
  FieldDifference,
  RunComparison,
} from "./outcome.js";

const FIELDS_MAX = 200; // differing fields kept of one operation
const OPENED_MAX = 65_536; // request names remembered, as the format says of readers
// Both sides answered the operation: only then is there a state after it on both.
const ANSWERED: ReadonlySet<DivergenceKind> = new Set(["result", "refusal", "effect", "state"]);

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

/** Follows one run until its first difference. @internal */
export class RunComparer {
  readonly run: string;
  parts: ComparedParts;
  readonly #keep: number;
  readonly #digests = new DigestPair();
  #before: AnsweredLine[] = []; // the newest `keep` at the end, older ones in front of them
  readonly #opened = new Set<string>();
  readonly #names = new OpenNames();
  #noted = 0; // operations that may have opened names
  /** False for a run that begins inside another: names may be open that no operation of it opens. */
  followsNames = true;
  #isBootRefused = false;
  operations = 0; // of the base, read so far
  agreed = 0;
  agreedRefusals = 0;
  skipped = 0;
  divergence: Divergence | null = null;
  invalid: string | null = null;
  incomplete: string | null = null;
  alignment: Alignment | null = null;
  isLeft = false; // nothing more of the run can be compared, though nothing differed

  constructor(run: string, parts: ComparedParts, keep: number) {
    this.run = run;
    this.parts = parts;
    this.#keep = keep;
  }

  /** True once the run's verdict is known and its remaining operations need no comparison. */
  get isOver(): boolean {
    return this.divergence !== null || this.invalid !== null || this.isLeft;
  }

  /** Compares one operation; false when the run is over with it. */
  compare(line: AnsweredLine, candidate: Answer): boolean {
    this.operations += 1;
    // A run recorded without digests has none from operation 0 on, whatever its first line says. A run that goes on from a
    // state begins with any other operation, which may have changed nothing.
    if (line.n === 0 && line.digest === undefined) {
      this.parts = { ...this.parts, digest: false };
    }
    if (this.#isBootRefused) {
      this.invalid = "boot is refused on both sides, so nothing after it means anything";
      return false;
    }
    const { fx } = this.parts;
    const isSame = equalAnswers(line.op, line, candidate, { fx, digest: false });
    const isSameState = !this.parts.digest || this.#digests.agree(line.digest, candidate.digest);
    if (!isSame || !isSameState) {
      this.#diverge(line, candidate, isSame);
      return false;
    }
    return this.#agree(line);
  }

  /** The candidate broke instead of answering. */
  break(line: AnsweredLine, failure: AdapterFailure): void {
    this.operations += 1;
    if (this.#isDangling(line)) return;
    const answer = answerOf(line);
    this.divergence = this.#report(line, failure.kind, { base: answer, failure });
  }

  /** The candidate broke after it had answered operation `n`, the last of the run. */
  breakAfter(n: number, op: string, failure: AdapterFailure): void {
    const place = "after";
    this.divergence = this.#report({ n, op, args: {} }, failure.kind, { failure, place });
  }

  /** The candidate refused the run before its first operation, `n`. */
  breakBefore(n: number, failure: AdapterFailure): void {
    const place = "before";
    this.divergence = this.#report({ n, op: "boot", args: {} }, failure.kind, { failure, place });
  }

  /** One side did something else, or nothing, at this place. */
  misalign(
    kind: "missing operation" | "extra operation",
    base: AnsweredLine | null,
    candidate: AnsweredLine | null,
  ): void {
    const line = kind === "missing operation" ? (base ?? candidate) : (candidate ?? base);
    if (line === null) return;
    if (base !== null) this.operations += 1;
    this.divergence = this.#report(line, kind, {
      base: base === null ? null : answerOf(base),
      candidate: candidate === null ? null : answerOf(candidate),
      fields: operationDifferences(base, candidate),
    });
  }

  /** A difference that shows in something else than an answer: a full state, the digest at the end of a run. */
  differInState(n: number, op: string, fields: readonly FieldDifference[]): void {
    this.divergence = this.#report({ n, op, args: {} }, "state", { fields, place: "after" });
  }

  /** Leaves an operation out that the candidate does not answer. */
  skip(line: AnsweredLine): void {
    this.operations += 1;
    this.skipped += 1;
    if (changesNames(line.op)) this.#noteNames(line);
    if (this.parts.digest) this.#digests.baseOnly(line.digest);
  }

  /** What came out, once the run is read. */
  result(reproduce: (n: number) => string | null): RunComparison {
    const { divergence } = this;
    const skippedNote =
      this.skipped === 0 ? null : `${this.skipped} operations skipped that the candidate lacks`;
    return {
      run: this.run,
      verdict: this.#verdict(),
      agreed: this.agreed,
      operations: this.operations,
      skipped: this.skipped,
      agreedRefusals: this.agreedRefusals,
      divergence,
      reproduce: divergence === null ? null : reproduce(divergence.n),
      note: this.invalid ?? this.incomplete ?? skippedNote,
      alignment: divergence === null ? null : this.alignment,
    };
  }

  #verdict(): CompareVerdict {
    if (this.divergence !== null) return "divergent";
    if (this.invalid !== null) return "invalid";
    return this.incomplete !== null || this.skipped > 0 ? "incomplete" : "equal";
  }

  #agree(line: AnsweredLine): boolean {
    this.agreed += 1;
    this.#before.push(line);
    // Cut rarely, so that keeping the last few costs next to nothing.
    if (this.#before.length > 64 + this.#keep) this.#before = this.#before.slice(-this.#keep);
    if (changesNames(line.op)) this.#noteNames(line);
    if (line.op === "row.alloc") this.#noteOpened(line.args);
    if (line.err === undefined) return true;
    this.agreedRefusals += 1;
    if (line.op === "boot") this.#isBootRefused = true;
    const { rule, req } = line.err;
    if (rule === "unknown_request" && req !== undefined && this.#wasNeverOpened(req)) {
      this.invalid = `operation ${line.n} (${line.op}) names ${req}, which nothing opens`;
      return false;
    }
    return true;
  }

  #noteOpened(args: unknown): void {
    const { reqs } = args as { readonly reqs: readonly string[] };
    if (this.#opened.size < OPENED_MAX) for (const req of reqs) this.#opened.add(req);
  }

  #wasNeverOpened(req: string): boolean {
    return this.#opened.size < OPENED_MAX && !this.#opened.has(req);
  }

  #noteNames(line: AnsweredLine): void {
    if (!this.followsNames) return;
    this.#noted += 1;
    this.#names.note(operationOf(line), line.err === undefined);
  }

  // Looked at only where the sides part. A run that uses a name which nothing opens is no evidence of anything, unless
  // its own answer says that this was wrong.
  #isDangling(line: AnsweredLine): boolean {
    const isKnown = this.followsNames && this.#noted < OPENED_MAX;
    if (!isKnown || line.err?.code === "invalid") return false;
    const problem = this.#names.check(operationOf(line));
    if (problem?.kind !== "dangling") return false;
    const { what, name } = problem;
    this.invalid = `operation ${line.n} (${line.op}) names the ${what} ${name}, which nothing opens`;
    return true;
  }

  #diverge(line: AnsweredLine, given: Answer, isSameAnswer: boolean): void {
    if (this.#isDangling(line)) return;
    const base = answerOf(line);
    const candidate = answerOf(given);
    const fields = isSameAnswer
      ? []
      : answerDifferences(line.op, base, candidate, {
          fx: this.parts.fx,
          digest: false,
          limit: FIELDS_MAX,
        });
    const kind = isSameAnswer ? "state" : kindOf(base, candidate, fields);
    this.divergence = this.#report(line, kind, { base, candidate, fields });
  }

  #report(
    line: { readonly n: number; readonly op: string; readonly args: unknown },
    kind: DivergenceKind,
    sides: {
      readonly base?: Answer | null;
      readonly candidate?: Answer | null;
      readonly fields?: readonly FieldDifference[];
      readonly failure?: AdapterFailure;
      readonly place?: Divergence["place"];
    },
  ): Divergence {
    const hasStates = this.parts.digest && ANSWERED.has(kind);
    const components = hasStates ? this.#digests.differences() : [];
    const { n, op, args } = line;
    return {
      n,
      op,
      place: sides.place ?? "at",
      args,
      kind,
      base: sides.base ?? null,
      candidate: sides.candidate ?? null,
      fields: sides.fields ?? [],
      components,
      agreeing: hasStates ? this.#digests.agreeing() : [],
      failure: sides.failure ?? null,
      // Digests are compared after every operation, so the first that differ name the operation that parted.
      cause: components.length > 0 ? { n, op } : null,
      before: this.#before.slice(-this.#keep).map(answeredOperation),
    };
  }
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

function operationOf({ op, args }: AnsweredLine): Operation {
  return { op, args } as Operation; // they stood on one line, which was checked
}

function answeredOperation(line: AnsweredLine): AnsweredOperation {
  return { n: line.n, op: line.op, args: line.args, answer: answerOf(line) };
}

function kindOf(
  base: Answer,
  candidate: Answer,
  fields: readonly FieldDifference[],
): DivergenceKind {
  if (base.err === undefined && candidate.err === undefined) {
    return fields.some(({ path }) => path.startsWith("/ok")) ? "result" : "effect";
  }
  const isSameRefusal =
    base.err !== undefined &&
    candidate.err !== undefined &&
    !fields.some(({ path }) => path.startsWith("/err"));
  return isSameRefusal ? "effect" : "refusal";
}

function operationDifferences(
  base: AnsweredLine | null,
  candidate: AnsweredLine | null,
): FieldDifference[] {
  const fields: FieldDifference[] = [];
  const differ = (path: string, left: unknown, right: unknown): void => {
    if (JSON.stringify(left) !== JSON.stringify(right)) {
      fields.push({ path, base: left, candidate: right });
    }
  };
  differ("/op", base?.op, candidate?.op);
  differ("/args", base?.args, candidate?.args);
  return fields;
}
