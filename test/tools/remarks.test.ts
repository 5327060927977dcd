// A remark on a granted answer goes the whole way: allocator, protocol, trace. It is never compared and changes nothing.
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { serveProtocol } from "../../src/adapter/serve.js";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { encodeAnswer, encodeLine, encodeOpen, parseReply } from "../../src/adapter/protocol.js";
import type { DirectConfig, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import { validateTrace } from "../../src/trace/validate.js";
import type { Workload } from "../../src/workload/workload.js";
import { FaultyAdapter, readLines, recorded } from "./faulty-adapter.js";

const CONFIG: DirectConfig = {
  page_size: 4,
  arena_bytes: 6656,
  sub_pools: [
    { name: "mamba", kind: "state", unit_bytes: 160 },
    { name: "full", kind: "mha", unit_bytes: 64 },
  ],
  rows: 8,
  row_tokens: 128,
};
const INSIDE: KvOperation = { op: "ask.estimates", args: { inside: "eviction" } };
const OUTSIDE: KvOperation = { op: "ask.estimates", args: {} };

function booted(invariants?: 0 | 1 | 2): KVStorage {
  const config = invariants === undefined ? CONFIG : { ...CONFIG, invariants };
  const storage = new KVStorage(config, { digestDepth: "deep" });
  storage.apply({ op: "boot", args: {} });
  storage.takeDigest();
  return storage;
}
const remarks = (storage: KVStorage, operations: readonly KvOperation[]): boolean[] =>
  operations.map((operation) => storage.apply(operation).message !== undefined);

describe("estimates that a decision reads", () => {
  test("level 1, the default, remarks once a run, whichever decision it is; the answer is the same", () => {
    for (const storage of [booted(), booted(1)]) {
      const plain = storage.apply(OUTSIDE);
      const first = storage.apply(INSIDE);
      expect(first.message).toContain('"eviction"');
      expect(first).toEqual({ ...plain, message: first.message });
      expect(storage.takeDigest()).toBeUndefined();
      const other: KvOperation = { op: "ask.estimates", args: { inside: "admission" } };
      expect(remarks(storage, [INSIDE, other, OUTSIDE])).toEqual([false, false, false]);
    }
  });

  test("level 0 says nothing, level 2 refuses every time", () => {
    expect(remarks(booted(0), [INSIDE, INSIDE])).toEqual([false, false]);
    const strict = booted(2);
    for (let time = 0; time < 2; time++) {
      expect(strict.apply(INSIDE)).toEqual({ err: { code: "invalid", rule: "observe_only_read" } });
    }
    expect(strict.apply(OUTSIDE).err).toBeUndefined();
  });

  test("a run that goes on from its state remembers, one before it does not; so does a resized one", () => {
    const storage = booted();
    const before = storage.clone();
    const digest = storage.endDigest();
    storage.apply(INSIDE);
    expect(remarks(storage.clone(), [INSIDE])).toEqual([false]);
    expect(remarks(before, [INSIDE])).toEqual([true]);
    expect(storage.endDigest()).toBe(digest);
    expect(storage.apply({ op: "arena.resize", args: { arena_bytes: 8192 } }).err).toBeUndefined();
    expect(remarks(storage, [INSIDE])).toEqual([false]);
  });
});

/** A workload of fixed operations. */
function listed(operations: readonly KvOperation[]): Workload {
  let next = 0;
  return {
    run: "listed",
    config: CONFIG,
    source: { type: "scenario", name: "listed" },
    next: () => {
      const operation = operations[next];
      next += 1;
      return operation === undefined ? null : { operation };
    },
  };
}
const OPERATIONS: readonly KvOperation[] = [{ op: "boot", args: {} }, INSIDE, INSIDE, OUTSIDE];

test("the line of a trace carries it, and an implementation without remarks is equal", async () => {
  const path = await recorded([listed(OPERATIONS)]);
  const lines = readLines(path).filter(({ kind }) => kind === "op");
  expect(lines.map(({ message }) => typeof message)).toEqual([
    "undefined",
    "string",
    "undefined",
    "undefined",
  ]);
  expect(Object.keys(lines[1])).toEqual(["kind", "n", "op", "args", "ok", "message"]);
  expect(await validateTrace(path)).toMatchObject({ runs: 1, operations: 4 });
  const mute = new FaultyAdapter((_n, _operation, { message: _message, ...answer }) => answer);
  const talking = new FaultyAdapter((_n, _operation, answer) =>
    answer.ok === undefined ? null : { ...answer, message: "something else" },
  );
  for (const adapter of [mute, talking]) {
    const options = { trace: path, candidate: "planted", start: async () => adapter };
    expect((await compareTrace(options)).verdict).toBe("equal");
  }
});

test("the protocol carries it both ways", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const makeImplementation = (): InProcessAdapter => new InProcessAdapter({ device: "none" });
  const served = serveProtocol({ input, output, makeImplementation });
  input.write(encodeLine({ hello: { protocol: 1, tool: "test", version: "1" } }));
  input.write(encodeOpen({ run: "r", domain: "kv", config: CONFIG, digestDepth: null }));
  for (const [n, { op, args }] of OPERATIONS.entries()) input.write(encodeLine({ n, op, args }));
  input.end();
  expect((await served).exitCode).toBe(0);
  output.end();
  const text = (await output.toArray()).join("");
  const answers = text
    .trimEnd()
    .split("\n")
    .map((line) => parseReply(line))
    .flatMap((reply) => (reply.kind === "answer" ? [reply.answer] : []));
  expect(answers.map(({ message }) => message !== undefined)).toEqual([false, true, false, false]);
});

test.each<[string, object]>([
  ["beside a refusal", { err: { code: "refused_ids" }, message: "no" }],
  ["that is no text", { ok: {}, message: 7 }],
])("a remark %s is a broken promise", (_, answer) => {
  const reply = parseReply(encodeAnswer(3, answer).trimEnd());
  expect(reply).toEqual({
    kind: "mistake",
    message: '"message" of operation 3 is not a text beside "ok"',
  });
});
