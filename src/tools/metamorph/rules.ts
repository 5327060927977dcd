// What must be equal after a rewrite: everything, everything but names, or everything but where pages lie.
import type { Answer, KvOperation } from "../../base/operations.js";
import { answerDifferences } from "../../trace/compare-values.js";
import type { Rule } from "./rewrite-types.js";

/** @internal */
export interface RuleDifference {
  readonly path: string;
  readonly base: unknown;
  readonly got: unknown;
}

/** The first place where two answers to one operation part under a rule; null where there is none. @internal */
export function firstDifference(
  rule: Rule,
  operation: KvOperation,
  base: Answer,
  got: Answer,
): RuleDifference | null {
  if (rule === "exact" || rule === "answers") {
    const options = { digest: false, limit: 1 };
    const [first] = answerDifferences(operation.op, base, got, options);
    return first === undefined
      ? null
      : { path: first.path, base: first.base, got: first.candidate };
  }
  const keepsIds = rule === "virtual ids";
  // the question itself holds ids that differ
  if (operation.op === "ask.translate" && operation.args.virtual !== undefined && !keepsIds) {
    return null;
  }
  const shapes = [base, got].map((answer) => shapeOf(operation, answer, keepsIds));
  return differenceOf(shapes[0], shapes[1], "");
}

// Rearranging says where pages lie; what pended when a forward ended depends on which pages were taken meanwhile; the
// row of a pair that was put in is reset with the others.
const GRANTED_ONLY: ReadonlySet<string> = new Set([
  "chain.flush",
  "chain.relieve",
  "forward.process",
  "forward.launch",
]);
const PLACES: ReadonlySet<string> = new Set([
  "available", // an estimate: counts room beside the bands as they lie
  "step",
  "epoch",
  "moves",
  "spans",
  "reread",
  "rows",
]);

/** An answer without the numbers of pages, slots and rows. */
function shapeOf({ op }: KvOperation, { ok, err }: Answer, keepsIds: boolean): unknown {
  if (err !== undefined) return { err: { ...err, message: undefined } };
  if (GRANTED_ONLY.has(op)) return { ok: {} };
  if (op === "ask.plan") return { ok: { fits: (ok as { step: string }).step !== "none" } };
  if (op === "check.idle") {
    return { ok: { violations: (ok as { violations: readonly unknown[] }).violations.length } };
  }
  if (op === "state.donate") {
    const { slot, replacement } = ok as { slot: unknown; replacement: unknown };
    return { ok: { slot: slot === null, replacement: replacement === null } };
  }
  return { ok: withoutIds(ok, keepsIds) };
}

function withoutIds(value: unknown, keepsIds: boolean): unknown {
  if (Array.isArray(value)) {
    const pairs = value as readonly unknown[];
    return pairs.every(isExtent)
      ? countsOf(pairs)
      : pairs.map((item) => withoutIds(item, keepsIds));
  }
  if (typeof value !== "object" || value === null) return value;
  const shape: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (PLACES.has(key)) continue;
    shape[key] = key === "virtual" && keepsIds ? item : withoutIds(item, keepsIds);
  }
  return shape;
}

function isExtent(value: unknown): value is readonly [number, number] {
  return (
    Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "number")
  );
}

function countsOf(extents: readonly (readonly [first: number, count: number])[]): object {
  let bound = 0;
  let unbound = 0;
  for (const [first, count] of extents) {
    if (first === 0) unbound += Math.abs(count);
    else bound += Math.abs(count);
  }
  return { bound, unbound };
}

function differenceOf(base: unknown, got: unknown, path: string): RuleDifference | null {
  if (!isBag(base) || !isBag(got)) {
    return JSON.stringify(base) === JSON.stringify(got) ? null : { path, base, got };
  }
  for (const key of new Set([...Object.keys(base), ...Object.keys(got)])) {
    const difference = differenceOf(base[key], got[key], `${path}/${key}`);
    if (difference !== null) return difference;
  }
  return null;
}

function isBag(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An answer in the words of the run as it was. @internal */
export function inWords(answer: Answer, words: ReadonlyMap<unknown, unknown>): Answer {
  return replaced(answer, words) as Answer; // the same shape with other texts
}

function replaced(value: unknown, words: ReadonlyMap<unknown, unknown>): unknown {
  if (typeof value === "string") return words.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => replaced(item, words));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [words.get(key) ?? key, replaced(item, words)]),
  );
}

/** The answers to the parts of one take, as the whole would have answered. @internal */
export function joined(parts: readonly Answer[]): Answer {
  const refused = parts.find(({ err }) => err !== undefined);
  const [first] = parts;
  if (refused !== undefined || first === undefined) return refused ?? {};
  const pages: Record<string, unknown> = {};
  for (const { ok } of parts) {
    if (ok !== undefined && "pages" in ok) Object.assign(pages, ok.pages);
  }
  return { ok: { ...first.ok, pages } } as Answer; // a take's pages by request
}
