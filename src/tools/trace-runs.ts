// The operations of a trace's runs, one run at a time in memory, for tools that need a run as a whole.
import { InputError } from "../base/errors.js";
import type { KvOperation } from "../base/operations.js";
import type { RunLine } from "../trace/lines.js";
import { openTrace } from "../trace/reader.js";
import type { ReaderOptions } from "../trace/reader.js";
import { noSuchRun } from "./compare-results.js";

/** A run of domain `kv` from its beginning. @internal */
export interface TraceRun {
  readonly line: RunLine;
  readonly ops: readonly KvOperation[];
}

/**
 * The runs of a trace in order, or the one that is named. Throws `InputError` for a run of another domain or one that
 * begins with a state, `UsageError` for an unknown run. @internal
 */
export async function* runsOf(
  trace: string,
  wanted: string | null,
  options: ReaderOptions,
): AsyncIterable<TraceRun> {
  const reader = await openTrace(trace, options);
  const names: string[] = [];
  let line: RunLine | null = null;
  let ops: KvOperation[] = [];
  try {
    for (;;) {
      const { lines } = await reader.readBatch();
      if (lines.length === 0) break;
      for (const next of lines) {
        if (next.kind === "run") {
          names.push(next.run);
          line = wanted === null || next.run === wanted ? whole(next, trace) : null;
          ops = [];
        } else if (next.kind === "op" && line !== null) {
          ops.push({ op: next.op, args: next.args } as KvOperation); // they stood on one line
        } else if (next.kind === "end" && line !== null) {
          yield { line, ops };
          if (wanted !== null) return;
          line = null;
        }
      }
    }
    // the last run of a truncated trace, where that is accepted
    if (line !== null) yield { line, ops };
    else if (wanted !== null) throw noSuchRun(wanted, trace, names);
    else if (names.length === 0) {
      throw new InputError("trace_structure", "holds no runs", { file: trace });
    }
  } finally {
    await reader.close();
  }
}

function whole(line: RunLine, file: string): RunLine {
  const { run, domain, starts_at: startsAt } = line;
  const refuse = (why: string): never => {
    throw new InputError("trace_structure", `run ${run} cannot be used: ${why}`, { file });
  };
  if (domain !== "kv") refuse(`its domain is ${domain}`);
  if ((startsAt ?? 0) > 0) refuse("it begins inside another, with a state");
  return line;
}
