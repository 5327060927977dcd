// Contracts that hold at every level of `invariants`: nobody frees what a load has reserved, a page is freed by whoever
// holds it now, and forwards are launched, recorded and processed in order. A broken one changes nothing.
import { describe, expect, test } from "vitest";
import type { DirectConfig, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";
import type { Level } from "./trips.js";
import { granted, LEVELS, refused } from "./trips.js";

function booted(pageSize: number, invariants: Level): KVStorage {
  const config: DirectConfig = {
    page_size: pageSize,
    arena_bytes: 16 * 64 * 12,
    sub_pools: [
      { name: "mamba", kind: "state", unit_bytes: 96 },
      { name: "window_32", kind: "mha", window: 32, unit_bytes: 4 },
      { name: "full", kind: "mha", unit_bytes: 8 },
    ],
    rows: 4,
    row_tokens: 128,
    overlap: true,
    invariants,
  };
  const storage = new KVStorage(config, { digestDepth: null });
  granted(storage, { op: "boot", args: {} });
  granted(storage, { op: "row.alloc", args: { reqs: ["r1", "r2"] } });
  return storage;
}

const extend = (req: string, from: number, to: number): KvOperation => ({
  op: "tokens.extend",
  args: { batch: [{ req, from, to }] },
});
const free = (req: string, from: number, to: number): KvOperation => ({
  op: "tokens.free",
  args: { req, from, to, bands: "all" },
});
const finish = (len: number): KvOperation => ({
  op: "request.finish",
  args: { req: "r1", len, insert: false },
});
const launch = (step: string, mode: "extend" | "prebuilt" = "extend"): KvOperation => ({
  op: "forward.launch",
  args: { step, batch: [{ req: "r1", from: 0, to: 16 }], mode },
});
const record = (step: string): KvOperation => ({
  op: "forward.record",
  args: { step, writes: "known" },
});
const process = (step: string): KvOperation => ({ op: "forward.process", args: { step } });

const stateFree: KvOperation = { op: "state.free", args: { req: "r1", purpose: "main" } };
const BEGIN: KvOperation = { op: "group.begin", args: {} };
const END: KvOperation = { op: "group.end", args: {} };

describe.each(LEVELS)("invariants %i", (level) => {
  describe.each([1, 16])("page size %i", (pageSize) => {
    const reserved = (): KVStorage => {
      const storage = booted(pageSize, level);
      const demand = { full: 32 / pageSize, window_32: 16 / pageSize, mamba: 1 };
      granted(storage, { op: "host.load_reserve", args: { load: "l1", demand } });
      granted(storage, { op: "host.load_bind", args: { load: "l1", req: "r1", from: 0 } });
      return storage;
    };
    const rule = "free_outside_reservation";
    const FREES: readonly [string, KvOperation, object][] = [
      ["a free of all of it", free("r1", 0, 32), { band: "full", page: 0 }],
      ["a free of its tail", free("r1", 16, 32), { band: "full", page: 16 / pageSize }],
      ["a free of its slot", stateFree, { band: "mamba" }],
      ["a finish of its row", finish(32), { band: "full", page: 0 }],
      [
        "a retraction of its row",
        { op: "request.retract", args: { req: "r1" } },
        { band: "full", page: 0 },
      ],
    ];

    describe.each(FREES)("inside a load's reservation, %s", (_, operation, names) => {
      test.each([false, true])("in a group: %s", (grouped) => {
        const storage = reserved();
        if (grouped) granted(storage, BEGIN);
        expect(refused(storage, operation)).toEqual({ code: "invalid", rule, req: "r1", ...names });
        if (grouped) granted(storage, END);
        // The copy carries the pages from its submission on: the same free is granted then.
        granted(storage, { op: "host.load_submit", args: { load: "l1", copy: "c1" } });
        granted(storage, operation);
        granted(storage, { op: "host.load_done", args: { copy: "c1", outcome: "ok" } });
        const idle = granted(storage, { op: "check.idle", args: {} });
        expect(idle.ok).toEqual({ violations: [], skipped: false });
      });
    });

    test.each([false, true])(
      "a second free once the page is another's, in a group: %s",
      (grouped) => {
        const storage = booted(pageSize, level);
        granted(storage, extend("r1", 0, 16));
        const places = (req: string): unknown =>
          granted(storage, { op: "ask.translate", args: { req, from: 0, to: 16 } }).ok;
        const before = places("r1");
        if (grouped) granted(storage, BEGIN);
        granted(storage, free("r1", 0, 16));
        if (grouped) granted(storage, END);
        granted(storage, extend("r2", 0, 16));
        expect(places("r2")).toEqual(before); // the very pages
        if (grouped) granted(storage, BEGIN);
        const err = refused(storage, free("r1", 0, 16));
        expect(err).toEqual({
          ...{ code: "invalid", rule: "free_of_unbound_page" },
          ...{ req: "r1", band: "full", page: 0 },
        });
        if (grouped) granted(storage, END);
        expect(places("r2")).toEqual(before);
        const idle = granted(storage, { op: "check.idle", args: {} });
        expect(idle.ok).toEqual({ violations: [], skipped: false });
      },
    );
  });

  describe("forward steps", () => {
    const running = (...operations: KvOperation[]): KVStorage => {
      const storage = booted(16, level);
      granted(storage, extend("r1", 0, 16));
      granted(storage, { op: "state.alloc", args: { req: "r1", count: 1, purpose: "main" } });
      for (const operation of operations) granted(storage, operation);
      return storage;
    };

    test.each<[string, KvOperation]>([
      ["a take", extend("r1", 16, 32)],
      ["a take of no page", extend("r1", 16, 16)],
      ["a slot", { op: "state.alloc", args: { req: "r2", count: 1, purpose: "main" } }],
      ["a free", free("r1", 0, 16)],
      ["a free of a slot", stateFree],
      ["a finish", finish(16)],
      ["a retraction", { op: "request.retract", args: { req: "r1" } }],
      ["a retirement", { op: "window.retire", args: { req: "r1", len: 16 } }],
      ["a flush", { op: "chain.flush", args: {} }],
      ["a relief", { op: "chain.relieve", args: { demand: {} } }],
    ])("%s between launch and record", (_, operation) => {
      const storage = running(launch("f1"));
      expect(refused(storage, operation)?.rule).toBe("take_between_launch_and_record");
      granted(storage, record("f1"));
      granted(storage, operation);
    });

    test("a launch while another is open", () => {
      const storage = running(launch("f1"));
      expect(refused(storage, launch("f2"))?.rule).toBe("launch_open");
      granted(storage, record("f1"));
      granted(storage, launch("f2"));
    });

    test("processing in another order than that of the launches", () => {
      const storage = running(launch("f1"), record("f1"), launch("f2"), record("f2"));
      expect(refused(storage, process("f2"))?.rule).toBe("process_out_of_order");
      expect(refused(storage, process("f3"))?.rule).toBe("process_out_of_order");
      granted(storage, process("f1"));
      expect(refused(storage, process("f1"))?.rule).toBe("process_out_of_order");
      granted(storage, process("f2"));
    });

    test("processing before the record", () => {
      const storage = running(launch("f1"));
      expect(refused(storage, process("f1"))?.rule).toBe("process_out_of_order");
    });

    test("an event for a step without a forward, or a second one", () => {
      const storage = running(launch("f1", "prebuilt"));
      expect(refused(storage, record("f1"))?.rule).toBe("record_of_prebuilt");
      granted(storage, process("f1"));
      granted(storage, launch("f2"));
      granted(storage, record("f2"));
      expect(refused(storage, record("f2"))?.rule).toBe("name_state");
    });
  });
});
