// Where a walk through a run stops: on a kind of operation, a request, a page, a refusal, a difference of two sides, or when
// a number of the state passes a limit. Parsed by hand; nothing is evaluated.
import { UsageError } from "../../base/errors.js";
import { nearestWord } from "../../base/nearest.js";
import type { Answer, Domain } from "../../base/operations.js";
import { REFUSAL_CODES } from "../../base/refusals.js";
import type { OpLine } from "../../trace/lines.js";
import { operationNames } from "../../trace/operation-table.js";
import { namedIds } from "../examine/ids.js";
import type { Snapshot } from "./look.js";
import { comparison, figureOf, OPERATORS, type Operator } from "./state-figures.js";

/** @public */
export type Breakpoint =
  | { readonly on: "op"; readonly kind: string; readonly isPrefix: boolean }
  | { readonly on: "request"; readonly name: string }
  | { readonly on: "page"; readonly space: string; readonly first: number; readonly last: number }
  | { readonly on: "refused"; readonly code: string | null } // null: any
  | { readonly on: "differs" }
  | {
      readonly on: "state";
      readonly path: readonly string[];
      readonly operator: Operator;
      readonly value: number;
    };

/** What a run has, so that a mistyped breakpoint is told at once. @internal */
export interface BreakScope {
  readonly domain: Domain;
  readonly bands: readonly string[];
  readonly hasCandidate: boolean;
}

const FORMS =
  "op=KIND, request=ID, page=BAND:ID, refused, refused=CODE, differs, or state=PATH>NUMBER";
const COMPONENTS = ["chain", "forwards", "ledger", "rows", "tree", "host", "net"];

/** Throws `UsageError` with what was expected. @internal */
export function parseBreakpoint(text: string, scope: BreakScope): Breakpoint {
  const at = text.indexOf("=");
  const word = (at < 0 ? text : text.slice(0, at)).trim();
  const value = at < 0 ? "" : text.slice(at + 1).trim();
  switch (word) {
    case "op":
      return opBreak(text, value, scope);
    case "request":
      if (value === "") throw wrong(text, "request=ID");
      return { on: "request", name: value };
    case "page":
      return pageBreak(text, value, scope);
    case "refused":
      return refusedBreak(text, value, at >= 0);
    case "differs":
      if (at >= 0) throw wrong(text, "differs alone");
      if (!scope.hasCandidate) throw new UsageError(`breakpoint ${text}: needs --candidate`);
      return { on: "differs" };
    case "state":
      return stateBreak(text, value, scope);
    default: {
      const nearest = nearestWord(word, ["op", "request", "page", "refused", "differs", "state"]);
      throw wrong(text, FORMS, nearest);
    }
  }
}

function wrong(text: string, expected: string, nearest: string | null = null): UsageError {
  const meant = nearest === null ? "" : `; did you mean ${nearest}?`;
  return new UsageError(`breakpoint ${text}: expected ${expected}${meant}`, expected);
}

function opBreak(text: string, value: string, { domain }: BreakScope): Breakpoint {
  const isPrefix = value.endsWith("*");
  const kind = isPrefix ? value.slice(0, -1) : value;
  const known: readonly string[] = operationNames(domain);
  const isKnown = isPrefix ? known.some((name) => name.startsWith(kind)) : known.includes(kind);
  if (!isKnown || value === "")
    throw wrong(text, "op=KIND, such as op=tokens.extend or op=host.*", nearestWord(kind, known));
  return { on: "op", kind, isPrefix };
}

function pageBreak(text: string, value: string, { bands }: BreakScope): Breakpoint {
  const [, space = "", from, to] = /^([^:]*):(\d+)(?:\.\.(\d+))?$/.exec(value) ?? [];
  if (from === undefined) throw wrong(text, "page=BAND:ID or page=BAND:FROM..TO");
  const spaces = [...bands, "virtual", "slots", "rows"];
  if (!spaces.includes(space))
    throw wrong(
      text,
      `one of ${spaces.join(", ")} in front of the colon`,
      nearestWord(space, spaces),
    );
  const [first, last] = [Number(from), Number(to ?? from)];
  if (!Number.isSafeInteger(last) || last < first) throw wrong(text, "FROM..TO in order");
  return { on: "page", space, first, last };
}

