// The look behind a first divergence goes on with what the first look holds in memory and its reader. It finds what a second
// reading of the whole trace finds, wherever in the file the run and its divergence lie.
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import type { Answer } from "../../../src/base/operations.js";
import type { CompareTraceOptions } from "../../../src/tools/compare-options.js";
import { compareTrace } from "../../../src/tools/compare-trace.js";
import type { RunComparison } from "../../../src/tools/outcome.js";
import {
  at,
  FaultyAdapter,
  freshPath,
  type Mistake,
  readLines,
  recorded,
  seeds,
} from "../faulty-adapter.js";

const PAST = 256; // operations that `first` looks at behind a divergence
const many = await recorded(seeds(0, 5));
const long = await recorded(seeds(0, 1, 5000)); // more than is held
const between = await recorded([...seeds(1, 3, 40), ...seeds(3, 4, 900), ...seeds(5, 6, 40)]);

const changes: readonly [string, (answer: Answer) => Answer][] = [
  ["digest", (answer) => ({ ...answer, digest: { ...answer.digest, full: "0123456789abcdef" } })],
  [
    "effects",
    ({ fx, ...answer }) => (fx === undefined ? { ...answer, fx: [["reset", [[1, 1]]]] } : answer),
  ],
  ["refusal", ({ digest }) => ({ err: { code: "refused_capacity" }, ...(digest && { digest }) })],
];

async function looked(
  trace: string,
  run: string,
  mistake: Mistake,
  how: Partial<CompareTraceOptions>,
): Promise<Partial<RunComparison> | undefined> {
  const start = async (): Promise<FaultyAdapter> => new FaultyAdapter(mistake, run);
  const result = await compareTrace({ trace, candidate: "planted", start, ...how });
  const found = result.runs.find((each) => each.run === run);
  // a run that is left at its divergence was not read to its end
  return found && { ...found, operations: 0 };
}

describe.each([
  ["short runs", many],
  ["a run longer than what is held", long],
  ["a long run among short ones", between],
])("%s", (_name, trace) => {
  const lines = readLines(trace);
  const runs = lines.filter(({ kind }) => kind === "run").map(({ run }): string => run);
  const lengths = lines.filter(({ kind }) => kind === "end").map(({ ops }): number => ops);

  test.each(changes)("%s", async (_change, change) => {
    const prng = new Prng(lines.length);
    let divergent = 0;
    for (let round = 0; round < 6; round++) {
      const index = prng.below(runs.length);
      const [run, length] = [runs[index]!, lengths[index]!];
      const n = round === 0 ? length - 1 : 1 + prng.below(length - 1);
      const mistake = at(n, (answer) => change(answer));
      const whole = await looked(trace, run, mistake, { past: PAST });
      if ((whole?.divergence ?? null) !== null) divergent += 1;
      expect(await looked(trace, run, mistake, { first: true }), `${run} ${n}`).toEqual(whole);
    }
    expect(divergent).toBeGreaterThan(1);
  });
});

test.each([1, 10, 250])(
  "a bad line %i operations behind the divergence hides nothing",
  async (behind) => {
    const text = readFileSync(long, "utf8").split("\n");
    const place = text.findIndex((line) => line.includes('"n":30,'));
    const bad = freshPath();
    const head = text.slice(0, place + behind + 1);
    writeFileSync(bad, [...head, "{not json", ...text.slice(head.length)].join("\n"));
    const mistake = at(30, (answer) => changes[0]![1](answer));
    const start = async (): Promise<FaultyAdapter> => new FaultyAdapter(mistake);
    for (const first of [true, false]) {
      const result = await compareTrace({ trace: bad, candidate: "planted", start, first });
      expect(result.verdict).toBe("divergent");
      const [run] = result.runs;
      expect([run?.divergence?.n, run?.examination?.upTo]).toEqual([30, 30 + behind]);
      expect(run?.examination?.isWhole).toBe(false);
      if (first) expect(result.error).toBeNull();
      else expect(result.error?.describe()).toMatch(/not JSON/);
    }
  },
);

test("a candidate that does not do the same again is flaky at once too", async () => {
  let starts = 0;
  const once = async (): Promise<FaultyAdapter> => {
    starts += 1;
    const isFirst = starts === 1;
    return new FaultyAdapter((n, _operation, right) =>
      isFirst && n === 30 ? { ...right, fx: [] } : null,
    );
  };
  const result = await compareTrace({
    trace: many,
    candidate: "planted",
    start: once,
    first: true,
  });
  expect(result.verdict).toBe("flaky");
});
