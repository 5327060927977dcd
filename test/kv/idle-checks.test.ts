// What `check.idle` looks for, each broken by hand in the books of a run: nothing that a caller may do breaks them.
import { beforeEach, expect, test, vi } from "vitest";
import type { DirectConfig, KvOperation } from "../../src/base/operations.js";
import { EndBand } from "../../src/kv/alloc/end-band.js";
import { Invariants } from "../../src/kv/alloc/invariants.js";
import { PAGE } from "../../src/kv/alloc/band.js";
import type { TreeNode } from "../../src/kv/cache/tree-node.js";
import { chainConfig } from "../../src/kv/config.js";
import { KvCore } from "../../src/kv/core.js";
import { idleViolations } from "../../src/kv/operations/idle.js";
import { loadState } from "../../src/kv/state-io.js";
import { KVStorage } from "../../src/kv/storage.js";
import { granted } from "./trips.js";

const CONFIG: DirectConfig = {
  page_size: 1,
  arena_bytes: 240,
  sub_pools: [
    { name: "mamba", kind: "state", unit_bytes: 12 },
    { name: "window_4", kind: "mha", window: 4, unit_bytes: 4 },
    { name: "full", kind: "mha", unit_bytes: 4 },
  ],
  rows: 4,
  row_tokens: 32,
  overlap: true,
  prefix_sharing: true,
  host: { full: 4, window_4: 4, mamba: 2 },
};

const extend = (req: string, from: number, to: number): KvOperation => ({
  op: "tokens.extend",
  args: { batch: [{ req, from, to }] },
});

/** A cached prefix of two nodes, a request with a slot and tokens, a hole, and a page that waits for a forward. */
const OPERATIONS: readonly KvOperation[] = [
  { op: "boot", args: {} },
  { op: "row.alloc", args: { reqs: ["r1", "r2", "r3"] } },
  extend("r3", 0, 4),
  { op: "tree.insert", args: { req: "r3", key: [["p", 4]], len: 2 } },
  { op: "request.finish", args: { req: "r3", len: 4, insert: true, key: [["p", 4]] } },
  extend("r2", 0, 2),
  extend("r1", 0, 4),
  { op: "state.alloc", args: { req: "r1", count: 2, purpose: "main" } },
  { op: "tokens.free", args: { req: "r2", from: 1, to: 2, bands: "all" } },
  {
    op: "forward.launch",
    args: { step: "f1", batch: [{ req: "r2", from: 0, to: 1 }], mode: "extend" },
  },
  { op: "forward.record", args: { step: "f1", writes: "known" } },
  { op: "request.finish", args: { req: "r2", len: 1, insert: false } },
];

let core: KvCore;
beforeEach(() => {
  const storage = new KVStorage(CONFIG, { digestDepth: null });
  for (const operation of OPERATIONS) granted(storage, operation);
  core = new KvCore(CONFIG, chainConfig(CONFIG), { layout: true, deep: false });
  loadState(core, storage.state());
  core.chain.snapshot();
});

const window = (): KvCore["windowBands"][number] => core.windowBands[0]!;
const nodes = (): TreeNode[] => [...core.tree.walk()];
const request = (): NonNullable<ReturnType<KvCore["requests"]["find"]>> =>
  core.requests.find("r1")!;

test("books in order", () => {
  expect(idleViolations(core)).toEqual([]);
  expect(nodes()).toHaveLength(2);
  expect(core.chain.owner.holes.length).toBeGreaterThan(0);
  expect(core.chain.owner.pendingPages).toBeGreaterThan(0);
});

const PLANTS: readonly [check: string, what: string, plant: () => void][] = [
  ["page_conservation", "a page counted twice", () => (core.chain.owner.live += 1)],
  [
    "page_conservation",
    "a hole listed twice",
    () => core.chain.owner.holes.push(core.chain.owner.holes.toArray()[0]!),
  ],
  [
    "page_conservation",
    "a page lost from its list",
    () => (core.chain.owner.status[core.chain.owner.holes.toArray()[0]!] = PAGE.beyond),
  ],
  [
    "binding",
    "a page that names another id",
    () => (core.chain.owner.p2v[core.chain.owner.v2p[request().pages[0]!]!] = 0),
  ],
  ["id_conservation", "an id lost", () => core.chain.virtual.free.shift()],
  ["id_conservation", "a slot's id lost", () => core.chain.slots!.free.shift()],
  ["leak", "a row that forgets a page", () => (request().pages[0] = 0)],
  ["leak", "a request that forgets a slot", () => request().slots.main.pop()],
  [
    "bytes_disjoint",
    "two bands that overlap",
    () => {
      const { owner } = core.chain;
      if (owner instanceof EndBand) owner.span = owner.plan.pages - 3;
    },
  ],
  ["digest_drift", "a band's digest", () => (core.chain.owner.cells.a ^= 1)],
  ["digest_drift", "the rows' digest", () => (core.requests.cells.b ^= 1)],
  ["digest_drift", "the tree's digest", () => (core.tree.cells.a ^= 1)],
  ["digest_drift", "the transfers' digest", () => (core.net.cells.a ^= 1)],
  [
    "pending_without_forward",
    "pages that wait for nothing",
    () => core.chain.steps.unprocessed.splice(0),
  ],
  [
    "row_conservation",
    "a row that is nobody's",
    () => (core.requests.open as Map<string, unknown>).delete("r1"),
  ],
  ["stale_snapshot", "a count that pricing does not see", () => (core.chain.owner.live += 1)],
  [
    "stale_snapshot",
    "a hole that pricing does not see",
    () => window().holes.push(window().spanFirst),
  ],
  ["tree_counts", "a node not counted", () => (core.tree.nodes -= 1)],
  ["tree_counts", "pages not counted", () => (core.tree.evictable[core.chain.owner.index]! -= 1)],
  ["tree_locks", "a lock that nobody holds", () => (nodes()[0]!.locks[window().index]! += 1)],
  [
    "tree_lock_order",
    "a window locked and full not",
    () => (nodes()[0]!.locks[window().index]! += 1),
  ],
  ["tree_parents", "a node whose parent is gone", () => (nodes()[0]!.pages = null)],
  ["tree_empty_node", "a node that holds nothing", () => (nodes()[1]!.pages = null)],
  [
    "tree_window_unbound",
    "a window page that a node only thinks it has",
    () => (window().v2p[nodes()[1]!.pages![0]!] = 0),
  ],
  ["host_locks", "a host copy that nobody reads", () => (nodes()[1]!.hostLocks += 1)],
];

test.each(PLANTS)("%s: %s", (check, _, plant) => {
  plant();
  expect(idleViolations(core).map((violation) => violation.check)).toContain(check);
});

test("a leak is told with its page and the operation that took it", () => {
  const [virtual] = request().pages;
  const page = core.chain.owner.v2p[virtual!];
  request().pages[0] = 0;
  core.chain.owner.boundAt[page!] = 6;
  expect(idleViolations(core)).toContainEqual({ check: "leak", band: "full", page, taken_by: 6 });
});

test("what an internal check tells stands in the answer of its operation", () => {
  const storage = new KVStorage(CONFIG, { digestDepth: null });
  granted(storage, { op: "boot", args: {} });
  const told = vi.spyOn(Invariants.prototype, "takeTold").mockReturnValueOnce("broken: some check");
  expect(granted(storage, { op: "chain.flush", args: {} }).message).toBe("broken: some check");
  expect(granted(storage, { op: "chain.flush", args: {} }).message).toBeUndefined();
  told.mockRestore();
});
