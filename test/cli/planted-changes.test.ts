// Twelve changes of behaviour, each made in the built sources of a checkout: `compare` tells the kind, the operation, the
// component and the cause of each, and which weaker modes still hold.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { openAdapter } from "../../src/adapter/open-adapter.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import type { CompareMode } from "../../src/tools/equality/modes.js";
import type { CompareResult, RunComparison } from "../../src/tools/outcome.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import type { Workload } from "../../src/workload/workload.js";
import { type Line, readLines, recorded } from "../tools/faulty-adapter.js";
import { folder, root } from "./command-line.js";

const checkout = join(folder, "checkout");
const starts = join(folder, "starts.txt"); // one letter a start of the flaky change

const workloads = [0, 1, 2, 3, 4, 5].map((seed) =>
  seededWorkload({
    seed,
    ops: 200,
    layout: seed % 2 === 0 ? "full+window+state" : "full+window",
    pageSize: seed % 3 === 0 ? 1 : 16,
  }),
);
const trace = await recorded(workloads);
const lines = readLines(trace);

beforeAll(() => {
  mkdirSync(checkout);
  symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
  // copies: a module's imports are looked for beside its real place
  for (const name of ["bin", "package.json"]) {
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  }
  const isScript = (path: string): boolean => !/\.(map|d\.ts|tsbuildinfo)$/.test(path);
  cpSync(join(root, "dist"), join(checkout, "dist"), { recursive: true, filter: isScript });
});

interface Change {
  readonly name: string;
  readonly file: string; // below dist/kv
  readonly from: string;
  readonly to: string;
  readonly kinds: readonly string[];
  readonly op: RegExp;
  readonly component: RegExp | null; // null: no digest differs
  readonly field: RegExp | null; // a differing field, null: none
  /** Whether a recorded operation is one at which the change must show. */
  readonly shows?: (line: Line) => boolean;
  readonly isPartly?: true; // not in every run that has such an operation
}

