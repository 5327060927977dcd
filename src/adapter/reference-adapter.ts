// `reference`: the second, independent allocator of this checkout, in this process and without a device.
import { CandidateError, InternalError } from "../base/errors.js";
import type { Answer, DigestDepth, KvOperation, Operation } from "../base/operations.js";
import type { State } from "../base/state.js";
import { Reference, REFERENCE_OPERATIONS } from "../reference/reference.js";
import type { Adapter, AdapterInfo, ApplyResult, RunOpening } from "./adapter.js";
import { readOwnVersion } from "./checkout-version.js";
import { oneLine } from "./protocol.js";

/** Commit of this checkout, where the caller knows it. @public */
export interface ReferenceOptions {
  readonly revision?: string | null;
  readonly dirty?: boolean | null;
}

/** @public */
export class ReferenceAdapter implements Adapter {
  readonly info: AdapterInfo;
  readonly windowSize = 256;
  #run: Reference | null = null;

  constructor(options: ReferenceOptions = {}) {
    this.info = {
      name: "reference",
      version: readOwnVersion(),
      revision: options.revision ?? null,
      dirty: options.dirty ?? null,
      domains: ["kv"],
      ops: REFERENCE_OPERATIONS,
      digest: "layout", // deep digests hold the contents of pages, which only a device has
      fx: true,
      fromState: false,
    };
  }

  /** Throws `CandidateError` for what it does not take: models it cannot read, deep digests, another domain. */
  async open(opening: RunOpening): Promise<void> {
    const { domain, config, digestDepth, state } = opening;
    if (domain !== "kv") throw unsupported(`domain ${domain}`);
    if (state !== undefined) throw unsupported("going on from a state");
    this.#run = new Reference(config, depthOf(digestDepth));
  }

  async apply(operations: readonly Operation[]): Promise<ApplyResult> {
    const answers: Answer[] = [];
    if (this.#run === null) throw new InternalError("apply without an open run");
    for (const operation of operations) {
      try {
        // the domain is kv
        const answer = this.#run.apply(operation as KvOperation);
        if (answer.err?.code === "unsupported") throw unsupported(`operation ${operation.op}`);
        answers.push(answer);
      } catch (error) {
        if (error instanceof CandidateError) throw error;
        const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        return { answers, failure: { kind: "crash", message: `threw ${oneLine(text)}` } };
      }
    }
    return { answers, failure: null };
  }

  async state(): Promise<State | null> {
    return this.#run?.state() ?? null;
  }

  async close(): Promise<{ readonly digest: string | null; readonly failure: null }> {
    const digest = this.#run?.endDigest() ?? null;
    this.#run = null;
    return { digest, failure: null };
  }

  async dispose(): Promise<void> {
    this.#run = null;
  }
}

function depthOf(depth: DigestDepth | null): DigestDepth | null {
  if (depth === "deep")
    throw unsupported("digests of depth deep without a device, which holds the contents of pages,");
  return depth;
}

function unsupported(what: string): CandidateError {
  return new CandidateError("candidate_handshake", `reference does not support ${what}`);
}
