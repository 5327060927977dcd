// One way to drive any implementation: in process, a module in a worker thread, a process that speaks the protocol.
import type { Answer, DigestDepth, Domain, Operation, RunConfig } from "../base/operations.js";
import type { State } from "../base/state.js";

/** What an implementation is made from. @public */
export interface Commit {
  readonly revision: string | null; // full commit hash, null: not known
  readonly dirty: boolean | null; // tracked files differ from the commit; null: not known
}

/** What an implementation says of itself in the handshake. @public */
export interface AdapterInfo extends Commit {
  readonly name: string;
  readonly version: string;
  readonly domains: readonly Domain[];
  readonly ops: readonly string[]; // operation kinds it answers
  readonly digest: DigestDepth | null; // deepest digest it gives, null: none
  readonly fx: boolean; // whether it tells its effects
  readonly fromState: boolean; // whether a run can start from a state
}

/** @public */
export interface RunOpening {
  readonly run: string;
  readonly domain: Domain;
  readonly config: RunConfig;
  readonly digestDepth: DigestDepth | null;
  readonly state?: State;
}

/** A broken promise of an implementation; a divergence of its own kind. @public */
export interface AdapterFailure {
  readonly kind: "crash" | "hang" | "protocol" | "invariant";
  readonly message: string; // one line
  readonly stderrTail?: string;
}

/** Answers in order. With a failure, `answers.length` is the index of the operation that failed. @public */
export interface ApplyResult {
  readonly answers: readonly Answer[];
  readonly failure: AdapterFailure | null;
}

/**
 * An implementation under control. Life: `open`, any number of `apply` and `state`, `close`, again `open` …, `dispose`.
 * After a failure only `dispose` is allowed. @public
 */
export interface Adapter {
  readonly info: AdapterInfo;
  /** Starts a run. Throws `CandidateError` when the implementation refuses the configuration. */
  open(opening: RunOpening): Promise<void>;
  /** Applies operations in order. An implementation may be asked for any number at once; see `windowSize`. */
  apply(operations: readonly Operation[]): Promise<ApplyResult>;
  /** The full state after the last operation, or null where the implementation has none. */
  state(): Promise<State | null>;
  /** Ends the run; `digest` is the folded digest, null without digests. */
  close(): Promise<{ readonly digest: string | null; readonly failure: AdapterFailure | null }>;
  dispose(): Promise<void>;
  /** How often runs closed since the last call reached each rule of the allocator: `clearance/CONSUMER/HAZARD`,
   * `relief/STEP`. Absent: it does not tell. */
  takeReached?(): ReadonlyMap<string, number>;
  /** How many operations are best given to one `apply`. */
  readonly windowSize: number;
}
