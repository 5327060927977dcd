// An arena as an object: each call open and closed, arguments of every wrong kind, and what is collected closes itself.
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { describeUnless } from "../skip-aloud.js";
import {
  type Arena,
  type ArenaConfig,
  failureOf,
  load,
  missingAddon,
  smallConfig,
  submit,
  verb,
  VERB,
} from "./built.js";

const open = (change: Partial<ArenaConfig> = {}): Arena =>
  load()
    .openBackend()
    .open({ ...smallConfig, ...change });

const calls: Readonly<Record<string, (arena: Arena) => unknown>> = {
  submit: (arena) => submit(arena, verb(VERB.synchronize)),
  hashPages: (arena) => arena.hashPages(0, Int32Array.of(7), Uint32Array.of(15)),
  translate: (arena) => arena.translate(0, new Int32Array(1), 1, 1, new Int32Array(1), 1),
  faults: (arena) => arena.faults(1),
  readBytes: (arena) => arena.readBytes(0, 4),
  readTable: (arena) => arena.readTable(0, 0, 1),
  query: (arena) => arena.query(1),
  resize: (arena) => arena.resize(smallConfig),
};

describeUnless(missingAddon, "an arena", () => {
  it.each(Object.keys(calls))("answers %s while it is open and refuses it when closed", (name) => {
    const arena = open();
    calls[name]!(arena); // a name of `calls`
    arena.close();
    const wanted = { code: "UT_INVALID", message: "the arena is closed" };
    expect(failureOf(() => calls[name]!(arena))).toEqual(wanted);
    arena.close(); // a second time it does nothing
  });

  it("carries scripts and gives back bytes, tables, faults and handles", () => {
    const arena = open({ poison: true });
    expect([...arena.readBytes(0, 4)]).toEqual([0xc1, 0x7f, 0xc1, 0x7f]);
    submit(
      arena,
      verb(VERB.zero, 0, 1, 7),
      verb(VERB.stamp, 0, 1, 7, 1, 5),
      verb(VERB.bind, 0, 0, 1, 3, 7),
      verb(VERB.forward, 9, 0, 0, 0, 1, 0, 4, 0, 1, 0, 6), // id 4 is bound nowhere
      verb(VERB.synchronize),
    );
    expect(arena.query(9)).toBe(1);
    expect(arena.query(8)).toBeLessThan(0);
    expect([...arena.readTable(0, 0, 5)]).toEqual([0, 0, 0, 7, 0]);
    const { count, words } = arena.faults(4);
    expect(count).toBe(1);
    expect([...words.slice(0, 6)]).toEqual([3, 9, 0, 4, 0, 0]);
    expect(words).toHaveLength(8);
    expect(arena.faults(4)).toEqual({ count: 0, words: new Uint32Array(0) });
    const out = new BigInt64Array(6).fill(-1n);
    arena.translate(0, Int32Array.of(12, 13, 16, 15), 2, 2, out, 3); // four tokens a page
    expect([...out]).toEqual([28n, 29n, 0n, 0n, 31n, 0n]);
    arena.close();
  });

  it("refuses a script in words that say where, and does nothing of it", () => {
    const arena = open();
    const wanted = {
      code: "UT_INVALID",
      message: "verb 2 ZERO, word 11: page 32 is outside 1..31",
    };
    const run = (): void => {
      submit(arena, verb(VERB.stamp, 0, 1, 7, 1, 5), verb(VERB.zero, 0, 1, 32));
    };
    expect(failureOf(run)).toEqual(wanted);
    expect([...arena.readBytes(7 * 256 + 64, 4)]).toEqual([0, 0, 0, 0]);
    arena.close();
  });

  it("takes on another geometry, or keeps its own", () => {
    const arena = open();
    submit(arena, verb(VERB.stamp, 0, 1, 7, 1, 5));
    expect(failureOf(() => arena.resize({ ...smallConfig, arenaBytes: 2 ** 50 }))).toMatchObject({
      code: "UT_NO_MEMORY",
    });
    expect([...arena.readBytes(7 * 256 + 64, 1)]).toEqual([5]);
    const band = { ...smallConfig.bands[0]!, units: 64, pages: 16 }; // it has one band
    arena.resize({ ...smallConfig, bands: [band] });
    expect([...arena.readBytes(7 * 256 + 64, 1)]).toEqual([0]);
    expect(arena.hashPages(0, Int32Array.of(7), new Uint32Array(2))).toHaveLength(3);
    const hash = (): unknown => arena.hashPages(0, Int32Array.of(7), new Uint32Array(1));
    expect(failureOf(hash)).toMatchObject({ code: "UT_INVALID" }); // 64 units need two words
    arena.close();
  });

  it("refuses arguments of another kind", () => {
    const arena = open();
    const broken = arena as unknown as Record<keyof Arena, (...values: unknown[]) => unknown>;
    const words = Int32Array.of(VERB.synchronize, 2);
    for (const [name, ...values] of [
      ["submit"],
      ["submit", [19, 2], 2],
      ["submit", words, 3],
      ["submit", words, -1],
      ["submit", words, 1.5],
      ["submit", words, "2"],
      ["submit", new Uint32Array(2), 2],
      ["submit", new DataView(new ArrayBuffer(8)), 2],
      ["hashPages", 1, Int32Array.of(7), Uint32Array.of(15)],
      ["hashPages", 0, Int32Array.of(7, 8), Uint32Array.of(15)],
      ["hashPages", 0, Int32Array.of(32), Uint32Array.of(15)],
      ["hashPages", 0, Uint32Array.of(7), Uint32Array.of(15)],
      ["translate", 0, new Int32Array(3), 2, 2, new Int32Array(4), 2],
      ["translate", 0, new Int32Array(4), 2, 2, new Int32Array(3), 2],
      ["translate", 0, new Int32Array(4), 2, 2, new Float64Array(4), 2],
      ["translate", 0, new Int32Array(4), 2, 2, new Int32Array(4), 1],
      ["translate", 0, new Int32Array(4), 4294967295, 4294967295, new Int32Array(4), 4294967295],
      ["faults", Number.NaN],
      ["readBytes", 8190, 4],
      ["readBytes", -1, 4],
      ["readTable", 0, 0, 21],
      ["readTable", 7, 0, 1],
      ["query", {}],
      ["resize"],
      ["resize", { ...smallConfig, bands: undefined }],
      ["resize", { ...smallConfig, bands: [undefined] }],
      ["resize", { ...smallConfig, poison: 1 }],
    ] as const) {
      expect(failureOf(() => broken[name](...values))).toMatchObject({ code: "UT_INVALID" });
    }
    expect(failureOf(() => new (arena.constructor as new () => unknown)())).toMatchObject({
      code: "UT_INVALID",
    });
    arena.close();
  });

  it("says what the host can do, and that it is one device", () => {
    const backend = load().openBackend();
    expect(backend).toMatchObject({ name: "host" });
    expect(backend.deviceCount()).toBe(1);
    const capabilities = backend.capabilities(0);
    expect(capabilities).toMatchObject({ readEnd: true, concurrentStreams: true, computeMajor: 0 });
    expect(capabilities["memoryBytes"]).toBeGreaterThan(0);
    expect(failureOf(() => backend.capabilities(1))).toMatchObject({ code: "UT_UNAVAILABLE" });
    expect(failureOf(() => backend.open({ ...smallConfig, device: 1 }))).toMatchObject({
      code: "UT_UNAVAILABLE",
    });
  });

  it("closes itself when it is collected", async () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const arenaBytes = 2 ** 24;
    const count = 10;
    const before = process.memoryUsage().rss;
    for (let i = 0; i < count; i++) {
      open({ arenaBytes, poison: true });
      collect();
      await nextTurn(); // an object's end is told to the addon between two turns of the loop
    }
    expect(process.memoryUsage().rss - before).toBeLessThan((count / 2) * arenaBytes);
  });
});
