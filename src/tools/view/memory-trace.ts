// A trace that is at hand as lines, read as a file would be.
import type { TraceLine } from "../../trace/lines.js";
import type { LineBatch, TraceReader } from "../../trace/reader.js";

const BATCH_LINES = 256;

/** Reads lines in order. `path`: what the trace is called. @internal */
export function memoryTrace(path: string, lines: readonly TraceLine[]): TraceReader {
  let at = 0;
  return {
    path,
    ...{ header: null, ignoredKeys: 0, extensionKeys: 0, truncated: null },
    readBatch: async (max = BATCH_LINES): Promise<LineBatch> => {
      const batch = lines.slice(at, at + max);
      const numbers = batch.map((_line, index) => at + index + 1);
      at += batch.length;
      return { lines: batch, numbers };
    },
    close: async () => undefined,
  };
}
