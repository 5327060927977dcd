// The effects of one operation, in order, and the one rule for stream waits: a signal is waited once, and a wait for a
// forward covers and retires every earlier one.
import type { Effect } from "../../base/effects.js";
import type { ForwardStep, ForwardSteps } from "./forward-steps.js";

/** Collects the effects of the operation under way. @internal */
export class EffectScope {
  readonly #steps: ForwardSteps;
  #effects: Effect[] = [];

  constructor(steps: ForwardSteps) {
    this.#steps = steps;
  }
  emit(effect: Effect): void {
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
