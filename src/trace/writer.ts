// Writes a trace: canonical lines in batches, beside the final name, renamed when complete.
import { closeSync, openSync, readSync } from "node:fs";
import { InternalError } from "../base/errors.js";
import type { Answer, Operation } from "../base/operations.js";
import type { State } from "../base/state.js";
import { canonicalLine } from "./canonical.js";
import { headerLine } from "./header.js";
import { hasKeys } from "./has-keys.js";
import type { Producer, RunLine, TraceLine } from "./lines.js";
import type { ByteSink } from "./writer-sink.js";
import { openSink } from "./writer-sink.js";

export { canonicalLine } from "./canonical.js";

/** @public */
export interface WriterOptions {
  readonly batchBytes?: number; // 64 KiB to 1 MiB, default 256 KiB
  readonly crashSafe?: boolean; // every line is handed to the system at once
  readonly stdoutFd?: number; // what "-" writes to, default 1
}

/** What an `op` line may carry beside operation and answer. @public */
export interface OpExtras {
  readonly site?: string;
  readonly at_us?: number;
}

/** What a header may carry beside its producer. @public */
export interface HeaderExtras {
  readonly created?: string | null;
  readonly note?: string | null;
}

/**
 * All methods are synchronous. Operations and answers are written with their keys in the order in which they stand, so
 * their makers build them in canonical order. After `commit`, `commitPartial` or `abort` only these may be called again. @public
 */
export interface TraceWriter {
  readonly path: string;
  readonly lines: number; // lines written so far
  readonly bytes: number; // bytes of text written so far, before compression
  readonly closed: boolean; // nobody reads any more (closed pipe): stop producing, this is no error
  header(producer: Producer, extras?: HeaderExtras): void;
  run(line: Omit<RunLine, "kind">): void;
  op(n: number, operation: Operation, answer: Answer, extras?: OpExtras): void;
  call(n: number, operation: Operation): void;
  mark(n: number, text: string): void;
  state(n: number, state: State): void;
  end(run: string, ops: number, digest: string | null): void;
  /** A parsed line, re-ordered into canonical key order. */
  line(line: TraceLine): void;
  /** The lines of a file that another writer made, as they are. */
  append(file: string): void;
  /** Hands everything so far to the system. */
  flush(): void;
  /** Finishes the file and gives it its name. Throws `EnvironmentError` (`output_unwritable`). */
  commit(): void;
  /**
   * Finishes what ended early: the file under the final name stays as it was, and what was written stands beside it as
   * `<path>.partial`. Gives that name, null where nothing has one (standard output, pipes). Throws `EnvironmentError`.
   */
  commitPartial(): string | null;
  /** Gives up: the file under the final name stays as it was. */
  abort(): void;
}

const NEWLINE = 10;
const TEXT_LENGTH = 32 * 1024; // encoded piecewise: joining long texts costs more than writing them
const BATCH_BYTES = 256 * 1024;
const BATCH_MIN = 64 * 1024;
const BATCH_MAX = 1024 * 1024;

/** Opens an output file, or standard output for `-`. Throws `EnvironmentError`. @public */
export function createTraceWriter(path: string, options: WriterOptions = {}): TraceWriter {
  return new SinkTraceWriter(path, openSink(path, options.stdoutFd ?? 1), options);
}

class SinkTraceWriter implements TraceWriter {
  readonly path: string;
  lines = 0;
  closed = false;
  readonly #sink: ByteSink;
  readonly #batch: Buffer;
  #batched = 0; // bytes [0, batched) wait to be written
  readonly #crashSafe: boolean;
  #text = "";
  #writtenBytes = 0;
  #isOver = false;

  constructor(path: string, sink: ByteSink, options: WriterOptions) {
    this.path = path;
    this.#sink = sink;
    const wanted = options.batchBytes ?? BATCH_BYTES;
    this.#batch = Buffer.allocUnsafe(Math.min(BATCH_MAX, Math.max(BATCH_MIN, wanted)));
    this.#crashSafe = options.crashSafe ?? false;
  }

