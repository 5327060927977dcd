// A comparison about a trace, in the words of the anonymous one. Sentences go: nobody knows what they name.
import { UnifiedTraceError } from "../../base/errors.js";
import type { Answer, Operation } from "../../base/operations.js";
import { sameJson } from "../../trace/compare-values.js";
import type { AnySpec } from "../../trace/fields.js";
import { inspect, inspectContext } from "../../trace/inspect.js";
import { DIGESTS, EFFECTS, ERROR } from "../../trace/line-specs.js";
import { findOperation } from "../../trace/operation-table.js";
import type {
  AnsweredOperation,
  CompareResult,
  Divergence,
  Examination,
  FieldDifference,
  RunComparison,
  SideInfo,
} from "../outcome.js";
import type { AnonymousLines } from "./anonymous-lines.js";
import { OWN_STATE } from "./own-state.js";
import { renamedPlace, stepsOf, valueAt } from "./places.js";
import { renamed } from "./rename.js";

const LEFT_OUT = "left out";
// Differences of the sides that name nothing but them.
const TOLD: ReadonlySet<string> = new Set([
  ...["name", "version", "revision", "format version", "page sizes", "digests", "effects"],
  "operation kinds",
]);

/** A digest after an operation under the new names. @internal */
export type ShiftDigest = (run: string, n: number, component: string, digest: string) => string;

/** What the report of a bundle needs to know. @internal */
export interface ReportWords {
  readonly lines: AnonymousLines;
  readonly run: (run: string) => string;
  readonly shift: ShiftDigest;
  readonly file: string; // what the report calls the trace
}

/** @internal */
export function anonymousResults(
  results: readonly CompareResult[],
  words: ReportWords,
): readonly CompareResult[] {
  return results.map((result, index) => anonymousResult(result, index, words));
}

function anonymousResult(result: CompareResult, index: number, words: ReportWords): CompareResult {
  const { base, candidate, first, error } = result;
  return {
    ...result,
    base: base && { ...base, spec: words.file, configHash: null },
    candidate: candidate && anonymousSide(candidate, index),
    differences: result.differences.filter(({ what }) => TOLD.has(what)),
    runs: result.runs.map((run) => new RunRenaming(run, words).result()),
    first: first && { run: words.run(first.run), n: first.n },
    gone: result.gone.map((accepted) => ({ ...accepted, reason: LEFT_OUT })),
    error: error && new UnifiedTraceError(error.code, LEFT_OUT),
  };
}

// The kind of an implementation says how it was started, the rest of its name where it lies.
function anonymousSide(side: SideInfo, index: number): SideInfo {
  const [kind = "", ...rest] = side.spec.split(":");
  const isPlain = rest.length === 0 && /^(self|reference)$/.test(kind);
  const spec = isPlain || kind === "self" ? side.spec : `candidate-${index + 1}`;
  return { ...side, spec, configHash: null };
}

class RunRenaming {
  readonly #run: RunComparison;
  readonly #words: ReportWords;

  constructor(run: RunComparison, words: ReportWords) {
    this.#run = run;
    this.#words = words;
  }

