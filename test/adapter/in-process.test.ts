// `self`: the allocator of this checkout with its device, as an adapter.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { RunOpening } from "../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { InternalError } from "../../src/base/errors.js";
import type { Operation } from "../../src/base/operations.js";
import { ModelDevice } from "../../src/device/model.js";
import { KVStorage } from "../../src/kv/storage.js";
import { describeUnless } from "../skip-aloud.js";
import { OPENING, someOperations } from "./operations.js";

afterEach(() => {
  vi.restoreAllMocks();
});

const golden = fileURLToPath(new URL("../../../shared/golden/", import.meta.url));

interface GoldenLine {
  readonly kind: string;
  readonly run: string;
  readonly config: RunOpening["config"];
  readonly op: string;
  readonly args: unknown;
  readonly [key: string]: unknown;
}

function readGolden(name: string): {
  opening: RunOpening;
  operations: Operation[];
  answers: unknown[];
} {
  const lines = readFileSync(`${golden}${name}.jsonl`, "utf8").trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(line) as GoldenLine);
  const run = records.find(({ kind }) => kind === "run");
  const steps = records.filter(({ kind }) => kind === "op");
  return {
    opening: { run: name, domain: "kv", config: run!.config, digestDepth: "layout" },
    operations: steps.map(({ op, args }) => ({ op, args }) as Operation),
    answers: steps.map(({ ok, err, fx }) => ({
      ...(ok === undefined ? {} : { ok }),
      ...(err === undefined ? {} : { err }),
      ...(fx === undefined ? {} : { fx }),
    })),
  };
}

const missing = existsSync(golden) ? undefined : "the folder of golden traces is not here";
describeUnless(missing, "a golden trace", () => {
  for (const name of ["full-state", "full-window"]) {
    for (const device of ["none", "model"] as const) {
      test(`${name} on device ${device} is answered line for line`, async () => {
        const { opening, operations, answers } = readGolden(name);
        const adapter = new InProcessAdapter({ device });
        await adapter.open(opening);
        const result = await adapter.apply(operations);
        expect(result.failure).toBeNull();
        const bare = result.answers.map(({ digest: _digest, ...answer }) => answer);
        expect(bare).toEqual(answers);
        const { digest, failure } = await adapter.close();
        expect(failure).toBeNull();
        expect(digest).toMatch(/^[0-9a-f]{16}$/);
        await adapter.dispose();
      });
    }
  }

  test("law: portions of operations do not matter, nor does going on from a state", async () => {
    const { opening, operations } = readGolden("full-window");
    const adapter = new InProcessAdapter();
    await adapter.open(opening);
    const whole = await adapter.apply(operations);
    const end = await adapter.close();
    for (let cut = 1; cut < operations.length; cut += 3) {
      await adapter.open(opening);
      const first = await adapter.apply(operations.slice(0, cut));
      const state = await adapter.state();
      const second = await adapter.apply(operations.slice(cut));
      expect([...first.answers, ...second.answers], `cut at ${cut}`).toEqual(whole.answers);
      expect(await adapter.close()).toEqual(end);

      await adapter.open({ ...opening, state: state! });
      const resumed = await adapter.apply(operations.slice(cut));
      const bare = resumed.answers.map(({ digest: _digest, ...answer }) => answer);
      const expected = second.answers.map(({ digest: _digest, ...answer }) => answer);
      expect(bare, `resumed at ${cut}`).toEqual(expected);
      expect(await adapter.close(), `resumed at ${cut}`).toEqual(end);
    }
  });
});

const CONFIG: RunOpening["config"] = {
  page_size: 2,
  arena_bytes: 96,
  sub_pools: [
    { name: "window_4", kind: "mha", window: 4, unit_bytes: 2 },
    { name: "full", kind: "mha", unit_bytes: 4 },
  ],
  rows: 4,
  row_tokens: 32,
};
const RUN: RunOpening = { ...OPENING, config: CONFIG };
const EXTEND: Operation[] = [
  { op: "boot", args: {} },
  { op: "row.alloc", args: { reqs: ["r1"] } },
  { op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 4 }] } },
];

