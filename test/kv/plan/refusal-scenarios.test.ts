// Every place in the source that refuses a plan, a size or a start-up has a scenario that is refused there. The places
// are read from the source, so that a new one without its scenario fails here.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import type { OperationError } from "../../../src/base/operations.js";
import { KVStorage } from "../../../src/kv/storage.js";
import { loadScenarios } from "../../../src/workload/scenario.js";

const SOURCES = fileURLToPath(new URL("../../../src/kv/", import.meta.url));
const SCENARIOS = loadScenarios([fileURLToPath(new URL("../../../scenarios", import.meta.url))]);

/** A place that refuses. */
interface Place {
  readonly where: string; // file:line
  readonly rule: string;
  readonly words: readonly string[] | null; // literal parts of the reason; null: a rule alone
}

/** Finds the places of one file. */
type Finder = (node: ts.Node) => Omit<Place, "where"> | null;

/** `planRefused(rule, reason, …)` and `conflict(reason)`, where the reason is written out. */
const findMade: Finder = (node) => {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return null;
  const isConflict = node.expression.text === "conflict";
  if (!isConflict && node.expression.text !== "planRefused") return null;
  const [first, second] = node.arguments;
  const rule = isConflict ? ["feature_conflict"] : literalParts(first);
  const words = literalParts(isConflict ? first : second);
  return rule === null || words === null ? null : { rule: rule.join(""), words };
};
/** The calls that `findMade` cannot read: words that come from elsewhere. */
const findUnread: Finder = (node) => {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return null;
  const { text } = node.expression;
  const isMaker = text === "planRefused" || text === "conflict";
  return isMaker && findMade(node) === null ? { rule: text, words: null } : null;
};
const property = (node: ts.Node, name: string): readonly string[] | null =>
  ts.isPropertyAssignment(node) && ts.isIdentifier(node.name) && node.name.text === name
    ? literalParts(node.initializer)
    : null;
/** Why a family of models is not read. */
const findModelReason: Finder = (node) => {
  const words = property(node, "reason");
  return words === null || words.length < 2 ? null : { rule: "model_unsupported", words };
};
/** A rule without a reason. */
const findRule: Finder = (node) => {
  const rule = property(node, "rule");
  return rule === null ? null : { rule: rule.join(""), words: null };
};

function literalParts(node: ts.Expression | undefined): readonly string[] | null {
  if (node === undefined) return null;
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (!ts.isTemplateExpression(node)) return null;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
}

function placesIn(name: string, find: Finder): Place[] {
  const text = readFileSync(SOURCES + name, "utf8");
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const places: Place[] = [];
  const visit = (node: ts.Node): void => {
    const found = find(node);
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    if (found !== null) places.push({ where: `${name}:${String(line + 1)}`, ...found });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return places;
}

/** Whether a text has these parts in this order, the first at its begin and the last at its end. */
function isMadeOf(text: string, parts: readonly string[]): boolean {
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`, "s").test(text);
}

const FILES = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .sort();
const MADE = FILES.flatMap((name) => placesIn(name, findMade)).concat(
  placesIn("decl/families.ts", findModelReason),
);

/** What boot answers where a scenario expects it to be refused. */
const REFUSED = SCENARIOS.flatMap(({ configs, ops }) =>
  ops[0]?.expect?.err === undefined
    ? []
    : configs.map(([, config]) => {
        const storage = new KVStorage(config, { digestDepth: null });
        const { err } = storage.apply({ op: "boot", args: {} });
        return { err: err ?? { code: "unsupported" as const }, isModel: "model" in config };
      }),
);

/** The place that made a refusal: of those that fit, the one with the most words of its own. */
function placeOf({ rule, message = "" }: OperationError): string | null {
  const length = ({ words }: Place): number => (words ?? []).join("").length;
  const fitting = MADE.filter((place) => place.rule === rule && isMadeOf(message, place.words!));
  return fitting.sort((left, right) => length(right) - length(left))[0]?.where ?? null;
}

describe("each refusal of plan, sizing and start-up has a scenario that is refused there", () => {
  const reached = REFUSED.filter(({ isModel }) => isModel).map(({ err }) => placeOf(err));

  test.each(MADE)("$where ($rule)", ({ where }) => {
    expect(reached).toContain(where);
  });

  test("every refused model form is told from one of these places, or misses the floor", () => {
    expect(MADE.length).toBeGreaterThan(40);
    const elsewhere = REFUSED.filter(({ err, isModel }) => isModel && placeOf(err) === null);
    expect(elsewhere.map(({ err }) => err.code)).toEqual(["refused_floor"]);
  });

  test("no place hides its words from this test", () => {
    const unread = FILES.flatMap((name) => placesIn(name, findUnread));
    // A report that no boot gives, the reasons of decl/families.ts, and what `conflict` itself calls.
    expect(unread.map(({ where }) => where.replace(/:\d+$/, ""))).toEqual([
      "build-report.ts",
      "decl/declarations.ts",
      "features/interactions.ts",
    ]);
  });

  test.each(placesIn("config.ts", findRule))("direct form, $where ($rule)", ({ rule }) => {
    const rules = REFUSED.filter(({ isModel }) => !isModel).map(({ err }) => err.rule);
    expect(rules).toContain(rule);
  });

  test.each(placesIn("alloc/stage-capacity.ts", findRule))("stages, $where ($rule)", ({ rule }) => {
    const rules = SCENARIOS.flatMap(({ ops }) => ops)
      .filter(({ operation }) => operation.op === "stages.install")
      .map((step) => step.expect?.err as OperationError | undefined)
      .map((error) => error?.rule);
    expect(rules).toContain(rule);
  });
});
