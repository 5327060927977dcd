// Fields that are left out of a comparison, each with its reason and the day on which the reason ends.
import type { FieldDifference } from "./outcome.js";

/** One entry of a mask file. @public */
export interface Mask {
  readonly path: string; // JSON pointer below an answer; `*` stands for one step, what lies below is meant too
  readonly op?: string; // absent: every operation
  readonly reason: string;
  readonly expires: string; // the last day on which it hides, YYYY-MM-DD
}

/** Hides what masks name, and counts it. @internal */
export class MaskSet {
  readonly #masks: readonly {
    readonly op: string | undefined;
    readonly steps: readonly string[];
  }[];
  hidden = 0;

  constructor(masks: readonly Mask[]) {
    this.#masks = masks.map(({ op, path }) => ({ op, steps: path.split("/") }));
  }

  /** The differences that no mask names. */
  unmasked(op: string, fields: readonly FieldDifference[]): readonly FieldDifference[] {
    const left = fields.filter(({ path }) => !this.#hides(op, path.split("/")));
    this.hidden += fields.length - left.length;
    return left;
  }

  /** Whether the digest of a component is compared after this operation. */
  hidesComponent(op: string, component: string): boolean {
    return this.#hides(op, ["", "digest", component]);
  }

  #hides(op: string, steps: readonly string[]): boolean {
    return this.#masks.some(
      (mask) =>
        (mask.op === undefined || mask.op === op) &&
        mask.steps.length <= steps.length &&
        mask.steps.every((step, index) => step === "*" || step === steps[index]),
    );
  }
}
