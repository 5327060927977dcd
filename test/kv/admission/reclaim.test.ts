// Eviction for a demand over a real chain, with a cache of requests that nobody needs any more (B006).
import { expect, test } from "vitest";
import type { DirectConfig, KvOperation } from "../../../src/base/operations.js";
import { Prng } from "../../../src/base/prng.js";
import { type Evictor, reclaim } from "../../../src/kv/admission/reclaim.js";
import { chainConfig } from "../../../src/kv/config.js";
import { KvCore } from "../../../src/kv/core.js";
import { requestFinish } from "../../../src/kv/operations/frees.js";
import { idleViolations } from "../../../src/kv/operations/idle.js";
import { loadState } from "../../../src/kv/state-io.js";
import { KVStorage } from "../../../src/kv/storage.js";
import { LAYOUTS } from "../../../src/workload/layouts.js";
import { seededWorkload } from "../../../src/workload/seeded.js";

function coreOf(storage: KVStorage): KvCore {
  const config = storage.direct!;
  const core = new KvCore(config, chainConfig(config), { layout: false, deep: false });
  loadState(core, storage.state());
  return core;
}

/** Requests that may go, in order; each frees all that it holds. */
class RequestCache implements Evictor {
  readonly evicted: string[] = [];
  readonly #core: KvCore;
  readonly #names: string[];

  constructor(core: KvCore, names: readonly string[]) {
    this.#core = core;
    this.#names = [...names];
  }
  evictable(): number[] {
    const sums = this.#core.chain.bands.map(() => 0);
    for (const name of this.#names)
      for (const [index, pages] of this.#held(name).entries()) sums[index]! += pages;
    return sums;
  }
  evictNext(short: number | null): boolean {
    const at = this.#names.findIndex((name) => short === null || this.#held(name)[short]! > 0);
    if (at < 0) return false;
    const [name] = this.#names.splice(at, 1) as [string];
    this.evicted.push(name);
    const len = this.#core.requests.find(name)!.allocated;
    expect(requestFinish(this.#core, { req: name, len, insert: false }).err).toBeUndefined();
    return true;
  }
  #held(name: string): number[] {
    const request = this.#core.requests.find(name)!;
    return this.#core.chain.bands.map((band) => {
      if (band.plan.kind === "state")
        return Object.values(request.slots).reduce((sum, list) => sum + list.length, 0);
      return request.pages.filter((id) => id > 0 && band.v2p[id]! > 0).length;
    });
  }
}

/** Two locked states on pages 1 and 2 (bytes 6-18), full pages 10-12 (bytes 20-26) of a, b and c: a gap of 2 bytes. */
function b006(): KVStorage {
  const config: DirectConfig = {
    page_size: 1,
    arena_bytes: 20 + 6,
    sub_pools: [
      { name: "mamba", kind: "state", unit_bytes: 6 },
      { name: "full", kind: "mha", unit_bytes: 2 },
    ],
    rows: 4,
    row_tokens: 16,
  };
  const storage = new KVStorage(config, { digestDepth: null });
  const reqs = ["a", "b", "c", "s"];
  const operations: KvOperation[] = [
    { op: "boot", args: {} },
    { op: "row.alloc", args: { reqs } },
    { op: "state.alloc", args: { req: "s", count: 2, purpose: "main" } },
    {
      op: "tokens.extend",
      args: { batch: reqs.slice(0, 3).map((req) => ({ req, from: 0, to: 1 })) },
    },
  ];
  for (const operation of operations) expect(storage.apply(operation).err).toBeUndefined();
  return storage;
}

test("a state shortfall evicts both cached full pages; the survivor is packed, the take succeeds", () => {
  const core = coreOf(b006());
  const cache = new RequestCache(core, ["b", "c"]);
  const demand = core.chain.vector({ mamba: 1 });
  expect(core.chain.price(demand)).toMatchObject({ code: "refused_capacity", limit: "bytes" });
  expect(reclaim(core.chain, demand, cache)).toBeNull();
  expect(cache.evicted).toEqual(["b", "c"]);
  const plan = core.chain.price(demand);
  if (!("step" in plan)) throw new Error(plan.code);
  expect(core.chain.take(demand, plan)).toEqual({ pages: [[3], []], step: "flush_ends" });
  // a was on page 10, its bytes are needed up to 24: it moved to the high end.
  expect(core.chain.scope.take()).toContainEqual(["move", "full", [[10, 12]]]);
});

test("with one page evictable the answer is no and nothing is evicted", () => {
  const core = coreOf(b006());
  const cache = new RequestCache(core, ["c"]);
  const refusal = reclaim(core.chain, core.chain.vector({ mamba: 1 }), cache);
  expect(refusal).toEqual({ code: "refused_capacity", demand: { mamba: 1 }, limit: "bytes" });
  expect(cache.evicted).toEqual([]);
  expect(core.chain.owner.live).toBe(3);
});

test("what fits as it is evicts nothing; what lacks ids takes from the band that has them", () => {
  const core = coreOf(b006());
  const cache = new RequestCache(core, ["b", "s", "c"]);
  expect(reclaim(core.chain, core.chain.vector({ full: 1 }), cache)).toBeNull();
  expect(cache.evicted).toEqual([]);
  // Three slot ids in all, two taken: two more lack an id, and only s holds some.
  expect(reclaim(core.chain, core.chain.vector({ mamba: 2 }), cache)).toBeNull();
  expect(cache.evicted[0]).toBe("s");
});

test("over seeded chains: refused exactly when all would not do, and never one victim too many", () => {
  const counts = { fits: 0, evicted: 0, refused: 0, several: 0 };
  for (let seed = 0; seed < 60; seed++) {
    const layout = LAYOUTS[seed % LAYOUTS.length]!;
    const workload = seededWorkload({ seed, ops: 120, layout, pageSize: seed % 2 === 0 ? 1 : 3 });
    const storage = new KVStorage(workload.config, { digestDepth: null });
    const prng = new Prng(seed, 17);
    let answer = null;
    for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
      if (!("operation" in step)) continue;
      answer = storage.apply(step.operation as KvOperation);
      if (!prng.chance(1, 6)) continue;
      const state = storage.state();
      if (state.forwards.open !== null || coreOf(storage).group !== null) continue;
      const names = Object.keys(state.rows).filter(() => prng.chance(2, 3));
      const core = coreOf(storage);
      const demand = core.chain.bands.map((band) => prng.below(2 + (band.plan.pages >> 1)));
      const all = coreOf(storage);
      const whole = new RequestCache(all, names);
      while (whole.evictNext(null));
      const cache = new RequestCache(core, names);
      const fitted = core.chain.fits(demand);
      const refusal = reclaim(core.chain, demand, cache);
      expect(refusal === null, workload.run).toBe(fitted || all.chain.fits(demand));
      expect(idleViolations(core)).toEqual([]);
      if (refusal !== null || fitted) {
        expect(cache.evicted).toEqual([]);
        counts[fitted ? "fits" : "refused"] += 1;
        continue;
      }
      counts.evicted += 1;
      if (cache.evicted.length > 1) counts.several += 1;
      expect(core.chain.fits(demand)).toBe(true);
      // The last victim was needed: the same without it does not fit.
      const less = coreOf(storage);
      const fewer = new RequestCache(less, cache.evicted.slice(0, -1));
      while (fewer.evictNext(null));
      expect(less.chain.fits(demand), workload.run).toBe(false);
    }
  }
  console.log(`reclaim: ${JSON.stringify(counts)}`);
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(20);
});
