// Reports in other forms: JUnit keeps to its elements, GitHub's commands to their escapes, and a saved report prints as the
// report itself did.
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { InputError, UnifiedTraceError } from "../../src/base/errors.js";
import { Prng } from "../../src/base/prng.js";
import type { CaseReport, ReportCase } from "../../src/report/case-report.js";
import { compareCases } from "../../src/report/compare-cases.js";
import { comparisonsText } from "../../src/report/compare-text.js";
import { comparisonFromJson, runFromJson } from "../../src/report/from-json.js";
import { annotations, githubOutput } from "../../src/report/github.js";
import { compareJson, runJson } from "../../src/report/json.js";
import { junitXml } from "../../src/report/junit.js";
import { markdown } from "../../src/report/markdown.js";
import { PLAIN } from "../../src/report/palette.js";
import { runCases } from "../../src/report/run-cases.js";
import { stressCases } from "../../src/report/stress-cases.js";
import { runText } from "../../src/report/run-text.js";
import type { StressFinding, StressResult } from "../../src/tools/stress/stress.js";
import type { CompareResult, RunResult, ScenarioResult } from "../../src/tools/outcome.js";
import { readJsonFile } from "../../src/workload/json-file.js";
import type { JsonFile } from "../../src/workload/json-file.js";
import { freshPath } from "../tools/faulty-adapter.js";
import { COMPARISONS } from "./comparisons.js";
import { elementsOf, junitProblems, readXml } from "./junit-reader.js";

function saved(document: unknown): JsonFile {
  const path = freshPath("report.json");
  writeFileSync(path, `${JSON.stringify(document, null, 2)}\n`);
  return readJsonFile(path);
}

function formsOf(results: readonly CompareResult[], trace: string | null): Record<string, string> {
  const cases = compareCases(results, trace);
  const text = (verbose: boolean): string =>
    comparisonsText(results, { palette: PLAIN, verbose, trace });
  return {
    text: text(false),
    verbose: text(true),
    json: JSON.stringify(compareJson(results, trace), null, 2),
    junit: junitXml(cases),
    github: githubOutput(text(false), cases),
    markdown: markdown(cases),
  };
}

const found = new Map<string, readonly CompareResult[]>();
for (const [name, compare] of Object.entries(COMPARISONS)) found.set(name, await compare());

test("the set has each kind of divergence and each verdict", () => {
  const runs = [...found.values()].flat().flatMap((result) => result.runs);
  const kinds = new Set(runs.map(({ divergence }) => divergence?.kind));
  for (const kind of [
    ...["result", "refusal", "effect", "state", "crash", "hang", "protocol", "invariant"],
    ...["missing operation"],
  ]) {
    expect(kinds).toContain(kind);
  }
  const verdicts = new Set(runs.map(({ verdict }) => verdict));
  for (const verdict of ["equal", "divergent", "flaky"]) expect(verdicts).toContain(verdict);
  expect(runs.some(({ alignment }) => alignment !== null)).toBe(true);
  expect(runs.some(({ examination }) => examination !== null)).toBe(true);
  expect(runs.some(({ accepted }) => accepted !== null)).toBe(true);
});

describe.each([...found])("compare: %s", (_name, results) => {
  test("a saved report prints in every form as the report itself", () => {
    const trace = results[0]?.base === null ? null : "sha256 0123456789abcdef";
    const again = comparisonFromJson(saved(compareJson(results, trace)));
    expect(formsOf(again.results, again.trace)).toEqual(formsOf(results, trace));
  });

  test("JUnit keeps to its elements, and passes only where the comparison does", () => {
    const cases = compareCases(results, null);
    const root = readXml(junitXml(cases));
    expect(junitProblems(root)).toEqual([]);
    const isClean = ["failure", "error", "skipped"].every(
      (name) => elementsOf(root, name).length === 0,
    );
    const isGood = results.every(({ verdict }) => verdict === "equal" || verdict === "agree");
    const hasAccepted = results.some(({ runs }) => runs.some(({ accepted }) => accepted !== null));
    expect(isClean).toBe(isGood && !hasAccepted);
    expect(cases.isGood).toBe(isGood);
  });

  test("GitHub's annotations can be read back", () => {
    const lines = annotations(compareCases(results, null)).map(readCommand);
    const isGood = results.every(({ verdict }) => verdict === "equal" || verdict === "agree");
    expect(lines.some(({ command }) => command === "error")).toBe(
      results.some(
        ({ verdict, error }) => verdict === "divergent" || verdict === "flaky" || error !== null,
      ),
    );
    if (!isGood) expect(lines.length).toBeGreaterThan(0);
  });
});

