// Walking a run in any order tells the states that the trace's own lines tell, on both sides; breakpoints stop at exactly the
// operations that they name.
import { beforeAll, describe, expect, test } from "vitest";
import type { Adapter } from "../../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import { UsageError } from "../../../src/base/errors.js";
import { Prng } from "../../../src/base/prng.js";
import type { BandState, State } from "../../../src/base/state.js";
import { record } from "../../../src/tools/record.js";
import {
  type Breakpoint,
  breakpointText,
  parseBreakpoint,
} from "../../../src/tools/view/breakpoints.js";
import type { NamedStart, Snapshot } from "../../../src/tools/view/look.js";
import { type WalkOptions, Walker } from "../../../src/tools/view/walker.js";
import { createTraceWriter } from "../../../src/trace/writer.js";
import { seededWorkload } from "../../../src/workload/seeded.js";
import {
  at,
  FaultyAdapter,
  freshPath,
  type Line,
  type Mistake,
  readLines,
  right,
  writeLines,
} from "../faulty-adapter.js";

const OPERATIONS = 150;
const own = async (): Promise<Adapter> => new InProcessAdapter({ device: "none" });
const SELF: NamedStart = { spec: "self", start: own };
const faulty = (mistake: Mistake, fromState = true): NamedStart => ({
  spec: "planted",
  start: async () => new FaultyAdapter(mistake, null, { fromState }),
});

let lines: readonly Line[] = [];
let ops: readonly Line[] = [];
let states: ReadonlyMap<number, State> = new Map();
let bare = ""; // without state lines
let some = ""; // with a few

beforeAll(async () => {
  const path = freshPath();
  const writer = createTraceWriter(path);
  const options = { seed: 3, layout: "full+window+state", pageSize: 16, weights: "swarm" } as const;
  const workloads = [seededWorkload({ ...options, ops: OPERATIONS })];
  await record({ workloads, start: own, writer, digestDepth: "layout", stateEvery: 1 });
  writer.commit();
  lines = readLines(path);
  ops = lines.filter(({ kind }) => kind === "op");
  states = new Map(
    lines.flatMap(({ kind, n, state }) =>
      kind === "state" ? [[n as number, state as State]] : [],
    ),
  );
  bare = writeLines(lines.filter(({ kind }) => kind !== "state"));
  some = writeLines(lines.filter(({ kind, n }) => kind !== "state" || n % 41 === 7));
});

async function walking<T>(
  options: Partial<WalkOptions>,
  work: (walker: Walker) => Promise<T>,
): Promise<T> {
  const walker = await Walker.open({ trace: bare, base: SELF, ...options });
  try {
    return await work(walker);
  } finally {
    await walker.dispose();
  }
}

const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, part: unknown) => (key.startsWith("x_") ? undefined : part)),
  );
function expectState(snapshot: Snapshot | null, n: number): void {
  if (n < 0) {
    expect(snapshot).toBeNull();
    return;
  }
  expect(snapshot?.kind === "kv" && plain(snapshot.state), `operation ${String(n)}`).toEqual(
    plain(states.get(n)),
  );
}

describe("any order", () => {
  test.each([
    ["no state lines", () => bare, faulty(right)],
    ["some state lines", () => some, faulty(right)],
    ["a side that starts from no state", () => some, faulty(right, false)],
  ] as const)("%s: every look tells the states of the lines", async (_name, trace, candidate) => {
    await walking({ trace: trace(), candidate }, async (walker) => {
      const prng = new Prng(5, 1);
      expect([walker.first, walker.last]).toEqual([0, OPERATIONS - 1]);
      for (let count = 0; count < 40; count++) {
        const n = prng.below(OPERATIONS);
        const { base, candidate: other, line } = await walker.look(n);
        expect(line).toMatchObject({ n, op: ops[n].op });
        for (const side of [base, other!]) {
          expectState(side.before, n - 1);
          expectState(side.after, n);
          expect(side.answer).toMatchObject(ops[n].ok === undefined ? {} : { ok: ops[n].ok });
        }
      }
      expect(walker.hasParted).toBe(false);
    });
  });

  test("a side that breaks has no state from there on, and has it again before", async () => {
    const mistake = at(60, () => ({ kind: "crash", message: "planted" }));
    await walking({ candidate: faulty(mistake) }, async (walker) => {
      for (const n of [59, 60, 61, 40, 60, 149, 59]) {
        const { candidate } = await walker.look(n);
        const isThere = n < 60;
        expect(candidate!.after !== null, String(n)).toBe(isThere);
        expect(candidate!.answer !== null).toBe(isThere);
        expect(candidate!.failure?.kind).toBe(isThere ? undefined : "crash");
      }
    });
  });

  test("what stands in for the trace and answers otherwise tells no state from there on", async () => {
    const mistake = at(60, () => ({ err: { code: "refused_rows" } }));
    await walking({ base: faulty(mistake) }, async (walker) => {
      expectState((await walker.look(59)).base.after, 59);
      expect(walker.hasParted).toBe(false);
      const { base } = await walker.look(70);
      expect([base.after, base.source.from]).toEqual([null, "nowhere"]);
      expect(walker.hasParted).toBe(true);
      expectState((await walker.look(30)).base.after, 30);
    });
  });
});