describe("self", () => {
  test("says what it is", () => {
    const { info } = new InProcessAdapter({ revision: "abc", dirty: true });
    const { version } = JSON.parse(
      readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
    ) as { version: string };
    expect(info).toMatchObject({ name: "unified-trace", version, revision: "abc", dirty: true });
    expect(info).toMatchObject({ domains: ["kv"], digest: "deep", fx: true, fromState: true });
    expect(new InProcessAdapter({ device: "none" }).info.digest).toBe("layout");
  });

  test("gives digests only where they are asked for, deep ones from the device", async () => {
    const adapter = new InProcessAdapter();
    await adapter.open(RUN);
    const bare = await adapter.apply(EXTEND);
    expect(bare.answers.every(({ digest }) => digest === undefined)).toBe(true);
    expect((await adapter.close()).digest).toBeNull();
    const ends = [];
    for (const digestDepth of ["light", "layout", "deep"] as const) {
      await adapter.open({ ...RUN, digestDepth });
      const { answers, failure } = await adapter.apply(EXTEND);
      expect(failure).toBeNull();
      expect(Object.keys(answers[0]?.digest ?? {})).toContain("full");
      ends.push((await adapter.close()).digest);
    }
    expect(new Set(ends).size).toBe(3);
  });

  test("a violation that the device finds is a broken invariant at that operation", async () => {
    const apply = vi.spyOn(ModelDevice.prototype, "apply");
    apply.mockImplementation((operation) =>
      operation.op === "tokens.extend"
        ? {
            check: "lost_write",
            message: "full page 7:\nwritten by operation 2",
            band: "full",
            page: 7,
          }
        : null,
    );
    const adapter = new InProcessAdapter();
    await adapter.open(RUN);
    const { answers, failure } = await adapter.apply([...EXTEND, { op: "check.idle", args: {} }]);
    expect(answers.length).toBe(2);
    expect(failure).toEqual({
      kind: "invariant",
      message: "lost_write: full page 7: written by operation 2",
    });
    await adapter.dispose();
  });

  test("a violation that is found at the end belongs to the close", async () => {
    vi.spyOn(ModelDevice.prototype, "verifyAll").mockReturnValue({
      check: "lost_write",
      message: "full page 7",
    });
    const adapter = new InProcessAdapter();
    await adapter.open(RUN);
    expect((await adapter.apply(EXTEND)).failure).toBeNull();
    expect(await adapter.close()).toEqual({
      digest: null,
      failure: { kind: "invariant", message: "lost_write: full page 7" },
    });
  });

  test.each([
    [
      new InternalError("broken invariant: holes are free"),
      "invariant",
      "broken invariant: holes are free",
    ],
    [new RangeError("index\n  out of range"), "crash", "threw RangeError: index out of range"],
  ])("a throw of the allocator is a verdict: %s", async (thrown, kind, message) => {
    const original = KVStorage.prototype.apply;
    vi.spyOn(KVStorage.prototype, "apply").mockImplementation(function (
      this: KVStorage,
      operation,
    ) {
      if (operation.op === "tokens.extend") throw thrown;
      return original.call(this, operation);
    });
    const adapter = new InProcessAdapter();
    await adapter.open(RUN);
    const { answers, failure } = await adapter.apply(EXTEND);
    expect(answers.length).toBe(2);
    expect(failure).toEqual({ kind, message });
  });

  test.each([
    ["heap", { ...RUN, domain: "heap" as const }, /does not support domain heap/],
    [
      "a model form that names no layers",
      { ...RUN, config: { model: {}, page_size: 1, budget_bytes: 9 } },
      /the configuration: \/model names no layers/,
    ],
  ])("%s is refused when it is opened", async (_, opening, message) => {
    const error = await new InProcessAdapter().open(opening).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: "CandidateError",
      code: "candidate_handshake",
      exitCode: 5,
    });
    expect((error as Error).message).toMatch(message);
  });

  test("what the allocator does not answer names itself", async () => {
    vi.spyOn(KVStorage.prototype, "apply").mockReturnValue({
      err: { code: "unsupported", message: "a chain of 7 bands is not answered by this allocator" },
    });
    const adapter = new InProcessAdapter();
    await adapter.open(RUN);
    const error = await adapter.apply(EXTEND).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "CandidateError", code: "candidate_handshake" });
    expect((error as Error).message).toMatch(
      /^unified-trace \S+ does not support operation boot as it is asked: a chain of 7 bands/,
    );
  });

  test("a refused boot leaves no state and no device", async () => {
    vi.spyOn(KVStorage.prototype, "apply").mockReturnValue({
      err: { code: "refused_plan", rule: "no_full_owner" },
    });
    const adapter = new InProcessAdapter();
    await adapter.open(RUN);
    const { answers, failure } = await adapter.apply(someOperations(1));
    expect(failure).toBeNull();
    expect(answers).toEqual([{ err: { code: "refused_plan", rule: "no_full_owner" } }]);
    expect(await adapter.state()).toBeNull();
    expect((await adapter.close()).failure).toBeNull();
  });

  test("an empty state is refused in one line", async () => {
    const error = await new InProcessAdapter()
      .open({ ...RUN, state: {} as never })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "CandidateError" });
    expect((error as Error).message).toMatch(/^the state cannot be loaded: /);
    expect((error as Error).message).not.toContain("\n");
  });
});
