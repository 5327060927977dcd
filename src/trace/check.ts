// Checks operations, answers and lines. The quick way: the generated validators judge shapes, and counting keys finds
// what they do not look at. Whenever they are not content, the exact check of `inspect.ts` decides and explains.
import type { Answer, OperationName } from "../base/operations.js";
import { INVALID_RULES } from "../base/operations.js";
import { type AnySpec, text } from "./fields.js";
import * as validators from "./generated/validators.js";
import type { InspectContext } from "./inspect.js";
import type { Problem } from "./problem.js";
import { inspect, inspectContext } from "./inspect.js";
import type { KeyCounter } from "./key-count.js";
import { keyCounter } from "./key-count.js";
import { DIGESTS, EFFECTS, ERROR, OP_KEYS, callLine, opLine } from "./line-specs.js";
import { shown, suggestion } from "./messages.js";
import type { OperationSpec } from "./operation-spec.js";
import { OPERATION_TABLE, findOperation } from "./operation-table.js";
import type { RunWords } from "./run-words.js";

/** Any JSON object. */
type Bag = Record<string, unknown>;

/** All that is compiled for one operation. */
interface OperationChecks {
  readonly spec: OperationSpec;
  readonly codes: ReadonlySet<string>; // refusals and `invalid`
  readonly isArgs: validators.Validator;
  readonly isOk: validators.Validator;
  readonly countArgs: KeyCounter;
  readonly countOk: KeyCounter;
}

const countError = keyCounter(ERROR);
const countEffects = keyCounter(EFFECTS);
const countDigests = keyCounter(DIGESTS);
const rules: ReadonlySet<string> = new Set(INVALID_RULES);

const CHECKS: ReadonlyMap<string, OperationChecks> = new Map(
  Object.values<OperationSpec>(OPERATION_TABLE).map((spec) => [spec.name, compileChecks(spec)]),
);

function compileChecks(spec: OperationSpec): OperationChecks {
  // the generator writes a validator for every entry of the table
  return {
    spec,
    codes: new Set([...spec.refusals, "invalid"]),
    isArgs: validators.args[spec.name]!,
    isOk: validators.ok[spec.name]!,
    countArgs: keyCounter(spec.args),
    countOk: keyCounter(spec.ok),
  };
}

/** The number of keys of all objects in a value. @internal */
export function countAllKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let total = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") total += countAllKeys(item);
    return total;
  }
  const bag = value as Bag;
  for (const key in bag) total += 1 + countAllKeys(bag[key]);
  return total;
}

/** Keys of an answer that the table knows; NaN where the quick way is not content. */
function countAnswer(checks: OperationChecks, answer: Bag, words: RunWords | null): number {
  const { ok, err, fx, digest, message } = answer;
  let keys = 1;
  if (ok !== undefined) {
    if (err !== undefined || !checks.isOk(ok)) return NaN;
    keys += checks.countOk(ok, words);
  } else {
    if (err === undefined || !validators.err(err)) return NaN;
    const { code, rule } = err as { code: string; rule?: string };
    if (!checks.codes.has(code)) return NaN;
    if (code === "invalid" && (rule === undefined || !rules.has(rule))) return NaN;
    keys += countError(err, words);
  }
  if (fx !== undefined) {
    if (!validators.fx(fx)) return NaN;
    keys += 1 + countEffects(fx, words);
  }
  if (digest !== undefined) {
    if (!validators.digest(digest)) return NaN;
    keys += 1 + countDigests(digest, words);
  }
  if (message !== undefined) {
    if (typeof message !== "string" || err !== undefined) return NaN;
    keys += 1;
  }
  return keys;
}

function isIndex(n: unknown): boolean {
  return typeof n === "number" && Number.isSafeInteger(n) && n >= 0;
}

/**
 * True when an `op` line is surely right: every key known and given once. False says nothing yet. `keys` is the number
 * of keys in the line's text. @internal
 */
export function isPlainOpLine(line: Bag, keys: number, words: RunWords | null): boolean {
  const checks = CHECKS.get(line["op"] as string);
  if (checks === undefined || !isIndex(line["n"])) return false;
  const { args, site, at_us } = line as { args: unknown; site?: unknown; at_us?: unknown };
  if (args === undefined || !checks.isArgs(args)) return false;
  let known = 4 + checks.countArgs(args, words) + countAnswer(checks, line, words);
  if (site !== undefined) {
    if (typeof site !== "string") return false;
    known += 1;
  }
  if (at_us !== undefined) {
    if (!isIndex(at_us)) return false;
    known += 1;
  }
  return known === keys;
}

