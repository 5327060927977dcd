// Where reports go: `--junit`, `--github`, `--markdown`, `--json` and the text, of what was just found or of a saved report.
import { appendFileSync } from "node:fs";
import type { Command } from "commander";
import { EnvironmentError, InputError, UsageError } from "../base/errors.js";
import { worstExit } from "../base/exit-codes.js";
import type { CaseReport } from "../report/case-report.js";
import { githubOutput } from "../report/github.js";
import { junitXml } from "../report/junit.js";
import { markdown } from "../report/markdown.js";
import { visible } from "../report/words.js";
import { openTrace } from "../trace/reader.js";
import { writeReason } from "../trace/writer-sink.js";
import { writeWhole } from "../workload/case-files.js";
import type { JsonFile } from "../workload/json-file.js";
import { readJsonFile } from "../workload/json-file.js";
import { readInputs } from "../workload/read-inputs.js";
import { refuseOverInputs } from "./same-file.js";
import type { Session } from "./session.js";

/** @internal */
export interface ReportFlags {
  readonly junit?: string;
  readonly github?: boolean;
  readonly markdown?: string;
}

/** One answer in all its forms. @internal */
export interface Forms {
  readonly text: () => string;
  readonly json: () => unknown;
  readonly cases: () => CaseReport;
}

/** @internal */
export const REPORT_HELP: string = `
Reports: --junit and --markdown write files beside what is printed; "-" prints the document in
place of the text. --github prints annotations behind the text and appends a summary to the file
that GITHUB_STEP_SUMMARY names (docs/reports.md).`.trim();

/** @internal */
export function addReportFlags(command: Command): Command {
  return command
    .option("--junit <file>", "write the verdicts as JUnit XML")
    .option("--markdown <file>", "write the report as Markdown")
    .option("--github", "annotations and a job summary for GitHub Actions");
}

/**
 * Refuses forms that do not go together, and files that are also read, before any work is done. Throws `UsageError`.
 * @param inputs - files that the command reads
 * @internal
 */
export function checkReportFlags(
  flags: ReportFlags,
  session: Session,
  inputs: readonly (string | undefined)[],
): void {
  const { junit, github, markdown: page } = flags;
  const files = [
    ["--junit", junit],
    ["--markdown", page],
  ] as const;
  refuseOverInputs(files, inputs);
  const taken = [
    ...(session.isJson ? ["--json"] : []),
    ...(github === true ? ["--github"] : []),
    ...(junit === "-" ? ["--junit -"] : []),
    ...(page === "-" ? ["--markdown -"] : []),
  ];
  const [first, second] = taken;
  if (first !== undefined && second !== undefined) {
    throw new UsageError(`${first} and ${second} both print on standard output: choose one`);
  }
  if (junit !== undefined && junit === page) {
    throw new UsageError(`--junit and --markdown both write ${junit}: give each a file`);
  }
}

/**
 * Prints the answer and writes the files. A file that cannot be written is told, and keeps nothing else from being written.
 * @param exitCode - of the verdict
 * @returns the exit code with what went wrong here
 * @internal
 */
export function giveReports(
  flags: ReportFlags,
  forms: Forms,
  exitCode: number,
  session: Session,
): number {
  let made: CaseReport | null = null;
  const cases = (): CaseReport => (made ??= forms.cases());
  if (session.isJson) session.printJson(forms.json());
  else if (flags.junit === "-") session.print(junitXml(cases()));
  else if (flags.markdown === "-") session.print(markdown(cases()));
  else if (flags.github === true) session.print(githubOutput(forms.text(), cases()));
  else session.print(forms.text());
  const codes = [exitCode];
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      session.note(`unified-trace: ${visible(error.describe())}`);
      codes.push(error.exitCode);
    }
  };
  const { junit, markdown: page, github } = flags;
  if (junit !== undefined && junit !== "-") {
    attempt(() => {
      writeWhole(junit, junitXml(cases()));
    });
  }
  if (page !== undefined && page !== "-") {
    attempt(() => {
      writeWhole(page, markdown(cases()));
    });
  }
  const { jobSummary } = session;
  if (github === true && jobSummary !== null) {
    attempt(() => {
      append(jobSummary, markdown(cases()));
    });
  }
  return worstExit(codes);
}

// Other steps write into the same file, so it is neither replaced nor read.
function append(path: string, text: string): void {
  try {
    appendFileSync(path, `${text}\n`);
  } catch (error) {
    const message = `cannot be written: ${writeReason(error)}`;
    throw new EnvironmentError("output_unwritable", message, { file: path }, error);
  }
}

const WITH_REPORT: ReadonlySet<string> = new Set([
  ...["report", "junit", "github", "markdown", "html", "json", "verbose", "color"],
]);

/**
 * The saved report of `--report`: a JSON document, or that in a bundle. Throws `UsageError` for operands and flags that say nothing there, `InputError`.
 * @internal
 */
export async function readReport(
  file: string,
  operands: readonly (string | undefined)[],
  command: Command,
  session: Session,
): Promise<JsonFile> {
  const [operand] = operands.filter((word) => word !== undefined);
  if (operand !== undefined) {
    throw new UsageError(`${operand}: --report prints a saved report and takes no other files`);
  }
  for (const option of command.options) {
    const name = option.attributeName();
    if (WITH_REPORT.has(name) || command.getOptionValueSource(name) !== "cli") continue;
    const flag = option.long ?? name;
    throw new UsageError(`--report prints a report as it was saved: ${flag} says nothing there`);
  }
  if (/\.jsonl(\.gz)?$/.test(file)) return bundledReport(file, session);
  return readJsonFile(file, await readInputs([file], session.signal));
}

/** The report in the first line of a bundle. */
async function bundledReport(file: string, { signal }: Session): Promise<JsonFile> {
  const reader = await openTrace(file, { signal });
  try {
    await reader.readBatch(1);
    const header: object = reader.header ?? {};
    const about = "x_bundle" in header ? header.x_bundle : null;
    const isBundle = typeof about === "object" && about !== null && "report" in about;
    const value: unknown = isBundle ? about.report : null;
    if (value === null) {
      const what = isBundle ? "is a bundle without a report" : "is a trace and no bundle";
      const message = `${what}: bundle --report puts one into its first line`;
      throw new InputError("input_format", message, { file, line: 1 });
    }
    return { file, value, placeOf: () => ({ line: 1, column: 1 }) };
  } finally {
    await reader.close();
  }
}
