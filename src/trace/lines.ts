// The lines of a trace as types. `docs/trace-format.md` explains every field; the operation table gives the fields of
// `args` and `ok`; the reader hands out exactly these shapes after validation.
import type { Effect } from "../base/effects.js";
import type {
  Digests,
  DigestDepth,
  DirectConfig,
  Domain,
  OperationArgs,
  OperationError,
  OperationName,
  OperationOk,
  RunConfig,
} from "../base/operations.js";
import type { State } from "../base/state.js";

/** The word that opens every trace. @public */
export const TRACE_FORMAT = "unified-trace";
/** The version this source writes. A changed meaning needs a new number. @public */
export const TRACE_VERSION = 1;

/** Who wrote a trace. Never compared. @public */
export interface Producer {
  readonly name: string;
  readonly version: string;
  readonly revision: string | null; // commit, null: unknown
  readonly dirty: boolean | null; // whether the sources differed from the commit, null: unknown
}

/** The first line of a file. @public */
export interface HeaderLine {
  readonly kind: "trace";
  readonly format: typeof TRACE_FORMAT;
  readonly version: number;
  readonly producer: Producer;
  readonly created: string | null; // ISO time, null unless asked for
  readonly note: string | null;
}

/** A value that a source block may carry beside its named keys. @public */
export type SourceValue = string | number | boolean | null;

/** Where the operations of a run came from. @public */
export type RunSourceBlock =
  | { readonly type: "seed"; readonly seed: number; readonly ops: number; readonly weights: string }
  | { readonly type: "scenario" | "live"; readonly name: string }
  | {
      readonly type: "workload" | "import";
      readonly name: string;
      readonly [key: string]: SourceValue;
    };

/** Opens a run. @public */
export interface RunLine {
  readonly kind: "run";
  readonly run: string; // unique in the file
  readonly domain: Domain;
  readonly config: RunConfig;
  readonly derived?: DirectConfig; // with a model-form config: the direct form it came to
  readonly source: RunSourceBlock;
  readonly digest_depth?: DigestDepth | null; // null or absent: recorded without digests
  readonly starts_at?: number; // first operation kept, default 0
  readonly dropped?: number; // operations not kept before it
}

/** What the allocator was asked and what it answered; exactly one of `ok` and `err`. @public */
export interface OpLineOf<K extends OperationName> {
  readonly kind: "op";
  readonly n: number;
  readonly op: K;
  readonly args: OperationArgs[K];
  readonly ok?: OperationOk[K];
  readonly err?: OperationError;
  readonly fx?: readonly Effect[];
  readonly digest?: Digests;
  readonly message?: string; // a remark on a granted operation, never compared
  readonly site?: string; // call site, never compared
  readonly at_us?: number; // microseconds since the run began, never compared
}
/** An `op` line; `op` tells which. It is also an `Operation` and an `Answer`. @public */
export type OpLine = { [K in OperationName]: OpLineOf<K> }[OperationName];

/** The intent, written before the call; without an `op` line of the same number it names what never returned. @public */
export interface CallLineOf<K extends OperationName> {
  readonly kind: "call";
  readonly n: number;
  readonly op: K;
  readonly args: OperationArgs[K];
}
/** @public */
export type CallLine = { [K in OperationName]: CallLineOf<K> }[OperationName];

/** A remark between operations; never compared. @public */
export interface MarkLine {
  readonly kind: "mark";
  readonly n: number; // the operation it stands before
  readonly text: string;
}

/** The full state after operation `n`. @public */
export interface StateLine {
  readonly kind: "state";
  readonly n: number;
  readonly state: State;
}

/** Closes a run. @public */
export interface EndLine {
  readonly kind: "end";
  readonly run: string;
  readonly ops: number; // `op` lines of the run in this file
  readonly digest?: string | null; // 16 hex digits, absent or null: recorded without digests
}

/** @public */
export type TraceLine = HeaderLine | RunLine | OpLine | CallLine | MarkLine | StateLine | EndLine;

/** The kinds of line, in the order in which the format introduces them. @public */
export const LINE_KINDS = ["trace", "run", "op", "call", "mark", "state", "end"] as const;
/** @public */
export type LineKind = (typeof LINE_KINDS)[number];
