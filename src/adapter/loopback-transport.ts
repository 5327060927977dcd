// Carries the protocol's lines to an implementation of this process, through the same session that `serve` has.
import type { Adapter } from "./adapter.js";
import { oneLine } from "./protocol.js";
import { RequestChecks } from "./request-checks.js";
import { ServeSession } from "./serve-session.js";
import type { Transport, TransportListener } from "./transport.js";

/** @internal */
export class LoopbackTransport implements Transport {
  readonly #session: ServeSession;
  #listener: TransportListener | null = null;
  #turn: Promise<void> = Promise.resolve();
  #hasEnded = false;

  constructor(make: () => Adapter | Promise<Adapter>) {
    this.#session = new ServeSession(make, new RequestChecks());
  }

  start(listener: TransportListener): void {
    this.#listener = listener;
  }

  write(text: string): void {
    // Writes wait for each other: an implementation may answer with promises.
    this.#turn = this.#turn.then(async () => {
      if (this.#hasEnded) return;
      try {
        const reply = await this.#session.takeLines(text.slice(0, -1).split("\n"));
        if (reply !== "") this.#listener?.onLines(reply.slice(0, -1).split("\n"));
        const { result } = this.#session;
        if (result !== null) this.#end(`exited with code ${result.exitCode}`);
      } catch (error) {
        this.#end(`threw ${oneLine(String(error))}`);
      }
    });
  }

  async stop(): Promise<void> {
    await this.#turn;
    await this.#session.dispose();
    this.#end("exited with code 0");
  }

  logTail(): string {
    return "";
  }

  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#listener?.onEnd(reason, true);
  }
}
