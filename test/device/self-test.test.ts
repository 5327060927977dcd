// The contract suite on the arena in plain JavaScript; and that each check can fail.
import { expect, test } from "vitest";
import { simulatedBackend } from "../../src/device/bytes-simulated.js";
import { selfTest } from "../../src/device/self-test/self-test.js";

test("plain JavaScript keeps the device contract", () => {
  const { checks, verdict } = selfTest(simulatedBackend);
  expect(checks.filter((check) => check.verdict === "failed")).toEqual([]);
  expect(verdict).toBe("passed");
});
