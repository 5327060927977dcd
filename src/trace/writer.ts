// Writes a trace: canonical lines in batches, beside the final name, renamed when complete.
import { InternalError } from "../base/errors.js";
import type { Answer, Operation } from "../base/operations.js";
import type { State } from "../base/state.js";
import type { HeaderLine, Producer, RunLine, TraceLine } from "./lines.js";

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

/** All methods are synchronous. After `commit` or `abort` only these two may be called again. @public */
export interface TraceWriter {
  readonly path: string;
  readonly lines: number; // lines written so far
  readonly bytes: number; // bytes of text written so far, before compression
  readonly closed: boolean; // nobody reads any more (closed pipe): stop producing, this is no error
  header(
    producer: Producer,
    extras?: { readonly created?: string | null; readonly note?: string | null },
  ): void;
  run(line: Omit<RunLine, "kind">): void;
  op(n: number, operation: Operation, answer: Answer, extras?: OpExtras): void;
  call(n: number, operation: Operation): void;
  mark(n: number, text: string): void;
  state(n: number, state: State): void;
  end(run: string, ops: number, digest: string | null): void;
  /** A parsed line, re-ordered into canonical key order. */
  line(line: TraceLine): void;
  /** Hands everything so far to the system. */
  flush(): void;
  /** Finishes the file and gives it its name. Throws `EnvironmentError` (`output_unwritable`). */
  commit(): void;
  /** Gives up: the file under the final name stays as it was. */
  abort(): void;
}

/** Opens an output file, or standard output for `-`. @public */
export function createTraceWriter(path: string, _options: WriterOptions = {}): TraceWriter {
  throw new InternalError(`writer of ${path} is not built yet`);
}

/** One line of canonical JSON without its line feed. @public */
export function canonicalLine(line: TraceLine): string {
  return JSON.stringify(line);
}

/** @internal */
export type HeaderFields = Omit<HeaderLine, "kind">;
