// Lets signals and timers in between synchronous stretches of work, and tells how far the work is.
import { InternalError, UnifiedTraceError } from "../base/errors.js";
import type { OnProgress, Progress } from "./outcome.js";

const OPERATIONS_PER_BREATH = 4096;
/** A slow device or implementation is interrupted all the same. */
const BREATH_MS = 200;
const OPERATIONS_PER_LOOK = 4; // at the clock

/** What every tool takes beside its own options. @public */
export interface ToolControl {
  readonly signal?: AbortSignal; // aborted: the tool stops between two operations and throws an `AbortError`
  readonly onProgress?: OnProgress;
}

/** Counts operations; gives the event loop a turn now and then. @internal */
export class Pulse {
  readonly #control: ToolControl;
  #since = 0;
  #breathed = performance.now();
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
    if (this.#since >= OPERATIONS_PER_BREATH) return true;
    return this.operations % OPERATIONS_PER_LOOK < count && this.#isLate();
  }

  /** Throws when the work was interrupted; tells the progress. */
  async breathe(): Promise<void> {
    this.#since = 0;
    this.#breathed = performance.now();
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

  /** Does the work; what is wrong with a file behind the first operation ends it and is told beside what was found. */
  async endOf(work: () => Promise<void>): Promise<UnifiedTraceError | null> {
    try {
      await work();
      return null;
    } catch (thrown) {
      this.throwIfInterrupted();
      if (!(thrown instanceof UnifiedTraceError) || thrown instanceof InternalError) throw thrown;
      if (this.operations === 0) throw thrown;
      return thrown;
    }
  }

  #isLate(): boolean {
    return performance.now() - this.#breathed > BREATH_MS;
  }

  progress(): Progress {
    return { runs: this.runs, operations: this.operations, run: this.run };
  }
}