const TAKES = /^(tokens\.(extend|decode)|state\.alloc|chain\.relieve)$/;
const CHANGES: readonly Change[] = [
  {
    name: "hole order",
    file: "alloc/band.js",
    from: "pages.push(this.holes.shift());",
    to: "pages.push(this.holes.pop());",
    kinds: ["result"],
    op: TAKES,
    component: /^(full|window|mamba)/,
    field: /^\/ok\/(pages|slots|mamba)/,
  },
  {
    name: "tie side",
    file: "alloc/pricing.js",
    from: "return low > high;",
    to: "return low >= high;",
    kinds: ["result"],
    op: /^(tokens\.(extend|decode)|ask\.plan|chain\.relieve)$/,
    component: /^window|^$/,
    field: /^\/ok/,
  },
  {
    name: "window cursor off by a page",
    file: "operations/frees.js",
    from: "Math.floor(threshold / size) * size",
    to: "(Math.floor(threshold / size) - 1) * size",
    kinds: ["result"],
    op: /^window\.retire$/,
    component: /^(window|rows)/,
    field: /^\/ok\/window.*\/(cursor|freed)/,
  },
  {
    name: "one wait missing",
    file: "alloc/relief.js",
    from: "context.scope.wait(newest);",
    to: "",
    kinds: ["effect", "invariant"], // its own device may find it first
    op: TAKES,
    component: /./,
    field: /^\/fx/,
    shows: ({ fx }) =>
      fx?.[0]?.[0] === "hostread" && fx[0][1] === "recovery" && fx[1]?.[0] === "wait",
    isPartly: true, // a later wait of the same operation may be for the same forward
  },
  {
    name: "digest only",
    file: "digests.js",
    from: "sum.add(FORWARDS.unprocessed, 0, steps.unprocessed.length);",
    to: "sum.add(FORWARDS.unprocessed, 0, 2 * steps.unprocessed.length);",
    kinds: ["state"],
    op: /^forward\./,
    component: /^forwards$/,
    field: null,
    shows: ({ op, ok }) => op === "forward.record" && ok !== undefined,
  },
  {
    name: "refusal detail",
    file: "operations/rows.js",
    from: "need: args.reqs.length, free: requests.freeRows",
    to: "need: args.reqs.length + 1, free: requests.freeRows",
    kinds: ["refusal"],
    op: /^row\.alloc$/,
    component: null,
    field: /^\/err\/need$/,
    shows: ({ err }) => err?.code === "refused_rows",
  },
  {
    name: "error kind",
    file: "operations/frees.js",
    from: 'invalid("free_of_unbound_page"',
    to: 'invalid("free_splits_page"',
    kinds: ["refusal"],
    op: /^(tokens\.free|request\.finish)$/,
    component: null,
    field: /^\/err\/rule$/,
    shows: ({ err, op }) => err?.rule === "free_of_unbound_page" && op === "tokens.free",
  },
  {
    name: "later recovery",
    file: "operations/asks.js",
    from: "return { ok: { fits: core.chain.fits(core.chain.vector(args.demand)) } };",
    to: "const fits = core.chain.fits(core.chain.vector(args.demand)); return { ok: { fits: core.chain.moveEpoch < 2 ? !fits : fits } };",
    kinds: ["result"],
    op: /^ask\.fits$/,
    component: null,
    field: /^\/ok\/fits$/,
    shows: ({ op }) => op === "ask.fits",
    isPartly: true, // a run may ask only behind its first moves
  },
  {
    name: "effect order",
    file: "alloc/chain.js",
    from: "for (const band of this.bands) {\n            const taken",
    to: "for (const band of [...this.bands].reverse()) {\n            const taken",
    kinds: ["effect"],
    op: TAKES,
    component: null,
    field: /^\/fx/,
    shows: ({ fx }) => (fx ?? []).filter(([kind]: string[]) => kind === "zero").length > 1,
  },
  {
    name: "extra move", // ends are packed though settling alone made room
    file: "alloc/relief.js",
    from: 'const moves = context.bands.map(() => 0);\n    if (plan.step === "no_move")',
    to: "const moves = context.bands.map(() => 0);\n    if (false)",
    kinds: ["effect", "result"],
    op: TAKES,
    component: /./,
    field: /^\/(fx|ok)/,
  },
  {
    name: "faster refusal",
    file: "alloc/chain.js",
    from: "planFlushEnds(bands, demand) ?? planRelayout(bands, demand)",
    to: "planFlushEnds(bands, demand)",
    kinds: ["refusal", "result"],
    op: /^(tokens\.|state\.alloc|chain\.relieve|ask\.)/,
    component: /./,
    field: /^\/(ok|err)/,
  },
];

async function compared(mode: CompareMode = "exact", base = trace): Promise<CompareResult> {
  return compareTrace({
    trace: base,
    candidate: `checkout:${checkout}`,
    start: () => openAdapter(`checkout:${checkout}`, { revision: null, dirty: null }),
    base: { spec: "self", start: async () => new InProcessAdapter({ device: "none" }) },
    mode,
  });
}

/** Does the work with the change made, and takes it back. */
async function changed<T>(
  { file, from, to }: { readonly file: string; readonly from: string; readonly to: string },
  work: () => Promise<T>,
): Promise<T> {
  const path = join(checkout, "dist", "kv", file);
  const text = readFileSync(path, "utf8");
  expect(text.split(from).length, `${file} has the changed place once`).toBe(2);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  try {
    return await work();
  } finally {
    writeFileSync(path, text);
  }
}

/** The first recorded operation of a run at which a change shows; null: none. */
function firstOf(run: string, shows: (line: Line) => boolean): number | null {
  const begin = lines.findIndex((line) => line.kind === "run" && line.run === run);
  for (const line of lines.slice(begin + 1)) {
    if (line.kind === "end") return null;
    if (line.kind === "op" && shows(line)) return line.n;
  }
  return null;
}

function divergent({ runs }: CompareResult): RunComparison[] {
  return runs.filter(({ divergence }) => divergence !== null);
}

test("the checkout as it is: equal", async () => {
  expect((await compared()).verdict).toBe("equal");
});

