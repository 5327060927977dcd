// What is kept of a run, on the disk at any moment: a trace of its own that begins anew behind a later state when the old
// beginning is not needed any more. The new file is whole before the old one goes.
import type { Answer, Operation } from "../base/operations.js";
import type { State } from "../base/state.js";
import type { RunLine } from "../trace/lines.js";
import type { TraceWriter } from "../trace/writer.js";

/** Lines that a file holds or takes over. @internal */
export type SpillLines = (writer: TraceWriter) => void;

/** @internal */
export class RecordSpill {
  readonly #open: () => TraceWriter;
  #writer: TraceWriter | null = null;

  /** @param open - a writer that hands each line to the system at once, its header written */
  constructor(open: () => TraceWriter) {
    this.#open = open;
  }

  run(line: Omit<RunLine, "kind">): void {
    this.#writer = this.#open();
    this.#writer.run(line);
  }
  op(n: number, operation: Operation, answer: Answer): void {
    this.#writer?.op(n, operation, answer);
  }
  call(n: number, operation: Operation): void {
    this.#writer?.call(n, operation);
  }
  mark(n: number, text: string): void {
    this.#writer?.mark(n, text);
  }
  state(n: number, state: State): void {
    this.#writer?.state(n, state);
  }
  flush(): void {
    this.#writer?.flush();
  }

  /** Goes on in a new file that begins with these lines. */
  renew(lines: SpillLines): void {
    const next = this.#open();
    lines(next);
    next.flush();
    this.#writer?.abort();
    this.#writer = next;
  }

  /** The run stands elsewhere, or nobody wants it. */
  dispose(): void {
    this.#writer?.abort();
    this.#writer = null;
  }
}
