// How an operation is refused: by throwing. The deep copy it worked on is dropped, so nothing has changed.
import { INVALID_RULES, type InvalidRule, type OperationError } from "../base/operations.js";

/** Carries the answer's `err`. @internal */
export class Refusal extends Error {
  readonly refused: OperationError;
  constructor(refused: OperationError) {
    super(refused.code);
    this.refused = refused;
  }
}

/** What a broken rule names. @internal */
export interface FaultPlace {
  readonly req?: string;
  readonly band?: string;
  readonly page?: number; // number in its row
}

/** Refuses at once. @internal */
export function invalid(rule: InvalidRule, place: FaultPlace = {}): never {
  throw new Refusal({ code: "invalid", rule, ...place });
}

/** Broken rules of one operation. The first of the format's list answers; of equal ones the first found. @internal */
export class Faults {
  readonly #found: { readonly rule: InvalidRule; readonly place: FaultPlace }[] = [];

  add(rule: InvalidRule, place: FaultPlace = {}): void {
    this.#found.push({ rule, place });
  }

  /** Refuses if anything was found. */
  check(): void {
    for (const rule of INVALID_RULES) {
      const fault = this.#found.find((candidate) => candidate.rule === rule);
      if (fault !== undefined) invalid(rule, fault.place);
    }
  }
}
