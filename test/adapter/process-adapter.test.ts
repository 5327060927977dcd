// Broken promises of a child process: each has the right kind, at the right operation, and leaves no process behind.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Adapter, ApplyResult } from "../../src/adapter/adapter.js";
import {
  openProcessAdapter,
  type ProcessAdapterOptions,
} from "../../src/adapter/process-adapter.js";
import type { Operation } from "../../src/base/operations.js";
import { faulty, fixture, isAlive, OPENING, someOperations } from "./operations.js";

const started: Adapter[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((adapter) => adapter.dispose()));
});
afterAll(() => {
  expect(childrenOfThisProcess()).toEqual([]);
});

/** Children by the process table, zombies included. */
function childrenOfThisProcess(): string[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" });
  return table
    .split("\n")
    .filter((line) => line.trim().split(/\s+/)[1] === String(process.pid))
    .filter((line) => /faulty\.mjs|echo\.mjs|defunct/.test(line));
}

async function start(
  words: readonly string[],
  options: ProcessAdapterOptions = {},
): Promise<Adapter> {
  const adapter = await openProcessAdapter(words, { timeoutSeconds: 2, ...options });
  started.push(adapter);
  return adapter;
}

/** Applies operations in portions until something breaks; answers of all portions together. */
async function applyAll(
  adapter: Adapter,
  operations: readonly Operation[],
  portion: number,
): Promise<ApplyResult> {
  const answers = [];
  for (let from = 0; from < operations.length; from += portion) {
    const result = await adapter.apply(operations.slice(from, from + portion));
    answers.push(...result.answers);
    if (result.failure !== null) return { answers, failure: result.failure };
  }
  return { answers, failure: null };
}

