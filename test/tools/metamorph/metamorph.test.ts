// Rewritten runs: the allocator keeps every rule on every profile, and each planted mistake is found by its rewrite.
import { expect, test } from "vitest";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import type { Answer, Operation } from "../../../src/base/operations.js";
import { metamorph, REWRITE_NAMES } from "../../../src/tools/metamorph/metamorph.js";
import type { MetamorphOptions, MetamorphResult } from "../../../src/tools/metamorph/metamorph.js";
import { seededWorkload, WEIGHT_NAMES } from "../../../src/workload/seeded.js";
import type { SeededWorkload } from "../../../src/workload/seeded.js";
import { FaultyAdapter, recorded } from "../faulty-adapter.js";
import type { Mistake } from "../faulty-adapter.js";

function run(seed: number, weights: string, ops = 200): SeededWorkload {
  const layout = seed % 2 === 0 ? "full+window" : "full+window+state";
  return seededWorkload({ seed, ops, layout, pageSize: seed % 2 === 0 ? 4 : 1, weights });
}

async function tried(
  trace: string,
  mistake: () => Mistake,
  options: Partial<MetamorphOptions> = {},
): Promise<MetamorphResult> {
  // each run on an implementation of its own, so that a mistake may keep a memory
  const start = async (): Promise<FaultyAdapter> => new FaultyAdapter(mistake());
  return metamorph({ trace, start, ...options });
}

for (const weights of WEIGHT_NAMES) {
  test(`nothing is found on seeded runs (${weights})`, async () => {
    const trace = await recorded([run(0, weights), run(1, weights)]);
    const start = async (): Promise<InProcessAdapter> => new InProcessAdapter();
    const result = await metamorph({ trace, start, seeds: [0, 1] });
    expect(result.findings).toEqual([]);
    expect(result.verdict).toBe("passed");
    expect(result.applied["names"]).toBe(4); // two runs, two seeds
    expect(result.operations).toBeGreaterThan(4 * 200);
  });
}

test("every rewrite is applied somewhere", async () => {
  const trace = await recorded([run(0, "default"), run(1, "default"), run(2, "steady")]);
  const start = async (): Promise<InProcessAdapter> => new InProcessAdapter();
  const { applied } = await metamorph({ trace, start });
  expect(Object.keys(applied)).toEqual([...REWRITE_NAMES]);
  for (const name of REWRITE_NAMES) expect(applied[name], name).toBeGreaterThan(0);
});

/** A wrong answer in place of a granted one. */
const refusal: Answer = { err: { code: "refused_ids", need: 1, free: 0 } };
const isTake = ({ op }: Operation, { ok }: Answer): boolean =>
  ok !== undefined && (op === "tokens.extend" || op === "tokens.decode");

