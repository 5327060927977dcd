// Runs of a trace, or operations of one of them, as a table.
import type { OpLine } from "../trace/lines.js";
import { answerOf } from "../tools/answered-line.js";
import type { ListedRun, Listing } from "../tools/view/list-operations.js";
import type { Palette } from "./palette.js";
import { answerText, valueText } from "./values.js";
import { counted, grouped, visible } from "./words.js";

/** The last line is the summary. @public */
export function listingText(listing: Listing, palette: Palette, columns: number): string {
  const { runs, runCount, lines, omitted, operations, isPartial, error } = listing;
  const read = `${counted(runCount, "run")} and ${counted(operations, "operation")} read`;
  const body =
    lines === null ? runLines(runs) : lines.map((line) => lineText(line, columns, palette));
  const head =
    lines === null ? [] : runs.slice(0, 1).map(({ run }) => palette.bold(`run ${visible(run)}`));
  const more = [
    ...(omitted > 0
      ? [`  ${counted(omitted, "more operation")} (--from ${String((lines?.at(-1)?.n ?? -1) + 1)})`]
      : []),
    ...(lines === null ? ["--run ID lists the operations of one, --op N shows one of them"] : []),
    ...(runCount > runs.length && lines === null
      ? [counted(runCount - runs.length, "more run")]
      : []),
  ];
  const isWhole = error === null && !isPartial;
  const summary = isWhole
    ? palette.good(`shown: ${read}`)
    : palette.warn(`incomplete: the trace was not read whole; ${read}`);
  return [...head, ...body, ...more, summary].join("\n");
}

function runLines(runs: readonly ListedRun[]): string[] {
  const rows = runs.map(({ run, domain, operations, refusals, states }) => [
    visible(run),
    domain,
    grouped(operations),
    grouped(refusals),
    grouped(states),
  ]);
  const all = [["run", "domain", "operations", "refusals", "states"], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0)),
  );
  return all.map((row) =>
    row
      .map((text, column) =>
        column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}

/** One operation on one line of at most `columns` characters. @public */
export function lineText(line: OpLine, columns: number, palette: Palette): string {
  const asked = valueText(line.args);
  const answer = answerOf(line);
  const effects = line.fx?.length ?? 0;
  const more = effects === 0 ? "" : `  [${counted(effects, "effect")}]`;
  const args = asked === "nothing" ? "" : ` ${asked}`;
  const head = `${String(line.n).padStart(6)}  ${visible(line.op)}${args}`;
  const text = cut(`${head} → ${answerText(answer)}${more}`, columns);
  return answer.err === undefined ? text : palette.warn(text);
}

function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(1, columns - 1))}…`;
}
