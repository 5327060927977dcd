// Compares the answers of one run, operation by operation, and keeps what a report needs of its first difference.
import type { AdapterFailure } from "../adapter/adapter.js";
import type { Answer, Operation } from "../base/operations.js";
import { answerDifferences, equalAnswers } from "../trace/compare-values.js";
import type { RunLine } from "../trace/lines.js";
import { changesNames, OpenNames } from "../trace/open-names.js";
import type { Alignment } from "./align/alignment.js";
import { answerOf } from "./answered-line.js";
import type { AnsweredLine, ComparedParts } from "./answered-line.js";
import { DigestPair } from "./digests.js";
import type { Equality } from "./equality/equality.js";
import { equalityOf } from "./equality/equality-of.js";
import type { CompareMode } from "./equality/modes.js";
import type { MaskSet } from "./masks.js";
import type {
  AnsweredOperation,
  CompareVerdict,
  Divergence,
  DivergenceKind,
  FieldDifference,
  RunComparison,
  Unstable,
} from "./outcome.js";

const NONE: readonly FieldDifference[] = [];
const OPENED_MAX = 65_536; // request names remembered, as the format says of readers
// Both sides answered the operation: only then is there a state after it on both.
const ANSWERED: ReadonlySet<DivergenceKind> = new Set(["result", "refusal", "effect", "state"]);

/** Follows one run until its first difference. @internal */
export class RunComparer {
  readonly run: string;
  parts: ComparedParts;
  readonly #keep: number;
  readonly #digests = new DigestPair();
  readonly #equality: Equality;
  readonly #masks: MaskSet | null;
  #partedAt: { readonly n: number; readonly op: string } | null = null; // digests first differed
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
  unstable: Unstable | null = null;
  isLeft = false; // nothing more of the run can be compared, though nothing differed

  /** @param keep - operations kept before a difference */
  constructor(
    run: string,
    parts: ComparedParts,
    keep: number,
    how: { readonly mode?: CompareMode; readonly masks?: MaskSet } = {},
  ) {
    this.run = run;
    this.parts = parts;
    this.#keep = keep;
    this.#equality = equalityOf(how.mode ?? "exact", this);
    this.#masks = how.masks ?? null;
  }

  get mode(): CompareMode {
    return this.#equality.mode;
  }

  /** Whether ids in arguments have to be the candidate's own. */
  get hasOwnIds(): boolean {
    return this.#equality.asked !== undefined;
  }

  /** The operation as the candidate has to be asked it. */
  asked(operation: Operation): Operation {
    return this.#equality.asked?.(operation) ?? operation;
  }

  /** True once the run's verdict is known and its remaining operations need no comparison. */
  get isOver(): boolean {
    const isDecided = this.divergence !== null || this.unstable !== null;
    return isDecided || this.invalid !== null || this.isLeft;
  }

  /** Compares one operation; false when the run is over with it. `isSame`: both answers are known to be written alike. */
  compare(line: AnsweredLine, candidate: Answer, isSame = false): boolean {
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
    const isWrittenAlike = isSame && this.mode === "exact";
    let fields = isWrittenAlike ? NONE : this.#equality.differences(line, candidate);
    if (fields.length > 0 && this.#masks !== null) fields = this.#masks.unmasked(line.op, fields);
    const isSameState = this.#sameState(line, candidate);
    if (!isSameState) this.#partedAt ??= { n: line.n, op: line.op };
    if (fields.length > 0 || (!isSameState && this.mode === "exact")) {
      this.#diverge(line, candidate, fields);
      return false;
    }
    return this.#agree(line);
  }

  /** Whether an implementation that was asked twice answered the same; undefined: it broke. Else the run is over. */
  isSelfConsistent(
    line: AnsweredLine,
    answer: Answer | undefined,
    again: Answer | undefined,
  ): boolean {
    if (answer === again) return true; // asked once, or broken twice
    const { fx, digest } = this.parts;
    if (answer !== undefined && again !== undefined) {
      if (equalAnswers(line.op, answer, again, { fx, digest })) return true;
    }
    this.operations += 1;
    const fields = answerDifferences(line.op, answer ?? {}, again ?? {}, { fx, digest });
    this.unstable = { n: line.n, op: line.op, fields };
    return false;
  }

  #sameState(line: AnsweredLine, candidate: Answer): boolean {
    if (!this.parts.digest || this.#digests.agree(line.digest, candidate.digest)) return true;
    const masks = this.#masks;
    if (masks === null) return false;
    const differing = this.#digests.differences();
    const left = differing.filter(({ component }) => !masks.hidesComponent(line.op, component));
    masks.hidden += differing.length - left.length;
    return left.length === 0;
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
    if (this.mode === "quiescent" && this.#equality.looked === 0) {
      this.incomplete ??= "it has no digests, or there was no point at which nothing was under way";
    }
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
      examination: null,
      unstable: this.unstable,
      accepted: null,
      reproduce: divergence === null ? null : reproduce(divergence.n),
      note: this.invalid ?? this.incomplete ?? skippedNote,
      alignment: divergence === null ? null : this.alignment,
    };
  }

  #verdict(): CompareVerdict {
    if (this.unstable !== null) return "flaky";
    if (this.divergence !== null) return "divergent";
    if (this.invalid !== null) return "invalid";
    if (this.incomplete !== null || this.skipped > 0) return "incomplete";
    return this.mode === "exact" || this.mode === "renamed" ? "equal" : "agree";
  }

  #agree(line: AnsweredLine): boolean {
    this.agreed += 1;
    this.#before.push(line);
    // Cut rarely, so that keeping the last few costs next to nothing.
    if (this.#before.length > 64 + this.#keep) this.#before = this.#before.slice(-this.#keep);
    if (changesNames(line.op)) this.#noteNames(line);
    if (line.op === "row.alloc" || line.op === "request.restore") this.#noteOpened(line.args);
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
    const { reqs, req } = args as { readonly reqs?: readonly string[]; readonly req?: string };
    const names = reqs ?? (req === undefined ? [] : [req]);
    if (this.#opened.size < OPENED_MAX) for (const name of names) this.#opened.add(name);
  }

  #wasNeverOpened(req: string): boolean {
    const isKnown = this.followsNames && this.#opened.size < OPENED_MAX;
    return isKnown && !this.#opened.has(req);
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

  #diverge(line: AnsweredLine, given: Answer, fields: readonly FieldDifference[]): void {
    if (this.#isDangling(line)) return;
    const base = answerOf(line);
    const candidate = answerOf(given);
    const kind = kindOf(base, candidate, fields);
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
      // Digests are followed after every operation, so the first that differ name the operation that parted.
      cause: this.#partedAt ?? (components.length > 0 ? { n, op } : null),
      renaming: this.#equality.broken ?? null,
      before: this.#before.slice(-this.#keep).map(answeredOperation),
    };
  }
}

/** A run that begins inside another without the state there: nothing of it can be compared. @internal */
export function unopenedRun({ run, starts_at: n = 0 }: RunLine): RunComparer {
  const comparer = new RunComparer(run, { fx: false, digest: false }, 1);
  comparer.incomplete = `it begins at operation ${n} without the state after ${n - 1}`;
  comparer.isLeft = true;
  return comparer;
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
  if (fields.every(({ path }) => path.startsWith("/digest"))) return "state";
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
