// The built addon: its levels agree, its core computes, a missing backend is an answer and not a crash.
// Needs `npm run build:native` or `npm run build:native:cpu`; skips aloud otherwise.
import { existsSync, readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { describeUnless } from "../skip-aloud.js";
import { at, built, load, missingAddon, readJson } from "./built.js";

const cudaLibrary = ["build/native/Release/libunified_trace_cuda.so"].find((path) =>
  existsSync(at(path)),
);

describeUnless(missingAddon, "addon", () => {
  it("is built for the Node-API level that native/package.json names and this Node offers", () => {
    const { binary } = readJson("native/package.json");
    expect(binary.napi_versions).toEqual([load().napiVersion]);
    expect(Number(process.versions["napi"])).toBeGreaterThanOrEqual(load().napiVersion);
  });

  it("carries the version of the package", () => {
    expect(load().version).toBe(readJson("package.json").version);
  });

  it("speaks the ABI number of backend.h", () => {
    const header = readFileSync(at("native/include/ut/backend.h"), "utf8");
    expect(/#define UT_BACKEND_ABI (\d+)u/.exec(header)?.[1]).toBe(String(load().backendAbi));
  });

  it("aligns up, beyond 2^53 too, and refuses what has no answer", () => {
    const { alignUp } = load();
    expect(alignUp(1000n, 4096n)).toBe(4096n);
    expect(alignUp(1000n, 3n)).toBe(1002n);
    expect(alignUp(2n ** 60n + 1n, 4096n)).toBe(2n ** 60n + 4096n);
    expect(() => alignUp(1n, 0n)).toThrow(RangeError);
    expect(() => alignUp(2n ** 64n - 1n, 4096n)).toThrow(RangeError);
    expect(() => alignUp(-1n, 4096n)).toThrow(RangeError);
    expect(() => alignUp(1 as unknown as bigint, 4096n)).toThrow(TypeError);
  });

  it("has the host backend without any library", () => {
    expect(load().probeBackend()).toEqual({ available: true, name: "host", devices: 1 });
  });

  it("answers with the loader's reason when a backend library is missing", () => {
    const probe = load().probeBackend(at("build/no-such-library.so"));
    expect(probe.available).toBe(false);
    expect(probe.reason).toContain("no-such-library");
  });

  it("loads in a worker thread beside the main thread", async () => {
    load();
    const source = `const { parentPort, workerData } = require("node:worker_threads");
        parentPort.postMessage(require(workerData).alignUp(5n, 4n));`;
    const worker = new Worker(source, {
      eval: true,
      workerData: at(`${built}/unified_trace.node`),
    });
    const answer = await new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
    await worker.terminate();
    expect(answer).toBe(8n);
  });
});

describeUnless(
  built === undefined || cudaLibrary === undefined
    ? "the CUDA backend is not built (npm run build:native, with nvcc)"
    : undefined,
  "cuda backend",
  () => {
    it("loads with or without a driver and says which", () => {
      const probe = load().probeBackend(at(cudaLibrary!));
      expect(probe.name).toBe("cuda");
      if (probe.available) expect(probe.devices).toBeGreaterThan(0);
      else expect(probe.reason).not.toBe("");
    });
  },
);
