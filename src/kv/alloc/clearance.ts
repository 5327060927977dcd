// Who waits for what: the next writer of a page must clear every hazard that the ledger records on it. One table, the
// specification's, and one collector that turns what a consumer found into waits.
import type { ForwardStep } from "./forward-steps.js";
import type { Ledger } from "./ledger.js";
import {
  type EffectScope,
  type HostCopy,
  isOver,
  type NetworkTransfer,
  newer,
  type Signal,
} from "./signals.js";

/** Next writers of a page. @internal */
export const CONSUMERS = [
  "forward",
  "schedule_copy",
  "zero",
  "host_load",
  "network_receive",
] as const;
/** @internal */
export type Consumer = (typeof CONSUMERS)[number];

/** What the ledger may record on a page. @internal */
export const HAZARDS = ["forward", "copy", "network", "fixed"] as const;
/** @internal */
export type Hazard = (typeof HAZARDS)[number];

/** How a hazard is cleared: nothing to do, a stream wait, a host wait, a stream wait that retires the forward before the
 * page's number leaves the host, or the page is no candidate at all. @internal */
export type Clearance = "none" | "stream_wait" | "host_wait" | "after_retire" | "excluded";

/** The rule. Rows are consumers, columns hazards. @internal */
export const CLEARANCE: Readonly<Record<Consumer, Readonly<Record<Hazard, Clearance>>>> = {
  // The forward stream is in order.
  forward: { forward: "none", copy: "stream_wait", network: "host_wait", fixed: "excluded" },
  schedule_copy: {
    forward: "stream_wait",
    copy: "stream_wait",
    network: "host_wait",
    fixed: "excluded",
  },
  zero: { forward: "stream_wait", copy: "stream_wait", network: "host_wait", fixed: "excluded" },
  // The load's copy stream waits the forward stream before it starts.
  host_load: { forward: "none", copy: "stream_wait", network: "host_wait", fixed: "excluded" },
  // The page's number reaches the peer only after the forward.
  network_receive: {
    forward: "after_retire",
    copy: "stream_wait",
    network: "host_wait",
    fixed: "excluded",
  },
};

/** Cells that no run can reach, with the argument. @internal */
export const UNREACHABLE: Readonly<Record<string, string>> = {};

/** What relief may do, in its order. @internal */
export const RELIEF_STEPS = [
  "settle", // pending batches
  "park", // a float left empty
  "absorb", // boundary holes of a float
  "no_move", // enough once settled
  "flush_ends",
  "relayout",
  "keep_transfers", // a layout with the places of transfers fixed
  "wait_transfers", // one that moves or overwrites them
] as const;
/** @internal */
export type ReliefStep = (typeof RELIEF_STEPS)[number];

/** How often each cell of the table and each step of relief was reached; for coverage only, decides nothing. @internal */
export class ReachedCounts {
  readonly #counts = new Map<string, number>();
  note(consumer: Consumer, hazard: Hazard): void {
    this.#count(`clearance/${consumer}/${hazard}`);
  }
  relief(step: ReliefStep): void {
    this.#count(`relief/${step}`);
  }
  /** Counts by name; what was never reached is left out. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}

/** The hazard that a signal's use is. @internal */
export function hazardOf(signal: Signal): Hazard {
  return signal.kind === "transfer" ? "network" : signal.kind;
}

/** What one consumer found on the pages that it writes or moves. @internal */
export class HazardSet {
  readonly #counts: ReachedCounts;
  #forward: ForwardStep | null = null;
  #copies: HostCopy[] | null = null;
  #transfers: NetworkTransfer[] | null = null;

  constructor(counts: ReachedCounts) {
    this.#counts = counts;
  }

  /** Notes a hazard; one that is over, or that this consumer need not clear, is dropped. */
  add(consumer: Consumer, signal: Signal): void {
    if (isOver(signal)) return;
    const hazard = hazardOf(signal);
    this.#counts.note(consumer, hazard);
    if (CLEARANCE[consumer][hazard] === "none") return;
    if (signal.kind === "forward") this.#forward = newer(this.#forward, signal);
    else if (signal.kind === "copy") {
      this.#copies ??= [];
      if (!this.#copies.includes(signal)) this.#copies.push(signal);
    } else {
      this.#transfers ??= [];
      if (!this.#transfers.includes(signal)) this.#transfers.push(signal);
    }
  }

  /** Notes the newest forward whose pending pages settled: no hazard of the ledger, but the same wait. */
  settle(forward: ForwardStep | null): void {
    this.#forward = newer(this.#forward, forward?.retired === false ? forward : null);
  }

  /** Transfers found so far, oldest first. */
  get transfers(): readonly NetworkTransfer[] {
    return (this.#transfers ?? []).sort((left, right) => left.order - right.order);
  }

  /** Emits the waits: transfers on the host, the newest forward, then copies; each kind oldest first. */
  clear(scope: EffectScope, ledger: Ledger): void {
    for (const transfer of this.transfers) ledger.hostWait(transfer);
    scope.wait(this.#forward);
    if (this.#copies === null) return;
    this.#copies.sort((left, right) => left.order - right.order);
    for (const copy of this.#copies) ledger.waitCopy(copy);
  }
}
