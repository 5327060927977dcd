// The text of `run`: what failed first, what was exercised where that was asked, then the summary.
import type { RunResult, ScenarioResult } from "../tools/outcome.js";
import { coverageLines } from "./coverage-text.js";
import type { Palette } from "./palette.js";
import { counterLines } from "./record-text.js";
import { counted, grouped, shortened, visible } from "./words.js";

const MESSAGE_MAX = 600;
const PASSED_MAX = 40;

/** Every scenario that did not pass, those that did while they are few, and the summary. @public */
export function runText(result: RunResult, palette: Palette, verbose: boolean): string {
  const passed = result.scenarios.filter(({ verdict }) => verdict === "passed");
  const others = result.scenarios.filter(({ verdict }) => verdict !== "passed");
  const isFew = passed.length <= PASSED_MAX || verbose;
  const lines = [
    ...(isFew ? passed.map((one) => scenarioLine(one, palette, verbose)) : []),
    ...others.map((one) => scenarioLine(one, palette, verbose)),
    ...counterLines(result.counters),
    ...exercisedLines(result, palette),
    runSummary(result, palette),
  ];
  return lines.join("\n");
}

/** One scenario, with its file on a line of its own where it did not pass. @internal */
export function scenarioLine(one: ScenarioResult, palette: Palette, verbose: boolean): string {
  const paint =
    one.verdict === "passed" ? palette.good : one.verdict === "failed" ? palette.bad : palette.warn;
  const name = visible(one.config === null ? one.name : `${one.name} on ${one.config}`);
  const head = `${paint(one.verdict.padEnd(10))}  ${name}`;
  if (one.message === null) return `${head}: ${counted(one.operations, "operation")}`;
  const where =
    one.n === null
      ? ""
      : ` operation ${grouped(one.n)}${one.op === null ? "" : ` (${visible(one.op)})`}:`;
  const message = shortened(visible(one.message), verbose ? Infinity : MESSAGE_MAX);
  const file = one.file === null ? "" : `\n            ${palette.dim(visible(one.file))}`;
  return `${head}:${where} ${message}${file}`;
}

/** The last line: the verdict and the numbers. @internal */
export function runSummary(result: RunResult, palette: Palette): string {
  const passed = result.scenarios.filter(({ verdict }) => verdict === "passed").length;
  const all = counted(result.scenarios.length, "run");
  const left = result.leftOut === 0 ? "" : `, ${counted(result.leftOut, "run")} left out`;
  const operations = counted(result.operations, "operation");
  const counts = `${grouped(passed)} of ${all} passed${left}, ${operations}${coveredText(result)}`;
  const paint =
    result.verdict === "passed"
      ? palette.good
      : result.verdict === "failed"
        ? palette.bad
        : palette.warn;
  return paint(`${result.verdict}: ${counts}`);
}

function exercisedLines({ coverage }: RunResult, palette: Palette): string[] {
  if (coverage === undefined) return [];
  const { tables } = coverage;
  const isWhole = tables.some(({ name }) => name === "relief steps");
  return [
    ...coverageLines(tables, palette),
    ...(isWhole ? [] : ["relief steps and clearance cells: not told by this implementation"]),
  ];
}

function coveredText({ coverage, verdict }: RunResult): string {
  if (coverage === undefined) return "";
  const { percent, floor } = coverage;
  const asked = verdict === "short" ? ` of ${String(floor)} % asked` : "";
  return `, ${String(percent)} % covered${asked}`;
}
