// One run of a trace as a whole in memory, for walking back and forth.
import { InputError } from "../../base/errors.js";
import type { State } from "../../base/state.js";
import type { OpLine, RunLine, StateLine } from "../../trace/lines.js";
import type { ReaderOptions } from "../../trace/reader.js";
import { noSuchRun } from "../compare-results.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { openLines } from "./open-lines.js";

const BATCH_LINES = 256;
const RUN_NAMES_MAX = 1000;

/** @internal */
export interface RunLines {
  readonly line: RunLine;
  readonly first: number; // the first operation's number
  readonly ops: readonly OpLine[]; // at least one
  readonly states: ReadonlyMap<number, State>; // `state` lines by operation
  readonly beginning: StateLine | null; // the state that the run begins with
  readonly isPartial: boolean;
}

/** Reads the named run, or the first. Throws `UsageError` for one that is not there, `InputError` for one without
 * operations and for a file that is wrong before its end. @internal */
export async function readRunLines(
  trace: string,
  run: string | undefined,
  control: ToolControl & { readonly reader?: ReaderOptions },
): Promise<RunLines> {
  const reader = await openLines(trace, control.reader ?? {});
  const pulse = new Pulse(control);
  const seen: string[] = [];
  const found: Found = { line: null, ops: [], states: new Map() };
  try {
    for (let isOver = false; !isOver;) {
      const { lines } = await reader.readBatch(BATCH_LINES);
      if (lines.length === 0) break;
      for (const line of lines) {
        if (line.kind === "run" && seen.length < RUN_NAMES_MAX) seen.push(line.run);
        if (line.kind === "run" && found.line === null && (run ?? line.run) === line.run)
          found.line = line;
        else if (found.line !== null && (line.kind === "run" || line.kind === "end")) {
          isOver = true;
          break;
        } else if (found.line !== null && line.kind === "op") found.ops.push(line);
        else if (found.line !== null && line.kind === "state") found.states.set(line.n, line.state);
      }
      if (pulse.count(lines.length)) await pulse.breathe();
    }
    const isPartial = reader.truncated !== null || reader.ignoredKeys > 0;
    return whole(found, trace, run, seen, isPartial);
  } finally {
    await reader.close();
  }
}

interface Found {
  line: RunLine | null;
  readonly ops: OpLine[];
  readonly states: Map<number, State>;
}

function whole(
  { line, ops, states }: Found,
  trace: string,
  run: string | undefined,
  seen: readonly string[],
  isPartial: boolean,
): RunLines {
  if (line === null && run !== undefined) throw noSuchRun(run, trace, seen);
  if (line === null || ops.length === 0) {
    const message = line === null ? "holds no run" : `run ${line.run} holds no operation`;
    throw new InputError("trace_structure", message, { file: trace });
  }
  const first = line.starts_at ?? 0;
  const state = states.get(first - 1);
  const beginning = state === undefined ? null : { kind: "state" as const, n: first - 1, state };
  return { line, first, ops, states, beginning, isPartial };
}