  result(): RunComparison {
    const { run, divergence, examination, unstable, accepted, reproduce, note } = this.#run;
    const name = this.#words.run(run);
    return {
      ...this.#run,
      run: name,
      divergence: divergence && this.#divergence(divergence),
      examination: examination && this.#examination(examination),
      unstable: unstable && {
        ...unstable,
        fields: unstable.fields.map((field) => this.#field(unstable.op, field, null)),
      },
      accepted: accepted && LEFT_OUT,
      alignment: null, // of two files, whose blocks name what they open
      reproduce:
        reproduce === null || divergence === null
          ? null
          : `unified-trace compare --trace ${this.#words.file} --run ${name}   # operation ${divergence.n}`,
      note: note && LEFT_OUT,
    };
  }

  #divergence(divergence: Divergence): Divergence {
    const { n, op, args, base, candidate, failure, components } = divergence;
    const sides = { base: this.#answer(n, op, base), candidate: this.#answer(n, op, candidate) };
    return {
      ...divergence,
      args: this.#args(op, args),
      ...sides,
      fields: divergence.fields.map((field) => this.#field(op, field, { divergence, sides })),
      components: components.map(({ component, ...digests }) => ({
        component,
        base: this.#digest(n, component, digests.base),
        candidate: this.#digest(n, component, digests.candidate),
      })),
      failure: failure && { kind: failure.kind, message: LEFT_OUT },
      before: divergence.before.map((each) => this.#answered(each)),
    };
  }

  #answered({ n, op, args, answer }: AnsweredOperation): AnsweredOperation {
    const bare = answer && { ...answer };
    if (bare !== null) delete (bare as { digest?: unknown }).digest;
    return { n, op, args: this.#args(op, args), answer: this.#answer(n, op, bare) };
  }

  #examination(examination: Examination): Examination {
    const { states, unstable } = examination;
    return {
      ...examination,
      states: states && {
        base: states.base === "trace" || states.base.startsWith("self") ? states.base : "base",
        fields: states.fields.map((field) => this.#placed(OWN_STATE, "/state", 1, field)),
      },
      unstable: unstable && { ...unstable, fields: [] },
    };
  }

  #args(op: string, args: unknown): unknown {
    const spec = findOperation(op)?.args;
    if (spec === undefined || !fits(spec, args)) return {};
    return this.#words.lines.operation({ op: op as Operation["op"], args }).args;
  }

  /** Null where an answer is none of the format's, so that nobody knows what it names. */
  #answer(n: number, op: string, answer: Answer | null): Answer | null {
    const spec = findOperation(op);
    if (answer === null || spec === undefined) return null;
    const { ok, err, fx, digest } = answer;
    const isWhole =
      (ok === undefined || fits(spec.ok, ok)) &&
      (err === undefined || fits(ERROR, err)) &&
      (fx === undefined || fits(EFFECTS, fx)) &&
      (digest === undefined || fits(DIGESTS, digest));
    if (!isWhole) return null;
    const made = this.#words.lines.answer(spec.name, answer);
    if (digest === undefined) return made;
    const shifted = Object.entries(digest).flatMap(([component, hex]) => {
      const other = this.#digest(n, component, hex);
      return other === null ? [] : [[component, other]];
    });
    return { ...made, digest: Object.fromEntries(shifted) as NonNullable<Answer["digest"]> };
  }

  #digest(n: number, component: string, digest: string | null): string | null {
    return digest && this.#words.shift(this.#run.run, n, component, digest);
  }

  /** A field of the answers: what stands there in the renamed ones. */
  #field(
    op: string,
    field: FieldDifference,
    both: {
      readonly divergence: Divergence;
      readonly sides: Readonly<Record<"base" | "candidate", Answer | null>>;
    } | null,
  ): FieldDifference {
    const [part = "", ...rest] = stepsOf(field.path);
    const spec = partSpec(op, part);
    const place = renamedPlace(spec, `/${part}`, rest, this.#words.lines.words);
    const valueOf = (side: "base" | "candidate"): unknown => {
      const before = valueAt(both?.divergence[side], stepsOf(field.path));
      if (both !== null && sameJson(before, field[side])) {
        return valueAt(both.sides[side], stepsOf(place.path));
      }
      return this.#value(place.spec, field[side]); // a mode shows something else than what stands there
    };
    return { path: place.path, base: valueOf("base"), candidate: valueOf("candidate") };
  }

  #placed(spec: AnySpec, root: string, skipped: number, field: FieldDifference): FieldDifference {
    const steps = stepsOf(field.path).slice(skipped);
    const place = renamedPlace(spec, root, steps, this.#words.lines.words);
    return {
      path: place.path,
      base: this.#value(place.spec, field.base),
      candidate: this.#value(place.spec, field.candidate),
    };
  }

  #value(spec: AnySpec | null, value: unknown): unknown {
    if (value === undefined || value === null || typeof value !== "object") {
      if (typeof value !== "string") return value;
    }
    if (spec === null || !fits(spec, value)) return LEFT_OUT;
    return renamed(spec, value, this.#words.lines.words);
  }
}

const ANYTHING: AnySpec = { type: "anything" };

function partSpec(op: string, part: string): AnySpec {
  const spec = findOperation(op);
  if (part === "ok") return spec?.ok ?? ANYTHING;
  if (part === "args") return spec?.args ?? ANYTHING;
  if (part === "err") return ERROR;
  return part === "fx" ? EFFECTS : ANYTHING;
}

function fits(spec: AnySpec, value: unknown): boolean {
  return inspect(spec, value, inspectContext()) === null;
}
