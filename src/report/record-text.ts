// The text of `record` and `replay`.
import type { RecordResult, ReplayResult, Violation } from "../tools/outcome.js";
import { servedNothing } from "../tools/served-nothing.js";
import { latencyLines } from "./latency-text.js";
import type { Palette } from "./palette.js";
import { bytes, counted, grouped, shortened, visible } from "./words.js";
import { valueText } from "./values.js";

/** What was recorded; the last line is the summary. `partial` is the file of a failed recording. @public */
export function recordText(
  result: RecordResult,
  out: string,
  partial: string | null,
  size: number,
  palette: Palette,
): string {
  const lines = counterLines(result.counters);
  const { failure } = result;
  const numbers = [
    counted(result.runs, "run"),
    counted(result.operations, "operation"),
    ...(result.kept < result.operations ? [`${grouped(result.kept)} of them kept`] : []),
    counted(result.refusals, "refusal"),
    ...(result.states > 0 ? [counted(result.states, "full state")] : []),
    bytes(size),
  ].join(", ");
  const name = out === "-" ? "standard output" : visible(out);
  if (failure === null) {
    const last = servedNothing(result.counters)
      ? palette.warn(`incomplete: every request was dropped; ${name}: ${numbers}`)
      : palette.good(`recorded ${name}: ${numbers}`);
    return [...lines, last].join("\n");
  }
  const { run, n, place, failure: broken } = failure;
  const where = `${place === "at" ? "at" : "after the last operation,"} ${place === "at" ? "operation " : ""}${grouped(n)}`;
  return [
    ...lines,
    palette.bad(`${broken.kind} ${where} of run ${visible(run)}: ${visible(broken.message)}`),
    ...(partial === null
      ? [`${name} ends inside that run`]
      : [
          `${name} was not written; what was recorded stands in ${visible(partial)}, which ends inside that run`,
          "and is read with --accept-truncated",
        ]),
    palette.bad(`failed: ${numbers} recorded before it`),
  ].join("\n");
}

/** The counters of workloads, one a line. @public */
export function counterLines(counters: Readonly<Record<string, number>>): string[] {
  return Object.entries(counters).map(
    ([name, count]) =>
      `${visible(name).replaceAll("_", " ").padEnd(28)} ${grouped(count).padStart(12)}`,
  );
}

/** What a replay found; the last line is the summary. @public */
export function replayText(result: ReplayResult, palette: Palette): string {
  const looked = `${counted(result.runs, "run")} and ${counted(result.operations, "operation")} replayed`;
  const lines = [
    ...latencyLines(result.latencies ?? [], palette),
    ...result.violations.flatMap((violation) => violationLines(violation, palette)),
  ];
  const scope = "answers were not compared (that is what compare does)";
  const times = result.passes === 1 ? "" : ` ${result.passes} times`;
  const counts = `${looked}${times}, ${counted(result.refusals, "refusal")}; ${scope}`;
  if (result.violations.length > 0) {
    const found = counted(result.violations.length, "run");
    return [...lines, palette.bad(`failed: ${found} broke; ${counts}`)].join("\n");
  }
  if (result.error !== null || result.isPartial) {
    const why = result.error === null ? "the trace was not read whole" : "it ended early";
    lines.push(palette.warn(`incomplete: no invariant broke, but ${why}; ${counts}`));
  } else lines.push(palette.good(`passed: no invariant broke; ${counts}`));
  return lines.join("\n");
}

function violationLines({ run, n, op, args, failure }: Violation, palette: Palette): string[] {
  const tail = (failure.stderrTail ?? "").trimEnd();
  return [
    palette.bad(
      `run ${visible(run)}, operation ${grouped(n)}: ${visible(op)}: ${failure.kind}: ${visible(failure.message)}`,
    ),
    `  asked  ${shortened(valueText(args), 300)}`,
    ...(tail === ""
      ? []
      : tail
          .split(/\r?\n/)
          .slice(-8)
          .map((line) => palette.dim(`  ${visible(line)}`))),
  ];
}