function refusedBreak(text: string, value: string, hasValue: boolean): Breakpoint {
  if (!hasValue) return { on: "refused", code: null };
  const codes: readonly string[] = [...REFUSAL_CODES, "invalid"];
  if (!codes.includes(value))
    throw wrong(text, "refused=CODE, such as refused_capacity", nearestWord(value, codes));
  return { on: "refused", code: value };
}

function stateBreak(text: string, value: string, { bands, domain }: BreakScope): Breakpoint {
  const [, path = "", operator = "", number = ""] =
    /^([\w.-]+)\s*(>=|<=|!=|==|=|>|<)\s*(-?\d+(?:\.\d+)?)$/.exec(value) ?? [];
  const found = OPERATORS.find((each) => each === (operator === "==" ? "=" : operator));
  if (found === undefined) throw wrong(text, "state=PATH>NUMBER, such as state=full.live>100");
  const words = path.split(".");
  const known = domain === "heap" ? ["heap"] : [...bands, ...COMPONENTS];
  const component = words[0] ?? "";
  if (!known.includes(component) || words.includes("")) {
    const expected = `PATH to begin with one of ${known.join(", ")}`;
    throw wrong(text, expected, nearestWord(component, known));
  }
  return { on: "state", path: words, operator: found, value: Number(number) };
}

/** Whether a breakpoint looks at states, before and after. @internal */
export function looksAtStates({ on }: Breakpoint): boolean {
  return on === "state";
}

/** Whether an operation with one side's answer is meant. Breakpoints on states and differences are judged elsewhere.
 * @internal */
export function matches(point: Breakpoint, line: OpLine, answer: Answer): boolean {
  switch (point.on) {
    case "op":
      return point.isPrefix ? line.op.startsWith(point.kind) : line.op === point.kind;
    case "request":
      return mentions(line.args, point.name) || mentions(answer.ok ?? answer.err, point.name);
    case "page":
      return namedIds(line.op, answer).some(
        ({ space, ids }) =>
          space === point.space &&
          ids.some(([first, count]) => {
            const [low, high] = count > 0 ? [first, first + count - 1] : [first + count + 1, first];
            return first !== 0 && low <= point.last && high >= point.first;
          }),
      );
    case "refused":
      return answer.err !== undefined && (point.code ?? answer.err.code) === answer.err.code;
    case "differs":
    case "state":
      return false;
  }
}

/** Whether the number passes its limit with this operation: it did not before. @internal */
export function passes(
  { path, operator, value }: Extract<Breakpoint, { on: "state" }>,
  before: Snapshot | null,
  after: Snapshot | null,
): boolean {
  const is = (snapshot: Snapshot | null): boolean => {
    const figure = snapshot === null ? null : figureOf(snapshot, path);
    return figure !== null && comparison(figure, operator, value);
  };
  return is(after) && !is(before);
}

/** Whether a name stands anywhere in a value, as a text or as a key. */
function mentions(value: unknown, name: string): boolean {
  if (value === name) return true;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((entry) => mentions(entry, name));
  return Object.entries(value).some(([key, part]) => key === name || mentions(part, name));
}

/** The breakpoint as it is written. @internal */
export function breakpointText(point: Breakpoint): string {
  switch (point.on) {
    case "op":
      return `op=${point.kind}${point.isPrefix ? "*" : ""}`;
    case "request":
      return `request=${point.name}`;
    case "page": {
      const range = point.first === point.last ? "" : `..${String(point.last)}`;
      return `page=${point.space}:${String(point.first)}${range}`;
    }
    case "refused":
      return point.code === null ? "refused" : `refused=${point.code}`;
    case "differs":
      return "differs";
    case "state":
      return `state=${point.path.join(".")}${point.operator}${String(point.value)}`;
  }
}
