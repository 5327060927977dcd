// The device with bytes, over plain JavaScript: on every seeded profile its bytes hold what the simulated device says.
import { expect, test } from "vitest";
import { simulatedBackend } from "../../src/device/bytes-simulated.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { WEIGHT_NAMES } from "../../src/workload/seeded-profiles.js";
import { playOnBytes } from "./byte-run.js";

const PAGE_SIZES = [1, 3, 16];

test.each([...WEIGHT_NAMES])("bytes hold what profile %s wrote", (weights) => {
  let operations = 0;
  for (const [index, layout] of LAYOUTS.entries()) {
    const pageSize = PAGE_SIZES[index % PAGE_SIZES.length]!; // in range
    for (let seed = 0; seed < 3; seed++) {
      const workload = seededWorkload({ seed, ops: 300, layout, pageSize, weights });
      const run = playOnBytes(workload, { verify: "touched", backend: simulatedBackend }, 7);
      expect(run.found, `${layout} page ${pageSize} seed ${seed}`).toBeNull();
      operations += run.operations;
    }
  }
  expect(operations).toBe(LAYOUTS.length * 3 * 300);
});
