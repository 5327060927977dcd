// A trace as a trace: every line in canonical key order.
import type { TraceLine } from "../../trace/lines.js";
import { createTraceWriter } from "../../trace/writer.js";
import type { TraceWriter } from "../../trace/writer.js";
import type { ConvertTarget } from "./target.js";

/** @internal */
export class JsonlTarget implements ConvertTarget {
  readonly #writer: TraceWriter;

  constructor(out: string) {
    this.#writer = createTraceWriter(out);
  }
  get closed(): boolean {
    return this.#writer.closed;
  }
  get bytes(): number {
    return this.#writer.bytes;
  }
  begin(): void {
    // one trace only, whose first line comes by itself
  }
  line(line: TraceLine): void {
    this.#writer.line(line);
  }
  commit(): void {
    this.#writer.commit();
  }
  abort(): void {
    this.#writer.abort();
  }
}
