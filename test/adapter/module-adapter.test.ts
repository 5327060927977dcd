// `module:FILE`: what the contract promises, and every way to break it, in a worker thread.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Adapter, RunOpening } from "../../src/adapter/adapter.js";
import { openModuleAdapter } from "../../src/adapter/module-adapter.js";
import { fixture, OPENING, someOperations } from "./operations.js";
import { type CompiledEntry, compileEntry } from "./compiled-sources.js";

let worker: CompiledEntry;
beforeAll(async () => {
  worker = await compileEntry("module-worker");
});
afterAll(() => {
  worker.remove();
});

const started: Adapter[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((adapter) => adapter.dispose()));
});

async function start(name: string, timeoutSeconds = 5): Promise<Adapter> {
  const adapter = await openModuleAdapter(fixture(name), {
    workerScript: worker.url,
    ops: ["boot", "row.alloc"],
    timeoutSeconds,
  });
  started.push(adapter);
  return adapter;
}

function opening(fault: string, at = 0, more: Partial<RunOpening> = {}): RunOpening {
  const config = { ...OPENING.config, x_fault: fault, x_at: at };
  return { ...OPENING, config, ...more };
}

describe("a module", () => {
  test("says what it is, or is taken by its file's name", async () => {
    const stated = await start("faulty-module.mjs");
    expect(stated.info).toEqual({
      name: "faulty-module",
      version: "3",
      revision: null,
      dirty: null,
      domains: ["kv"],
      ops: ["boot", "ask.fits"],
      digest: "layout",
      fx: true,
      fromState: true,
    });
    const plain = await start("plain-module.mjs");
    expect(plain.info).toMatchObject({
      name: "plain-module",
      ops: ["boot", "row.alloc"],
      digest: null,
    });
  });

  test("answers in order, keeps state, closes, opens again", async () => {
    const adapter = await start("faulty-module.mjs");
    for (const run of ["first", "second"]) {
      await adapter.open(opening("none", 0, { run, digestDepth: "layout" }));
      const { answers, failure } = await adapter.apply(someOperations(600));
      expect(failure).toBeNull();
      expect(answers.slice(0, 2)).toEqual([
        { ok: { seen: 0, op: "boot" } },
        { ok: { seen: 1, op: "ask.fits" } },
      ]);
      expect(answers.map((answer) => (answer.ok as unknown as { seen: number }).seen)).toEqual(
        Array.from({ length: 600 }, (_, n) => n),
      );
      expect(await adapter.state()).toEqual({ run, digestDepth: "layout", n: 600, from: null });
      expect(await adapter.close()).toEqual({ digest: "0123456789abcdef", failure: null });
    }
  });

  test("starts from a state", async () => {
    const adapter = await start("faulty-module.mjs");
    const state = { chain: { move_epoch: 4, fences: [] } } as unknown as NonNullable<
      RunOpening["state"]
    >;
    await adapter.open(opening("none", 0, { state }));
    expect(await adapter.state()).toMatchObject({ from: state });
  });

  test.each([
    ["throw", "crash", "threw TypeError: cannot read the page map"],
    ["throw-text", "crash", "threw just text"],
    ["reject", "crash", "threw Error: later"],
    ["exit", "crash", "ended its thread with code 3"],
    ["stray", "crash", "threw Error: from a timer"],
    ["hang", "hang", "no answer for 1 s"],
    ["hang-promise", "hang", "no answer for 1 s"],
    ["nothing", "protocol", "apply returned no answer object"],
    ["list", "protocol", "apply returned no answer object"],
    [
      "cycle",
      "protocol",
      "the answer is not JSON: TypeError: Converting circular structure to JSON",
    ],
    [
      "bigint",
      "protocol",
      "the answer is not JSON: TypeError: Do not know how to serialize a BigInt",
    ],
    ["both", "protocol", `both "ok" and "err" for operation 70`],
    ["neither", "protocol", `neither "ok" nor "err" for operation 70`],
  ])(
    "that breaks its promise (%s) at operation 70 gets the verdict %s there",
    async (fault, kind, message) => {
      const adapter = await start("faulty-module.mjs", 1);
      await adapter.open(opening(fault, 70));
      const { answers, failure } = await adapter.apply(someOperations(300));
      expect(failure).toMatchObject({ kind });
      expect(failure?.message.startsWith(message), failure?.message).toBe(true);
      expect(failure?.message).not.toContain("\n");
      expect(answers.length).toBe(70);
    },
  );

  test("writes into its log, not into this process's output", async () => {
    const adapter = await start("faulty-module.mjs", 1);
    await adapter.open(opening("prints", 2));
    const { failure } = await adapter.apply(someOperations(3));
    expect(failure?.stderrTail?.split("\n").toSorted()).toEqual([
      "",
      "a line on standard error",
      "a line on standard output",
    ]);
  });

  test("that throws at close", async () => {
    const adapter = await start("faulty-module.mjs");
    await adapter.open(opening("close"));
    await adapter.apply(someOperations(3));
    expect((await adapter.close()).failure).toEqual({
      kind: "crash",
      message: "close threw Error: half closed",
    });
  });

  test.each([
    ["refuse", "createImplementation threw Error: a band too many"],
    ["no-apply", `createImplementation returned no object with a method "apply"`],
  ])("that refuses to open (%s) can be opened again", async (fault, message) => {
    const adapter = await start("faulty-module.mjs");
    const error = await adapter.open(opening(fault)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: "CandidateError",
      code: "candidate_handshake",
      exitCode: 5,
    });
    expect((error as Error).message.endsWith(message)).toBe(true);
    await adapter.open(opening("none"));
    expect((await adapter.apply(someOperations(3))).answers.length).toBe(3);
  });

  test.each([
    [
      "broken-module.mjs",
      "candidate_start",
      /it cannot be loaded: Error: the model file is missing$/,
    ],
    ["no-such-module.mjs", "candidate_start", /it cannot be loaded: Error: Cannot find module/],
    [
      "empty-module.mjs",
      "candidate_handshake",
      /it does not export a function "createImplementation"$/,
    ],
  ])("%s cannot be started", async (name, code, message) => {
    const error = await start(name).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "CandidateError", code, exitCode: 5 });
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain("\n");
  });
});
