// What `module:FILE` expects of a module, and such a module as an Adapter. It runs inside the worker thread.
import { CandidateError } from "../base/errors.js";
import type { Answer, DigestDepth, Operation, RunConfig } from "../base/operations.js";
import type { State } from "../base/state.js";
import type { Adapter, AdapterFailure, AdapterInfo, ApplyResult, RunOpening } from "./adapter.js";
import { oneLine } from "./protocol.js";

type MaybePromise<T> = T | Promise<T>;

/** The rest of what a run is opened with, beside its configuration. @public */
export interface ModuleContext {
  readonly run: string;
  readonly digestDepth: DigestDepth | null;
  readonly state?: State; // to start from, only where info says `fromState`
}

/** One run of a module. @public */
export interface ModuleImplementation {
  /** Answers one operation: exactly one of `ok` and `err`, `fx` and `digest` where it has them. A throw is a crash. */
  apply(operation: Operation): MaybePromise<Answer>;
  /** The full state after the last operation. */
  state?(): MaybePromise<State | null>;
  /** Ends the run; the folded digest where it has one. */
  close?(): MaybePromise<string | null | undefined>;
}

/** What the module exports. @public */
export interface ImplementationModule {
  createImplementation(
    config: RunConfig,
    context: ModuleContext,
  ): MaybePromise<ModuleImplementation>;
  /** What it says of itself. Left out: named after its file, domain `kv`, every operation, effects but no digests. */
  readonly info?: Partial<AdapterInfo>;
}

/** Drives a loaded module. `ops`: the operations it answers unless it says so itself. @internal */
export class ModuleRunner implements Adapter {
  readonly info: AdapterInfo;
  readonly windowSize = 256;
  readonly #module: ImplementationModule;
  #implementation: ModuleImplementation | null = null;

  constructor(
    module: ImplementationModule,
    defaults: { readonly name: string; readonly ops: readonly string[] },
  ) {
    this.#module = module;
    const info = module.info ?? {};
    this.info = {
      name: info.name ?? defaults.name,
      version: info.version ?? "",
      revision: info.revision ?? null,
      dirty: info.dirty ?? null,
      domains: info.domains ?? ["kv"],
      ops: info.ops ?? defaults.ops,
      digest: info.digest ?? null,
      fx: info.fx ?? true,
      fromState: info.fromState ?? false,
    };
  }

  async open(opening: RunOpening): Promise<void> {
    const { run, config, digestDepth, state } = opening;
    const context: ModuleContext = { run, digestDepth, ...(state === undefined ? {} : { state }) };
    let made: unknown;
    try {
      made = await this.#module.createImplementation(config, context);
    } catch (error) {
      throw new CandidateError(
        "candidate_handshake",
        `createImplementation threw ${describeThrown(error)}`,
        {},
        error,
      );
    }
    if (typeof (made as Partial<ModuleImplementation> | null)?.apply !== "function") {
      throw new CandidateError(
        "candidate_handshake",
        `createImplementation returned no object with a method "apply"`,
      );
    }
    this.#implementation = made as ModuleImplementation;
  }

  async apply(operations: readonly Operation[]): Promise<ApplyResult> {
    const answers: Answer[] = [];
    const implementation = this.#implementation;
    if (implementation === null)
      return { answers, failure: { kind: "protocol", message: "no run is open" } };
    for (const operation of operations) {
      try {
        const returned = implementation.apply(operation);
        const answer = isPromise(returned) ? await returned : returned;
        if (!isObject(answer)) {
          return {
            answers,
            failure: { kind: "protocol", message: "apply returned no answer object" },
          };
        }
        answers.push(answer);
      } catch (error) {
        return { answers, failure: { kind: "crash", message: `threw ${describeThrown(error)}` } };
      }
    }
    return { answers, failure: null };
  }

  async state(): Promise<State | null> {
    return (await this.#implementation?.state?.()) ?? null;
  }

  async close(): Promise<{
    readonly digest: string | null;
    readonly failure: AdapterFailure | null;
  }> {
    const implementation = this.#implementation;
    this.#implementation = null;
    try {
      return { digest: (await implementation?.close?.()) ?? null, failure: null };
    } catch (error) {
      return {
        digest: null,
        failure: { kind: "crash", message: `close threw ${describeThrown(error)}` },
      };
    }
  }

  async dispose(): Promise<void> {
    this.#implementation = null;
  }
}

/** `Name: message` of anything thrown, as one line, without its stack. @internal */
export function describeThrown(error: unknown): string {
  return oneLine(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}

function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | null)?.then === "function";
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
