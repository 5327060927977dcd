// Walks a trace run by run and line by line, for work that reads two traces in step.
import { InputError } from "../base/errors.js";
import type { HeaderLine, RunLine, TraceLine } from "../trace/lines.js";
import type { TraceReader, Truncation } from "../trace/reader.js";

const BATCH_LINES = 256;

/** A place in a trace. Close it after use. @internal */
export class TraceCursor {
  readonly #reader: TraceReader;
  #lines: readonly TraceLine[] = [];
  #index = 0;
  #atEnd = false;
  #damage: InputError | null = null; // met behind what was given last
  runsPassed = 0; // runs taken or skipped so far

  constructor(reader: TraceReader) {
    this.#reader = reader;
  }

  get header(): HeaderLine | null {
    return this.#reader.header;
  }
  get truncated(): Truncation | null {
    return this.#reader.truncated;
  }
  get ignoredKeys(): number {
    return this.#reader.ignoredKeys;
  }

  /** What follows cannot be read. */
  get isDamaged(): boolean {
    return this.#damage !== null;
  }

  /** The line at hand, null at the end of the trace. `take` goes past it. */
  async peek(): Promise<TraceLine | null> {
    if (this.#damage !== null) throw this.#damage;
    while (this.#index >= this.#lines.length) {
      if (this.#atEnd) return null;
      const lines = await this.#readOn();
      this.#atEnd = lines.length === 0;
      this.#lines = lines;
      this.#index = 0;
    }
    return this.#lines[this.#index] ?? null;
  }

  async #readOn(): Promise<readonly TraceLine[]> {
    try {
      return (await this.#reader.readBatch(BATCH_LINES)).lines;
    } catch (error) {
      if (error instanceof InputError) this.#damage = error;
      throw error;
    }
  }

  take(): void {
    this.#index += 1;
  }

  /** Goes to the next `run` line and past it; null at the end. */
  async nextRun(): Promise<RunLine | null> {
    for (;;) {
      const line = await this.peek();
      if (line === null) return null;
      this.take();
      if (line.kind !== "run") continue;
      this.runsPassed += 1;
      return line;
    }
  }

  /**
   * Up to `count` operations of the run at hand; fewer only at its end, or before a damaged line (then `isDamaged`), which
   * the next call throws. What stands between them is passed over.
   */
  async operations(count: number): Promise<Extract<TraceLine, { kind: "op" }>[]> {
    const found: Extract<TraceLine, { kind: "op" }>[] = [];
    while (found.length < count) {
      const line = found.length === 0 ? await this.peek() : await this.#peekBehind();
      if (line === null || line.kind === "run" || line.kind === "end") break;
      if (line.kind === "op") found.push(line);
      this.take();
    }
    return found;
  }

  async #peekBehind(): Promise<TraceLine | null> {
    try {
      return await this.peek();
    } catch (error) {
      if (this.#damage === null) throw error;
      return null;
    }
  }

  /** The `end` line of the run at hand if it is next. */
  async end(): Promise<Extract<TraceLine, { kind: "end" }> | null> {
    const line = await this.peek();
    if (line?.kind !== "end") return null;
    this.take();
    return line;
  }

  async close(): Promise<void> {
    await this.#reader.close();
  }
}
