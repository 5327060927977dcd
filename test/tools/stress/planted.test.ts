// A harness that finds nothing proves nothing: every check finds at least two mistakes that are planted for it, within a
// few seeds, and finds them again when what was executed is replayed alone.
import { describe, expect, test } from "vitest";
import { stressCase, stressSeed } from "../../../src/tools/stress/seed.js";
import { CHECKS } from "./checks.js";
import { PLANTS } from "./plants.js";

const SEEDS = 40;
const OPERATIONS = 200;

describe("planted mistakes", () => {
  test.each(PLANTS)("$check finds: $name", ({ check, profile, layout, plant }) => {
    const undo = plant();
    try {
      for (let seed = 0; seed < SEEDS; seed++) {
        const options = { seed, ops: OPERATIONS, layout, pageSize: 4, profile, questionsEvery: 1 };
        const { findings, ops, config } = stressSeed(options);
        const found = findings.find(({ signature }) => signature.check === check);
        if (found === undefined) continue;
        expect(found.message).not.toContain("\n");
        const again = stressCase(
          { config, ops: ops.map(({ operation }) => operation) },
          { seed, questionsEvery: 1 },
        );
        expect(again.findings).toContainEqual(found);
        return;
      }
      expect.fail(`not found in ${String(SEEDS)} seeds`);
    } finally {
      undo();
    }
  });

  test("every check has at least two of them", () => {
    for (const check of CHECKS)
      expect(PLANTS.filter((plant) => plant.check === check).length, check).toBeGreaterThan(1);
  });
});
