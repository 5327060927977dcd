// The prefix tree against a plain model of its rules, over seeds: answers, nodes, locks, conservation, copies, the way
// back to the boot state.
import { expect, test } from "vitest";
import { type Counts, seedsOf, sweepPart, sweepTotal } from "./sweep.js";
import { Story, storyConfig } from "./tree-story.js";

const SEEDS = 120;
const STEPS = 130;

for (const layout of ["full+window", "full+state", "full+window+state", "full+2window"] as const) {
  for (const pageSize of [1, 4]) {
    test(`tree laws on ${layout}, page size ${String(pageSize)}`, () => {
      const total: Counts = {};
      for (const seed of seedsOf(SEEDS)) {
        const name = `tree-laws ${layout} p${String(pageSize)} seed ${String(seed)}`;
        const counts = sweepPart(name, () => {
          const fresh: Counts = {};
          const story = new Story(storyConfig(layout, pageSize, seed), seed, fresh);
          for (let step = 0; step < STEPS; step++) {
            story.step();
            story.check();
          }
          story.drain();
          return fresh;
        });
        for (const [what, count] of Object.entries(counts))
          total[what] = (total[what] ?? 0) + count;
      }
      sweepTotal(`tree ${layout} p${String(pageSize)}: ${JSON.stringify(total)}`);
      const met = ["match hit", "duplicates", "nodes evicted", "victims for a demand"];
      if (layout.includes("window")) met.push("rehomed");
      if (layout.includes("state")) met.push("state.donate", "stalled", "state given at a finish");
      for (const what of met) expect(total[what], what).toBeGreaterThan(0);
    });
  }
}