/** Every operation at which the breakpoints stop. */
async function stopsOf(walker: Walker, ...texts: readonly string[]): Promise<number[]> {
  const points = texts.map((text) => parseBreakpoint(text, walker.scope));
  const found: number[] = [];
  for (let n = 0; ;) {
    const stop = await walker.next(n, points);
    if (stop.on === null) {
      expect(stop.n).toBe(walker.last);
      return found;
    }
    n = stop.n;
    found.push(n);
  }
}

/** The operations behind the first one that a law names. */
function expected(law: (line: Line, n: number) => boolean): number[] {
  const found = ops.flatMap((line, n) => (n > 0 && law(line, n) ? [n] : []));
  expect(found.length, "the run has what is looked for").toBeGreaterThan(0);
  return found;
}

const band = (n: number, name: string): BandState => states.get(n)![name] as BandState;

describe("breakpoints", () => {
  test("on kinds, refusals and requests", async () => {
    await walking({}, async (walker) => {
      expect(await stopsOf(walker, "op=tokens.extend")).toEqual(
        expected(({ op }) => op === "tokens.extend"),
      );
      expect(await stopsOf(walker, "op=tree.*", "op=check.idle")).toEqual(
        expected(({ op }) => op.startsWith("tree.") || op === "check.idle"),
      );
      expect(await stopsOf(walker, "refused")).toEqual(expected(({ err }) => err !== undefined));
      expect(await stopsOf(walker, "refused=invalid")).toEqual(
        expected(({ err }) => err?.code === "invalid"),
      );
      expect(await stopsOf(walker, "request=r2")).toEqual(
        expected((line) => /"r2"/.test(JSON.stringify([line.args, line.ok ?? line.err]))),
      );
    });
  });

  test("on pages: where a page becomes live, ceases to be, or moves it stops", async () => {
    await walking({}, async (walker) => {
      const bound = [...states.keys()].find((n) => band(n, "full").bindings.length > 0)!;
      const page = band(bound, "full").bindings[0]![1]; // the first one that was ever bound
      const isLive = (n: number): boolean =>
        band(n, "full").bindings.some(([, at, count]) => page >= at && page < at + count);
      const stops = new Set(await stopsOf(walker, `page=full:${String(page)}`));
      for (const n of expected((_line, n) => isLive(n) !== isLive(n - 1)))
        expect(stops.has(n), `operation ${String(n)}`).toBe(true);
    });
  });

  test("on numbers of the state, where they become true", async () => {
    await walking({ trace: some }, async (walker) => {
      const becomes = (is: (n: number) => boolean): number[] =>
        expected((_line, n) => is(n) && !is(n - 1));
      expect(await stopsOf(walker, "state=full.live>12")).toEqual(
        becomes((n) => band(n, "full").live > 12),
      );
      expect(await stopsOf(walker, "state=rows>=3")).toEqual(
        becomes((n) => Object.keys(states.get(n)!.rows).length >= 3),
      );
      expect(await stopsOf(walker, "state = chain.move_epoch = 1".replaceAll(" ", ""))).toEqual(
        becomes((n) => states.get(n)!.chain.move_epoch === 1),
      );
    });
  });

  test("on differences of two sides: the answer that differs, and nothing else", async () => {
    const mistake = at(60, (answer) => ({ ...answer, fx: [["reset", [[1, 1]]]] }));
    await walking({ candidate: faulty(mistake) }, async (walker) => {
      expect(await stopsOf(walker, "differs")).toEqual([60]);
      expect((await walker.look(60)).candidate!.answer!.fx).toEqual([["reset", [[1, 1]]]]);
    });
  });

  test("what is written is read back", async () => {
    await walking({ candidate: SELF }, async ({ scope }) => {
      const read = (text: string): Breakpoint => parseBreakpoint(text, scope);
      for (const text of [
        ...["op=boot", "op=host.*", "request=r1", "page=full:3", "page=mamba:3..9", "refused"],
        ...["refused=refused_ids", "differs", "state=full.live>=0.5", "state=net!=-1"],
      ])
        expect(breakpointText(read(text))).toBe(text);
    });
  });

  test.each([
    ["op=tokens.extnd", /did you mean tokens\.extend\?/],
    ["opp=boot", /did you mean op\?/],
    ["op=", /op=KIND/],
    ["op=heap.alloc", /op=KIND/],
    ["request=", /request=ID/],
    ["page=fulll:3", /did you mean full\?/],
    ["page=full", /page=BAND:ID/],
    ["page=full:9..3", /in order/],
    ["page=full:99999999999999999999", /in order/],
    ["refused=refused_capacty", /did you mean refused_capacity\?/],
    ["differs", /needs --candidate/],
    ["differs=1", /differs alone/],
    ["state=full.live", /PATH>NUMBER/],
    ["state=ful.live>3", /did you mean full\?/],
    ["state=full..live>3", /PATH/],
    ["state=process.exit()>0", /PATH/],
    ["", /expected op=KIND/],
  ])("%j is refused in one line", async (text, message) => {
    await walking({}, async ({ scope }) => {
      expect(() => parseBreakpoint(text, scope)).toThrow(message);
      expect(() => parseBreakpoint(text, scope)).toThrow(UsageError);
    });
  });
});
