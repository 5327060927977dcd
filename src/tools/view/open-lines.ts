// The lines of a trace, or of a log that `import` takes.
import type { ReaderOptions, TraceReader } from "../../trace/reader.js";
import { openTrace } from "../../trace/reader.js";
import { foreignLog, openLog } from "../../workload/import.js";

/** @internal */
export type LineSource = Pick<TraceReader, "readBatch" | "truncated" | "ignoredKeys" | "close">;

/** Throws as `openTrace` and `openImport` do. @internal */
export async function openLines(trace: string, options: ReaderOptions): Promise<LineSource> {
  const log = await foreignLog(trace);
  return log === null ? openTrace(trace, options) : openLog(log, options);
}
