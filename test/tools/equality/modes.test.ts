// What each mode lets pass and what it finds, with changes planted into the allocator's answers.
import { describe, expect, test } from "vitest";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import type { Answer, Operation } from "../../../src/base/operations.js";
import { withBaseline } from "../../../src/tools/baseline.js";
import { readBaseline, readMasks } from "../../../src/tools/known-differences.js";
import { votesOf } from "../../../src/tools/compare-many.js";
import { compareFiles } from "../../../src/tools/compare-files.js";
import type { CompareTraceOptions } from "../../../src/tools/compare-options.js";
import { compareTrace } from "../../../src/tools/compare-trace.js";
import { type CompareMode, COMPARE_MODES } from "../../../src/tools/equality/modes.js";
import { MaskSet } from "../../../src/tools/masks.js";
import type { CompareResult } from "../../../src/tools/outcome.js";
import type { JsonFile } from "../../../src/workload/json-file.js";
import {
  at,
  FaultyAdapter,
  type Mistake,
  readLines,
  recorded,
  right,
  seeds,
} from "../faulty-adapter.js";

const RUN = "full+window/p16/seed-0";
const trace = await recorded(seeds(0, 2));
const lines = readLines(trace)
  .filter(({ kind }) => kind === "op")
  .slice(0, 120);
const numberOf = (test: (line: (typeof lines)[number]) => boolean): number => {
  const found = lines.find(test);
  expect(found).toBeDefined();
  return found.n;
};

function against(
  mistake: Mistake,
  options: Partial<CompareTraceOptions> = {},
): Promise<CompareResult> {
  return compareTrace({
    trace,
    candidate: "planted",
    start: async () => new FaultyAdapter(mistake, RUN),
    base: { spec: "self", start: async () => new InProcessAdapter({ device: "none" }) },
    ...options,
  });
}

async function modesFinding(mistake: Mistake): Promise<CompareMode[]> {
  const found: CompareMode[] = [];
  for (const mode of COMPARE_MODES) {
    if ((await against(mistake, { mode })).verdict === "divergent") found.push(mode);
  }
  return found;
}

const isTake = ({ ok, fx }: (typeof lines)[number]): boolean =>
  ok?.pages !== undefined && ok.step !== undefined && fx !== undefined;

describe("a change is found by the modes that look at it", () => {
  const take = numberOf(isTake);
  const fits = numberOf(({ op, ok }) => op === "ask.fits" && ok !== undefined);
  const refused = numberOf(({ err }) => err?.need !== undefined);
  const withDigest = numberOf(({ digest, n }) => digest !== undefined && n > 0);
  const cases: readonly [string, number, (answer: Answer) => Answer, readonly CompareMode[]][] = [
    ["an effect less", take, ({ fx: _fx, ...answer }) => answer, ["exact", "renamed"]],
    [
      "another step",
      take,
      (answer) => ({ ...answer, ok: { ...answer.ok, step: "relayout" } as never }),
      ["exact", "renamed", "placement-free"],
    ],
    [
      "another answer to a question",
      fits,
      (answer) => ({ ok: { fits: !(answer.ok as { fits: boolean }).fits } }),
      ["exact", "renamed", "placement-free", "decisions"],
    ],
    [
      "another number in a refusal",
      refused,
      (answer) => ({ ...answer, err: { ...answer.err!, need: 99_999 } }),
      ["exact", "renamed", "placement-free", "decisions"],
    ],
    [
      "another digest",
      withDigest,
      (answer) => ({ ...answer, digest: { ...answer.digest, full: "f".repeat(16) } }),
      ["exact"],
    ],
  ];
  test.each(cases)("%s", async (_what, n, make, modes) => {
    const found = await modesFinding(at(n, make));
    expect(found.filter((mode) => mode !== "quiescent")).toEqual(modes);
    const exact = await against(at(n, make));
    const [divergent] = exact.runs;
    expect(divergent?.divergence?.n).toBe(n);
    const weaker = COMPARE_MODES.filter((mode) => mode !== "exact" && mode !== "quiescent");
    const holds = divergent?.examination?.holds.filter((mode) => mode !== "quiescent");
    expect(holds).toEqual(weaker.filter((mode) => !modes.includes(mode)));
  });

  test("a digest that stays wrong is found at the next quiet point, one that comes back may not be", async () => {
    let last: Answer["digest"];
    const stays: Mistake = (n, _operation, answer) => {
      if (n < withDigest || answer.digest === undefined) return null;
      last = { ...answer.digest, full: "f".repeat(16) };
      return { ...answer, digest: last };
    };
    const { runs, verdict } = await against(stays, { mode: "quiescent" });
    expect(verdict).toBe("divergent");
    expect(runs[0]?.divergence).toMatchObject({ kind: "state" });
    expect(runs[0]?.divergence?.cause).toMatchObject({ n: withDigest });
  });
});

