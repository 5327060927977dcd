// Tests that need what a machine may lack (a compiler, a GPU, a data set) skip aloud: the reason is printed and stands
// in the name of the skipped test. No other way of skipping is allowed (test/tidy/tidy.test.ts).
import { describe, it } from "vitest";

/** Runs the tests, or, when `missing` names what is lacking, skips them all and prints that reason. */
export function describeUnless(missing: string | undefined, name: string, tests: () => void): void {
  if (missing === undefined) {
    describe(name, tests);
    return;
  }
  console.warn(`skipped: ${name}: ${missing}`);
  describe(name, () => {
    it.skip(`skipped: ${missing}`, () => undefined);
  });
}
