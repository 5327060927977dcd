// Who still reads or writes a page: the ledger's answer, derived from the forwards in flight and the rows they hold.
// A forward reads the pages that its batch rows held at its launch and writes those of its new tokens; a page bound
// after the launch is none of its business.
import type { Band } from "./band.js";
import type { ForwardEntry, ForwardStep, ForwardSteps } from "./forward-steps.js";
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
    const isBefore = band.boundAt[page]! < step.launch;
    const former = isBefore || band.former.size === 0 ? undefined : band.former.get(page);
    if (!isBefore && (former === undefined || former.boundAt >= step.launch)) return false;
    if (step.explicit !== null) return step.explicit[use][band.index]!.has(page);
    if (former !== undefined) {
      const entry = step.entries.get(former.request);
      return entry !== undefined && touchesPage(entry, former.position, band, use);
    }
    const id = band.p2v[page]!;
    return band.plan.kind === "state"
      ? this.#usesSlot(step, id, use)
      : this.#usesTokens(step, band, id, use);
  }

  #usesTokens(step: ForwardStep, band: Band, virtual: number, use: "reads" | "writes"): boolean {
    if (virtual === 0) return false; // reserved for a load, in no row yet
    if (band.wasLetGo(virtual, step.launch)) return false;
    const position = this.#virtual.position[virtual]!;
    const touches = (entry: ForwardEntry): boolean => touchesPage(entry, position, band, use);
    const holder = this.#virtual.holder(virtual);
    if (holder !== undefined) {
      const entry = step.entries.get(holder);
      return entry !== undefined && touches(entry);
    }
    // The tree's: any row of the batch may have named it when the forward was launched.
    for (const [request, entry] of step.entries) {
      if (request.pages[position] !== virtual) continue;
      if ((request.sharedAt.get(position) ?? -1) < step.launch && touches(entry)) return true;
    }
    return false;
  }

  #usesSlot(step: ForwardStep, slot: number, use: "reads" | "writes"): boolean {
    if (slot === 0) return false; // a vacated page: it has lost its slot, and an entry without one names 0
    const touches = (entry: ForwardEntry): boolean =>
      entry.mainSlot === slot || (use === "writes" && entry.trackSlot === slot);
    const holder = this.#slots?.holder(slot);
    if (holder !== undefined) {
      const entry = step.entries.get(holder);
      return entry !== undefined && touches(entry);
    }
    for (const entry of step.entries.values()) if (touches(entry)) return true;
    return false;
  }
}

/** Whether a forward's entry reads or writes the page at `position` of its row. */
function touchesPage(
  entry: ForwardEntry,
  position: number,
  band: Band,
  use: "reads" | "writes",
): boolean {
  const size = band.plan.unitsPerPage;
  const first = position * size;
  return (
    first < entry.to && (use === "reads" || (entry.to > entry.from && first + size > entry.from))
  );
}
