// One line of text to one valid line, or an error that says where and why.
import { InputError } from "../base/errors.js";
import type { ErrorCode } from "../base/errors.js";
import type { RunConfig } from "../base/operations.js";
import { countAllKeys, inspectOperationLine, isPlainOpLine } from "./check.js";
import { word } from "./fields.js";
import type { InspectContext } from "./inspect.js";
import { columnOf } from "./json-place.js";
import type { Problem } from "./problem.js";
import { inspect, inspectContext } from "./inspect.js";
import { END_LINE, HEADER_LINE, MARK_LINE, RUN_LINES, STATE_LINE } from "./line-specs.js";
import type { LineKind, TraceLine } from "./lines.js";
import { LINE_KINDS, TRACE_FORMAT, TRACE_VERSION } from "./lines.js";
import { notJson, shown, suggestion } from "./messages.js";
import type { RunWords } from "./run-words.js";
import { configProblem } from "./run-words.js";
import type { LineScan } from "./scan.js";
import { findDuplicateKey } from "./scan.js";

const DOMAIN = word("kv", "heap");

type Bag = Record<string, unknown>;

/** What parsing has met besides lines. @internal */
export interface ParseTally {
  ignoredKeys: number;
  extensionKeys: number;
}

/** What decides how a line is parsed. @internal */
export interface ParseOptions {
  readonly file: string;
  readonly maxDepth: number;
  readonly lenient: boolean;
  readonly validate: boolean;
}

/** Parses and checks the lines of one file. @internal */
export class LineParser {
  readonly tally: ParseTally = { ignoredKeys: 0, extensionKeys: 0 };
  readonly #options: ParseOptions;

  constructor(options: ParseOptions) {
    this.#options = options;
  }

  /** `number` is 1-based; `scan` has looked at the same bytes. Throws `InputError`. */
  parse(text: string, scan: LineScan, number: number, words: RunWords | null): TraceLine {
    if (scan.depth > this.#options.maxDepth && !scan.isExact) scan.lookExactly();
    if (scan.depth > this.#options.maxDepth) {
      const message = `nesting too deep: ${scan.depth} levels, at most ${this.#options.maxDepth} are read`;
      throw this.error("trace_limit", message, number);
    }
    const value = this.#json(text, number);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.error("trace_schema", `expected an object, found ${shown(value)}`, number);
    }
    const line = value as Bag;
    const { kind } = line;
    if (!this.#options.validate && isKind(kind)) return value as TraceLine;
    if (kind === "op") {
      if (isPlainOpLine(line, scan.keys, words)) return value as TraceLine;
      // colons inside strings look like keys to the quick look
      if (!scan.isExact) scan.lookExactly();
      if (isPlainOpLine(line, scan.keys, words)) return value as TraceLine;
    }
    if (!scan.isExact) scan.lookExactly();
    return this.#exactly(line, text, scan, number, words);
  }

  /** An error of this file. @param text - the line, in which the place of a problem is looked up */
  error(
    code: ErrorCode,
    message: string,
    line: number,
    problem?: Problem,
    text?: string,
  ): InputError {
    const place = { file: this.#options.file, line };
    if (problem === undefined) return new InputError(code, message, place);
    const { path, expected, isKey = false } = problem;
    const where = path === "" ? "" : `at ${path}: `;
    const column =
      text === undefined ? {} : { column: columnOf(text, path, isKey ? "key" : "value") };
    return new InputError(code, `${where}${message}`, { ...place, ...column, path, expected });
  }

  /** The same without a path, at a column of the line. */
  #errorAt(code: ErrorCode, message: string, line: number, column: number): InputError {
    return new InputError(code, message, { file: this.#options.file, line, column });
  }

  #json(text: string, number: number): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      const { file } = this.#options;
      const message = `not JSON: ${notJson(text)}`;
      const position = /position (\d+)/.exec(String(error))?.[1];
      const column = position === undefined ? {} : { column: Number(position) + 1 };
      throw new InputError("trace_not_json", message, { file, line: number, ...column }, error);
    }
  }

  #exactly(
    line: Bag,
    text: string,
    scan: LineScan,
    number: number,
    words: RunWords | null,
  ): TraceLine {
    const { kind } = line;
    if (!isKind(kind)) {
      throw this.#errorAt("trace_schema", unknownKind(line), number, columnOf(text, "/kind"));
    }
    const keys = countAllKeys(line);
    if (keys !== scan.keys) {
      const twice = findDuplicateKey(text);
      if (twice !== null) {
        const message = `the key ${shown(twice.key)} stands twice in one object`;
        throw this.#errorAt("trace_schema", message, number, twice.column);
      }
    }
    const version = kind === "trace" ? versionProblem(line) : null;
    if (version !== null)
      throw this.#errorAt("trace_version", version, number, columnOf(text, "/version"));
    const context = inspectContext(words, this.#options.lenient);
    const problem = inspectLine(kind, line, context);
    if (problem !== null) {
      const message = withDigitsOf(text, problem.message);
      throw this.error("trace_schema", message, number, problem, text);
    }
    this.tally.ignoredKeys += context.ignoredKeys;
    this.tally.extensionKeys += context.extensionKeys;
    // the inspection has checked every field
    return line as unknown as TraceLine;
  }
}

function isKind(kind: unknown): kind is LineKind {
  return LINE_KINDS.includes(kind as LineKind);
}

function unknownKind(line: Bag): string {
  const { kind } = line;
  if (kind === undefined) return 'missing key "kind"';
  const hint = typeof kind === "string" ? suggestion(kind, LINE_KINDS) : "";
  return `unknown kind of line ${shown(kind)}${hint} (there are ${LINE_KINDS.join(", ")})`;
}

function versionProblem(line: Bag): string | null {
  const { format, version } = line;
  if (format !== TRACE_FORMAT || version === TRACE_VERSION) return null;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) return null;
  return `version ${version} of the format is newer than version ${TRACE_VERSION}, the newest this program reads`;
}

function inspectLine(kind: LineKind, line: Bag, context: InspectContext): Problem | null {
  switch (kind) {
    case "op":
    case "call":
      return inspectOperationLine(line, kind, context);
    case "trace":
      return inspect(HEADER_LINE, line, context);
    case "run":
      return inspectRun(line, context);
    case "mark":
      return inspect(MARK_LINE, line, context);
    case "state":
      return inspect(STATE_LINE, line, context);
    case "end":
      return inspect(END_LINE, line, context);
  }
}

function inspectRun(line: Bag, context: InspectContext): Problem | null {
  const { domain } = line;
  if (domain !== "kv" && domain !== "heap" && domain !== undefined) {
    return inspect(DOMAIN, domain, context, "/domain");
  }
  const spec = RUN_LINES[domain ?? "kv"];
  // the words of the run before do not hold here
  const own = { ...context, words: null };
  const problem = inspect(spec, line, own);
  context.ignoredKeys = own.ignoredKeys;
  context.extensionKeys = own.extensionKeys;
  if (problem !== null || domain === "heap") return problem;
  const { config, derived } = line as { config: RunConfig; derived?: RunConfig };
  return (
    configProblem(config, "/config") ??
    (derived === undefined ? null : configProblem(derived, "/derived"))
  );
}

// A number that lost digits when it was parsed is quoted as it stands in the line.
function withDigitsOf(text: string, message: string): string {
  const parsed = /^number beyond 2\^53: (\S+)$/.exec(message)?.[1];
  if (parsed === undefined) return message;
  const numbers = text.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g) ?? [];
  const written = numbers.find((token) => String(Number(token)) === parsed);
  return written === undefined ? message : message.replace(parsed, () => written.slice(0, 80));
}
