// The run of a log whose events each tell one whole operation.
import { InputError } from "../base/errors.js";
import { producerBlock } from "../trace/header.js";
import type { TraceLine } from "../trace/lines.js";
import { HeapRun } from "./import-heap.js";
import type { EventSpan } from "./import-heap.js";
import type { TranslatorOptions } from "./import-format.js";
import type { ImportCounts } from "./import-tally.js";

/** @internal */
export class LogRun {
  readonly heap: HeapRun;
  readonly #format: string;
  readonly #options: TranslatorOptions;
  #isOpen = false;
  #latestUs = 0;

  constructor(format: string, options: TranslatorOptions) {
    this.heap = new HeapRun(format);
    this.#format = format;
    this.#options = options;
  }

  get ready(): TraceLine[] {
    return this.heap.ready;
  }

  /** Counts an event and says where it stands. @param atUs - microseconds since the log began, where it tells; of two
   * threads' lines the later may tell an earlier time, and takes the one of the line above */
  event(atUs: number | null = null): EventSpan {
    this.#open();
    const index = this.heap.tally.events;
    this.heap.tally.events += 1;
    if (atUs !== null) this.#latestUs = Math.max(this.#latestUs, atUs);
    const isTold = this.#options.time && atUs !== null;
    return { first: index, last: index, count: 1, atUs: isTold ? this.#latestUs : null };
  }

  /** Leaves an event out for a reason. */
  drop(reason: string): void {
    this.event();
    this.heap.tally.drop(reason);
  }

  finish(file: string): void {
    if (!this.#isOpen) throw new InputError("input_format", "holds no event", { file });
    this.heap.close();
  }

  counts(): ImportCounts {
    return this.heap.tally.counts(this.heap.live);
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const producer = producerBlock(this.#format, "unknown", null, null);
    const source = { type: "import", name: this.#format } as const;
    this.heap.open(producer, source, this.#options.arenaBytes);
  }
}
