// An implementation that is started when it is needed and started afresh after it broke.
import type { Adapter, AdapterFailure, RunOpening } from "../adapter/adapter.js";
import type { DigestDepth } from "../base/operations.js";

/** Starts an implementation. Throws `CandidateError` where it cannot. @public */
export type StartAdapter = () => Promise<Adapter>;

const DEPTHS: readonly DigestDepth[] = ["light", "layout", "deep"];

/** Whether an implementation whose deepest digest is `deepest` can give digests of `wanted`. @internal */
export function givesDepth(deepest: DigestDepth | null, wanted: DigestDepth): boolean {
  return deepest !== null && DEPTHS.indexOf(wanted) <= DEPTHS.indexOf(deepest);
}

/** Holds at most one adapter; a broken one is disposed of and replaced at the next `ready`. @internal */
export class Candidate {
  readonly #start: StartAdapter;
  #adapter: Adapter | null = null;
  #isOpen = false;

  constructor(start: StartAdapter) {
    this.#start = start;
  }

  /** The adapter, started if none is. */
  async ready(): Promise<Adapter> {
    this.#adapter ??= await this.#start();
    return this.#adapter;
  }

  /** Opens a run, closing one that was abandoned. */
  async open(opening: RunOpening): Promise<Adapter> {
    await this.leave();
    const adapter = await this.ready();
    await adapter.open(opening);
    this.#isOpen = true;
    return adapter;
  }

  /** Closes the run at hand and gives its folded digest. */
  async close(): Promise<{ digest: string | null; failure: AdapterFailure | null }> {
    const adapter = await this.ready();
    this.#isOpen = false;
    const closed = await adapter.close();
    if (closed.failure !== null) await this.dispose();
    return closed;
  }

  /** Leaves a run that nobody needs any more. */
  async leave(): Promise<void> {
    if (this.#isOpen) await this.close();
  }

  /** Ends the implementation, broken or not. */
  async dispose(): Promise<void> {
    const adapter = this.#adapter;
    this.#adapter = null;
    this.#isOpen = false;
    await adapter?.dispose();
  }
}
