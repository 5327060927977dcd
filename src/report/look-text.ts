// One operation as text: what was asked, what was answered, what it did, and the map of the arena around it.
import { findOperation } from "../trace/operation-table.js";
import type { Look, SideLook, Snapshot, StateSource } from "../tools/view/look.js";
import { heapMapText } from "./heap-map-text.js";
import { differenceText, type MapOptions, mapText } from "./map-text.js";
import { stateText } from "./state-text.js";
import { answerText, effectText, valueText } from "./values.js";
import { counted, grouped, shortened, visible } from "./words.js";
import { wrapped } from "./wrapped.js";

/** @public */
export interface LookTextOptions extends MapOptions {
  readonly hasState: boolean; // the full state as well
  readonly tellsSource: boolean; // where states come from, even where they are known
}

const TEXT_MAX = 2000;
const EFFECTS_MAX = 20;

/** Without the summary line. @public */
export function lookText(look: Look, options: LookTextOptions): readonly string[] {
  const { run, line, base, candidate } = look;
  const { palette, columns, verbose } = options;
  const most = verbose ? Infinity : TEXT_MAX;
  const doc = findOperation(line.op)?.doc ?? "";
  const asked = shortened(valueText(line.args), most);
  const lines = [
    palette.bold(`run ${visible(run.run)}, operation ${grouped(line.n)}: ${visible(line.op)}`),
    ...wrapped("  ", doc.split(" "), columns, 2, "").map((text) => palette.dim(text)),
    ...field("asked", asked === "nothing" ? "nothing more" : asked, columns),
    ...(line.site === undefined ? [] : field("site", visible(line.site), columns)),
    ...(line.at_us === undefined ? [] : field("at", `${grouped(line.at_us)} µs`, columns)),
  ];
  lines.push(...sideText(base, candidate === null ? null : "base", options));
  if (look.parting !== null && base.source.from === "trace") {
    const { n, op } = look.parting;
    const what = `the replay parts from the record at operation ${grouped(n)} (${visible(op)}): what the state lines do not tell is not known`;
    lines.push(...wrapped("", what.split(" "), columns, 2, "").map((text) => palette.warn(text)));
  }
  if (candidate === null) return lines;
  lines.push(...sideText(candidate, "candidate", options));
  const [left, right] = [base.after, candidate.after];
  if (left?.kind === "kv" && right?.kind === "kv" && left.map !== null && right.map !== null)
    lines.push(...differenceText(left.map, right.map, options));
  return lines;
}

function sideText(
  side: SideLook,
  name: "base" | "candidate" | null,
  options: LookTextOptions,
): string[] {
  const { palette, columns, verbose } = options;
  const { answer, failure, before, after } = side;
  const most = verbose ? Infinity : TEXT_MAX;
  const lines: string[] = [];
  if (name !== null) {
    const spec = side.spec === null ? "" : ` (${visible(side.spec)})`;
    lines.push(palette[name](`${name}${spec}`));
  }
  const text =
    failure === null
      ? shortened(answerText(answer), most)
      : `${failure.kind}: ${visible(failure.message)}`;
  const isRefused = failure !== null || answer?.err !== undefined;
  lines.push(
    ...field("answered", text, columns).map((line) => (isRefused ? palette.warn(line) : line)),
  );
  const message = answer?.err?.message ?? answer?.message;
  if (message !== undefined) lines.push(...field("remark", visible(message), columns));
  const effects = answer?.fx ?? [];
  const shown = verbose ? effects : effects.slice(0, EFFECTS_MAX);
  for (const [index, effect] of shown.entries())
    lines.push(
      ...field(index === 0 ? "effects" : "", shortened(effectText(effect), most), columns),
    );
  if (effects.length > shown.length)
    lines.push(...field("", `${grouped(effects.length - shown.length)} more (--verbose)`, columns));
  const digests = Object.entries(answer?.digest ?? {}).map(
    ([component, digest]) => `${visible(component)} ${visible(digest)}`,
  );
  if (digests.length > 0) lines.push(...wrapped("  digest    ", digests, columns));
  if (options.tellsSource || side.source.from === "nowhere") {
    const source = sourceText(side.source, after).split(" ");
    lines.push(...wrapped("  state     ", source, columns, 12, ""));
  }
  lines.push("");
  lines.push(...snapshotText(before, after, options));
  return lines;
}

function field(name: string, text: string, columns: number): string[] {
  return wrapped(`  ${name.padEnd(10)}`, text.split(", "), columns);
}

function snapshotText(
  before: Snapshot | null,
  after: Snapshot | null,
  options: LookTextOptions,
): readonly string[] {
  if (after === null) return [];
  if (after.kind === "heap")
    return heapMapText(before?.kind === "heap" ? before.map : null, after.map, options);
  const was = before?.kind === "kv" ? before.map : null;
  return [
    ...(after.map === null
      ? ["no map: neither the configuration nor an answer tells the bands' page grids"]
      : mapText(was, after.map, options)),
    ...(options.hasState ? ["", ...stateText(after.state, options)] : []),
  ];
}

/** Where the state comes from, in words. */
function sourceText(source: StateSource, after: Snapshot | null): string {
  switch (source.from) {
    case "trace":
      return after?.kind === "heap" ? "from the recorded answers" : "from the trace's state lines";
    case "nowhere":
      return `not known: ${visible(source.why)}`;
    case "replay": {
      const from =
        source.after < 0
          ? "from the beginning"
          : `from the state of operation ${grouped(source.after)}`;
      const { parting, isChecked } = source;
      const checked =
        parting === null
          ? `${isChecked ? "answers and digests" : "answers"} as recorded`
          : `not as recorded from operation ${grouped(parting.n)} on: ${visible(parting.op)}`;
      return `replayed on ${visible(source.spec)} ${from} (${counted(source.operations, "operation")}; ${checked})`;
    }
  }
}
