// Plants one mistake into the hand-written run and says where and how the device must find it.
import { describe, expect, test } from "vitest";
import { firstFinding, type LooseLine, type Story, threeBands, withLine } from "./story.js";

/** A story with one mistake in it, and how it must be found. */
export interface Mistake {
  readonly name: string;
  readonly story: Story;
  readonly n: number; // operation that makes the mistake
  readonly check: "lost_write" | "unordered_overlap" | "bad_effect";
  readonly says: RegExp;
}

/** Plants a mistake into line `at`; `n` where it must be found, the same line unless told. */
export type Plant = (
  name: string,
  at: number,
  change: (line: LooseLine) => void,
  check: Mistake["check"],
  says: RegExp,
  n?: number,
) => Mistake;

/** Plants mistakes into a story. */
export const planter =
  (story: Story): Plant =>
  (name, at, change, check, says, n = at) => ({
    name,
    story: withLine(story, at, change),
    n,
    check,
    says,
  });

/** Plants mistakes into the hand-written run of three bands. */
export const plant: Plant = planter(threeBands);

/** Replaces a line's effects. */
export const fx =
  (...effects: unknown[]) =>
  (line: LooseLine) => {
    line.answer.fx = effects;
  };
/** Leaves one effect out. */
export const dropEffect = (index: number) => (line: LooseLine) => line.answer.fx.splice(index, 1);
/** Declares one test a mistake: it is named at its operation, whatever is verified. */
export function testAll(name: string, mistakes: readonly Mistake[]): void {
  describe(name, () => {
    test.each(mistakes)("$name", ({ story, n, check, says }) => {
      const finding = firstFinding(story);
      expect(finding?.violation.message).toMatch(says);
      expect(finding).toMatchObject({ n, violation: { check } });
      expect(finding?.violation.message).not.toContain("\n");
      expect(firstFinding(story, "every")).toEqual(finding);
    });
  });
}
