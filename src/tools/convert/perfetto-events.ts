// Events of the trace-event format (JSON), as the Perfetto viewer and chrome://tracing read it. Time is the number of an
// operation: operation n is the microsecond [n, n + 1).
import type { ByteWriter } from "../../trace/writer-bytes.js";

/** What an event says beside its place; numbers are whole. @internal */
export type EventArgs = Readonly<Record<string, string | number>>;

/** The part of a slice in an arrow between slices. @internal */
export interface FlowPart {
  readonly id: number;
  readonly comes: boolean; // an arrow ends here; else one begins
}

/** Writes events, one a line. Processes are numbered from 1 by whoever makes them, threads over all processes: viewers
 * know a thread's name by its number alone. @internal */
export class EventWriter {
  readonly #writer: ByteWriter;
  #isFirst = true;
  #threads = 0;
  #ids = 0; // of slices that may overlap, and of arrows

  constructor(writer: ByteWriter) {
    this.#writer = writer;
    this.#writer.text(
      '{"displayTimeUnit":"ms","otherData":{"producer":"unified-trace","time":"operation n is microsecond n"},"traceEvents":[\n',
    );
  }

  /** Names a process; lower orders stand higher in the viewer. */
  process(pid: number, name: string): void {
    this.#put({ ph: "M", pid, name: "process_name", args: { name } });
    this.#put({ ph: "M", pid, name: "process_sort_index", args: { sort_index: pid } });
  }

  /** A new lane of a process, whose slices must not overlap; gives its number. */
  thread(pid: number, name: string, order: number): number {
    this.#threads += 1;
    const tid = this.#threads;
    this.#put({ ph: "M", pid, tid, name: "thread_name", args: { name } });
    this.#put({ ph: "M", pid, tid, name: "thread_sort_index", args: { sort_index: order } });
    return tid;
  }

  /** A number that no other overlapping slice and no other arrow of the file has. */
  id(): number {
    this.#ids += 1;
    return this.#ids;
  }

  /** Operations `[from, to)` on a lane. */
  slice(
    place: { readonly pid: number; readonly tid: number },
    name: string,
    from: number,
    to: number,
    args: EventArgs,
    flow: FlowPart | null = null,
  ): void {
    this.#put({ ph: "X", ...place, cat: "op", name, ts: from, dur: to - from, args });
    // An event of its own, which the viewers bind to the slice around it: one viewer takes the arguments of a slice that
    // carries its arrow for given twice. The last step is one like the others, since another object may follow from it.
    if (flow !== null) {
      const ph = flow.comes ? "t" : "s";
      this.#put({ ph, ...place, cat: "arrow", name: "arrow", id: flow.id, ts: from });
    }
  }

  /** A slice that may overlap others of its name begins or ends. */
  overlapping(
    phase: "b" | "e",
    pid: number,
    name: string,
    id: number,
    ts: number,
    args: EventArgs,
  ): void {
    this.#put({ ph: phase, pid, tid: 0, cat: name, name, id: `0x${id.toString(16)}`, ts, args });
  }

  /** Counters from an operation on; each is named by both words. */
  counter(pid: number, name: string, ts: number, values: Readonly<Record<string, number>>): void {
    this.#put({ ph: "C", pid, tid: 0, name, ts, args: values });
  }

  /** A remark. */
  instant(pid: number, tid: number, name: string, ts: number): void {
    this.#put({ ph: "i", s: "t", pid, tid, cat: "mark", name, ts, args: {} });
  }

  end(): void {
    this.#writer.text("\n]}\n");
  }

  #put(event: object): void {
    this.#writer.text((this.#isFirst ? "" : ",\n") + JSON.stringify(event));
    this.#isFirst = false;
  }
}
