// Lines to an implementation and what comes back, one thing at a time: a line, its end, or silence.
import type { Transport } from "../../adapter/transport.js";

/** What came next. @internal */
export type Event =
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "overlong" } // a line over the limit; nothing more is read
  | { readonly kind: "end"; readonly reason: string; readonly hasStarted: boolean }
  | { readonly kind: "silence" };

const SILENCE: Event = { kind: "silence" };

/** @internal */
export class Dialog {
  readonly #transport: Transport;
  #events: Event[] = [];
  #read = 0; // events taken
  #end: Event | null = null; // stays
  #wake: (() => void) | null = null;

  /** Starts the implementation. */
  constructor(transport: Transport) {
    this.#transport = transport;
    transport.start({
      onLines: (lines) => {
        for (const line of lines) this.#events.push({ kind: "line", line });
        this.#wake?.();
      },
      onLineTooLong: () => {
        this.#events.push({ kind: "overlong" });
        this.#wake?.();
      },
      onEnd: (reason, hasStarted) => {
        this.#end = { kind: "end", reason, hasStarted };
        this.#wake?.();
      },
    });
  }

  /** Writes whole lines, each ended by a line feed. */
  send(text: string): void {
    this.#transport.write(text);
  }

  /** What has come already, or null. */
  poll(): Event | null {
    const event = this.#events[this.#read];
    if (event === undefined) return this.#end;
    this.#read += 1;
    if (this.#read === this.#events.length) {
      this.#events = [];
      this.#read = 0;
    }
    return event;
  }

  /** What comes within the time; silence when nothing does. */
  async next(timeoutMs: number): Promise<Event> {
    const ready = this.poll();
    if (ready !== null) return ready;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, timeoutMs);
    });
    clearTimeout(timer);
    this.#wake = null;
    return this.poll() ?? SILENCE;
  }

  /** Ends its input and then itself; how it ended, in a few words. */
  async finish(): Promise<string> {
    await this.#transport.stop("finish");
    return this.#reason();
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    await this.#transport.stop("kill");
  }

  /** The end of its log. */
  logTail(): string {
    return this.#transport.logTail();
  }

  // The exit is told in a turn of its own, after `stop` resolved.
  async #reason(): Promise<string> {
    for (let turn = 0; turn < 100 && this.#end === null; turn++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    return this.#end?.kind === "end" ? this.#end.reason : "";
  }
}
