// Forward steps: which forwards were launched, recorded, processed, and which of them are retired.
//
// *Processed* and *retired* are different: a stream wait that runs past a forward's event retires it in the ledger, but
// it stays unprocessed, so pages freed later still pend under it.
import type { ForwardMode } from "../../base/operations.js";
import type { Request } from "../requests.js";

/** What a forward does to one request's row. @internal */
export interface ForwardEntry {
  readonly from: number; // tokens; writes [from, to)
  readonly to: number; // tokens; reads [0, to)
  readonly mainSlot: number; // slot id read and written, 0 = none
  readonly trackSlot: number; // slot id written, 0 = none
}

/** Pages by band index that a loaded forward reads and writes; live runs derive them from rows instead. @internal */
export interface ExplicitUses {
  readonly reads: readonly ReadonlySet<number>[];
  readonly writes: readonly ReadonlySet<number>[];
}

/** One forward from its launch to the end of its last use. @internal */
export interface ForwardStep {
  readonly kind: "forward";
  readonly name: string;
  readonly mode: ForwardMode;
  readonly launch: number; // operation number of the launch
  readonly entries: ReadonlyMap<Request, ForwardEntry>;
  readonly explicit: ExplicitUses | null;
  unknownWrites: boolean;
  retired: boolean;
}

/** The forwards in flight. @internal */
export class ForwardSteps {
  /** Recorded and not yet processed, in launch order. */
  readonly unprocessed: ForwardStep[] = [];
  /** Launched but not yet recorded. */
  open: ForwardStep | null = null;
  /** Launched without recording (no overlap) or prebuilt, not yet processed. */
  readonly unrecorded: ForwardStep[] = [];
  /** Number of the operation under way: a page bound at e was bound before forward f exactly if e < f.launch. */
  clock = 0;
  newestRetired: string | null = null;
  /** Set when a forward retires; cleared by whoever hands vacated pages back. */
  retiredSome = false;
  version = 0;
  #unretired = 0; // a suffix of `unprocessed`

  /** Recorded forwards that are not retired, oldest first. */
  unretired(): readonly ForwardStep[] {
    return this.#unretired === 0
      ? []
      : this.unprocessed.slice(this.unprocessed.length - this.#unretired);
  }
  get hasUnretired(): boolean {
    return this.#unretired > 0;
  }
  get unretiredCount(): number {
    return this.#unretired;
  }
  /** The forward under which freed pages wait, or null. */
  get newestUnprocessed(): ForwardStep | null {
    return this.unprocessed.at(-1) ?? null;
  }
  /** The newest forward whose uses are not over, or null. */
  get newestUnretired(): ForwardStep | null {
    return this.#unretired === 0 ? null : (this.unprocessed.at(-1) ?? null);
  }

  record(step: ForwardStep): void {
    this.open = null;
    this.unprocessed.push(step);
    this.#unretired += 1;
    this.version += 1;
  }

  /** Retires `step` and every earlier forward. */
  retireThrough(step: ForwardStep): void {
    if (step.retired) return;
    const first = this.unprocessed.length - this.#unretired;
    for (let index = first; index < this.unprocessed.length; index++) {
      const forward = this.unprocessed[index]!; // index is in range
      forward.retired = true;
      this.#unretired -= 1;
      if (forward === step) break;
    }
    this.newestRetired = step.name;
    this.retiredSome = true;
    this.version += 1;
  }

  /** Removes the oldest unprocessed forward, which ends its life. */
  processOldest(): ForwardStep {
    const step = this.unprocessed[0]!; // the caller found it there
    this.retireThrough(step);
    this.unprocessed.shift();
    this.version += 1;
    return step;
  }

  /** Puts a loaded forward in place, oldest first. */
  restore(step: ForwardStep): void {
    this.unprocessed.push(step);
    if (!step.retired) this.#unretired += 1;
    this.version += 1;
  }
}