interface Command {
  readonly command: string;
  readonly properties: ReadonlyMap<string, string>;
  readonly message: string;
}

/** A workflow command as the runner reads it: one line, properties between commas, escapes undone. */
function readCommand(line: string): Command {
  expect(line).not.toMatch(/[\r\n]/);
  const [, command, properties, message] = /^::([a-z-]+)(?: (.*?))?::(.*)$/.exec(line) ?? [];
  const data = (text: string): string =>
    text.replaceAll("%0D", "\r").replaceAll("%0A", "\n").replaceAll("%25", "%");
  const property = (text: string): string =>
    data(text.replaceAll("%3A", ":").replaceAll("%2C", ","));
  const pairs = (properties ?? "").split(",").map((word): [string, string] => {
    const end = word.indexOf("=");
    return [word.slice(0, end), property(word.slice(end + 1))];
  });
  return { command: command ?? "", properties: new Map(pairs), message: data(message ?? "") };
}

const PIECES = [
  ...[
    "a",
    "run",
    "\u0000",
    "\u0008",
    "\u001b[31m",
    "\u007f",
    "\u0085",
    "\u2028",
    "\u202e",
    "\ufffe",
  ],
  ...['"', "'", "<", ">", "&", "&amp;", "<![CDATA[", "]]>", "<!--", "\t", "\r", "\n", "\r\n", " "],
  ...[
    "\ud800",
    "\udc00",
    "\ud83d\ude00",
    "%",
    "%0A",
    "%25",
    ":",
    ",",
    "::error::",
    "=",
    "|",
    "`",
    "````",
  ],
  ...[
    "\n```\n",
    "@team",
    "#1",
    "*",
    "_",
    "[x](y)",
    "</details>",
    "\\",
    "~~",
    "https://x.y",
    "- ",
    "é",
  ],
];

function hostile(prng: Prng): string {
  return Array.from({ length: 1 + prng.below(8) }, () => PIECES[prng.below(PIECES.length)]).join(
    "",
  );
}

function hostileReport(seed: number): CaseReport {
  const prng = new Prng(seed);
  const one = (): ReportCase => ({
    name: hostile(prng),
    status: (["passed", "failed", "error", "skipped"] as const)[prng.below(4)]!,
    kind: hostile(prng),
    message: hostile(prng),
    place: prng.below(2) === 0 ? "" : hostile(prng),
    text: Array.from({ length: prng.below(4) }, () => hostile(prng)),
    reproduce: prng.below(2) === 0 ? null : hostile(prng),
    file: prng.below(2) === 0 ? null : hostile(prng),
    line: prng.below(2) === 0 ? null : prng.below(1000),
    operations: prng.below(5000),
  });
  const cases = Array.from({ length: prng.below(30) }, one);
  const properties = [[hostile(prng), hostile(prng)] as const];
  return {
    ...{ command: "compare", verdict: "divergent", isGood: false, summary: [hostile(prng)] },
    suites: [{ name: hostile(prng), properties, cases }],
    first: cases.find(({ status }) => status === "failed") ?? null,
  };
}

// What XML cannot hold is written out; everything else comes back as it was.
function written(text: string): string {
  return Array.from(text)
    .map((character) => {
      const code = character.codePointAt(0)!;
      const isHeld =
        [9, 10, 13].includes(code) ||
        (code >= 32 && !(code >= 0xd800 && code <= 0xdfff) && code !== 0xfffe && code !== 0xffff);
      return isHeld ? character : `\\u${code.toString(16).padStart(4, "0")}`;
    })
    .join("");
}

