// What `convert` prints.
import type { ConvertResult } from "../tools/convert/convert.js";
import type { Recovery } from "../trace/reader-recover.js";
import type { Palette } from "./palette.js";
import { bytes, counted, grouped, visible } from "./words.js";

/** @public */
export type ConvertVerdict = "converted" | "recovered" | "incomplete";

/** Whether all of the input is in the output. @public */
export function convertVerdict(result: ConvertResult): ConvertVerdict {
  const { recovery, truncated, ignoredKeys } = result;
  if (recovery !== null && recovery.damaged > 0) return "recovered";
  const calls = recovery?.droppedCalls ?? 0;
  return truncated === null && ignoredKeys === 0 && calls === 0 ? "converted" : "incomplete";
}

/** The last line is the summary. @public */
export function convertText(result: ConvertResult, out: string, palette: Palette): string {
  const { format, runs, operations, truncated, ignoredKeys, notes, recovery } = result;
  const lines = notes.map((note) => palette.warn(visible(note)));
  if (recovery !== null) lines.push(...recoveryLines(recovery).map((line) => palette.warn(line)));
  if (truncated !== null) lines.push(palette.warn(visible(truncated.message)));
  if (ignoredKeys > 0) lines.push(palette.warn(`${counted(ignoredKeys, "unknown key")} left out`));
  const name = out === "-" ? "standard output" : visible(out);
  const size = bytes(result.bytes);
  const numbers = `${counted(runs, "run")}, ${counted(operations, "operation")}, ${format}, ${size}`;
  const verdict = convertVerdict(result);
  const summary = `${verdict} ${name}: ${numbers}`;
  lines.push(verdict === "converted" ? palette.good(summary) : palette.warn(summary));
  return lines.join("\n");
}

function recoveryLines(recovery: Recovery): string[] {
  const { damages, damaged, droppedLines, droppedRuns, droppedCalls, closedRuns } = recovery;
  const lines = damages.map(({ run, operation, line, message }) => {
    const where =
      run === null
        ? "outside any run"
        : operation === null
          ? `run ${visible(run)}, before its first operation`
          : `run ${visible(run)}, after operation ${grouped(operation)}`;
    return `line ${grouped(line)}: ${where}: ${visible(message)}`;
  });
  if (damaged > damages.length)
    lines.push(`and ${counted(damaged - damages.length, "more place")}`);
  const counts = [
    ...(droppedLines === 0 ? [] : [`${counted(droppedLines, "line")} dropped`]),
    ...(droppedRuns === 0 ? [] : [`${counted(droppedRuns, "run")} dropped`]),
    ...(droppedCalls === 0
      ? []
      : [`${counted(droppedCalls, "call")} without an answer became a mark`]),
    ...(closedRuns === 0 ? [] : [`${counted(closedRuns, "run")} closed`]),
  ];
  if (counts.length > 0) lines.push(counts.join(", "));
  return lines;
}

/** The document of `convert`. @public */
export function convertJson(result: ConvertResult, out: string): unknown {
  const { format, traces, runs, operations, recovery, truncated, ignoredKeys, notes } = result;
  return {
    command: "convert",
    verdict: convertVerdict(result),
    ...{ format, traces, out, runs, operations, bytes: result.bytes },
    recovery: recovery && {
      damages: recovery.damages,
      damaged: recovery.damaged,
      dropped_lines: recovery.droppedLines,
      dropped_runs: recovery.droppedRuns,
      dropped_calls: recovery.droppedCalls,
      closed_runs: recovery.closedRuns,
    },
    ignored_keys: ignoredKeys,
    truncated: truncated === null ? null : truncated.message,
    notes,
  };
}
