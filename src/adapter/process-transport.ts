// Carries the protocol's lines over the standard input and output of a child process. No shell is involved.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { LineSplitter } from "./line-splitter.js";
import { guardChild, isProcessEnding, signalChild, spawnsGroup } from "./process-children.js";
import { LINE_BYTES_MAX } from "./protocol.js";
import { LogTail, type Transport, type TransportListener } from "./transport.js";

const FINISH_MS = 500; // to end by itself after its input ended
const TERMINATE_MS = 500; // between SIGTERM and SIGKILL
const DRAIN_MS = 1000; // for output still in the pipe after the exit, and for the exit after the output ended

/** @internal */
export class ProcessTransport implements Transport {
  readonly #words: readonly string[];
  readonly #cwd: string | undefined;
  readonly #lines = new LineSplitter(LINE_BYTES_MAX);
  readonly #log = new LogTail();
  #child: ChildProcessWithoutNullStreams | null = null;
  #listener: TransportListener | null = null;
  #ending: string | null = null; // why, once known
  #hasEnded = false;
  #isOutputOver = false;
  #gone: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | null = null;

  /** `words`: the program and its arguments; `cwd`: its folder, the current one when left out. */
  constructor(words: readonly string[], cwd?: string) {
    this.#words = words;
    this.#cwd = cwd;
  }

  /** The child's process id, while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(listener: TransportListener): void {
    this.#listener = listener;
    if (isProcessEnding()) {
      setImmediate(() => {
        this.#end("this process was told to end", false);
      });
      return;
    }
    const [program = "", ...args] = this.#words;
    const child = spawn(program, args, {
      stdio: ["pipe", "pipe", "pipe"],
      detached: spawnsGroup,
      windowsHide: true,
      ...(this.#cwd === undefined ? {} : { cwd: this.#cwd }),
    });
    this.#child = child;
    guardChild(child);
    this.#gone = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#ending ??= signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
        this.#endWhenDrained();
        resolve();
      });
      child.once("error", (error: NodeJS.ErrnoException) => {
        if (child.pid !== undefined) return;
        this.#end(startProblem(error, program), false);
        resolve();
      });
    });
    child.stdin.on("error", () => undefined); // a closed pipe: the exit or the timeout tells
    child.stderr.on("data", (chunk: Buffer) => {
      this.#log.push(chunk);
    });
    child.stdout.on("data", (chunk: Buffer) => {
      this.#takeOutput(chunk);
    });
    child.stdout.once("close", () => {
      this.#isOutputOver = true;
      if (this.#ending !== null) this.#end(this.#ending, true);
      else this.#endAfter(DRAIN_MS, "closed its standard output");
    });
  }

  write(text: string): void {
    const stdin = this.#child?.stdin;
    if (stdin?.writable === true) stdin.write(text);
  }

  stop(manner: "finish" | "kill"): Promise<void> {
    this.#stopping ??= this.#stop(manner);
    return this.#stopping;
  }

  logTail(): string {
    return this.#log.text();
  }

  async #stop(manner: "finish" | "kill"): Promise<void> {
    const child = this.#child;
    if (child === null || child.pid === undefined) return;
    if (manner === "finish" && child.exitCode === null) {
      child.stdin.end();
      if (await this.#isGoneWithin(FINISH_MS)) {
        this.#release(child);
        return;
      }
    }
    signalChild(child, "SIGTERM");
    if (!(await this.#isGoneWithin(TERMINATE_MS))) {
      signalChild(child, "SIGKILL");
      await this.#gone;
    }
    this.#release(child);
  }

  #takeOutput(chunk: Buffer): void {
    if (this.#hasEnded) return;
    const lines = this.#lines.push(chunk);
    if (lines.length > 0) this.#listener?.onLines(lines);
    if (this.#lines.isOverlong) this.#listener?.onLineTooLong();
  }

  #endWhenDrained(): void {
    if (this.#isOutputOver) this.#end(this.#ending ?? "", true);
    else this.#endAfter(DRAIN_MS, this.#ending ?? "");
  }

  #endAfter(delayMs: number, reason: string): void {
    setTimeout(() => {
      this.#end(this.#ending ?? reason, true);
    }, delayMs).unref();
  }

  #end(reason: string, hasStarted: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const isCut = this.#lines.rest() !== "";
    this.#listener?.onEnd(isCut ? `${reason} in the middle of a line` : reason, hasStarted);
  }

  async #isGoneWithin(limitMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => {
        resolve(false);
      }, limitMs);
    });
    const isGone = await Promise.race([this.#gone.then(() => true), late]);
    clearTimeout(timer);
    return isGone;
  }

  // Descendants that kept the pipes open must neither live on nor keep this process alive.
  #release(child: ChildProcessWithoutNullStreams): void {
    signalChild(child, "SIGKILL");
    child.stdin.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

function startProblem(error: NodeJS.ErrnoException, program: string): string {
  if (error.code === "ENOENT") return `no program ${JSON.stringify(program)} was found`;
  if (error.code === "EACCES") return `${JSON.stringify(program)} may not be run`;
  return error.message;
}
