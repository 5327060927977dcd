// Lets signals and timers in between synchronous stretches of work, and tells how far the work is.
import type { OnProgress, Progress } from "./outcome.js";

const OPERATIONS_PER_BREATH = 4096;

/** What every tool takes beside its own options. @public */
export interface ToolControl {
  readonly signal?: AbortSignal; // aborted: the tool stops between two operations and throws an `AbortError`
  readonly onProgress?: OnProgress;
}

/** Counts operations; gives the event loop a turn now and then. @internal */
export class Pulse {
  readonly #control: ToolControl;
  #since = 0;
  runs = 0;
  operations = 0;
  run: string | null = null;

  constructor(control: ToolControl) {
    this.#control = control;
  }

  /** Counts `count` operations; true when it is time for `breathe`. Cheap. */
  count(count: number): boolean {
    this.operations += count;
    this.#since += count;
    return this.#since >= OPERATIONS_PER_BREATH;
  }

  /** Throws when the work was interrupted; tells the progress. */
  async breathe(): Promise<void> {
    this.#since = 0;
    this.#control.onProgress?.(this.progress());
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    this.#control.signal?.throwIfAborted();
  }

  /** An interrupt ends an implementation in another process as well: that is no crash of its own. */
  throwIfInterrupted(): void {
    this.#control.signal?.throwIfAborted();
  }

  progress(): Progress {
    return { runs: this.runs, operations: this.operations, run: this.run };
  }
}
