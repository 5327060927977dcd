// Types of unified-trace-kit.mjs.

/** "heap": allocators that return addresses; "kv": memory of language models. */
export type Domain = "heap" | "kv";
export type Depth = "light" | "layout" | "deep";
/** Any object of a message. */
export type Fields = Readonly<Record<string, unknown>>;

/** What a run is opened with. */
export interface Opening {
  readonly run: string;
  readonly domain: Domain;
  readonly config: Fields;
  readonly digestDepth: Depth | null;
  readonly state?: Fields; // to go on from, only where `fromState` is true
}

/** What a handler returns: exactly one of `ok` and `err`. A refused operation must have changed nothing. */
export interface Answer {
  readonly ok?: Fields;
  readonly err?: Fields;
  readonly fx?: readonly unknown[] | undefined;
  readonly digest?: Readonly<Record<string, string>> | undefined; // components that changed, 16 hex digits each
  readonly message?: string | undefined; // a remark beside `ok`, never compared
}

/** One run. Its operations are its methods of their names: `"heap.alloc"(args) { … }`. */
export interface Run {
  /** The full state after the last operation, or null. */
  state?(): Fields | null;
  /** Ends the run; the folded digest, or null without digests. */
  close?(): string | null;
}

/** The class of an implementation. */
export interface Implementation {
  new (opening: Opening): Run;
  readonly domain?: Domain; // default heap
  readonly digest?: Depth | null; // the deepest digest that its answers have; default null
  readonly fx?: boolean; // whether its answers tell effects; default false
  readonly fromState?: boolean; // whether a run may start from a state; default false
}

/** What the program says of itself. */
export interface About {
  readonly name: string;
  readonly version: string;
  readonly revision?: string | null;
  readonly dirty?: boolean | null;
}

/** Thrown by a constructor: this configuration is not taken. Another run may be opened. */
export class RefusedConfiguration extends Error {}
/** Thrown by an operation that cannot do what is asked: that says nothing about the allocator. */
export class Unsupported extends Error {}
/** Thrown by an operation or `close` that finds the allocator itself broken. */
export class InvariantBroken extends Error {}

/** A granted operation; `more` for what an answer may have beside its result. */
export function granted(ok?: Fields, more?: Omit<Answer, "ok" | "err">): Answer;
/** The refusal `code`, such as "refused_capacity", with the fields that the trace format gives it. */
export function refused(code: string, fields?: Fields): Answer;
/** A broken contract of the caller: which rule, and what it names. */
export function invalid(rule: string, fields?: Fields): Answer;

/** The operations of an implementation. */
export function operationsOf(kind: Implementation): string[];

/** One conversation: lines in, lines out. */
export class Session {
  constructor(implementations: readonly Implementation[], about: About);
  readonly exitCode: number | null; // null while the conversation goes on
  /** The reply to one line, line feed included. */
  take(line: string): string;
  /** The error line after which nothing is answered. */
  refuse(message: string): string;
}

/** Answers the protocol on standard input and output until the input ends, and sets the exit code. */
export function serve(implementations: readonly Implementation[], about: About): Promise<void>;

/** The exports of an ES module for `--candidate module:FILE`. */
export function moduleOf(
  kind: Implementation,
  about: About,
): {
  readonly info: Fields;
  createImplementation(
    config: Fields,
    context: { readonly run: string; readonly digestDepth: Depth | null; readonly state?: Fields },
  ): {
    apply(operation: { readonly op: string; readonly args: Fields }): Answer;
    state(): Fields | null;
    close(): string | null;
  };
};

/** A recorded call: its outcome is told once, by one of these. */
export interface LiveCall {
  /** Granted: the object's address where it has one, else the result; effects as well. */
  granted(result?: number | Fields, fx?: readonly unknown[]): void;
  /** Refused; it changed nothing. */
  refused(code: string, fields?: Fields): void;
}

/**
 * Writes down what an allocator does inside its own program, as a trace with one run. It records when UNIFIED_TRACE names a
 * file (`%p` in it is the process's number), else it only calls `work`. With UNIFIED_TRACE_CRASH_SAFE=1 each call is
 * written before it is made. Lines go to FILE.PID.partial; only a whole trace gets the name FILE, at `close` or when the
 * process exits. A recording that cannot go on says so once on standard error and never disturbs the program. A call
 * inside a recorded call is not recorded.
 */
export class LiveRecorder {
  constructor(
    about: About & {
      readonly config: Fields;
      readonly base?: number | null; // the address that offsets count from, default 0; null: offsets are not recorded
      readonly domain?: Domain; // default heap
      readonly run?: string; // default live
    },
  );
  readonly isRecording: boolean;
  /** The id of the object at an address, or of the last one there. */
  idAt(address: number): string;
  /** Any operation; arguments that are undefined are left out. */
  call<T>(op: string, args: Fields, work: (call: LiveCall) => T): T;
  /** An allocation: a new lifetime with an id of its own. */
  alloc<T>(
    request: {
      readonly sizeBytes: number;
      readonly alignBytes?: number;
      readonly stream?: string;
      readonly pool?: string;
    },
    work: (call: LiveCall) => T,
  ): T;
  /** The end of the lifetime of the object at `address`. */
  free<T>(address: number, work: (call: LiveCall) => T, options?: { readonly stream?: string }): T;
  /** Another size for the object at `address`; `granted` tells where it lies then. */
  realloc<T>(address: number, sizeBytes: number, work: (call: LiveCall) => T): T;
  /** Ends the recording; the trace gets its name. */
  close(): void;
}
