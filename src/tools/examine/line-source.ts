// Where a second look reads from: the trace once more, or what the first look still holds in memory and its reader behind it.
import type { TraceLine } from "../../trace/lines.js";
import { HeldLine, readableOf } from "../../trace/held-line.js";
import { openTrace, type ReaderOptions, type TraceReader } from "../../trace/reader.js";

const BATCHES_MAX = 16; // bounds the memory that is held

/** Lines in order, from the beginning of the first run looked at or from before it. @internal */
export interface LineSource {
  /** At most `max` lines, none at the end. */
  readBatch(max: number): Promise<{ readonly lines: readonly TraceLine[] }>;
  close(): Promise<void>;
}

/** The batches that a first look has read since the run at hand began, as long as they are few. @internal */
export class HeldBatches {
  #batches: (readonly TraceLine[])[] | null = null;

  /** A run begins in this batch. */
  begin(batch: readonly TraceLine[]): void {
    this.#batches = [batch];
  }

  /** The run goes on. */
  add(batch: readonly TraceLine[]): void {
    if (this.#batches === null) return;
    if (this.#batches.length < BATCHES_MAX) this.#batches.push(batch);
    else this.#batches = null;
  }

  /** What is held, then what `reader` has not read yet; null where the run began too long ago. The reader stays open. */
  source(reader: Pick<TraceReader, "readBatch" | "stopHolding">): LineSource | null {
    const batches = this.#batches;
    if (batches === null) return null;
    this.#batches = null;
    reader.stopHolding?.();
    return {
      async readBatch(max: number) {
        const lines = readableOf(batches.shift() ?? []);
        // behind the first bad line the reader throws what is wrong with it
        if (lines.length === 0) return reader.readBatch(max);
        return { lines: lines.map((line) => (line instanceof HeldLine ? line.asParsed() : line)) };
      },
      close: () => Promise.resolve(),
    };
  }
}

/** The trace from its beginning. Throws what `openTrace` throws. @internal */
export function wholeTrace(trace: string, options: ReaderOptions = {}): Promise<LineSource> {
  return openTrace(trace, { ...options, holdsAnswers: false });
}