describe("a broken promise at operation k", () => {
  const verdicts: [fault: string, kind: string, message: RegExp][] = [
    ["crash", "crash", /^exited with code 3$/],
    ["killed", "crash", /^was killed by SIGKILL$/],
    ["rubbish", "protocol", /^not JSON: "rubbish"$/],
    ["half-line", "crash", /^exited with code 0 in the middle of a line$/],
    ["wrong-n", "protocol", /^answered operation \d+ where the answer to operation \d+ was due$/],
    ["text-n", "protocol", /^"n" is not a number of an operation/],
    ["twice", "protocol", /^answered operation \d+ twice$/],
    ["both", "protocol", /^both "ok" and "err" for operation \d+$/],
    ["neither", "protocol", /^neither "ok" nor "err" for operation \d+$/],
    ["unknown-key", "protocol", /^unknown key "efects" in the answer to operation \d+$/],
    ["wrong-message", "protocol", /^answered operation \d+ with "opened"$/],
    ["own-fail", "invariant", /^two pages overlap$/],
  ];
  const places: [at: number, manner: string, portion: number][] = [
    [0, "at-once", 256],
    [299, "held", 100],
  ];
  test.each(verdicts)("%s is %s", async (fault, kind, message) => {
    await Promise.all(
      places.map(async ([at, manner, portion]) => {
        const adapter = await start(faulty(fault, at, manner));
        await adapter.open(OPENING);
        const result = await applyAll(adapter, someOperations(300), portion);
        const where = `${fault} at ${at}, ${manner}, ${portion} at once`;
        expect(result.failure, where).not.toBeNull();
        expect(result.failure?.kind, where).toBe(kind);
        expect(result.failure?.message, where).toMatch(message);
        expect(result.answers.length, where).toBe(at);
        expect(result.answers, where).toEqual(
          someOperations(at).map((_, n) => ({ ok: { seen: n } })),
        );
      }),
    );
  });

  test.each([
    ["hang", "at-once"],
    ["hang", "held"],
    ["silent", "held"],
  ])("%s (%s) is a hang", async (fault, manner) => {
    const adapter = await start(faulty(fault, 100, manner), { timeoutSeconds: 0.4 });
    await adapter.open(OPENING);
    const result = await applyAll(adapter, someOperations(300), 256);
    expect(result.failure).toMatchObject({ kind: "hang", message: "no answer for 0.4 s" });
    expect(result.answers.length).toBe(100);
  });

  test("a child that never reads is a hang at its first operation", async () => {
    const adapter = await start(faulty("never-reads"), { timeoutSeconds: 0.4 });
    await adapter.open(OPENING);
    const large = { op: "row.alloc", args: { reqs: ["r".repeat(20_000)] } } as const; // more than a pipe holds
    const result = await adapter.apply(Array.from({ length: 256 }, () => large));
    expect(result.failure?.kind).toBe("hang");
    expect(result.answers.length).toBe(0);
  });

  test("a line over 64 MiB is a broken protocol", async () => {
    const adapter = await start(faulty("long-line", 3));
    await adapter.open(OPENING);
    const result = await adapter.apply(someOperations(4));
    expect(result.failure).toMatchObject({
      kind: "protocol",
      message: "wrote a line longer than 64 MiB",
    });
    expect(result.answers.length).toBe(3);
  });

  test("a child that closes its output and lives on has crashed", async () => {
    const adapter = await start(faulty("closes-output", 3), { timeoutSeconds: 5 });
    await adapter.open(OPENING);
    const result = await adapter.apply(someOperations(4));
    expect(result.failure).toMatchObject({ kind: "crash", message: "closed its standard output" });
    expect(result.answers.length).toBe(3);
  });

  test("the log's last 4 KiB come with the verdict", async () => {
    const adapter = await start(faulty("talkative", 2));
    await adapter.open(OPENING);
    const { failure } = await adapter.apply(someOperations(9));
    expect(failure?.kind).toBe("crash");
    expect(failure?.stderrTail).toMatch(/the last words\n$/);
    expect(Buffer.byteLength(failure?.stderrTail ?? "")).toBe(4096);
  });

  test("a failure that does not happen again says so and stays where it was seen", async () => {
    const folder = mkdtempSync(join(tmpdir(), "unified-trace-"));
    try {
      const adapter = await start([...faulty("crash-once", 100, "held"), join(folder, "crashed")]);
      await adapter.open(OPENING);
      expect((await adapter.apply(someOperations(50))).failure).toBeNull();
      const rest = await adapter.apply(someOperations(300).slice(50));
      expect(rest.failure).toMatchObject({
        kind: "crash",
        message: "exited with code 3 (it did not happen again when the run was repeated)",
      });
      expect(rest.answers.length).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("the conversation around operations", () => {
  test.each([
    [
      "dies-at-hello",
      "candidate_handshake",
      /exited with code 7; its log ends with: Error: no such device$/,
    ],
    ["rubbish-hello", "candidate_handshake", /not JSON: "Welcome!"/],
    ["wrong-hello", "candidate_handshake", /wrote "opened" where "hello" was due/],
    ["bare-hello", "candidate_handshake", /"hello" without "name" or "version"/],
    ["protocol-2", "candidate_handshake", /speaks protocol 2; this tool speaks protocol 1/],
    ["refuses-hello", "candidate_handshake", /faulty.mjs refuses-hello 0 at-once: not today$/],
  ])("%s: %s", async (fault, code, message) => {
    const error = await openProcessAdapter(faulty(fault)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "CandidateError", code, exitCode: 5 });
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain("\n");
  });

  test("no hello in time", async () => {
    const words = faulty("no-hello");
    const error = await openProcessAdapter(words, { startTimeoutSeconds: 0.5 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "candidate_handshake", exitCode: 5 });
    expect((error as Error).message).toMatch(/its hello: no answer for 0.5 s$/);
  });

  test("a program that is not there", async () => {
    const error = await openProcessAdapter("no-such-program-here --x").catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: "CandidateError", code: "candidate_start", exitCode: 5 });
    expect((error as Error).message).toBe(
      `cmd "no-such-program-here --x" cannot be started: no program "no-such-program-here" was found`,
    );
  });

  test("a slow start is no failure", async () => {
    const adapter = await start(faulty("slow-start"), { timeoutSeconds: 0.2 });
    expect(adapter.info).toEqual({
      name: "faulty",
      version: "1",
      revision: null,
      dirty: null,
      domains: ["kv"],
      ops: ["boot", "ask.fits"],
      digest: null,
      fx: false,
      fromState: true,
    });
  });

  test("a refused run leaves the program usable", async () => {
    const adapter = await start(faulty("refuses-open"));
    const error = await adapter.open(OPENING).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "candidate_handshake" });
    expect((error as Error).message).toMatch(/: three bands are too many$/);
    await adapter.open({ ...OPENING, run: "second" });
    expect((await adapter.apply(someOperations(2))).answers.length).toBe(2);
  });

  test.each([
    ["dies-at-open", /exited with code 8/],
    ["wrong-open", /opened "another", not "run"/],
  ])("%s", async (fault, message) => {
    const adapter = await start(faulty(fault));
    const error = await adapter.open(OPENING).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "CandidateError", exitCode: 5 });
    expect((error as Error).message).toMatch(message);
  });

  test("an operation that is not supported ends the candidate, not the run", async () => {
    const adapter = await start(faulty("unsupported", 2));
    await adapter.open(OPENING);
    const error = await adapter.apply(someOperations(9)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "CandidateError", code: "candidate_handshake" });
    expect((error as Error).message).toMatch(
      /does not support operation 2 as it is asked: no floats$/,
    );
  });

  test("state, close, a second run", async () => {
    const adapter = await start(faulty("none"));
    for (const run of ["first", "second"]) {
      await adapter.open({ ...OPENING, run });
      expect((await adapter.apply(someOperations(7))).failure).toBeNull();
      expect(await adapter.state()).toEqual({ after: 6 });
      expect(await adapter.close()).toEqual({ digest: "00000000000000ff", failure: null });
    }
  });

  test("an answer after close, in the same breath", async () => {
    const adapter = await start(faulty("after-close"));
    await adapter.open(OPENING);
    await adapter.apply(someOperations(3));
    const { failure } = await adapter.close();
    expect(failure).toMatchObject({ kind: "protocol" });
  });

  test("an answer some time after close is told by the next run", async () => {
    const adapter = await start(faulty("late-extra"));
    await adapter.open(OPENING);
    await adapter.apply(someOperations(3));
    expect((await adapter.close()).failure).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await adapter.open(OPENING);
    const result = await adapter.apply(someOperations(3));
    expect(result).toMatchObject({ answers: [], failure: { kind: "protocol" } });
  });

  test("a crash at close", async () => {
    const adapter = await start(faulty("crash-at-close"));
    await adapter.open(OPENING);
    const { digest, failure } = await adapter.close();
    expect(digest).toBeNull();
    expect(failure).toMatchObject({ kind: "crash", message: "exited with code 5" });
  });
});

