// Eviction for a demand while transfers and load reservations hold pages: counts alone do not tell what it gives, and the
// answer is exact all the same. Refused exactly where all would not do; else the demand fits afterwards.
import { expect, test } from "vitest";
import type { KvOperation } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import type { KVStorage } from "../../src/kv/storage.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { type Counts, seedsOf, sweepTotal } from "./sweep.js";
import { Story, storyConfig } from "./tree-story.js";

const SEEDS = 150;

/** Leaves cached pages under sends whose requests are gone, and pages fixed for a load. */
function hold(storage: KVStorage, prng: Prng): void {
  const apply = (operation: KvOperation): boolean => storage.apply(operation).err === undefined;
  for (const [name, row] of Object.entries(storage.state().rows)) {
    const { allocated } = row;
    if (allocated > 0 && prng.chance(2, 3)) {
      const from = prng.below(allocated);
      const to = prng.between(from + 1, allocated);
      apply({ op: "net.send", args: { transfer: `t${name}`, req: name, from, to } });
    }
    if (prng.chance(2, 3))
      apply({ op: "request.finish", args: { req: name, len: allocated, insert: false } });
  }
  const bands = Object.keys(storage.state()).filter((name) => name.startsWith("window"));
  const demand = Object.fromEntries(bands.map((name) => [name, prng.below(3)]));
  apply({ op: "host.load_reserve", args: { load: "l1", demand } });
}

test("eviction for a demand is exact under transfers and reservations", () => {
  const counts: Counts = { deferred: 0, fits: 0, evicted: 0, refused: 0 };
  const count = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);
  for (const seed of seedsOf(SEEDS)) {
    const layout = LAYOUTS[((seed / 10) % LAYOUTS.length) | 0] ?? "full+window";
    const config = { ...storyConfig(layout, seed % 20 === 0 ? 1 : 4, seed), host: { full: 8 } };
    const story = new Story(config, seed, {});
    const prng = new Prng(seed, 23);
    for (let step = 0; step < 120; step++) {
      story.step();
      if (step % 8 !== 7 || story.open !== null || story.model.inGroup) continue;
      const storage = story.storage.clone();
      hold(storage, prng);
      const demand = Object.fromEntries(
        config.sub_pools.map(({ name, kind }) => [name, prng.below(kind === "state" ? 4 : 24)]),
      );
      const fits = (of: KVStorage): boolean =>
        of.clone().apply({ op: "chain.relieve", args: { demand } }).err === undefined;
      const isFitting = fits(storage);
      const whole = storage.clone();
      const units = Object.fromEntries(config.sub_pools.map(({ name }) => [name, "all" as const]));
      const all = whole.apply({ op: "tree.evict", args: { units } });
      if ((all.ok as { deferred?: unknown }).deferred !== undefined) count("deferred");
      const before = JSON.stringify(storage.state());
      storage.takeDigest();
      const answer = storage.apply({ op: "tree.evict", args: { demand } });
      if (answer.err === undefined) {
        expect(fits(storage), JSON.stringify(demand)).toBe(true);
        count(isFitting ? "fits" : "evicted");
        if (isFitting) expect(answer.ok).toEqual({ freed: {}, nodes: 0 });
      } else {
        count("refused");
        expect(answer.err).toMatchObject({ code: "refused_capacity" });
        expect(storage.takeDigest()).toBeUndefined();
        const after = JSON.stringify(storage.state()).replace(/"clock":\d+/, "");
        expect(after).toBe(before.replace(/"clock":\d+/, ""));
      }
      expect(answer.err === undefined, JSON.stringify(demand)).toBe(isFitting || fits(whole));
      const idle = storage.apply({ op: "check.idle", args: {} });
      expect((idle.ok as { violations: unknown[] }).violations).toEqual([]);
    }
  }
  sweepTotal(`tree under transfers: ${JSON.stringify(counts)}`);
  for (const [name, met] of Object.entries(counts)) expect(met, name).toBeGreaterThan(3);
});
