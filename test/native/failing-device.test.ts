// A device that fails under an allocator: no memory at boot, lost under way. One clear line, and the process goes on.
import { afterEach, expect, it } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import type { DirectConfig, KvOperation } from "../../src/base/operations.js";
import { ByteDevice } from "../../src/device/byte-device.js";
import { nativeBackend } from "../../src/device/bytes-native.js";
import { describeUnless } from "../skip-aloud.js";
import { fake, missingFakes } from "./built.js";

const CONFIG: DirectConfig = {
  page_size: 4,
  arena_bytes: 4096,
  sub_pools: [{ name: "full", kind: "mha", unit_bytes: 8 }],
  rows: 4,
  row_tokens: 64,
};
const OPS: readonly KvOperation[] = [
  { op: "boot", args: {} },
  { op: "row.alloc", args: { reqs: ["r1"] } },
  { op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 8 }] } },
  { op: "tokens.extend", args: { batch: [{ req: "r1", from: 8, to: 16 }] } },
  { op: "tokens.extend", args: { batch: [{ req: "r1", from: 16, to: 24 }] } },
];

function adapterOnFake(): InProcessAdapter {
  const backend = nativeBackend("cuda", fake("failing"));
  const open = (): ByteDevice => new ByteDevice({ kind: "cuda", backend, verify: "touched" });
  return new InProcessAdapter({ device: "cuda", openDevice: open });
}

async function openRun(adapter: InProcessAdapter): Promise<void> {
  await adapter.open({ run: "r", domain: "kv", config: CONFIG, digestDepth: "deep" });
}

afterEach(() => {
  delete process.env["UT_FAKE_FAILURE"];
  delete process.env["UT_FAKE_AFTER"];
});

describeUnless(missingFakes, "a device that fails under an allocator", () => {
  it("is named as what failed, after the answers that stood", async () => {
    process.env["UT_FAKE_FAILURE"] = "lost";
    process.env["UT_FAKE_AFTER"] = "2";
    const adapter = adapterOnFake();
    await openRun(adapter);
    const { answers, failure } = await adapter.apply(OPS);
    expect(failure).toEqual({
      kind: "crash",
      message: "device cuda: failing.cpp: the device is lost: planted",
    });
    expect(answers.length).toBeGreaterThan(1);
    expect(answers.length).toBeLessThan(OPS.length);
    const closed = await adapter.close();
    expect(closed.failure?.message).toContain("the device is lost");
    await adapter.dispose();
  });

  it("without memory is what the machine lacks: exit code 4, nothing half open", async () => {
    process.env["UT_FAKE_FAILURE"] = "no-memory";
    const adapter = adapterOnFake();
    await openRun(adapter);
    const thrown = await adapter.apply(OPS).catch((error: unknown) => error);
    expect(thrown).toMatchObject({
      name: "EnvironmentError",
      exitCode: 4,
      message: "device cuda: failing.cpp: out of device memory: planted",
    });
    await adapter.dispose();
    delete process.env["UT_FAKE_FAILURE"];
    const again = adapterOnFake();
    await openRun(again);
    expect((await again.apply(OPS)).failure).toBeNull();
    expect((await again.close()).failure).toBeNull();
  });

  it.each(["no_such_library", "other_abi", "no_symbol", "no_device"])(
    "library %s is refused in one line that names the device",
    (name) => {
      const open = (): unknown => nativeBackend("cuda", fake(name));
      expect(open).toThrow(/^device cuda: [^\n]+$/);
      expect(open).toThrow(expect.objectContaining({ exitCode: 4 }) as Error);
    },
  );
});