describe("a change", () => {
  test.each(CHANGES)("$name", async (change) => {
    const result = await changed(change, () => compared());
    expect(result.verdict).toBe("divergent");
    const runs = divergent(result);
    for (const { run, divergence, examination } of runs) {
      const found = divergence!;
      expect(change.kinds).toContain(found.kind);
      expect(found.op).toMatch(change.op);
      const component = found.components[0]?.component ?? "";
      if (found.kind === "invariant") continue;
      if (change.component === null) expect(found.components).toEqual([]);
      else if (found.kind !== "refusal" && !found.op.startsWith("ask.")) {
        expect(component).toMatch(change.component);
      }
      if (change.field === null) expect(found.fields).toEqual([]);
      else expect(found.fields.some(({ path }) => change.field!.test(path))).toBe(true);
      // before it every component's digest was the same
      expect(found.cause).toEqual(component === "" ? null : { n: found.n, op: found.op });
      if (change.shows !== undefined) expect(found.n).toBe(firstOf(run, change.shows));
      expect(examination?.unstable).toBeNull();
    }
    expect(runs.some(({ divergence }) => divergence!.kind !== "invariant")).toBe(true);
    if (change.shows !== undefined && change.isPartly !== true) {
      const expected = result.runs.filter(({ run }) => firstOf(run, change.shows!) !== null);
      expect(runs.length).toBe(expected.length);
    }
  });

  test("the one that recovers is told from where on", async () => {
    const change = CHANGES.find(({ name }) => name === "later recovery")!;
    const runs = divergent(await changed(change, () => compared()));
    const again = runs.filter(({ examination }) => examination!.recovers !== null);
    expect(again.length).toBeGreaterThan(0);
    for (const { divergence, examination } of again) {
      expect(examination!.recovers).toBeGreaterThan(divergence!.n);
      expect(examination!.holds).not.toContain("decisions");
    }
  });

  test("an answer that is not the same twice is flaky", async () => {
    writeFileSync(starts, "");
    const change = {
      file: "operations/asks.js",
      from: "return { ok: { fits: core.chain.fits(core.chain.vector(args.demand)) } };",
      to: `const fits = core.chain.fits(core.chain.vector(args.demand)); return { ok: { fits: isOdd ? !fits : fits } }; }
import { appendFileSync, readFileSync } from "node:fs";
appendFileSync(${JSON.stringify(starts)}, "x");
const isOdd = readFileSync(${JSON.stringify(starts)}).length % 2 === 1;
{`,
    };
    const result = await changed(change, () => compared());
    expect(result.verdict).toBe("flaky");
    expect(result.first).toBeNull();
    for (const { unstable, verdict } of result.runs) {
      expect([verdict, unstable?.op]).toEqual(
        verdict === "equal" ? ["equal", undefined] : ["flaky", "ask.fits"],
      );
    }
  });
});

test("last in, first out: exactly it differs, up to the names of pages it is equal", async () => {
  const base = await recorded([reusing()]);
  const change = CHANGES.find(({ name }) => name === "hole order")!;
  const exact = await changed(change, () => compared("exact", base));
  expect(exact.verdict).toBe("divergent");
  expect(exact.runs[0]?.examination?.holds).toContain("renamed");
  expect(await changed(change, () => compared("renamed", base))).toMatchObject({
    verdict: "equal",
    operations: exact.runs[0]?.operations,
  });
});

/** Requests that come and go in a wide arena: holes are reused, nothing ever moves. */
function reusing(): Workload {
  const operations = [
    { op: "boot", args: {} },
    ...Array.from({ length: 30 }, (_, turn) => {
      const req = `r${turn + 1}`;
      const to = 16 * (1 + (turn % 5));
      const old = turn < 3 ? [] : [{ op: "request.finish", args: finish(turn - 2) }];
      return [
        { op: "row.alloc", args: { reqs: [req] } },
        { op: "tokens.extend", args: { batch: [{ req, from: 0, to }] } },
        ...old,
      ];
    }).flat(),
  ];
  let next = 0;
  const { config } = seededWorkload({ seed: 0, ops: 1, layout: "full+window", pageSize: 16 });
  return {
    run: "reusing",
    config: {
      ...config,
      arena_bytes: 64 * (config as { arena_bytes: number }).arena_bytes,
    },
    source: { type: "scenario", name: "reusing" },
    next: () => {
      const operation = operations[next];
      next += 1;
      return operation === undefined ? null : { operation: operation as never };
    },
  };
}

function finish(turn: number): object {
  return { req: `r${turn}`, len: 16 * (1 + ((turn - 1) % 5)), insert: false };
}
