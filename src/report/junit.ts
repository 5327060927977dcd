// JUnit XML: a `testsuite` an implementation, a `testcase` a run or scenario. XML 1.0 has no way to hold most control
// characters, so those are written out as `\u001b`.
import type { CaseReport, ReportCase, ReportSuite } from "./case-report.js";
import { countsOf } from "./case-report.js";
import { counted } from "./words.js";

/** The whole document. @public */
export function junitXml(report: CaseReport): string {
  const cases = report.suites.flatMap((suite) => suite.cases);
  const title = `unified-trace ${report.command}`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: title, ...numbers(cases) })}>`,
    ...report.suites.flatMap((suite) => suiteLines(suite, title)),
    "</testsuites>",
    "",
  ].join("\n");
}

function suiteLines(suite: ReportSuite, title: string): string[] {
  const { name, properties, cases } = suite;
  return [
    `  <testsuite${attributes({ name, ...numbers(cases) })}>`,
    ...(properties.length === 0
      ? []
      : [
          "    <properties>",
          ...properties.map(
            ([key, value]) => `      <property${attributes({ name: key, value })}/>`,
          ),
          "    </properties>",
        ]),
    ...cases.flatMap((one) => caseLines(one, `${title} ${name}`)),
    "  </testsuite>",
  ];
}

function caseLines(one: ReportCase, classname: string): string[] {
  const { name, status, kind, message, place, operations } = one;
  const file = one.file === null ? {} : { file: one.file };
  const line = one.line === null ? {} : { line: String(one.line) };
  const head = `    <testcase${attributes({ name, classname, ...file, ...line })}`;
  if (status === "passed") {
    const told = `<system-out>${escaped(counted(operations, "operation"))}</system-out>`;
    return [`${head}>${told}</testcase>`];
  }
  const words = place === "" ? message : `${place}: ${message}`;
  if (status === "skipped") {
    return [`${head}><skipped${attributes({ message: words })}/></testcase>`];
  }
  const element = status === "failed" ? "failure" : "error";
  const story = one.text.length === 0 ? [words] : one.text;
  const again = one.reproduce === null ? [] : [`reproduce: ${one.reproduce}`];
  const open = `${head}><${element}${attributes({ type: kind, message: words })}>`;
  return [`${open}${escaped([...story, ...again].join("\n"))}</${element}></testcase>`];
}

function numbers(cases: readonly ReportCase[]): Record<string, string> {
  const { failed, error, skipped } = countsOf(cases);
  return {
    tests: String(cases.length),
    failures: String(failed),
    errors: String(error),
    skipped: String(skipped),
  };
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(value).replace(/[\t\n]/g, reference)}"`)
    .join("");
}

// What XML 1.0 cannot hold at all, half a surrogate pair among it.
const FORBIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text between tags or in an attribute; `>` too, so that no `]]>` is left. */
function escaped(text: string): string {
  return text
    .replace(FORBIDDEN, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replace(/[\r\u007f-\u009f\u2028]/g, reference); // a parser would change them, or editors act on them
}

function reference(character: string): string {
  return `&#${character.charCodeAt(0)};`;
}