  get bytes(): number {
    return this.#writtenBytes + this.#batched + Buffer.byteLength(this.#text);
  }

  header(producer: Producer, extras: HeaderExtras = {}): void {
    this.#put(canonicalLine(headerLine(producer, extras)));
  }

  run(line: Omit<RunLine, "kind">): void {
    this.#put(canonicalLine({ kind: "run", ...line }));
  }

  op(n: number, operation: Operation, answer: Answer, extras?: OpExtras): void {
    const { ok, err, fx, digest, message } = answer;
    // absent members are undefined, which JSON leaves out
    this.#put(
      JSON.stringify({
        kind: "op",
        n,
        op: operation.op,
        args: operation.args,
        ok,
        err,
        fx: fx !== undefined && fx.length > 0 ? fx : undefined,
        digest: digest !== undefined && hasKeys(digest) ? digest : undefined,
        message,
        site: extras?.site,
        at_us: extras?.at_us,
      }),
    );
  }

  call(n: number, operation: Operation): void {
    this.#put(JSON.stringify({ kind: "call", n, op: operation.op, args: operation.args }));
    this.flush();
  }

  mark(n: number, text: string): void {
    this.#put(JSON.stringify({ kind: "mark", n, text }));
  }

  state(n: number, state: State): void {
    this.#put(JSON.stringify({ kind: "state", n, state }));
  }

  end(run: string, ops: number, digest: string | null): void {
    this.#put(JSON.stringify({ kind: "end", run, ops, digest: digest ?? undefined }));
  }

  line(line: TraceLine): void {
    this.#put(canonicalLine(line));
  }

  append(file: string): void {
    this.flush();
    const chunk = Buffer.allocUnsafe(this.#batch.length);
    const descriptor = openSync(file, "r");
    try {
      for (let count = read(descriptor, chunk); count > 0; count = read(descriptor, chunk)) {
        const bytes = chunk.subarray(0, count);
        for (const byte of bytes) if (byte === NEWLINE) this.lines += 1;
        this.#write(bytes);
      }
    } finally {
      closeSync(descriptor);
    }
  }

  flush(): void {
    this.#encode();
    this.#write(this.#batch.subarray(0, this.#batched));
    this.#batched = 0;
  }

  commit(): void {
    if (this.#isOver) return;
    this.flush();
    this.#isOver = true;
    this.#sink.commit();
  }

  commitPartial(): string | null {
    if (this.#isOver) return null;
    this.flush();
    this.#isOver = true;
    return this.#sink.commitPartial();
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#text = "";
    this.#sink.abort();
  }

  #put(json: string): void {
    if (this.#isOver) throw new InternalError(`a line for ${this.path} after its end`);
    this.#text += json;
    this.#text += "\n";
    this.lines += 1;
    if (this.#crashSafe) this.flush();
    else if (this.#text.length >= TEXT_LENGTH) this.#encode();
  }

  /** Moves the text into the batch, which is written when it is full. */
  #encode(): void {
    const text = this.#text;
    if (text === "") return;
    this.#text = "";
    const most = text.length * 3; // bytes of any UTF-16 unit in UTF-8
    if (this.#batched + most > this.#batch.length) {
      this.#write(this.#batch.subarray(0, this.#batched));
      this.#batched = 0;
    }
    if (most > this.#batch.length) this.#write(Buffer.from(text, "utf8"));
    else this.#batched += this.#batch.write(text, this.#batched, "utf8");
  }

  #write(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#writtenBytes += bytes.length;
    if (this.closed) return;
    try {
      if (!this.#sink.write(bytes)) this.closed = true;
    } catch (error) {
      this.#isOver = true; // the sink has given up
      throw error;
    }
  }
}

function read(descriptor: number, chunk: Buffer): number {
  return readSync(descriptor, chunk, 0, chunk.length, null);
}