/** The same of its arguments alone. `op` is the name of an operation. @internal */
export function arePlainArgs(
  op: string,
  args: unknown,
  keys: number,
  words: RunWords | null,
): boolean {
  const checks = CHECKS.get(op);
  return checks?.isArgs(args) === true && checks.countArgs(args, words) === keys;
}

/** The exact check of an `op` or `call` line. @internal */
export function inspectOperationLine(
  line: Bag,
  kind: "op" | "call",
  context: InspectContext,
): Problem | null {
  const { op } = line;
  const spec = typeof op === "string" ? findOperation(op) : undefined;
  if (spec === undefined) return wrongOperation(op, line);
  if (kind === "call") return inspect(callLine(spec), line, context);
  return inspect(opLine(spec), line, context) ?? answerProblem(spec, line, false);
}

function wrongOperation(op: unknown, line: Bag): Problem {
  const expected = "the name of an operation";
  if (op === undefined) {
    const near = Object.keys(line).find((key) => !OP_KEYS.includes(key));
    const hint = near === undefined ? "" : suggestion(near, OP_KEYS);
    return { path: "", message: `missing key "op"${hint}`, expected };
  }
  const hint = typeof op === "string" ? suggestion(op, CHECKS.keys()) : "";
  return { path: "/op", message: `unknown operation ${shown(op)}${hint}`, expected };
}

/** What is wrong with a well-formed answer as a whole. */
function answerProblem(
  spec: OperationSpec,
  answer: Bag,
  mayBeUnsupported: boolean,
): Problem | null {
  const { ok, err } = answer as { ok?: unknown; err?: { code: string; rule?: string } };
  const expected = "exactly one of ok and err";
  if (ok !== undefined && err !== undefined) {
    return { path: "", message: `both "ok" and "err", expected ${expected}`, expected };
  }
  if (err === undefined) {
    return ok === undefined
      ? { path: "", message: `neither "ok" nor "err", expected ${expected}`, expected }
      : null;
  }
  if (answer["message"] !== undefined) {
    const where = 'a remark stands beside "ok", that of a refusal inside "err"';
    return { path: "/message", message: where, expected: "no remark beside err" };
  }
  const { code, rule } = err;
  if (code === "unsupported" && mayBeUnsupported) return null;
  const codes: readonly string[] = [...spec.refusals, "invalid"];
  if (!codes.includes(code)) {
    const list = `one of ${codes.join(", ")}`;
    const message = `"${code}" is no answer of ${spec.name}, expected ${list}`;
    return { path: "/err/code", message, expected: list };
  }
  if (code !== "invalid" || (rule !== undefined && rules.has(rule))) return null;
  const message =
    rule === undefined
      ? `"invalid" without "rule"`
      : `unknown rule "${rule}"${suggestion(rule, INVALID_RULES)}`;
  return { path: "/err/rule", message, expected: "a rule of the format" };
}

/** What is wrong with an operation's arguments, or null. @public */
export function argsProblem(
  op: OperationName,
  args: unknown,
  words: RunWords | null = null,
): Problem | null {
  // a name of the type is in the table
  const checks = CHECKS.get(op)!;
  if (checks.isArgs(args) && checks.countArgs(args, words) === countAllKeys(args)) return null;
  return inspect(checks.spec.args, args, inspectContext(words), "/args");
}

/**
 * What is wrong with an answer (`ok` or `err`, `fx`, `digest`, `message`, `x_` keys), or null. An implementation may answer
 * `unsupported`; a trace never holds that. @public
 */
export function answerProblemOf(
  op: OperationName,
  answer: unknown,
  words: RunWords | null = null,
): Problem | null {
  // a name of the type is in the table
  const checks = CHECKS.get(op)!;
  if (typeof answer === "object" && answer !== null && !Array.isArray(answer)) {
    if (countAnswer(checks, answer as Bag, words) === countAllKeys(answer)) return null;
  }
  return (
    inspect(answerSpec(checks.spec), answer, inspectContext(words)) ??
    answerProblem(checks.spec, answer as Bag, true)
  );
}

/** Whether a value is a well-formed answer to this operation. @public */
export function isAnswer<K extends OperationName>(op: K, value: unknown): value is Answer<K> {
  return answerProblemOf(op, value) === null;
}

function answerSpec(spec: OperationSpec): AnySpec {
  const fields = {
    ok: { optional: spec.ok },
    err: { optional: ERROR },
    fx: { optional: EFFECTS },
    digest: { optional: DIGESTS },
    message: { optional: text() },
  };
  return { type: "object", fields };
}