test("hostile texts: JUnit stays XML and gives every text back", () => {
  for (let seed = 0; seed < 300; seed++) {
    const report = hostileReport(seed);
    const root = readXml(junitXml(report));
    expect(junitProblems(root)).toEqual([]);
    const cases = report.suites.flatMap((suite) => suite.cases);
    const elements = elementsOf(root, "testcase");
    expect(elements.map(({ attributes }) => attributes.get("name"))).toEqual(
      cases.map(({ name }) => written(name)),
    );
    expect(elements.map(({ attributes }) => attributes.get("file"))).toEqual(
      cases.map(({ file }) => (file === null ? undefined : written(file))),
    );
    for (const [index, one] of cases.entries()) {
      const [story] = [
        ...elementsOf(elements[index]!, "failure"),
        ...elementsOf(elements[index]!, "error"),
      ];
      if (story === undefined || one.text.length === 0) continue;
      const again = one.reproduce === null ? [] : [`reproduce: ${one.reproduce}`];
      expect(story.text).toBe(written([...one.text, ...again].join("\n")));
    }
  }
});

test("hostile texts: every annotation is one command whose parts come back; ten a level at most", () => {
  for (let seed = 0; seed < 300; seed++) {
    const report = hostileReport(seed);
    const commands = annotations(report).map(readCommand);
    const known = new Set(["title", "file", "line"]);
    for (const { command, properties } of commands) {
      expect(["error", "warning"]).toContain(command);
      for (const key of properties.keys()) expect(known).toContain(key);
      expect(properties.get("title")).toMatch(/^unified-trace compare/);
    }
    const cases = report.suites.flatMap((suite) => suite.cases);
    const wrong = cases.filter(({ status }) => status === "failed" || status === "error").length;
    const errors = commands.filter(({ command }) => command === "error");
    expect(errors.length).toBe(Math.min(wrong, 10));
    if (wrong > 9)
      expect(errors.at(-1)?.message).toBe(
        `and ${wrong - 9} more ${wrong === 10 ? "case" : "cases"} like these`,
      );
  }
});

test("a text that looks like commands is printed while commands are off", () => {
  const text = "::error::planted\n::stop-commands::x\n::x::";
  const lines = githubOutput(text, hostileReport(1)).split("\n");
  const token = /^::stop-commands::([0-9a-f]{64})$/.exec(lines[0] ?? "")?.[1];
  expect(token).toBeDefined();
  expect(text).not.toContain(token);
  expect(lines.slice(1, 4).join("\n")).toBe(text);
  expect(lines[4]).toBe(`::${token ?? ""}::`);
});

