// The host device of the addon: it keeps the device contract, holds what the simulated device says, and shows planted defects.
// Where no addon is built nothing here can run, and that is said aloud.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { nativeBackend } from "../../src/device/bytes-native.js";
import { nativeReport } from "../../src/device/native-loader.js";
import { seededDelays } from "../../src/device/delays.js";
import { selfTest } from "../../src/device/self-test/self-test.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { describeUnless } from "../skip-aloud.js";
import { playOnBytes } from "./byte-run.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PROFILES = ["steady", "tight", "transfers", "windows", "speculative"];

// An addon that is there must have the device: only one that was never built is a reason to skip.
const { available, path, reason } = nativeReport();
const missing = available || path !== null ? undefined : (reason ?? "no native addon");

describeUnless(missing, "the host device", () => {
  test("it keeps the device contract", () => {
    const { checks } = selfTest(nativeBackend("host"));
    expect(checks.filter(({ verdict }) => verdict !== "passed")).toEqual([]);
  });

  test("with its work held up its bytes are those of the simulated device", () => {
    let operations = 0;
    for (const [index, layout] of LAYOUTS.entries()) {
      for (let seed = 0; seed < 4; seed++) {
        const weights = PROFILES[(seed + index) % PROFILES.length]!; // in range
        const workload = seededWorkload({ seed, ops: 200, layout, pageSize: 4, weights });
        const delays = seededDelays(seed);
        const run = playOnBytes(
          workload,
          { verify: "touched", backend: nativeBackend("host"), delays },
          50,
        );
        expect(run.found, `${layout} seed ${seed}`).toBeNull();
        operations += run.operations;
      }
    }
    expect(operations).toBe(LAYOUTS.length * 4 * 200);
  });

  test("ten defects planted between books and bytes show in the bytes", () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["bench/device/planted.mjs", "--device", "host"],
      { cwd: ROOT, encoding: "utf8", timeout: 120_000 },
    );
    expect(stderr).toBe("");
    expect(stdout).toContain("10 of 10 planted defects found on device host");
    expect(status).toBe(0);
  });
});
