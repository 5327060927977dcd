// A state page that a flush emptied belongs to no slot: a forward without a tracking slot does not write it.
import { expect, test } from "vitest";
import type { Answer, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";

const CONFIG: DirectConfig = {
  page_size: 1,
  arena_bytes: 400,
  sub_pools: [
    { name: "mamba", kind: "state", unit_bytes: 8 },
    { name: "full", kind: "mha", unit_bytes: 4 },
  ],
  rows: 4,
  row_tokens: 32,
};

test("a launch does not wait for a send that reads a vacated state page", () => {
  const storage = new KVStorage(CONFIG, { digestDepth: null });
  const ask = (op: string, args: object): Answer => storage.apply({ op, args } as KvOperation);
  const granted = (op: string, args: object): Answer => {
    const answer = ask(op, args);
    expect(answer.err, op).toBeUndefined();
    return answer;
  };
  granted("boot", {});
  granted("row.alloc", { reqs: ["r1", "r2", "r3"] });
  for (const req of ["r1", "r2", "r3"]) granted("state.alloc", { req, count: 1, purpose: "main" });
  granted("tokens.extend", {
    batch: [
      { req: "r2", from: 0, to: 1 },
      { req: "r3", from: 0, to: 1 },
    ],
  });
  granted("net.send", { transfer: "t1", req: "r3", from: 0, to: 1, state: "main" });
  // The first slot's page is the hole that the sent slot's moves into; the send still reads where it was.
  granted("request.finish", { req: "r1", len: 0, insert: false });
  expect(granted("chain.flush", {}).ok).toMatchObject({ mamba: { moves: [[3, 1]] } });
  granted("net.stall", { transfer: "t1" });
  const launch = { step: "f1", batch: [{ req: "r2", from: 0, to: 1 }], mode: "extend" };
  expect(granted("forward.launch", launch).fx).toEqual([
    ["reset", [[1, 3]]],
    ["forward", "f1"],
  ]);
});
