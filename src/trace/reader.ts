// Reads a trace: bytes in, validated lines out, with memory independent of the file's length.
import { InternalError } from "../base/errors.js";
import type { HeaderLine, TraceLine } from "./lines.js";

/** @public */
export interface ReaderOptions {
  readonly maxLineBytes?: number; // default 64 MiB
  readonly maxDepth?: number; // nesting, default 64
  readonly lenient?: boolean; // unknown keys are dropped and counted instead of refused
  readonly acceptTruncated?: boolean; // a truncated file gives its complete prefix instead of an error
  readonly validate?: boolean; // default true; false: structure and JSON only
  readonly stdin?: NodeJS.ReadableStream; // what "-" reads
}

/** Where a truncated file stops. @public */
export interface Truncation {
  readonly run: string | null; // null: before any run
  readonly operation: number | null; // last complete operation, null: none
  readonly line: number; // where it was noticed, 1-based
  readonly reason: string; // what is missing, for a message
}

/** Lines with their 1-based numbers; empty at the end of the trace. @public */
export interface LineBatch {
  readonly lines: readonly TraceLine[];
  readonly numbers: readonly number[];
}

/** An open trace. Lines come in order; `close` may be called at any time and twice. @public */
export interface TraceReader {
  readonly path: string;
  /** The header, known once the first batch has been read. */
  readonly header: HeaderLine | null;
  readonly ignoredKeys: number; // unknown keys dropped under `lenient`
  readonly extensionKeys: number; // `x_` keys seen
  readonly truncated: Truncation | null; // only with `acceptTruncated`
  /** At most `max` lines; fewer where a stretch of input ends. Throws `InputError`. */
  readBatch(max?: number): Promise<LineBatch>;
  close(): Promise<void>;
}

/** Opens a trace file, or standard input for `-`. Throws `InputError`, `EnvironmentError` for `.zst`. @public */
export function openTrace(path: string, _options: ReaderOptions = {}): Promise<TraceReader> {
  return Promise.reject(new InternalError(`reader of ${path} is not built yet`));
}
