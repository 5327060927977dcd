// What a wait waits for, and the effects of one operation in order. A signal is waited once: a wait for a forward covers
// and retires every earlier one, a copy once waited is over for later waits, a host wait ends its transfer.
import type { Effect } from "../../base/effects.js";
import type { ForwardStep, ForwardSteps } from "./forward-steps.js";
import type { Invariants } from "./invariants.js";

/** A copy between device pages and host pages, from its submission to its finish event. @internal */
export interface HostCopy {
  readonly kind: "copy";
  readonly name: string;
  readonly direction: "out" | "in"; // out reads its places, in writes them
  readonly order: number; // submissions before this one
  readonly places: readonly (readonly number[])[]; // physical pages by band index, as submitted
  isOver: boolean; // a stream waited its finish event, or all ranks agreed that it is done
}

/** A network transfer over device pages, from the moment the engine knows them to its end. @internal */
export interface NetworkTransfer {
  readonly kind: "transfer";
  readonly name: string;
  readonly direction: "send" | "receive"; // a send reads its places, a receive writes them
  readonly order: number; // transfers submitted before this one
  readonly places: readonly (readonly number[])[]; // physical pages by band index, as submitted
  isOver: boolean;
  isStalled: boolean; // a host wait for it would outlive its deadline
}

/** @internal */
export type Signal = ForwardStep | HostCopy | NetworkTransfer;

/** Whether a use that ends with this signal is over. @internal */
export function isOver(signal: Signal): boolean {
  return signal.kind === "forward" ? signal.retired : signal.isOver;
}

/** Collects the effects of the operation under way. @internal */
export class EffectScope {
  readonly #steps: ForwardSteps;
  readonly #invariants: Invariants;
  #effects: Effect[] = [];

  constructor(steps: ForwardSteps, invariants: Invariants) {
    this.#steps = steps;
    this.#invariants = invariants;
  }
  emit(effect: Effect): void {
    // Behind a wait for a running forward a host read would park the scheduler until that forward ends.
    if (effect[0] === "hostread") {
      const waited = this.#effects.find(([kind]) => kind === "wait");
      this.#invariants.check(
        waited === undefined,
        "band.host_read_before_wait",
        `the host reads for ${effect[1]} after a wait in the same operation`,
      );
    }
    this.#effects.push(effect);
  }
  /** Makes the schedule stream wait a forward; nothing if it is retired already. */
  wait(step: ForwardStep | null): void {
    if (step === null || step.retired) return;
    this.#effects.push(["wait", step.name]);
    this.#steps.retireThrough(step);
  }
  /** The effects so far; the scope starts anew. */
  take(): readonly Effect[] {
    const effects = this.#effects;
    if (effects.length > 0) this.#effects = [];
    return effects;
  }
}

/** The later of two forwards in launch order. @internal */
export function newer(left: ForwardStep | null, right: ForwardStep | null): ForwardStep | null {
  if (left === null) return right;
  if (right === null) return left;
  return left.launch >= right.launch ? left : right;
}
