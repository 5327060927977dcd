// A report as Markdown: for a comment, a page of a build, the summary of a job. Bounded, whatever the number of runs.
import type { CaseReport, ReportCase, ReportSuite } from "./case-report.js";
import { countsOf } from "./case-report.js";
import { counted, grouped, shortened, visible } from "./words.js";

const ROWS_MAX = 100;
const DETAILS_MAX = 20;
const CELL_MAX = 300;
const WORDS = { passed: "passed", failed: "**failed**", error: "**error**", skipped: "skipped" };

/** The whole document. @public */
export function markdown(report: CaseReport): string {
  const { command, first, summary } = report;
  const cases = report.suites.flatMap((suite) => suite.cases);
  const others = cases.filter((one) => one !== first && one.text.length > 0);
  const lines = [
    `## unified-trace ${command}: ${plain(report.verdict)}`,
    "",
    ...summary.flatMap((one) => [plain(one), ""]),
    ...report.suites.flatMap(suiteLines),
    ...(first === null ? [] : firstLines(first)),
    ...others.slice(0, DETAILS_MAX).flatMap(detailLines),
  ];
  const more = others.length - DETAILS_MAX;
  if (more > 0) lines.push(`… and ${counted(more, "case")} more that did not pass.`, "");
  return `${lines.join("\n").trimEnd()}\n`;
}

function suiteLines({ name, properties, cases }: ReportSuite): string[] {
  const { passed, failed, error, skipped } = countsOf(cases);
  const numbers = [
    `${grouped(passed)} passed`,
    ...(failed > 0 ? [`${grouped(failed)} failed`] : []),
    ...(error > 0 ? [counted(error, "error")] : []),
    ...(skipped > 0 ? [`${grouped(skipped)} skipped`] : []),
  ];
  // what did not pass comes first where not everything fits
  const isFew = cases.length <= ROWS_MAX;
  const ordered = isFew
    ? cases
    : [
        ...cases.filter(({ status }) => status !== "passed"),
        ...cases.filter(({ status }) => status === "passed"),
      ];
  const more = cases.length - ROWS_MAX;
  return [
    `### ${code(name)}: ${numbers.join(", ")}`,
    "",
    ...properties.map(([key, value]) => `- ${plain(key)}: ${code(value)}`),
    ...(properties.length === 0 ? [] : [""]),
    "| case | verdict | operations | what happened |",
    "| --- | --- | ---: | --- |",
    ...ordered.slice(0, ROWS_MAX).map(row),
    "",
    ...(more > 0 ? [`… and ${counted(more, "case")} more.`, ""] : []),
  ];
}

function row({ name, status, kind, operations, place, message }: ReportCase): string {
  const word =
    kind === status || status === "passed" ? WORDS[status] : `${WORDS[status]} (${plain(kind)})`;
  const what = place === "" ? message : `${place}: ${message}`;
  const cell = plain(shortened(what, CELL_MAX));
  return `| ${code(name)} | ${word} | ${grouped(operations)} | ${cell} |`;
}

function firstLines(one: ReportCase): string[] {
  return [
    `### First: ${code(one.name)}`,
    "",
    ...block(one.text.length === 0 ? [one.message] : one.text),
    ...reproduceLines(one),
  ];
}

function detailLines(one: ReportCase): string[] {
  return [
    "<details>",
    `<summary>${entities(one.name)} (${entities(one.kind)})</summary>`,
    "",
    ...block(one.text),
    ...reproduceLines(one),
    "</details>",
    "",
  ];
}

function reproduceLines({ reproduce }: ReportCase): string[] {
  return reproduce === null ? [] : ["Reproduce:", "", ...block([visible(reproduce)])];
}

// The fence is longer than any row of backticks inside.
function block(lines: readonly string[]): string[] {
  const text = lines.join("\n");
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = "`".repeat(longest + 1);
  return [`${fence}text`, text, fence, ""];
}

/** A word in the face of code: as it stands where that is safe, else with every sign that means something escaped. */
function code(text: string): string {
  return /^[\w+/.,: -]+$/.test(text) && text.trim() === text
    ? `\`${text}\``
    : `<code>${entities(text)}</code>`;
}

/** A sentence in which nothing is markup. */
function plain(text: string): string {
  return entities(text);
}

// Entities stand for the character and never for markup, in tables and in HTML as well. An at sign names a person.
function entities(text: string): string {
  return visible(text).replace(
    /[&<>"'|`*_[\]\\~@#$!^=]|:(?=\/\/)|(?<=www)\./gi,
    (sign) => `&#${sign.charCodeAt(0)};`,
  );
}
