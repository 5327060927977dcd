// What the lines of a trace tell of the prefix tree, the host cache and transfers; the lines are written by hand.
import { expect, test } from "vitest";
import type { MemoryStats } from "../../src/tools/stats-memory.js";
import { MemoryCounter } from "../../src/tools/stats-memory.js";
import type { OpLine } from "../../src/trace/lines.js";

type Told = readonly [op: string, args: object, answer: Pick<OpLine, "ok" | "err" | "fx">];

function count(...told: readonly Told[]): MemoryStats {
  const counter = new MemoryCounter();
  counter.run();
  for (const [n, [op, args, answer]] of told.entries())
    counter.operation({ kind: "op", n, op, args, ...answer } as OpLine);
  return counter.result();
}

const granted = (ok: object = {}): Told[2] => ({ ok });

test("matches of rows with the tokens they found, evictions, checkpoints and stalls", () => {
  const match = (len: number): Told[2] => granted({ len, slots: {}, host: {} });
  const { tree } = count(
    ["tree.match", { key: [["a", 8]], req: "r1" }, match(8)],
    ["tree.match", { key: [["b", 8]], req: "r2" }, match(0)],
    ["tree.match", { key: [["a", 8]] }, match(8)], // nobody took it
    ["tree.insert", { req: "r1", key: [["a", 8]], len: 8 }, granted()],
    ["request.finish", { req: "r2", len: 4, insert: true }, granted({ freed: {}, tree: {} })],
    ["request.finish", { req: "r1", len: 4, insert: false }, granted({ freed: {} })],
    ["tree.evict", { demand: { full: 2 } }, granted({ freed: {}, nodes: 3 })],
    ["tree.evict", { demand: { full: 9 } }, { err: { code: "refused_capacity" } }],
    ["state.donate", { req: "r1", len: 8 }, granted({ slot: 4, replacement: 5 })],
    ["state.donate", { req: "r1", len: 8 }, granted({ slot: null, replacement: null })],
    ["state.donate", { req: "r1", len: 8 }, { err: { code: "checkpoint_stalled" } }],
  );
  expect(tree).toEqual({
    ...{ matches: 2, hits: 1, hitTokens: 8, inserts: 2 },
    ...{ evictions: 1, evictedNodes: 3, checkpoints: 1, checkpointStalls: 1 },
  });
});

test("backups, loads, restores, copies that failed, retractions with a copy", () => {
  const stats = count(
    ["host.backup", { copy: "c1", key: [["a", 8]], len: 8 }, granted({ host: {} })],
    ["host.backup", { copy: "c2", key: [["a", 8]], len: 8 }, { err: { code: "refused_host" } }],
    ["host.backup_done", { copy: "c1", outcome: "failed" }, granted()],
    ["host.load_reserve", { load: "l1", demand: { full: 1 } }, granted({ pages: {} })],
    ["host.load_cancel", { load: "l1" }, granted({ freed: {} })],
    ["host.load_submit", { load: "l2", copy: "c3" }, granted({ pages: {} })],
    ["host.load_done", { copy: "c3", outcome: "ok" }, granted({ freed: {} })],
    ["request.retract", { req: "r1" }, granted({ freed: {} })],
    ["request.retract", { req: "r2", backup: "c4" }, granted({ freed: {}, host: {} })],
    ["request.restore", { req: "r2", copy: "c4" }, granted({ rows: {}, pages: {} })],
    ["host.evict", { demand: { full: 1 } }, granted({ freed: {}, nodes: 1 })],
  );
  expect(stats.host).toEqual({
    ...{ backups: 1, loads: 1, cancelledLoads: 1, restores: 1, failedCopies: 1, evictions: 1 },
  });
  expect(stats.retractionsWithBackup).toBe(1);
});

test("a transfer ends once: at its last writer, a timeout, a send's first failure, a wait, a close", () => {
  const send = (transfer: string, more: object = {}): Told => [
    "net.send",
    { transfer, req: "r1", from: 0, to: 8, ...more },
    granted({ pages: {}, epoch: 0 }),
  ];
  const receive = (transfer: string, more: object = {}): Told => [
    "net.receive",
    { transfer, req: "r2", from: 0, to: 8, ...more },
    granted({ pages: {}, epoch: 0, step: "no_move" }),
  ];
  const end = (transfer: string, outcome: string, late: boolean, more: object = {}): Told => [
    "net.end",
    { transfer, outcome, ...more },
    granted({ released: {}, late }),
  ];
  const two = { writers: ["w1", "w2"] };
  const ended = (...transfers: string[]): Told[2] =>
    granted({ freed: {}, ended: { transfers, freed: {} } });
  const { transfers, hostWaits } = count(
    send("t1"),
    end("t1", "ok", false),
    send("t2", two),
    end("t2", "failed", false, { writer: "w2" }), // a send is over
    end("t2", "ok", true, { writer: "w1" }),
    receive("t3", two),
    ["net.publish", { transfer: "t3" }, granted({ pages: {}, epoch: 0, reread: false })],
    end("t3", "failed", false, { writer: "w2" }), // a receive is not
    end("t3", "ok", false, { writer: "w1" }),
    receive("t4", two),
    end("t4", "timeout", false),
    send("t5"),
    receive("t6"),
    ["tokens.extend", { batch: [] }, { ...ended("t5"), fx: [["hostwait", "t5"]] }],
    ["request.finish", { req: "r2", len: 8, insert: false }, ended("t6")],
    send("t7", { held: true }), // still open at the end
  );
  expect(transfers).toEqual({
    ...{ sends: 4, receives: 3, ok: 1, failed: 2, timeout: 1, waited: 1, unpublished: 1, late: 1 },
  });
  expect(hostWaits).toBe(1);
});

test("names are a run's own", () => {
  const counter = new MemoryCounter();
  const line = (op: string, args: object, ok: object): void =>
    counter.operation({ kind: "op", n: 1, op, args, ok } as OpLine);
  counter.run();
  line("net.send", { transfer: "t1", req: "r1", from: 0, to: 1 }, { pages: {}, epoch: 0 });
  counter.run();
  line("net.end", { transfer: "t1", outcome: "ok" }, { released: {}, late: false });
  expect(counter.result().transfers).toMatchObject({ sends: 1, ok: 0 });
});
