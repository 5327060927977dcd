// Lists of 130,000 rows, pages and slots in one operation: more than a call takes as arguments.
import { expect, test } from "vitest";
import type { Answer, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";

const COUNT = 130_000;

const CONFIG: DirectConfig = {
  page_size: 1,
  arena_bytes: 16 * COUNT,
  sub_pools: [
    { name: "window_4", kind: "mha", window: 4, unit_bytes: 2 },
    { name: "full", kind: "mha", unit_bytes: 4 },
  ],
  rows: COUNT + 1,
  row_tokens: COUNT,
  overlap: true,
  prefix_sharing: true,
  host: { window_4: COUNT, full: COUNT },
};

/** Plays operations that are granted. */
class Run {
  storage = new KVStorage(CONFIG, { digestDepth: "layout" });

  constructor() {
    this.play({ op: "boot", args: {} });
  }

  play(operation: KvOperation): Answer {
    const answer = this.storage.apply(operation);
    expect(answer.err, operation.op).toBeUndefined();
    return answer;
  }

  /** A copy goes on in place of the allocator. */
  goOn(): void {
    this.storage = this.storage.clone();
  }
}

test("as many rows wait for their reset, in a copy too", () => {
  const run = new Run();
  const reqs = Array.from({ length: COUNT }, (_, index) => `r${String(index)}`);
  run.play({ op: "row.alloc", args: { reqs } });
  run.goOn();
  const resets = run.play({
    op: "forward.launch",
    args: { step: "f1", batch: [{ req: "r0", from: 0, to: 0 }], mode: "extend" },
  }).ok;
  expect(resets).toEqual({ resets: [[1, COUNT]] });
});

test("as many pages are freed, cached, copied, sent and given back", () => {
  const run = new Run();
  run.play({ op: "row.alloc", args: { reqs: ["r1", "r2"] } });
  const batch = [{ req: "r1", from: 0, to: COUNT }];
  run.play({ op: "tokens.extend", args: { batch } });
  run.play({ op: "forward.launch", args: { step: "f1", batch, mode: "extend" } });
  run.play({ op: "forward.record", args: { step: "f1", writes: "known" } });
  run.play({ op: "net.send", args: { transfer: "t1", req: "r1", from: 0, to: COUNT } });
  run.play({ op: "net.end", args: { transfer: "t1", outcome: "ok" } });
  run.play({
    op: "tokens.free",
    args: { req: "r1", from: 1, to: COUNT, bands: "all" },
  });
  run.goOn();
  run.play({ op: "forward.process", args: { step: "f1" } });
  run.play({ op: "tokens.extend", args: { batch: [{ req: "r2", from: 0, to: COUNT }] } });
  const key = [[7, COUNT]] as const;
  run.play({ op: "tree.insert", args: { req: "r2", key, len: COUNT } });
  run.play({ op: "host.backup", args: { copy: "c1", key, len: COUNT } });
  run.goOn();
  run.play({ op: "host.backup_done", args: { copy: "c1", outcome: "ok" } });
  run.play({ op: "request.finish", args: { req: "r2", len: COUNT, insert: true, key } });
  run.play({ op: "request.finish", args: { req: "r1", len: 1, insert: false } });
  run.play({ op: "host.evict", args: { demand: { full: COUNT } } });
  run.play({ op: "tree.evict", args: { units: { full: "all" } } });
  run.play({ op: "chain.flush", args: {} });
  expect(run.play({ op: "check.idle", args: {} }).ok).toMatchObject({ violations: [] });
});
