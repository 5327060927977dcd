// Annotations for GitHub Actions: workflow commands on standard output, a line each.
import { createHash } from "node:crypto";
import type { CaseReport, ReportCase } from "./case-report.js";
import { counted, visible } from "./words.js";

const ANNOTATIONS_MAX = 9; // GitHub shows ten of a kind and step: the tenth tells of the rest
const MESSAGE_MAX = 4000;

/**
 * The text of a report between commands that switch commands off, so that no line of it is taken for one, then the
 * annotations. @public
 */
export function githubOutput(text: string, report: CaseReport): string {
  // a text that holds its own hash cannot be made, so nothing in it switches commands on again
  const token = createHash("sha256").update(text).digest("hex");
  const guarded = [`::stop-commands::${token}`, text, `::${token}::`];
  return [...guarded, ...annotations(report)].join("\n");
}

/** One line a case that did not pass, failures first. @public */
export function annotations(report: CaseReport): string[] {
  const cases = report.suites.flatMap((suite) => suite.cases);
  const wrong = cases.filter(({ status }) => status === "failed" || status === "error");
  const left = cases.filter(({ status }) => status === "skipped");
  const title = `unified-trace ${report.command}`;
  return [...level("error", wrong, title), ...level("warning", left, title)];
}

function level(command: string, cases: readonly ReportCase[], title: string): string[] {
  const more = cases.length - ANNOTATIONS_MAX;
  const rest =
    more > 0 ? [line(command, { title }, `and ${counted(more, "more case")} like these`)] : [];
  return [
    ...cases.slice(0, ANNOTATIONS_MAX).map((one) => annotation(command, one, title)),
    ...rest,
  ];
}

function annotation(command: string, one: ReportCase, title: string): string {
  const { name, kind, message, place, reproduce } = one;
  const words = [place === "" ? message : `${place}: ${message}`];
  if (reproduce !== null) words.push(reproduce);
  const text = words.map((part) => cut(visible(part))).join("\n");
  return line(
    command,
    {
      title: `${title}: ${visible(name)} (${visible(kind)})`,
      ...(one.file === null ? {} : { file: visible(one.file) }),
      ...(one.line === null ? {} : { line: String(one.line) }),
    },
    text,
  );
}

function line(command: string, properties: Readonly<Record<string, string>>, text: string): string {
  const words = Object.entries(properties).map(([name, value]) => `${name}=${property(value)}`);
  return `::${command} ${words.join(",")}::${data(text)}`;
}

function cut(text: string): string {
  return text.length <= MESSAGE_MAX ? text : `${text.slice(0, MESSAGE_MAX)}…`;
}

// The escapes that the runner undoes: those of messages, and two more in properties.
function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