describe("the second look", () => {
  const take = numberOf(isTake);
  const other = (answer: Answer): Answer => ({
    ...answer,
    ok: { ...answer.ok, step: "relayout" } as never,
  });

  test("one wrong answer, and everything agrees again behind it", async () => {
    const [run] = (await against(at(take, other))).runs;
    expect(run?.examination).toMatchObject({
      recovers: take + 1,
      differing: 1,
      isWhole: true,
      upTo: 119,
      states: { base: "self", fields: [] },
    });
  });

  test("wrong to the end: it does not agree again", async () => {
    const wrong: Mistake = (n, _operation, answer) =>
      n >= take && answer.ok !== undefined && "step" in answer.ok ? other(answer) : null;
    const [run] = (await against(wrong, { past: 10 })).runs;
    expect(run?.examination).toMatchObject({ isWhole: false, upTo: take + 10 });
    expect(run?.examination?.differing).toBeGreaterThan(0);
  });

  test("a candidate that is right the second time is flaky, and no divergence", async () => {
    let starts = 0;
    const result = await against(right, {
      start: async () => {
        starts += 1;
        return new FaultyAdapter(starts === 1 ? at(take, other) : right, RUN);
      },
    });
    expect(result.verdict).toBe("flaky");
    expect(result.first).toBeNull();
    expect(result.runs[0]).toMatchObject({ verdict: "flaky", unstable: { n: take } });
  });

  test("--double names the field that is not the same twice", async () => {
    let starts = 0;
    const result = await against(right, {
      isDoubled: true,
      start: async () => {
        starts += 1;
        return new FaultyAdapter(starts === 2 ? at(take, other) : right, RUN);
      },
    });
    expect(result.runs[0]?.unstable).toMatchObject({ n: take, fields: [{ path: "/ok/step" }] });
    expect(result.verdict).toBe("flaky");
    expect((await against(right, { isDoubled: true })).verdict).toBe("equal");
  });

  test("the last operation that named a differing id is its origin", async () => {
    const moved: Mistake = (_n, operation, answer) => reversedIds(operation, answer);
    const found = (await against(moved)).runs[0]!;
    const { n, base } = found.divergence!;
    expect(found.examination!.origins.length).toBeGreaterThan(0);
    for (const origin of found.examination!.origins) {
      const naming = lines
        .slice(0, n)
        .filter(({ ok, fx }) => idsUnder({ ok, fx }, origin.space).includes(origin.id));
      expect(origin).toMatchObject({ n: naming.at(-1).n, op: naming.at(-1).op });
      expect(idsUnder(base, origin.space)).toContain(origin.id);
    }
  });
});

/** The ids in all lists that stand under a space's name, written out from the JSON. */
function idsUnder(value: unknown, space: string): number[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const isList = key === space && Array.isArray(member);
    if (!isList) return idsUnder(member, space);
    return (member as [number, number][]).flatMap(([first, count]) =>
      Array.from({ length: Math.abs(count) }, (_, i) => first + Math.sign(count) * i),
    );
  });
}

// Gives reused virtual pages in the reverse order.
function reversedIds(operation: Operation, answer: Answer): Answer | null {
  if (operation.op !== "tokens.extend" || answer.ok === undefined) return null;
  const ok = structuredClone(answer.ok) as { pages: Record<string, Record<string, number[][]>> };
  for (const { virtual } of Object.values(ok.pages)) {
    if (virtual !== undefined && virtual.length > 1) {
      virtual.reverse();
      return { ...answer, ok: ok as never };
    }
  }
  return null;
}

