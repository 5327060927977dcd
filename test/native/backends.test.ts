// Backends that are missing, of another make or broken: each is one clear line with a code, and the process goes on.
import { afterEach, expect, it } from "vitest";
import { describeUnless } from "../skip-aloud.js";
import { failureOf, fake, load, missingFakes, smallConfig, submit, verb, VERB } from "./built.js";

afterEach(() => {
  delete process.env["UT_FAKE_FAILURE"];
  delete process.env["UT_FAKE_AFTER"];
});

/** The failure of `run`, whose message is one line that is not empty. */
function lineOf(run: () => unknown): { readonly code: unknown; readonly message: string } {
  const failure = failureOf(run);
  expect(failure.message).toMatch(/^[^\n]+$/);
  return failure;
}

describeUnless(missingFakes, "a backend library", () => {
  it("that is missing is named", () => {
    const path = fake("no_such_library");
    const { code, message } = lineOf(() => load().openBackend(path));
    expect(code).toBe("UT_UNAVAILABLE");
    expect(message).toContain("no_such_library");
    expect(load().probeBackend(path)).toMatchObject({ available: false, reason: message });
  });

  it("of another ABI number is refused with both numbers", () => {
    const { backendAbi } = load();
    for (const open of [load().openBackend, load().probeBackend]) {
      const { code, message } = lineOf(() => open(fake("other_abi")));
      expect(code).toBe("UT_UNAVAILABLE");
      expect(message).toContain(`speaks ABI 3, the addon ABI ${backendAbi}`);
    }
    expect(lineOf(() => load().openBackend(fake("mute"))).message).toContain("unknown number");
  });

  it("without the symbol is no backend", () => {
    for (const open of [load().openBackend, load().probeBackend]) {
      const { code, message } = lineOf(() => open(fake("no_symbol")));
      expect(code).toBe("UT_UNAVAILABLE");
      expect(message).toContain("no symbol ut_backend_open");
    }
  });

  it("without a device opens, counts none, and says why it opens no arena", () => {
    expect(load().probeBackend(fake("no_device"))).toMatchObject({ available: false, devices: 0 });
    const backend = load().openBackend(fake("no_device"));
    expect(backend.deviceCount()).toBe(0);
    const wanted = { code: "UT_UNAVAILABLE", message: "no driver: the fake has no device" };
    expect(lineOf(() => backend.open(smallConfig))).toEqual(wanted);
    expect(lineOf(() => backend.capabilities(0))).toEqual(wanted);
  });

  it("that goes well goes well", () => {
    const arena = load().openBackend(fake("failing")).open(smallConfig);
    submit(arena, verb(VERB.stamp, 0, 1, 7, 1, 5));
    expect([...arena.readBytes(7 * 256 + 64, 4)]).toEqual([5, 0, 0, 0]);
    arena.close();
  });

  it("that gets no memory leaves what is open as it was", () => {
    process.env["UT_FAKE_FAILURE"] = "no-memory";
    process.env["UT_FAKE_AFTER"] = "1";
    const backend = load().openBackend(fake("failing"));
    const arena = backend.open(smallConfig);
    const wanted = {
      code: "UT_NO_MEMORY",
      message: "failing.cpp: out of device memory: planted",
    };
    expect(lineOf(() => backend.open(smallConfig))).toEqual(wanted);
    expect(lineOf(() => arena.resize(smallConfig))).toEqual(wanted);
    submit(arena, verb(VERB.stamp, 0, 1, 7, 1, 5));
    expect([...arena.readBytes(7 * 256 + 64, 4)]).toEqual([5, 0, 0, 0]);
    arena.close();
  });

  it("that loses its device refuses everything from then on but a close", () => {
    process.env["UT_FAKE_FAILURE"] = "lost";
    process.env["UT_FAKE_AFTER"] = "2";
    const arena = load().openBackend(fake("failing")).open(smallConfig);
    submit(arena, verb(VERB.zero, 0, 1, 7));
    submit(arena, verb(VERB.zero, 0, 1, 8));
    const wanted = { code: "UT_LOST", message: "failing.cpp: the device is lost: planted" };
    expect(lineOf(() => submit(arena, verb(VERB.zero, 0, 1, 9)))).toEqual(wanted);
    for (const call of [
      () => submit(arena, verb(VERB.synchronize)),
      () => arena.hashPages(0, Int32Array.of(7), Uint32Array.of(15)),
      () => arena.translate(0, new Int32Array(1), 1, 1, new Int32Array(1), 1),
      () => arena.faults(1),
      () => arena.readBytes(0, 4),
      () => arena.readTable(0, 0, 1),
      () => arena.query(1),
      () => arena.resize(smallConfig),
    ]) {
      expect(lineOf(call)).toEqual(wanted);
    }
    arena.close();
  });
});