describe("processes", () => {
  test("one that ignores the end of its input and SIGTERM is killed", async () => {
    const adapter = await start(faulty("stubborn"));
    await adapter.open(OPENING);
    expect(childrenOfThisProcess().length).toBe(1);
    await adapter.dispose();
    expect(childrenOfThisProcess()).toEqual([]);
  });

  test("what the program started goes with it", async () => {
    const adapter = await start(faulty("family", 1));
    await adapter.open(OPENING);
    await adapter.apply(someOperations(3));
    const table = execFileSync("ps", ["-A", "-o", "pid=,args="], { encoding: "utf8" });
    const pid = Number(/^\s*(\d+) .*-e setInterval\(\(\) => \{\}, 1000\)$/m.exec(table)?.[1]);
    expect(isAlive(pid)).toBe(true);
    await adapter.dispose();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isAlive(pid)).toBe(false);
  });
});

describe("the window", () => {
  const echo = [process.execPath, fixture("../../../examples/adapters/echo.mjs")];

  test.each([1, 3, 256])("of %i keeps 2,000 answers in order", async (windowSize) => {
    const adapter = await start(faulty("none"), { windowSize });
    expect(adapter.windowSize).toBe(windowSize);
    await adapter.open(OPENING);
    const { answers } = await adapter.apply(someOperations(2000));
    expect(answers).toEqual(Array.from({ length: 2000 }, (_, n) => ({ ok: { seen: n } })));
  });

  test("100,000 operations pass through the echo example in bounded memory", async () => {
    const adapter = await start(echo, { timeoutSeconds: 20 });
    await adapter.open(OPENING);
    const operations = someOperations(256);
    const round = async (): Promise<void> => {
      for (let sent = 0; sent < 50_000; sent += operations.length) {
        const { answers, failure } = await adapter.apply(operations);
        expect(failure).toBeNull();
        expect(answers.length).toBe(operations.length);
      }
    };
    await round();
    const before = process.memoryUsage().rss;
    await round();
    expect((process.memoryUsage().rss - before) / 1048576).toBeLessThan(64);
    expect(await adapter.close()).toEqual({ digest: null, failure: null });
  });
});
