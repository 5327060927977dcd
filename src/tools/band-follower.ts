// The pages of every band after each operation. The allocator of this checkout follows the run, and while it answers as
// recorded its counts are those of whoever recorded it. From where it does not, what is live follows from the lines alone:
// the auditor keeps books of that, at several times the cost, so only of runs that are known to part.
import type { Answer, BootOk, DirectConfig, KvOperation } from "../base/operations.js";
import type { State } from "../base/state.js";
import { UnifiedTraceError } from "../base/errors.js";
import { KVStorage } from "../kv/storage.js";
import type { BandCounts } from "../kv/storage.js";
import { equalAnswers } from "../trace/compare-values.js";
import type { OpLine, RunLine } from "../trace/lines.js";
import { RunAuditor, unauditable } from "./audit/auditor.js";

/** What is known of the bands after an operation. `whole`: in chain order; `live`: pages in use alone, by band. @internal */
export type BandReading =
  | { readonly kind: "whole"; readonly bands: readonly BandCounts[] }
  | { readonly kind: "live"; readonly live: ReadonlyMap<string, number> };

/** Follows the bands of one run of domain `kv`. @internal */
export class BandFollower {
  readonly #line: RunLine;
  readonly #isAudited: boolean;
  #storage: KVStorage | null;
  #auditor: RunAuditor | null = null;
  #isWaiting: boolean; // the run goes on from a state that has not come
  /** First operation that this checkout answers otherwise, or where it cannot follow; null: it follows. */
  parted: number | null = null;

  /** `isAudited`: keep books of what is live from the beginning. */
  constructor(line: RunLine, isAudited: boolean) {
    this.#line = line;
    this.#isAudited = isAudited;
    this.#storage = storageOf(line);
    this.#isWaiting = (line.starts_at ?? 0) > 0;
    if (this.#storage === null) this.parted = line.starts_at ?? 0;
  }

  /** The bands after an operation; null: nothing is known of them. */
  after(line: OpLine): BandReading | null {
    // name, arguments and answer stood on one line, and the run is of domain kv
    const { op, args } = line;
    const operation = { op, args } as KvOperation;
    const answer: Answer = line;
    if (this.#isAudited) this.#audit(line.n, operation, answer);
    const storage = this.#follow(line.n, operation, answer);
    if (storage !== null) return { kind: "whole", bands: storage.bandCounts() };
    return this.#auditor && { kind: "live", live: this.#auditor.livePages() };
  }

  /** A full state of the trace: a run that goes on from one begins with it. Null where the bands are not followed: then
   * the state itself tells them. */
  at(n: number, state: State): BandReading | null {
    if (this.#isWaiting) this.#start(n, state);
    return this.#storage && { kind: "whole", bands: this.#storage.bandCounts() };
  }

  #start(n: number, state: State): void {
    this.#isWaiting = false;
    try {
      this.#storage?.load(state);
    } catch {
      this.#part(n); // a state of another form than this project's
    }
  }

  #follow(n: number, operation: KvOperation, answer: Answer): KVStorage | null {
    const storage = this.#storage;
    if (storage === null) return null;
    try {
      const own = storage.apply(operation);
      if (equalAnswers(operation.op, answer, own, { digest: false })) return storage;
    } catch {
      // what breaks here broke nothing where it was recorded
    }
    this.#part(n);
    return null;
  }

  #part(n: number): void {
    this.#storage = null;
    this.parted = n;
  }

  #audit(n: number, operation: KvOperation, answer: Answer): void {
    if (this.#auditor === null) {
      if (operation.op !== "boot" || answer.ok === undefined) return;
      const config = (this.#line.derived ?? this.#line.config) as DirectConfig; // one of the two is direct
      if (!("sub_pools" in config)) return; // a model form without its derived one
      const boot = answer.ok as BootOk; // of a boot
      if (unauditable(config, boot) !== null) return;
      this.#auditor = new RunAuditor(config, boot);
    }
    this.#auditor.line(n, operation, answer);
  }
}

function storageOf({ config }: RunLine): KVStorage | null {
  try {
    return new KVStorage(config, { digestDepth: null });
  } catch (error) {
    if (error instanceof UnifiedTraceError) return null; // what this checkout cannot hold
    throw error;
  }
}
