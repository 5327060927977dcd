// Carries the protocol's lines to a worker thread of this process: one message a write, one a reply to it. The
// worker's own standard output and error are its log, so that it cannot write into this process's answer.
import { Worker } from "node:worker_threads";
import { oneLine } from "./protocol.js";
import { LogTail, type Transport, type TransportListener } from "./transport.js";

/** @internal */
export class WorkerTransport implements Transport {
  readonly #script: URL;
  readonly #workerData: unknown;
  readonly #log = new LogTail();
  #worker: Worker | null = null;

  /** `script`: the worker's JavaScript file; `workerData`: what it reads as such. */
  constructor(script: URL, workerData: unknown) {
    this.#script = script;
    this.#workerData = workerData;
  }

  start(listener: TransportListener): void {
    const worker = new Worker(this.#script, {
      workerData: this.#workerData,
      stdout: true,
      stderr: true,
      execArgv: [],
    });
    this.#worker = worker;
    let problem: string | null = null;
    for (const stream of [worker.stdout, worker.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        this.#log.push(chunk);
      });
    }
    worker.on("message", (text: string) => {
      listener.onLines(text.slice(0, -1).split("\n"));
    });
    worker.on("error", (error: unknown) => {
      problem =
        error instanceof Error ? `threw ${oneLine(`${error.name}: ${error.message}`)}` : "threw";
    });
    worker.on("exit", (code) => {
      listener.onEnd(problem ?? `ended its thread with code ${code}`, true);
    });
  }

  write(text: string): void {
    this.#worker?.postMessage(text);
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  logTail(): string {
    return this.#log.text();
  }
}
