// Over histories of any shape the first divergent commit is found, or it is among those that are named.
import { expect, test } from "vitest";
import type { Adapter } from "../../../src/adapter/adapter.js";
import { CandidateError, UsageError } from "../../../src/base/errors.js";
import { Prng } from "../../../src/base/prng.js";
import { bisectCommits } from "../../../src/tools/bisect/commits.js";
import type { BisectCommitsOptions, CommitHistory } from "../../../src/tools/bisect/commits.js";
import { at, FaultyAdapter, recorded, right, seeds } from "../faulty-adapter.js";

const trace = await recorded(seeds(0, 1, 4));
const wrong = at(1, () => ({ err: { code: "refused_rows", need: 1, free: 0 } }));

/** Commits 0, 1, …, each with its parents, which come before it. */
class DrawnHistory implements CommitHistory {
  readonly parents: readonly (readonly number[])[];

  constructor(random: Prng, count: number) {
    this.parents = Array.from({ length: count }, (_, commit) => {
      if (commit === 0) return [];
      const near = Math.max(0, commit - 1 - random.below(3)); // a few lines side by side
      return random.below(4) === 0 ? [...new Set([near, random.below(commit)])] : [near];
    });
  }

  reach(commit: number): Set<number> {
    const found = new Set([commit]);
    for (const one of found) for (const parent of this.parents[one]!) found.add(parent);
    return found;
  }
  left(bad: string, goods: readonly string[]): number[] {
    const known = new Set(goods.flatMap((good) => [...this.reach(Number(good))]));
    return [...this.reach(Number(bad))].filter((commit) => !known.has(commit));
  }
  async between(bad: string, goods: readonly string[]): Promise<string[]> {
    const left = this.left(bad, goods);
    const distance = (commit: number): number => {
      const below = [...this.reach(commit)].filter((one) => left.includes(one)).length;
      return Math.min(below, left.length - below);
    };
    return left.sort((a, b) => distance(b) - distance(a) || a - b).map(String);
  }
  async inOrder(bad: string, goods: readonly string[]): Promise<string[]> {
    return this.left(bad, goods)
      .sort((a, b) => a - b)
      .map(String);
  }
  async mergeBases(left: string, right_: string): Promise<string[]> {
    const other = this.reach(Number(right_));
    const common = [...this.reach(Number(left))].filter((commit) => other.has(commit));
    const isBest = (commit: number): boolean =>
      !common.some((one) => one !== commit && this.reach(one).has(commit));
    return common.filter(isBest).map(String);
  }
  async describe(commit: string): ReturnType<CommitHistory["describe"]> {
    return { commit, subject: `commit ${commit}`, author: "Somebody", date: "2026-01-01" };
  }
}

interface Drawn extends Pick<BisectCommitsOptions, "history" | "start"> {
  readonly isBad: (commit: number) => boolean;
  readonly tests: string[];
}

/** A history in which the commits that have `first` in them diverge and some cannot be judged. */
function drawn(history: DrawnHistory, first: number, skipped: ReadonlySet<number>): Drawn {
  const isBad = (commit: number): boolean => history.reach(commit).has(first);
  const tests: string[] = [];
  const start = (commit: string) => async (): Promise<Adapter> => {
    tests.push(commit);
    if (skipped.has(Number(commit))) throw new CandidateError("candidate_start", "does not build");
    return new FaultyAdapter(isBad(Number(commit)) ? wrong : right);
  };
  return { history, start, isBad, tests };
}
const named = (commit: number): { ref: string; commit: string } => ({
  ref: `r${String(commit)}`,
  commit: String(commit),
});

test("over drawn histories with merges and commits that do not build", async () => {
  let severals = 0;
  for (let seed = 0; seed < 120; seed++) {
    const random = new Prng(seed);
    const count = 4 + random.below(24);
    const history = new DrawnHistory(random, count);
    const first = 1 + random.below(count - 1);
    const all = Array.from({ length: count }, (_, commit) => commit);
    const good = random.below(first); // came before it, so it cannot have it
    const bads = all.filter((commit) => history.reach(commit).has(first));
    const bad = bads[random.below(bads.length)]!;
    const isAny = random.below(2) === 0;
    const ends = [good, bad, ...(await history.mergeBases(String(good), String(bad))).map(Number)];
    const skipped = new Set(
      all.filter((commit) => isAny && random.below(3) === 0 && !ends.includes(commit)),
    );
    const { start, tests } = drawn(history, first, skipped);
    const options = { trace, history, start, good: named(good), bad: named(bad) };
    const result = await bisectCommits(options);
    const candidates = result.candidates.map(({ commit }) => Number(commit));
    const context = { seed, first, candidates };
    expect(candidates, JSON.stringify(context)).toContain(first);
    expect(result.verdict).toBe(candidates.length === 1 ? "found" : "several");
    // of several only one is known to diverge; nothing is known of the others
    for (const commit of candidates)
      expect(skipped.has(commit) || String(commit) === result.first.commit).toBe(true);
    if (skipped.size === 0) expect({ seed, candidates }).toEqual({ seed, candidates: [first] });
    expect(new Set(tests).size).toBe(tests.length); // none is tested twice
    if (candidates.length > 1) severals += 1;
  }
  expect(severals).toBeGreaterThan(5); // the seeds do reach it
});

test("ends that are not what they are said to be", async () => {
  // 0 - 1 - 2 - 3, and 4 beside 3: 2 brings the divergence in
  const history = new DrawnHistory(new Prng(0), 1);
  const parents = [[], [0], [1], [2], [2]];
  Object.assign(history, { parents });
  const { start } = drawn(history, 2, new Set());
  const search = (good: number, bad: number, more: Partial<BisectCommitsOptions> = {}) =>
    bisectCommits({ trace, history, start, good: named(good), bad: named(bad), ...more });
  await expect(search(2, 3)).rejects.toThrow(/--good r2 diverges already, at operation 1/);
  await expect(search(0, 1)).rejects.toThrow(/--bad r1 is equal to the trace/);
  await expect(search(1, 1)).rejects.toThrow(/the same commit/);
  await expect(search(2, 3)).rejects.toThrow(UsageError);
  // put right: 3 is equal though what it stands on diverges
  const fixed = (commit: string) => async (): Promise<Adapter> =>
    new FaultyAdapter(commit === "3" || commit < "2" ? right : wrong);
  await expect(search(3, 2, { start: fixed })).rejects.toThrow(/--good r3 comes after --bad r2/);
  await expect(search(3, 4, { start: fixed })).rejects.toThrow(
    /commit 2, where the lines of --good r3 and --bad r4 meet, diverges already/,
  );
});

test("a trace that cannot be read ends the search instead of skipping every commit", async () => {
  const history = new DrawnHistory(new Prng(1), 4);
  const { start } = drawn(history, 2, new Set());
  const options = { history, start, good: named(0), bad: named(3) };
  await expect(bisectCommits({ ...options, trace: `${trace}.gone` })).rejects.toMatchObject({
    exitCode: 3,
  });
});
