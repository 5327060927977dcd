// The maps of the page against the states in the trace: every band at 100 random operations, from the state's own fields.
import { describe, expect, test } from "vitest";
import { inflateRawSync } from "node:zlib";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import type { Adapter } from "../../../src/adapter/adapter.js";
import { expand } from "../../../src/base/extents.js";
import type { Extents } from "../../../src/base/values.js";
import { Prng } from "../../../src/base/prng.js";
import type { BandState, State } from "../../../src/base/state.js";
import { pack } from "../../../src/report/html/pack.js";
import { knownFrames, type LaneCells, Timeline } from "../../../src/report/html/shared/timeline.js";
import { unpack, type Unpacked } from "../../../src/report/html/shared/unpack.js";
import { record } from "../../../src/tools/record.js";
import { collectView } from "../../../src/tools/view/collect.js";
import { CELL_CODES } from "../../../src/tools/view/view-data.js";
import { createTraceWriter } from "../../../src/trace/writer.js";
import { seededWorkload } from "../../../src/workload/seeded.js";
import type { Layout } from "../../../src/workload/layouts.js";
import { freshPath, readLines } from "../../tools/faulty-adapter.js";

const LOOKS = 100;
const start = async (): Promise<Adapter> => new InProcessAdapter({ device: "none" });

async function recordedWithStates(seed: number, layout: Layout, weights: string): Promise<string> {
  const path = freshPath();
  const writer = createTraceWriter(path);
  const workloads = [seededWorkload({ seed, ops: 700, layout, pageSize: 16, weights })];
  await record({ workloads, start, writer, digestDepth: "layout", stateEvery: 1 });
  writer.commit();
  return path;
}

async function unpackedOf(trace: string, framesMax?: number): Promise<Unpacked> {
  const data = await collectView({
    trace,
    run: null,
    base: { spec: "self", start },
    candidate: { kind: "implementation", implementation: { spec: "self", start } },
    divergence: null,
    focus: [350],
    ...(framesMax === undefined ? {} : { framesMax }),
  });
  expect([data.base.note, data.candidate?.note]).toEqual([null, null]);
  return unpack(new Uint8Array(inflateRawSync(Buffer.from(pack(data, []).base64, "base64"))));
}

/** The class of every page in the span, from the state's fields alone. */
function classesOf(band: BandState): Map<number, string> {
  const classes = new Map<number, string>();
  for (const [, first, count] of band.bindings)
    for (let page = first; page < first + count; page++) classes.set(page, "live");
  for (const page of expand(band.fixed)) classes.set(page, "fixed");
  for (const page of expand(band.holes)) classes.set(page, "hole");
  for (const { pages } of band.pending)
    for (const page of expand(pages)) classes.set(page, "pending");
  for (const { pages } of band.vacated)
    for (const page of expand(pages)) classes.set(page, "vacated");
  return classes;
}

function idsOf(band: BandState): Map<number, number> {
  const ids = new Map<number, number>();
  for (const [virtual, first, count] of band.bindings)
    for (let index = 0; index < count; index++) ids.set(first + index, virtual + index);
  return ids;
}

const OUTSIDE = new Set(["elsewhere", "free", "fenced"]);

/** A row's pages are labelled with its request. */
function expectHolders(cells: LaneCells, labels: Unpacked["head"]["labels"], state: State): void {
  for (const [request, row] of Object.entries(state.rows)) {
    for (const virtual of expand(row["x_pages"] as Extents)) {
      const page = virtual > 0 ? cells.virtual.indexOf(virtual) : -1;
      if (page < 0) continue;
      expect(labels[cells.label[page]!]![0].split(" + ")).toContain(request);
    }
  }
}

function expectSame(timeline: Timeline, labels: Unpacked["head"]["labels"], state: State): void {
  for (const [lane, { band: name }] of (timeline.geometry?.lanes ?? []).entries()) {
    const band = state[name] as BandState;
    const cells = timeline.lanes[lane]!;
    const classes = classesOf(band);
    const ids = idsOf(band);
    for (let page = 0; page < cells.code.length; page++) {
      const told = CELL_CODES[cells.code[page]!]!;
      const truth = classes.get(page);
      if (truth === undefined) expect(OUTSIDE, `${name} ${page}`).toContain(told);
      else expect(told, `${name} ${page}`).toBe(truth);
      expect(cells.virtual[page], `${name} ${page}`).toBe(ids.get(page) ?? 0);
    }
    if (name === "full") expectHolders(cells, labels, state);
  }
}

describe("maps are what the states say", () => {
  test.each([
    [1, "full+window+state", "default"],
    [2, "full+window", "tight"],
    [3, "full+2window+state", "windows"],
    [4, "full+state", "transfers"],
    [5, "full+2window", "steady"],
  ] as const)("seed %d, layout %s, weights %s", async (seed, layout, weights) => {
    const trace = await recordedWithStates(seed, layout, weights);
    const lines = readLines(trace);
    const states = new Map<number, State>(
      lines.filter(({ kind }) => kind === "state").map(({ n, state }) => [n, state]),
    );
    const data = await unpackedOf(trace);
    const random = new Prng(seed, 7);
    for (const side of ["base", "candidate"] as const) {
      const known = knownFrames(data.n, data.head[side]?.knownTo ?? null);
      const timeline = new Timeline(data.head.geometries, data.changes[side], known);
      expect(known).toBe(data.n.length);
      for (let look = 0; look < LOOKS; look++) {
        const frame = random.between(0, data.n.length - 1);
        timeline.seek(frame);
        const state = states.get(data.n[frame]!);
        if (state !== undefined) expectSame(timeline, data.head.labels, state);
      }
    }
    expect(states.size).toBeGreaterThan(600);
  });
});
