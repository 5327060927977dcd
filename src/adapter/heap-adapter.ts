// `heap:POLICY[@SIZE]`: a reference allocator of domain `heap`, in this process.
import { CandidateError, InternalError } from "../base/errors.js";
import type { Answer, Operation } from "../base/operations.js";
import { HEAP_ALLOCATOR_OPERATIONS, HeapAllocator } from "../heap/heap-allocator.js";
import type { Adapter, AdapterInfo, ApplyResult, RunOpening } from "./adapter.js";
import { readOwnVersion } from "./checkout-version.js";
import type { HeapSpec } from "./heap-spec.js";

/** @public */
export class HeapAdapter implements Adapter {
  readonly info: AdapterInfo;
  readonly windowSize = 256;
  readonly #spec: HeapSpec;
  #heap: HeapAllocator | null = null;

  constructor(
    spec: HeapSpec,
    options: { readonly revision?: string | null; readonly dirty?: boolean | null } = {},
  ) {
    this.#spec = spec;
    this.info = {
      name: spec.policy,
      version: readOwnVersion(),
      revision: options.revision ?? null,
      dirty: options.dirty ?? null,
      domains: ["heap"],
      ops: HEAP_ALLOCATOR_OPERATIONS,
      digest: null,
      fx: false,
      fromState: false,
    };
  }

  /** The arena of the run at hand; null between two runs. */
  get allocator(): HeapAllocator | null {
    return this.#heap;
  }

  /** Throws `CandidateError` for another domain, and for a size that is none. */
  async open({ domain, config, state }: RunOpening): Promise<void> {
    const { policy } = this.#spec;
    if (domain !== "heap") throw unsupported(policy, `domain ${domain}`);
    if (state !== undefined) throw unsupported(policy, "going on from a state");
    this.#heap = new HeapAllocator(policy, this.#spec.arenaBytes ?? arenaOf(config, policy));
  }

  async apply(operations: readonly Operation[]): Promise<ApplyResult> {
    const heap = this.#heap;
    if (heap === null) throw new InternalError("apply without an open run");
    const answers = operations.map((operation): Answer => heap.apply(operation));
    return { answers, failure: null };
  }

  async state(): Promise<null> {
    return null;
  }

  async close(): Promise<{ readonly digest: null; readonly failure: null }> {
    this.#heap = null;
    return { digest: null, failure: null };
  }

  async dispose(): Promise<void> {
    this.#heap = null;
  }
}

function arenaOf(config: unknown, policy: string): number | null {
  const bytes = (config as Readonly<Record<string, unknown>>)["arena_bytes"];
  if (bytes === undefined) return null;
  if (typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  const what = `arena_bytes of the run is ${JSON.stringify(bytes)}, not a number above 0`;
  throw new CandidateError("candidate_handshake", `heap:${policy}: ${what}`);
}

function unsupported(policy: string, what: string): CandidateError {
  return new CandidateError("candidate_handshake", `heap:${policy} does not support ${what}`);
}
