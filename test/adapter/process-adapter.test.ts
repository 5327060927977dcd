// The conversation with a child process around its operations; processes; the window.
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { openProcessAdapter } from "../../src/adapter/process-adapter.js";
import { childrenOfThisProcess, guardChildren, start } from "./children.js";
import { faulty, fixture, isAlive, OPENING, someOperations } from "./operations.js";

guardChildren();

describe("the conversation around operations", () => {
  test.each([
    [
      "dies-at-hello",
      "candidate_handshake",
      /exited with code 7; its log says: Error: no such device$/,
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
