// Who still reads or writes a page: the ledger's answer, derived from the forwards in flight and the rows they hold.
// A forward reads the pages that its batch rows held at its launch and writes those of its new tokens; a page bound
// after the launch is none of its business.
import type { Band } from "./band.js";
import type { ForwardStep, ForwardSteps } from "./forward-steps.js";
import type { IdSpace } from "./id-space.js";

/** Answers who uses a page of any band. @internal */
export class PageUsage {
  readonly #steps: ForwardSteps;
  readonly #virtual: IdSpace;
  readonly #slots: IdSpace | null;

  constructor(steps: ForwardSteps, virtual: IdSpace, slots: IdSpace | null) {
    this.#steps = steps;
    this.#virtual = virtual;
    this.#slots = slots;
  }

  /** Unretired forwards that may read a live page, oldest first. */
  readersOf(band: Band, page: number): readonly ForwardStep[] {
    if (!this.#steps.hasUnretired) return [];
    return this.#steps.unretired().filter((step) => this.uses(step, band, page, "reads"));
  }

  /** Whether an unretired forward writes a live page, or may. */
  isWritten(band: Band, page: number): boolean {
    if (!this.#steps.hasUnretired) return false;
    return this.#steps
      .unretired()
      .some((step) => step.unknownWrites || this.uses(step, band, page, "writes"));
  }

  /** Whether some unretired forward's writes are unknown: it may write any page. */
  get hasUnknownWrites(): boolean {
    return this.#steps.hasUnretired && this.#steps.unretired().some((step) => step.unknownWrites);
  }

  /** Whether one forward's rows held this page at its launch, to be read or written. */
  uses(step: ForwardStep, band: Band, page: number, use: "reads" | "writes"): boolean {
    if (band.boundAt[page]! >= step.launch) return false;
    if (step.explicit !== null) return step.explicit[use][band.index]!.has(page);
    const id = band.p2v[page]!;
    return band.plan.kind === "state"
      ? this.#usesSlot(step, id, use)
      : this.#usesTokens(step, band, id, use);
  }

  #usesTokens(step: ForwardStep, band: Band, virtual: number, use: "reads" | "writes"): boolean {
    const holder = this.#virtual.holder(virtual);
    const entry = holder && step.entries.get(holder);
    if (!entry) return false;
    const first = this.#virtual.position[virtual]! * band.plan.unitsPerPage;
    if (first >= entry.to) return false;
    return (
      use === "reads" || (entry.to > entry.from && first + band.plan.unitsPerPage > entry.from)
    );
  }

  #usesSlot(step: ForwardStep, slot: number, use: "reads" | "writes"): boolean {
    const holder = this.#slots?.holder(slot);
    const entry = holder && step.entries.get(holder);
    if (!entry) return false;
    return entry.mainSlot === slot || (use === "writes" && entry.trackSlot === slot);
  }
}
