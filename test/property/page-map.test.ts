// The page map against the full state it is made of: every page of every list stands in exactly one cell of its class,
// spans are covered without a gap, and who holds a page is who the rows and the tree say.
import { expect, test } from "vitest";
import { idsOf } from "../../src/base/extents.js";
import type { Answer, DirectConfig, Extents, KvOperation } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import type { BandState, State } from "../../src/base/state.js";
import { KVStorage } from "../../src/kv/storage.js";
import { geometryOfConfig } from "../../src/tools/view/geometry.js";
import { type Lane, type PageMap, pageMap } from "../../src/tools/view/page-map.js";
import { type Layout, LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { expectChanges, expectCover, expectLists } from "./map-checks.js";
import { type Counts, seedsOf, sweepPart, sweepTotal } from "./sweep.js";

const SEEDS = 100;
const OPERATIONS = 300;
const LOOKED_AT = 10; // states of a run, drawn anew for each
const PROFILES = ["default", "swarm", "tight", "transfers", "windows", "speculative"] as const;

/** Every page that a row or a node names by id is held by it; nobody else holds it. */
function expectHolders(lane: Lane, state: State, counts: Counts): void {
  const holders = new Map<number, Set<string>>();
  const note = (ids: Extents, who: string): void => {
    for (const id of idsOf(ids)) {
      if (id === 0) continue;
      const known = holders.get(id);
      if (known === undefined) holders.set(id, new Set([who]));
      else known.add(who);
    }
  };
  for (const [name, row] of Object.entries(state.rows)) {
    if (lane.kind !== "state") note(row["x_pages"] as Extents, `request ${name}`);
    else for (const slots of Object.values(row.slots)) note(slots, `request ${name}`);
  }
  for (const [place, node] of state.tree.entries()) {
    const { slots } = node as { slots: Record<string, { pages: Extents }> };
    note(slots[lane.band]?.pages ?? [], `node ${String(place)}`);
  }
  for (const cell of lane.cells) {
    if (cell.virtual === null) continue;
    for (let index = 0; index < cell.count; index++) {
      const told = cell.holders
        .filter(({ kind }) => kind === "request" || kind === "node")
        .map(({ kind, name }) => `${kind} ${name}`);
      expect(new Set(told)).toEqual(holders.get(cell.virtual + index) ?? new Set());
    }
    counts["held"] = (counts["held"] ?? 0) + (cell.holders.length > 0 ? 1 : 0);
    counts["unheld"] = (counts["unheld"] ?? 0) + (cell.holders.length > 0 ? 0 : 1);
  }
}

function runSeed(layout: Layout, pageSize: number, seed: number, counts: Counts): void {
  const weights = PROFILES[(seed + Math.floor(seed / 10)) % PROFILES.length]!; // within the list
  const workload = seededWorkload({ seed, ops: OPERATIONS, layout, pageSize, weights });
  const config = workload.config as DirectConfig; // a seeded run is in the direct form
  const storage = new KVStorage(config, { digestDepth: null });
  const prng = new Prng(seed, 21);
  const chosen = new Set(Array.from({ length: LOOKED_AT }, () => prng.below(OPERATIONS)));
  let arenaBytes = config.arena_bytes;
  let answer: Answer | null = null;
  let last: PageMap | null = null; // looked at before this one
  for (let n = 0; ; n++) {
    const step = workload.next(answer);
    if (step === null || !("operation" in step)) break;
    const operation = step.operation as KvOperation; // of domain kv
    answer = storage.apply(operation);
    if (operation.op === "arena.resize" && answer.ok !== undefined)
      arenaBytes = operation.args.arena_bytes;
    if (!chosen.has(n)) continue;
    const state = storage.state();
    const map = pageMap(state, geometryOfConfig(config, arenaBytes));
    for (const lane of map.lanes) {
      expectCover(map, lane);
      expectLists(lane, state[lane.band] as BandState);
      expectHolders(lane, state, counts);
      for (const { class: kind, count } of lane.cells) counts[kind] = (counts[kind] ?? 0) + count;
    }
    for (const [index, lane] of (last?.lanes ?? []).entries())
      counts["changes"] = (counts["changes"] ?? 0) + expectChanges(lane, map.lanes[index]!);
    last = map;
    counts["states"] = (counts["states"] ?? 0) + 1;
  }
}

const total: Counts = {};
for (const layout of LAYOUTS) {
  for (const pageSize of [1, 16]) {
    test(`page maps of ${layout}, pages of ${String(pageSize)}`, () => {
      for (const seed of seedsOf(SEEDS)) {
        const name = `page-map ${layout} p${String(pageSize)} seed ${String(seed)}`;
        const counts = sweepPart(name, () => {
          const fresh: Counts = {};
          runSeed(layout, pageSize, seed, fresh);
          return fresh;
        });
        for (const [key, count] of Object.entries(counts)) total[key] = (total[key] ?? 0) + count;
      }
    });
  }
}

test("every class of page and both kinds of ids were met", () => {
  for (const kind of [
    "live",
    "fixed",
    "hole",
    "pending",
    "vacated",
    "fenced",
    "free",
    "held",
    "changes",
  ])
    expect(total[kind] ?? 0, kind).toBeGreaterThan(0);
  sweepTotal(`page maps: ${JSON.stringify(total)}`);
});
