// Traces for the Perfetto viewer: each run is a process, and runs of one name in several traces stand next to each other.
import type { TraceLine } from "../../trace/lines.js";
import { ByteWriter } from "../../trace/writer-bytes.js";
import { EventWriter } from "./perfetto-events.js";
import { RunEvents } from "./perfetto-run.js";
import type { ConvertTarget } from "./target.js";

/** @internal */
export interface PerfettoOptions {
  readonly isNamed: boolean; // processes are named by their file too
  readonly audited: ReadonlySet<number> | "all"; // processes in which this checkout is known to answer otherwise
  readonly notes: string[]; // gets what the output could not be told
}

/** @internal */
export class PerfettoTarget implements ConvertTarget {
  readonly #writer: ByteWriter;
  readonly #events: EventWriter;
  readonly #options: PerfettoOptions;
  readonly #places = new Map<string, number>(); // of runs by name, in the order in which they were met
  #file = "";
  #files = 0;
  #run: RunEvents | null = null;
  #name = "";
  #pid = 0;
  /** Processes whose bands could not be followed to their end. */
  readonly parted: Set<number> = new Set();
  #firstParted = "";

  constructor(out: string, options: PerfettoOptions) {
    this.#writer = new ByteWriter(out);
    this.#events = new EventWriter(this.#writer);
    this.#options = options;
  }
  get closed(): boolean {
    return this.#writer.closed;
  }
  get bytes(): number {
    return this.#writer.bytes;
  }

  begin(file: string): void {
    this.#endRun();
    this.#file = file;
    this.#files += 1;
  }

  line(line: TraceLine): void {
    switch (line.kind) {
      case "run": {
        this.#endRun(); // one without an end, in a truncated trace
        const place = this.#places.get(line.run) ?? this.#places.size;
        this.#places.set(line.run, place);
        const { isNamed, audited } = this.#options;
        const pid = place * 2 + this.#files; // two sides at most
        this.#pid = pid;
        this.#name = isNamed ? `${this.#file}: ${line.run}` : line.run;
        this.#events.process(pid, this.#name);
        const isAudited = audited === "all" || audited.has(pid);
        this.#run = new RunEvents(this.#events, pid, line, isAudited);
        return;
      }
      case "op":
        this.#run?.operation(line);
        return;
      case "mark":
        this.#run?.mark(line.n, line.text);
        return;
      case "state":
        this.#run?.state(line);
        return;
      case "end":
        this.#endRun();
        return;
      case "trace":
      case "call":
        return;
    }
  }

  /** Ends the run at hand; gives how many could not be followed to their end. */
  settle(): number {
    this.#endRun();
    return this.parted.size;
  }
  commit(): void {
    this.#endRun();
    if (this.parted.size > 0) this.#options.notes.push(this.#note());
    this.#events.end();
    this.#writer.commit();
  }
  abort(): void {
    this.#writer.abort();
  }

  #endRun(): void {
    const run = this.#run;
    this.#run = null;
    run?.end();
    if (run === null || run.parted === null) return;
    this.parted.add(this.#pid);
    if (this.parted.size === 1) this.#firstParted = `operation ${run.parted} of ${this.#name}`;
  }

  #note(): string {
    const others = this.parted.size === 1 ? "" : `, and in ${this.parted.size - 1} more`;
    return `this checkout answers otherwise from ${this.#firstParted}${others}: of bands only live pages are known from there on`;
  }
}