// What an implementation does wrong, and the rewrite that must find it.
const MISTAKES: readonly (readonly [rewrite: (typeof REWRITE_NAMES)[number], () => Mistake])[] = [
  // its answers depend on how a request is called
  [
    "names",
    () => (_n, operation, right) =>
      isTake(operation, right) &&
      /[02468]$/.test(JSON.stringify(operation.args).match(/r\d+/)?.[0] ?? "")
        ? refusal
        : null,
  ],
  // it keeps nodes by their hash, the higher ones not at all
  [
    "hashes",
    () => (_n, operation, right) => {
      if (operation.op !== "tree.match" || right.ok === undefined) return null;
      const isHigh = operation.args.key.some(([hash]) => Number(hash) >= 100_000);
      return isHigh ? { ok: { len: 0, slots: {}, host: {} } } : null;
    },
  ],
  // a question makes it settle
  [
    "questions",
    () => {
      let asked = 0;
      return (_n, { op }, right) => {
        if (op.startsWith("ask.")) asked += 1;
        return op === "chain.flush" && right.ok !== undefined
          ? { ...right, fx: [...(right.fx ?? []), ["wait", `f${String(asked)}`]] }
          : null;
      };
    },
  ],
  // a refusal leaves something behind
  [
    "refusals",
    () => {
      let refused = 0;
      return (n, _operation, right) => {
        if (right.err !== undefined) refused += 1;
        return n > 20 && refused > 3 && right.digest?.["full"] !== undefined
          ? { ...right, digest: { ...right.digest, full: String(refused).padStart(16, "0") } }
          : null;
      };
    },
  ],
  // it reads an event to decide
  [
    "times",
    () => {
      let fired = 0;
      return (_n, operation, right) => {
        if (operation.op === "event.fire") fired += 1;
        return isTake(operation, right) && fired % 2 === 1
          ? { ...right, fx: (right.fx ?? []).slice(1) }
          : null;
      };
    },
  ],
  // what was taken and given back is lost
  [
    "pair",
    () => {
      let freed = 0;
      return (_n, operation, right) => {
        if (operation.op === "row.free" && right.ok !== undefined) freed += 1;
        return isTake(operation, right) && freed >= 2 ? refusal : null;
      };
    },
  ],
  // a batch costs by the operation, not by its entries
  [
    "batch",
    () => {
      let takes = 0;
      return (_n, operation, right) => {
        if (!isTake(operation, right)) return null;
        takes += 1;
        return takes % 40 === 0 ? refusal : null;
      };
    },
  ],
  // the first of two gets less
  [
    "swap",
    () => {
      let last = "";
      return (_n, operation, right) => {
        const now = JSON.stringify(operation.args);
        const isWrong = isTake(operation, right) && last > now;
        last = isTake(operation, right) ? now : "";
        return isWrong ? refusal : null;
      };
    },
  ],
];

for (const [rewrite, mistake] of MISTAKES) {
  test(`${rewrite}: a planted mistake is found, and named with its operation`, async () => {
    const weights = rewrite === "hashes" ? "steady" : "default";
    const trace = await recorded([0, 2, 4].map((seed) => run(seed, weights, 300)));
    // a fresh memory for every replay: one seed, one rewrite, one run at a time
    const findings = [];
    for (const id of [0, 2, 4].map((seed) => run(seed, weights, 300).run)) {
      const start = async (): Promise<FaultyAdapter> => new Forgetful(mistake);
      const result = await metamorph({
        trace,
        start,
        run: id,
        rewrites: [rewrite],
        seeds: [0, 1, 2],
      });
      findings.push(...result.findings);
    }
    expect(findings.length).toBeGreaterThan(0);
    for (const finding of findings) expect(finding).toMatchObject({ rewrite });
  });
}

/** A faulty implementation whose mistake begins anew with every run. */
class Forgetful extends FaultyAdapter {
  constructor(make: () => Mistake) {
    let current = make();
    super((n, operation, right) => {
      if (n === 0) current = make();
      return current(n, operation, right);
    });
  }
}

test("more at once changes nothing", async () => {
  const trace = await recorded([run(0, "default"), run(1, "default")]);
  const [, mistake] = MISTAKES[0]!;
  const one = await tried(trace, mistake, { seeds: [0, 1, 2] });
  const four = await tried(trace, mistake, { seeds: [0, 1, 2], jobs: 4 });
  expect(four).toEqual(one);
  expect(one.verdict).toBe("failed");
});

test("what is left out makes the verdict incomplete, and nothing rewritten is no pass", async () => {
  const trace = await recorded([run(0, "default"), run(1, "default")]);
  const none = (): Mistake => () => null;
  const half = await tried(trace, none, { shard: { index: 2, of: 2 } });
  expect(half).toMatchObject({ verdict: "incomplete", runs: 1, findings: [] });
  const late = await tried(trace, none, { isTimeOver: () => true });
  expect(late).toMatchObject({ verdict: "incomplete", rewritten: 0 });
  expect(await tried(trace, none, { rewrites: ["hashes"] })).toMatchObject({
    ...{ verdict: "incomplete", rewritten: 0 },
    notes: ["nothing could be rewritten"],
  });
});
