// Two recorded runs of which one has operations that the other lacks: the page walks both in pairs, says what stands alone, and
// shows on either side the map of the operations that this side was asked so far.
import { inflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Adapter } from "../../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import type { Operation } from "../../../src/base/operations.js";
import type { BandState } from "../../../src/base/state.js";
import { htmlPage } from "../../../src/report/html/page.js";
import { frameAt, knownFrames, Timeline } from "../../../src/report/html/shared/timeline.js";
import { unpack, type Unpacked } from "../../../src/report/html/shared/unpack.js";
import { compareFiles } from "../../../src/tools/compare-files.js";
import type { RunComparison } from "../../../src/tools/outcome.js";
import { collectView } from "../../../src/tools/view/collect.js";
import type { ViewData } from "../../../src/tools/view/view-data.js";
import type { Workload } from "../../../src/workload/workload.js";
import { type Line, readLines, recorded, seeds } from "../../tools/faulty-adapter.js";

const start = async (): Promise<Adapter> => new InProcessAdapter({ device: "none" });

/** The run of a trace with operations put in: at a place of the base, what comes before it. */
function withMore(lines: readonly Line[], more: ReadonlyMap<number, readonly Line[]>): Workload {
  const { run, config, source } = lines.find(({ kind }) => kind === "run");
  const asked: Operation[] = lines
    .filter(({ kind }) => kind === "op")
    .flatMap(({ n, op, args }) => [...(more.get(n) ?? []), { op, args }]);
  let at = 0;
  return {
    ...{ run, config, source },
    next: () => (at < asked.length ? { operation: asked[at++]! } : null),
  };
}

const ALLOC = { op: "row.alloc", args: { reqs: ["rmore"] } };
const EXTEND = { op: "tokens.extend", args: { batch: [{ req: "rmore", from: 0, to: 20 }] } };
const FREE = { op: "row.free", args: { req: "rmore" } };
const HEALTH = { op: "check.idle", args: {} };

interface Pair {
  readonly view: ViewData;
  readonly run: RunComparison;
  readonly sides: Readonly<Record<"base" | "candidate", readonly Operation[]>>;
  readonly config: Line;
}

async function paired(seed: number, isSwapped: boolean): Promise<Pair> {
  const plain = await recorded(seeds(seed, seed + 1, 150));
  const lines = readLines(plain);
  const more = new Map([
    [40, [ALLOC, EXTEND]],
    [90, [HEALTH, FREE]],
  ]);
  const longer = await recorded([withMore(lines, more)]);
  const [base, candidate] = isSwapped ? [longer, plain] : [plain, longer];
  const result = await compareFiles({ base, candidate });
  const run = result.runs[0]!;
  const implementation = { spec: "self", start };
  const { blocks } = run.alignment!;
  const view = await collectView({
    ...{ trace: base, run: null, base: implementation, focus: [] },
    candidate: { kind: "trace", trace: candidate, implementation, blocks },
    divergence: run.divergence!.n,
  });
  const operationsOf = (path: string): Operation[] =>
    readLines(path)
      .filter(({ kind }) => kind === "op")
      .map(({ op, args }) => ({ op, args }));
  const sides = { base: operationsOf(base), candidate: operationsOf(candidate) };
  return { view, run, sides, config: lines.find(({ kind }) => kind === "run").config };
}

function dataOf({ view, run }: Pair): Unpacked {
  const told = { command: "compare", mode: "exact", text: "", reproduce: null, notes: [] } as const;
  const { html } = htmlPage(view, { ...told, comparison: run });
  const base64 = /id="data">([\w+/=]*)<\/script>/.exec(html)![1]!;
  return unpack(new Uint8Array(inflateRawSync(Buffer.from(base64, "base64"))));
}

/** The ids of a band by page, as an implementation has them after each of the operations. */
async function idsAfter(
  operations: readonly Operation[],
  config: Line,
): Promise<Record<string, Map<number, number>>[]> {
  const adapter = await start();
  await adapter.open({ run: "r", domain: "kv", config, digestDepth: null });
  const found: Record<string, Map<number, number>>[] = [];
  for (const operation of operations) {
    await adapter.apply([operation]);
    const state = (await adapter.state())!;
    const ids: Record<string, Map<number, number>> = {};
    for (const { name } of config.sub_pools) {
      const { bindings } = state[name] as BandState;
      ids[name] = new Map(
        bindings.flatMap(([virtual, first, count]) =>
          Array.from({ length: count }, (_none, at) => [first + at, virtual + at] as const),
        ),
      );
    }
    found.push(ids);
  }
  await adapter.dispose();
  return found;
}

describe.each([
  [0, false],
  [1, false],
  [2, true],
  [3, true],
] as const)("seed %d, the base the longer one: %s", async (seed, isSwapped) => {
  const pair = await paired(seed, isSwapped);
  const data = dataOf(pair);
  const { m, only } = data.pairs!;
  const longer = isSwapped ? "base" : "candidate";
  const frames = [...only.keys()];

  test("every operation of either side stands once, in its order", () => {
    const here = frames.filter((frame) => only[frame] !== "candidate");
    const there = frames.filter((frame) => only[frame] !== "base");
    expect(here.map((frame) => data.n[frame])).toEqual([...pair.sides.base.keys()]);
    expect(there.map((frame) => m[frame])).toEqual([...pair.sides.candidate.keys()]);
    for (const frame of frames) {
      const [side, number] =
        only[frame] === "candidate" ? (["candidate", m] as const) : (["base", data.n] as const);
      const { op, args } = pair.sides[side][number[frame]!]!;
      expect(data.head.ops[data.op[frame]!]).toBe(op);
      expect(JSON.parse(data.details(frame)!.args)).toEqual(args);
    }
  });

  test("what was put in stands alone, before the operation that it came before", () => {
    const alone = frames.filter((frame) => only[frame] !== null);
    expect(new Set(alone.map((frame) => only[frame]))).toEqual(new Set([longer]));
    const names = alone.map((frame) => data.head.ops[data.op[frame]!]);
    expect([...names].sort()).toEqual(["check.idle", "row.alloc", "row.free", "tokens.extend"]);
    // an alignment that takes a neighbour of the same kind instead is as good
    const places = alone.map((frame) => (isSwapped ? m : data.n)[frame]!);
    for (const [at, put] of [40, 40, 90, 90].entries())
      expect(Math.abs(places[at]! - put)).toBeLessThanOrEqual(2);
    expect(frameAt(data.n, pair.run.divergence!.n)).toBeLessThanOrEqual(alone[0]!);
  });

  test("maps of both sides are those of what each was asked", async () => {
    for (const side of ["base", "candidate"] as const) {
      const ids = await idsAfter(pair.sides[side], pair.config);
      const known = knownFrames(data.n, data.head[side]!.knownTo);
      expect(known).toBe(data.n.length);
      const timeline = new Timeline(data.head.geometries, data.changes[side], known);
      const number = side === "base" ? data.n : m;
      const other = side === "base" ? "candidate" : "base";
      for (const frame of frames) {
        timeline.seek(frame);
        // what the other side has alone comes before this side's operation of the same number
        const state = ids[only[frame] === other ? number[frame]! - 1 : number[frame]!]!;
        for (const [lane, { band }] of timeline.geometry!.lanes.entries()) {
          const shown = [...timeline.lanes[lane]!.virtual.entries()].filter(([, id]) => id > 0);
          expect(new Map(shown), `${side} ${band} at ${frame}`).toEqual(state[band]);
        }
      }
    }
  });
});