describe("masks, accepted divergences, votes", () => {
  const take = numberOf(isTake);
  const other = (answer: Answer): Answer => ({
    ...answer,
    ok: { ...answer.ok, step: "relayout" } as never,
  });
  const file = (value: unknown): JsonFile => ({
    file: "masks.json",
    value,
    placeOf: () => ({ line: 1, column: 1 }),
  });

  test("a mask hides what it names, no more, and what it hid is counted", async () => {
    const mask = { path: "/ok/step", op: lines[take].op, reason: "known", expires: "2999-01-01" };
    const masks = (entry: object): MaskSet => new MaskSet(readMasks(file({ masks: [entry] })));
    const hidden = await against(at(take, other), { masks: masks(mask) });
    expect([hidden.verdict, hidden.hidden]).toEqual(["equal", 1]);
    const elsewhere = await against(at(take, other), { masks: masks({ ...mask, op: "boot" }) });
    expect([elsewhere.verdict, elsewhere.hidden]).toEqual(["divergent", 0]);
    const deeper = await against(at(take, other), {
      masks: masks({ ...mask, path: "/ok/*/full" }),
    });
    expect(deeper.verdict).toBe("divergent");
  });

  test.each([
    [{ reason: "", expires: "2999-01-01", path: "/ok" }, /reason/],
    [{ reason: "known", path: "/ok" }, /expires/],
    [{ reason: "known", expires: "2999-01-01", path: "ok" }, /begins with/],
    [{ reason: "known", expires: "2999-01-01", path: "/ok", until: 1 }, /until/],
  ])("a mask without its reason or day is refused: %j", (entry, message) => {
    expect(() => readMasks(file({ masks: [entry] }))).toThrow(message);
  });

  test("an accepted divergence is no finding, a new one is, one that is gone is told", async () => {
    const result = await against(at(take, other));
    const op = lines[take].op;
    const accepted = { kind: "result", op, component: null, reason: "agreed on" };
    const gone = { ...accepted, op: "chain.flush" };
    const baseline = readBaseline(file({ accepted: [accepted, gone] }));
    const known = withBaseline(result, baseline);
    expect(known).toMatchObject({ verdict: "agree", first: null, gone: [gone] });
    expect(known.runs[0]).toMatchObject({ verdict: "divergent", accepted: "agreed on" });
    const unknown = withBaseline(result, readBaseline(file({ accepted: [gone] })));
    expect(unknown).toMatchObject({ verdict: "divergent", first: { run: RUN, n: take } });
  });

  test("the majority is the one largest group, the base a voice in it", async () => {
    const good = await against(right);
    const bad = await against(at(take, other));
    const named = (result: CompareResult, spec: string): CompareResult => ({
      ...result,
      candidate: { ...result.candidate!, spec },
    });
    expect(votesOf([named(good, "a"), named(bad, "b"), named(bad, "c")])).toEqual([
      {
        run: RUN,
        n: take,
        op: lines[take].op,
        groups: [
          ["base", "a"],
          ["b", "c"],
        ],
        majority: null,
      },
    ]);
    const [vote] = votesOf([named(bad, "b"), named(bad, "c")]);
    expect(vote?.majority).toEqual(["b", "c"]);
    expect(votesOf([named(good, "a")])).toEqual([]);
    const flaky = {
      ...good,
      runs: good.runs.map((run) => ({ ...run, verdict: "flaky" as const })),
    };
    const [without] = votesOf([named(flaky, "a"), named(bad, "b"), named(bad, "c")]);
    expect(without).toMatchObject({ groups: [["base"], ["b", "c"]], majority: ["b", "c"] });
  });
});

test("two recorded traces are looked at a second time as well, as far as both do the same", async () => {
  const take = numberOf(isTake);
  const planted = at(take, (answer) => ({
    ...answer,
    ok: { ...answer.ok, step: "relayout" } as never,
  }));
  const other = await recorded(seeds(0, 2), new FaultyAdapter(planted, RUN));
  const { runs } = await compareFiles({ base: trace, candidate: other });
  expect(runs[0]?.divergence).toMatchObject({ n: take, kind: "result" });
  expect(runs[0]?.examination).toMatchObject({ recovers: take + 1, differing: 1, isWhole: true });
  expect(runs[0]?.examination?.holds).toContain("decisions");
  expect(runs[0]?.examination?.holds).not.toContain("placement-free");
});