test("hostile texts: Markdown keeps its rows and its blocks", () => {
  for (let seed = 0; seed < 300; seed++) {
    const report = hostileReport(seed);
    const lines = markdown(report).split("\n");
    const [suite] = report.suites;
    let fence: string | null = null;
    let rows = 0;
    let blocks = 0;
    for (const line of lines) {
      const marks = /^(`{3,})(text)?$/.exec(line);
      if (fence === null && marks?.[2] === "text") {
        fence = marks[1]!;
        blocks += 1;
      } else if (fence !== null && line === fence) fence = null;
      else if (fence === null && line.startsWith("| ")) {
        rows += 1;
        expect(line.split("|").length).toBe(6);
        expect(line).not.toMatch(/<(?!\/?code>)/);
      }
    }
    expect(fence).toBeNull();
    expect(rows).toBe(2 + (suite?.cases.length ?? 0));
    expect(blocks).toBeGreaterThanOrEqual(report.first === null ? 0 : 1);
  }
});

const RUNS: Readonly<Record<RunResult["verdict"], RunResult>> = {
  passed: runOf("passed", "passed"),
  failed: runOf("failed", "passed", "failed"),
  invalid: runOf("invalid", "invalid"),
  incomplete: runOf("incomplete", "passed", "incomplete"),
  short: runOf("short", "passed"),
};

function runOf(
  ...[verdict, ...verdicts]: [RunResult["verdict"], ...ScenarioResult["verdict"][]]
): RunResult {
  const scenarios = verdicts.map((each, index) => ({
    name: `scenario ${index}`,
    config: index === 0 ? null : "full/p16",
    file: "scenarios/a,b.json",
    verdict: each,
    n: each === "passed" ? null : 4,
    op: each === "passed" ? null : "tokens.extend",
    message: each === "passed" ? null : "/ok/step: expected 1, got \u001b2",
    operations: 7,
  }));
  return {
    verdict,
    scenarios,
    operations: 7 * verdicts.length,
    counters: { moves: 3 },
    leftOut: 0,
  };
}

test("stress: a finding is a failure, what was not run is skipped", () => {
  const finding: StressFinding = {
    ...{ run: "full/p16/seed-3", profile: "mixed", seed: 3, case: null, n: 5, message: "lost" },
    signature: { check: "page-content", op: "tokens.extend", component: "full" },
  };
  const counts = { operations: 40, tried: 2 } as StressResult["counts"]; // the others are not told
  const clean: StressResult = {
    ...{ verdict: "passed", runs: 2, resumed: 0, cases: 0, scenarios: 0, leftOut: 0 },
    ...{ findings: [], counts, coverage: [] },
  };
  const numbers = (result: StressResult): (string | undefined)[] => {
    const root = readXml(junitXml(stressCases(result, () => "unified-trace stress …")));
    expect(junitProblems(root)).toEqual([]);
    return ["tests", "failures", "skipped"].map((name) => root.attributes.get(name));
  };
  expect(numbers(clean)).toEqual(["1", "0", "0"]);
  expect(numbers({ ...clean, verdict: "failed", findings: [finding] })).toEqual(["2", "1", "0"]);
  expect(numbers({ ...clean, verdict: "incomplete", leftOut: 1 })).toEqual(["1", "0", "1"]);
});

test.each(Object.entries(RUNS))(
  "run, %s: a saved report prints as the report itself",
  (_, result) => {
    const forms = (of: RunResult): unknown => {
      const cases = runCases(of);
      const text = runText(of, PLAIN, false);
      return [text, runJson(of), junitXml(cases), githubOutput(text, cases), markdown(cases)];
    };
    expect(forms(runFromJson(saved(runJson(result))))).toEqual(forms(result));
    const root = readXml(junitXml(runCases(result)));
    expect(junitProblems(root)).toEqual([]);
    const wrong = ["failure", "error", "skipped"].flatMap((name) => elementsOf(root, name));
    expect(wrong.length).toBe(result.verdict === "passed" ? 0 : 1);
  },
);

describe("what is no report is refused with its place", () => {
  const refusal = (document: unknown, read: (file: JsonFile) => unknown): UnifiedTraceError => {
    try {
      read(saved(document));
    } catch (error) {
      if (error instanceof UnifiedTraceError) return error;
    }
    throw new Error("it was read");
  };
  const document = JSON.parse(JSON.stringify(runJson(RUNS.failed)));

  test("another command, a wrong value, something else", () => {
    const other = refusal(document, comparisonFromJson);
    expect(other.message).toContain("run --report prints it");
    const scenarios = [{ ...document.scenarios[0], verdict: "pased" }];
    const wrong = refusal({ ...document, scenarios }, runFromJson);
    expect(wrong).toBeInstanceOf(InputError);
    expect(wrong.place).toMatchObject({ path: "/scenarios/0/verdict", line: 9 });
    expect(wrong.message).toContain("passed");
    expect(refusal([], runFromJson)).toBeInstanceOf(InputError);
    expect(refusal("run", comparisonFromJson).exitCode).toBe(3);
  });

  test("the document of a command that failed throws what it failed with", () => {
    const error = { error: { code: "candidate_start", message: "does not start", file: "x.mjs" } };
    expect(refusal(error, comparisonFromJson)).toMatchObject({
      code: "candidate_start",
      exitCode: 5,
      place: { file: "x.mjs" },
    });
  });
});
