// Checks a whole trace and counts what is in it.
import type { ReaderOptions, Truncation } from "./reader.js";
import { openTrace } from "./reader.js";

/** What a valid trace holds. @public */
export interface TraceSummary {
  readonly lines: number;
  readonly runs: number;
  readonly operations: number;
  readonly marks: number;
  readonly states: number;
  readonly ignoredKeys: number;
  readonly extensionKeys: number;
  readonly truncated: Truncation | null;
}

/** Reads a trace to its end. Throws the reader's errors. @public */
export async function validateTrace(
  path: string,
  options: ReaderOptions = {},
): Promise<TraceSummary> {
  const reader = await openTrace(path, options);
  let lines = 0;
  const counts = { run: 0, op: 0, mark: 0, state: 0, trace: 0, call: 0, end: 0 };
  try {
    for (;;) {
      const batch = await reader.readBatch();
      if (batch.lines.length === 0) break;
      lines += batch.lines.length;
      for (const line of batch.lines) counts[line.kind] += 1;
    }
  } finally {
    await reader.close();
  }
  return {
    lines,
    runs: counts.run,
    operations: counts.op,
    marks: counts.mark,
    states: counts.state,
    ignoredKeys: reader.ignoredKeys,
    extensionKeys: reader.extensionKeys,
    truncated: reader.truncated,
  };
}
