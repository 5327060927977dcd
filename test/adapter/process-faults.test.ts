// Broken promises of a child process: each has the right kind, at the right operation, and leaves no process behind.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Adapter, ApplyResult } from "../../src/adapter/adapter.js";
import type { Operation } from "../../src/base/operations.js";
import { guardChildren, start } from "./children.js";
import { faulty, OPENING, someOperations } from "./operations.js";

guardChildren();

type Place = readonly [at: number, manner: string, portion: number];
const LATE: Place = [299, "held", 100];

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
    ["bare-effect", "protocol", /^"fx" of operation \d+ has an effect that is no list/],
    ["unknown-key", "protocol", /^unknown key "efects" in the answer to operation \d+$/],
    ["deep", "protocol", /^nested deeper than 64 levels: /],
    ["wrong-message", "protocol", /^answered operation \d+ with "opened"$/],
    ["own-fail", "invariant", /^two pages overlap$/],
  ];
  // The last answers of the first portions may be lost with the program; a run of few operations is the plain case.
  const plain: Place = [0, "at-once", 256];
  const places: Readonly<Record<string, readonly Place[]>> = {
    crash: [plain, [100, "at-once", 256], [17, "held", 1]],
    rubbish: [plain],
    "wrong-n": [plain],
    both: [plain],
  };
  test.each(verdicts)("%s is %s", async (fault, kind, message) => {
    await Promise.all(
      [LATE, ...(places[fault] ?? [])].map(async ([at, manner, portion]) => {
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

  test("no answer is a hang", async () => {
    const silences: [fault: string, manner: string][] = [
      ["hang", "at-once"],
      ["hang", "held"],
      ["silent", "held"],
    ];
    await Promise.all(
      silences.map(async ([fault, manner]) => {
        const adapter = await start(faulty(fault, 100, manner), { timeoutSeconds: 1.5 });
        await adapter.open(OPENING);
        const result = await applyAll(adapter, someOperations(300), 256);
        const where = `${fault}, ${manner}`;
        expect(result.failure, where).toMatchObject({
          kind: "hang",
          message: "no answer for 1.5 s",
        });
        expect(result.answers.length, where).toBe(100);
      }),
    );
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
