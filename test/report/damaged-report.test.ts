// Saved reports that someone damaged: read, they print in every form, or an input error names the field.
import { expect, test } from "vitest";
import { InputError } from "../../src/base/errors.js";
import { Prng } from "../../src/base/prng.js";
import { compareCases } from "../../src/report/compare-cases.js";
import { comparisonsText } from "../../src/report/compare-text.js";
import { comparisonFromJson } from "../../src/report/from-json.js";
import { githubOutput } from "../../src/report/github.js";
import { savedComparePage } from "../../src/report/html/saved-compare-page.js";
import { compareJson } from "../../src/report/json.js";
import { junitXml } from "../../src/report/junit.js";
import { markdown } from "../../src/report/markdown.js";
import { PLAIN } from "../../src/report/palette.js";
import type { JsonFile } from "../../src/workload/json-file.js";
import { COMPARISONS } from "./comparisons.js";

const DAMAGED = 500;

type Node = Record<string, unknown>;

/** As a file would hold it. */
function saved(document: unknown): JsonFile {
  const value: unknown = JSON.parse(JSON.stringify(document));
  return { file: "saved.json", value, placeOf: () => ({ line: 1, column: 1 }) };
}

function print(source: JsonFile): void {
  const { results, trace } = comparisonFromJson(source);
  const cases = compareCases(results, trace);
  for (const verbose of [false, true]) {
    githubOutput(comparisonsText(results, { palette: PLAIN, verbose, trace }), cases);
  }
  JSON.stringify(compareJson(results, trace));
  junitXml(cases);
  markdown(cases);
  savedComparePage(results, trace);
}

function damage(thrown: () => void): InputError {
  try {
    thrown();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error("it was read");
}

const documents: Node[] = [];
for (const compare of Object.values(COMPARISONS)) {
  const results = await compare();
  documents.push(compareJson(results, results[0]?.base === null ? null : "sha256 00") as Node);
}

/** The report of an effect that differs, with another list of effects at the candidate. */
function withEffects(fx: unknown): JsonFile {
  const source = saved(documents[Object.keys(COMPARISONS).indexOf("effect")]);
  const { runs } = source.value as { runs: { divergence: { candidate: Node } | null }[] };
  for (const { divergence } of runs) if (divergence !== null) divergence.candidate["fx"] = fx;
  return source;
}

test.each([[true], [{}], ["wait"], [[5]], [[null]], [["wait"]]])("effects %j", (fx) => {
  const error = damage(() => {
    print(withEffects(fx));
  });
  expect(error.place).toMatchObject({ file: "saved.json", line: 1 });
  expect(error.place.path).toMatch(/^\/runs\/0\/divergence\/candidate\/fx/);
});

test.each([[[]], [[[]]], [[[5, 6]]], [[["sing", { to: [1] }, null]]]])(
  "effects %j, that a candidate may tell",
  (fx) => {
    print(withEffects(fx));
  },
);

const VALUES: readonly (() => unknown)[] = [
  ...[null, 0, -1, 1.5, 1e300, "", "x", "\u001b[31mred", true, false, 2 ** 53, "__proto__"],
  ...[[], {}, [null], [[]], [[1, 2]], [5], { a: { b: 1 } }, "a".repeat(1000)],
].map((value) => () => structuredClone(value));

/** Changes, takes away or adds one value somewhere; gives its path. */
function mutate(root: Node, prng: Prng): string {
  const places: [Node, string, string][] = [];
  const visit = (node: Node, path: string): void => {
    for (const key of Object.keys(node)) {
      places.push([node, key, `${path}/${key}`]);
      const below = node[key];
      if (typeof below === "object" && below !== null) visit(below as Node, `${path}/${key}`);
    }
  };
  visit(root, "");
  const [node, key, path] = places[prng.below(places.length)]!;
  const how = prng.below(10);
  const value = VALUES[prng.below(VALUES.length)]!();
  if (how < 2 && Array.isArray(node)) node.splice(Number(key), 1);
  else if (how < 2) Reflect.deleteProperty(node, key);
  else if (how === 2 && Array.isArray(node)) node.push(value);
  else node[key] = value;
  return `${path} ${JSON.stringify(value).slice(0, 60)}`;
}

test("random damage", () => {
  const prng = new Prng(11);
  let read = 0;
  for (let i = 0; i < DAMAGED; i++) {
    const source = saved(documents[prng.below(documents.length)]);
    const changes = Array.from({ length: 1 + prng.below(3) }, () =>
      mutate(source.value as Node, prng),
    );
    try {
      print(source);
      read += 1;
    } catch (error) {
      if (!(error instanceof InputError)) throw new Error(changes.join("; "), { cause: error });
    }
  }
  expect(read).toBeGreaterThan(DAMAGED / 20);
  expect(read).toBeLessThan(DAMAGED);
});
