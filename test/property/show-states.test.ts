// `show --op` against the trace's own state lines: from a trace without them it replays to the very states, and its maps
// list of every band what they say, before and after, at operations drawn at random.
import { writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import type { BandState, State } from "../../src/base/state.js";
import { Prng } from "../../src/base/prng.js";
import { record } from "../../src/tools/record.js";
import { lookAt } from "../../src/tools/view/look-at.js";
import type { Look, Snapshot } from "../../src/tools/view/look.js";
import { createTraceWriter } from "../../src/trace/writer.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { freshPath, type Line, readLines } from "../tools/faulty-adapter.js";
import { expectCover, expectLists } from "./map-checks.js";
import { type Counts, seedsOf, sweepTotal } from "./sweep.js";

const SEEDS = 50;
const OPERATIONS = 200;
const LOOKED_AT = 4; // operations a run: 100 in all, 1,000 in the full run
const PROFILES = ["default", "swarm", "transfers", "windows"] as const;
const total: Counts = {};

const own = async (): Promise<InProcessAdapter> => new InProcessAdapter({ device: "none" });

/** As text without extensions, which a state that was read back may tell otherwise. */
function compared(state: State): unknown {
  return JSON.parse(
    JSON.stringify(state, (key, value: unknown) => (key.startsWith("x_") ? undefined : value)),
  );
}

function expectSnapshot(found: Snapshot | null, expected: State | null, where: string): void {
  if (expected === null) {
    expect(found, where).toBeNull();
    return;
  }
  if (found?.kind !== "kv" || found.map === null) return expect.fail(`${where}: no map`);
  expect(compared(found.state), where).toEqual(compared(expected));
  for (const lane of found.map.lanes) {
    expectCover(found.map, lane);
    expectLists(lane, expected[lane.band] as BandState);
  }
}

async function lookEachWay(
  paths: readonly string[],
  states: ReadonlyMap<number, State>,
  n: number,
) {
  const looks: Look[] = [];
  for (const trace of paths)
    looks.push(await lookAt({ trace, op: n, base: { spec: "self", start: own } }));
  for (const [index, { base, parting, line }] of looks.entries()) {
    const where = `operation ${String(n)} of ${paths[index]!}`;
    expect([parting, line.n, base.failure], where).toEqual([null, n, null]);
    expectSnapshot(base.before, n === 0 ? null : states.get(n - 1)!, `${where}, before`);
    expectSnapshot(base.after, states.get(n)!, `${where}, after`);
  }
  return looks.map(({ base }) => base.source);
}

/** Only some state lines are left: replays begin in the middle. */
function thinned(lines: readonly Line[], keep: (n: number) => boolean): string {
  const path = freshPath();
  const kept = lines.filter((line) => line["kind"] !== "state" || keep(line["n"] as number));
  writeFileSync(path, `${kept.map((line) => JSON.stringify(line)).join("\n")}\n`);
  return path;
}

for (const layout of LAYOUTS) {
  test(`states and maps of ${layout}`, async () => {
    for (const seed of seedsOf(SEEDS)) {
      const weights = PROFILES[(seed + Math.floor(seed / 10)) % PROFILES.length]!; // within the list
      const path = freshPath();
      const writer = createTraceWriter(path);
      const pageSize = seed % 4 === 0 ? 1 : 16;
      const workload = seededWorkload({ seed, ops: OPERATIONS, layout, pageSize, weights });
      const workloads = [workload];
      await record({ workloads, start: own, writer, digestDepth: "layout", stateEvery: 1 });
      writer.commit();
      const lines = readLines(path);
      const states = new Map(
        lines
          .filter((line) => line["kind"] === "state")
          .map((line) => [line["n"] as number, line["state"] as State]),
      );
      expect(states.size).toBe(OPERATIONS);
      const paths = [path, thinned(lines, () => false), thinned(lines, (n) => n % 37 === 5)];
      const prng = new Prng(seed, 31);
      for (let count = 0; count < LOOKED_AT; count++) {
        const n = prng.below(OPERATIONS);
        const [whole, none, some] = await lookEachWay(paths, states, n);
        expect(whole).toEqual({ from: "trace" });
        const begun = Math.floor((n - 1 - 5) / 37) * 37 + 5; // the last state line before it
        const replay = { from: "replay", spec: "self", isChecked: true, parting: null };
        expect(none).toEqual({ ...replay, after: -1, operations: n + 1 });
        if (n > 5) expect(some).toEqual({ ...replay, after: begun, operations: n - begun });
        total["operations"] = (total["operations"] ?? 0) + 1;
      }
    }
  });
}

afterAll(() => {
  sweepTotal(`show against state lines: ${String(total["operations"])} operations`);
});
