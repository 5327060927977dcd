// B019: a page that waited for a forward comes back where it would have come back at once. Two runs of the same frees, one
// with nothing in flight and one under a forward that is processed afterwards, hand out the same pages and ids next.
import { expect, test } from "vitest";
import type { DirectConfig, KvOperation } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import type { BandState } from "../../src/base/state.js";
import { KVStorage } from "../../src/kv/storage.js";
import { LAYOUTS, layoutConfig } from "../../src/workload/layouts.js";
import { granted } from "./trips.js";

const REQS = ["r1", "r2", "r3", "r4"];

/** Extends, then frees of whole rows, tails and windows, some of them in a group. */
function story(config: DirectConfig, prng: Prng): { grown: KvOperation[]; freed: KvOperation[] } {
  const size = config.page_size;
  const windows = config.sub_pools.filter(({ window }) => window !== undefined);
  const bands = windows.map(({ name }) => name);
  const hasState = config.sub_pools.some(({ kind }) => kind === "state");
  const grown: KvOperation[] = [{ op: "row.alloc", args: { reqs: [...REQS, "r9"] } }];
  const freed: KvOperation[] = [];
  const grouped = prng.below(3) === 0;
  if (grouped) freed.push({ op: "group.begin", args: {} });
  const tails: KvOperation[] = [];
  for (const req of REQS) {
    const pages = prng.between(1, 5);
    const to = pages * size - prng.below(size);
    grown.push({ op: "tokens.extend", args: { batch: [{ req, from: 0, to }] } });
    if (hasState && prng.below(2) === 0)
      grown.push({ op: "state.alloc", args: { req, count: prng.between(1, 2), purpose: "main" } });
    const cut = prng.below(pages) * size;
    const choice = prng.below(4);
    if (choice === 0 && bands.length > 0 && cut > 0)
      freed.push({ op: "tokens.free", args: { req, from: 0, to: cut, bands } });
    if (choice === 1) freed.push({ op: "tokens.free", args: { req, from: cut, to, bands: "all" } });
    if (choice >= 2) tails.push({ op: "request.finish", args: { req, len: to, insert: false } });
  }
  freed.push(...tails.reverse());
  if (grouped) freed.push({ op: "group.end", args: {} });
  return { grown, freed };
}

/** What the bands give out next: one page a take, of every token band, and a slot. */
function next(storage: KVStorage, config: DirectConfig, takes: number): unknown[] {
  const answers: unknown[] = [];
  for (let taken = 0; taken < takes; taken++) {
    const from = taken * config.page_size;
    const batch = [{ req: "r9", from, to: from + config.page_size }];
    answers.push(granted(storage, { op: "tokens.extend", args: { batch } }).ok);
    if (config.sub_pools.every(({ kind }) => kind !== "state")) continue;
    const slot: KvOperation = { op: "state.alloc", args: { req: "r9", count: 1, purpose: "main" } };
    answers.push(granted(storage, slot).ok);
  }
  return answers;
}

test("frees under a forward that is processed are frees with nothing in flight", () => {
  const counts = { pending: 0, several: 0, grouped: 0 };
  for (const [number, layout] of LAYOUTS.entries())
    for (const pageSize of [1, 3, 16])
      for (let seed = 0; seed < 12; seed++) {
        const prng = new Prng(seed, number * 100 + pageSize);
        const ranges = { fullPages: [80, 80], stateSlots: [20, 20], rows: [8, 8] } as const;
        const drawn = { ...ranges, moveCaps: [4096], overlap: true };
        const config = layoutConfig(layout, pageSize, drawn, prng);
        const { grown, freed } = story(config, prng);
        const steps = prng.between(1, 2);
        const takes = prng.between(1, 6);
        const [immediate, deferred] = [false, true].map((isDeferred) => {
          const storage = new KVStorage(config, { digestDepth: null });
          granted(storage, { op: "boot", args: {} });
          for (const operation of grown) granted(storage, operation);
          for (let step = 1; isDeferred && step <= steps; step++) {
            const name = `f${String(step)}`;
            const batch = REQS.map((req) => ({ req, from: 0, to: 1 }));
            granted(storage, { op: "forward.launch", args: { step: name, batch, mode: "extend" } });
            granted(storage, { op: "forward.record", args: { step: name, writes: "known" } });
          }
          for (const operation of freed) granted(storage, operation);
          const bands = config.sub_pools.map(({ name }) => storage.state()[name] as BandState);
          const pending = bands.filter((band) => band.pending.length > 0).length;
          if (!isDeferred) expect(pending).toBe(0);
          if (pending > 0) counts.pending += 1;
          if (pending > 1) counts.several += 1;
          for (let step = 1; isDeferred && step <= steps; step++)
            granted(storage, { op: "forward.process", args: { step: `f${String(step)}` } });
          return next(storage, config, takes);
        }) as [unknown[], unknown[]];
        if (freed[0]?.op === "group.begin") counts.grouped += 1;
        expect(deferred, `${layout} p${String(pageSize)} seed ${String(seed)}`).toEqual(immediate);
      }
  for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(30);
});

test("a chain of the tree loses its deepest page first, at once or under a forward", () => {
  for (const isDeferred of [false, true]) {
    const storage = new KVStorage(
      {
        page_size: 1,
        arena_bytes: 60,
        sub_pools: [
          { name: "window_2", kind: "mha", window: 2, unit_bytes: 4 },
          { name: "full", kind: "mha", unit_bytes: 2 },
        ],
        rows: 4,
        row_tokens: 16,
        overlap: true,
        prefix_sharing: true,
      },
      { digestDepth: null },
    );
    const key: [string, number][] = [["k", 3]];
    const insert = (len: number): KvOperation => ({
      op: "tree.insert",
      args: { req: "r1", key, len },
    });
    const batch = [{ req: "r1", from: 0, to: 3 }];
    const operations: KvOperation[] = [
      { op: "boot", args: {} },
      { op: "row.alloc", args: { reqs: ["r1"] } },
      { op: "tokens.extend", args: { batch } },
      ...[1, 2, 3].map(insert), // virtual pages 2, 3, 4, a node each
      { op: "forward.launch", args: { step: "f1", batch, mode: "extend" } },
      { op: "forward.record", args: { step: "f1", writes: "known" } },
      ...(isDeferred ? [] : [{ op: "forward.process", args: { step: "f1" } } as const]),
      { op: "request.finish", args: { req: "r1", len: 3, insert: false } },
    ];
    for (const operation of operations) granted(storage, operation);
    for (const deepest of [4, 3, 2]) {
      const answer = granted(storage, { op: "tree.evict", args: { units: { full: 1 } } });
      expect(answer.ok).toMatchObject({ freed: { virtual: [[deepest, 1]] }, nodes: 1 });
    }
  }
});
