// Compare finds a planted mistake at the operation where it was planted, with the right kind, whichever side has it.
import { describe, expect, test } from "vitest";
import type { AdapterFailure } from "../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { CandidateError, InputError, UsageError } from "../../src/base/errors.js";
import type { Answer, DirectConfig } from "../../src/base/operations.js";
import { compareFiles } from "../../src/tools/compare-files.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import type { CompareTraceOptions } from "../../src/tools/compare-options.js";
import type { CompareResult } from "../../src/tools/outcome.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import {
  at,
  FaultyAdapter,
  readLines,
  recorded,
  right,
  seeds,
  writeLines,
} from "./faulty-adapter.js";
import type { Line, Mistake } from "./faulty-adapter.js";

const RUN = "full+window/p16/seed-0";
const trace = await recorded(seeds(0, 4));
const lines = readLines(trace);
const operations = lines.filter(({ kind }) => kind === "op");

/** Compares the trace with the allocator after a mistake was planted. */
function against(
  mistake: Mistake,
  options: Partial<CompareTraceOptions> = {},
  run: string | null = RUN,
): Promise<CompareResult> {
  return compareTrace({
    trace,
    candidate: "planted",
    start: async () => new FaultyAdapter(mistake, run),
    ...options,
  });
}

/** Numbers of the operations of the first run that a test on the answer selects. */
function where(test: (line: Line) => boolean): number[] {
  const end = lines.findIndex(({ kind }) => kind === "end");
  return lines
    .slice(0, end)
    .filter((line) => line["kind"] === "op" && test(line))
    .map((line) => line["n"] as number);
}

const granted = where(({ ok, op }) => ok?.step !== undefined && op.startsWith("tokens."));
const withEffects = where(({ fx }) => fx !== undefined);
const refusedTakes = where(({ err }) => err !== undefined && err.code !== "invalid");
const withDigest = where(({ digest }) => digest !== undefined);

const larger = await recorded([
  ...seeds(0, 12, 200),
  ...[0, 1, 2, 3, 4, 5].map((seed) =>
    seededWorkload({ seed, ops: 200, layout: "full+window", pageSize: 64, weights: "transfers" }),
  ),
]);

describe("equal", () => {
  test("a recording equals the implementation that made it, every operation looked at", async () => {
    const result = await against(right);
    expect(result.verdict).toBe("equal");
    expect(result.operations).toBe(operations.length);
    expect(result.runs.map(({ verdict }) => verdict)).toEqual(["equal", "equal", "equal", "equal"]);
    expect(result.first).toBeNull();
  });

  test("a side may list components that did not change", async () => {
    const known: Record<string, string> = {};
    const listsAll: Mistake = (n, _operation, answer) => {
      if (n === 0) for (const name of Object.keys(known)) delete known[name];
      Object.assign(known, answer.digest);
      return { ...answer, digest: { ...known } };
    };
    expect((await against(listsAll, {}, null)).verdict).toBe("equal");
  });

  test("a message is not compared", async () => {
    const n = refusedTakes[0]!;
    const talks = at(n, (answer) => ({ ...answer, err: { ...answer.err!, message: "hm" } }));
    expect((await against(talks)).verdict).toBe("equal");
  });

  test("a trace without digests is compared without, and the result says so", async () => {
    const bare = writeLines(lines.map(({ digest: _digest, ...line }) => line));
    const changed: Mistake = (_n, _operation, answer) => ({
      ...answer,
      digest: { full: "0".repeat(16) },
    });
    const result = await against(changed, { trace: bare });
    expect(result.verdict).toBe("equal");
    expect(result.base?.digest).toBeNull();
  });

  test("an implementation without digests or effects is compared without, and both are told", async () => {
    const mute: Mistake = (_n, _operation, { ok, err }) =>
      err === undefined ? { ok: ok! } : { err };
    const result = await against(mute, {
      start: async () => new FaultyAdapter(mute, null, { digest: null, fx: false }),
    });
    expect(result.verdict).toBe("equal");
    const lost = result.differences.filter(({ isLoss }) => isLoss).map(({ what }) => what);
    expect(lost).toEqual(["digests", "effects"]);
  });
});

describe("a planted mistake is found where it was planted", () => {
  const other = (answer: Answer): Answer => {
    const ok = structuredClone(answer.ok) as { step?: string };
    return {
      ...answer,
      ok: { ...ok, step: ok.step === "no_move" ? "flush_ends" : "no_move" } as never,
    };
  };
  const cases: readonly [
    kind: string,
    places: readonly number[],
    make: (answer: Answer) => Answer,
  ][] = [
    ["result", granted, other],
    [
      "refusal",
      granted,
      ({ digest: _digest, fx: _fx }) => ({ err: { code: "refused_ids", need: 1, free: 0 } }),
    ],
    ["refusal", refusedTakes, (answer) => ({ ...answer, err: { ...answer.err!, need: 12_345 } })],
    ["effect", withEffects, ({ fx: _fx, ...answer }) => answer],
    ["effect", withEffects, (answer) => ({ ...answer, fx: [...answer.fx!, ["wait", "f1"]] })],
    [
      "state",
      withDigest,
      (answer) => ({ ...answer, digest: { ...answer.digest, full: "f".repeat(16) } }),
    ],
  ];
  for (const [kind, places, make] of cases) {
    test(`${kind} (${make.toString().slice(0, 40)})`, async () => {
      expect(places.length).toBeGreaterThan(2);
      for (const n of [places[0]!, places[Math.floor(places.length / 2)]!, places.at(-1)!]) {
        const result = await against(at(n, make));
        const [first, ...others] = result.runs;
        expect({ n: first?.divergence?.n, kind: first?.divergence?.kind }).toEqual({ n, kind });
        expect(first?.agreed).toBe(n);
        expect(result.verdict).toBe("divergent");
        expect(result.first).toEqual({ run: RUN, n });
        expect(others.every(({ verdict }) => verdict === "equal")).toBe(true);
      }
    });
  }

  test("the state's component is named, with both digests", async () => {
    const n = withDigest[3]!;
    const wrong = "f".repeat(16);
    const result = await against(
      at(n, (answer) => ({ ...answer, digest: { ...answer.digest, full: wrong } })),
    );
    const divergence = result.runs[0]?.divergence;
    expect(divergence?.components.map(({ component }) => component)).toEqual(["full"]);
    expect(divergence?.components[0]?.candidate).toBe(wrong);
    expect(divergence?.cause).toEqual({ n, op: divergence?.op });
    expect(divergence?.agreeing).toContain("rows");
  });

  for (const kind of ["crash", "hang", "protocol", "invariant"] as const) {
    test(`${kind}, and the next run gets a fresh implementation`, async () => {
      let started = 0;
      const failure: AdapterFailure = { kind, message: "planted" };
      const result = await against(right, {
        start: async () => {
          started += 1;
          return new FaultyAdapter(
            at(57, () => failure),
            RUN,
          );
        },
      });
      expect(result.runs[0]?.divergence).toMatchObject({ n: 57, kind, failure });
      expect(result.runs[0]?.agreed).toBe(57);
      expect(result.runs.slice(1).map(({ verdict }) => verdict)).toEqual([
        "equal",
        "equal",
        "equal",
      ]);
      expect(started).toBe(kind === "hang" ? 2 : 3); // once more for the second look, but no hang is waited for twice
    });
  }

  test("fewer answers than asked for is a broken protocol", async () => {
    class Short extends FaultyAdapter {
      override async apply(batch: Parameters<FaultyAdapter["apply"]>[0]) {
        const { answers, failure } = await super.apply(batch);
        return { answers: answers.slice(0, 20), failure };
      }
    }
    const result = await against(right, { start: async () => new Short(right) });
    expect(result.runs[0]?.divergence).toMatchObject({ n: 20, kind: "protocol" });
  });

  test("the operations before it are kept, as many as asked for", async () => {
    const n = granted[4]!;
    for (const keep of [1, 3]) {
      const result = await against(at(n, other), { keep });
      const before = result.runs[0]?.divergence?.before.map((one) => one.n);
      expect(before).toEqual(Array.from({ length: keep }, (_, i) => n - keep + i));
    }
  });

  test("the earliest over all runs is named, whatever its place in the file", async () => {
    const places: Record<string, number> = { [RUN]: 90, "full+state/p16/seed-1": 40 };
    let run = "";
    class Two extends FaultyAdapter {
      override async open(opening: Parameters<FaultyAdapter["open"]>[0]) {
        run = opening.run;
        await super.open(opening);
      }
    }
    const start = async (): Promise<Two> =>
      new Two((n) => (n === places[run] ? { kind: "crash", message: "planted" } : null));
    const result = await against(right, { start });
    expect(result.first).toEqual({ run: "full+state/p16/seed-1", n: 40 });
    const first = await against(right, { start, first: true });
    expect(first.runs.map(({ verdict }) => verdict)).toEqual(["divergent"]);
    expect(first.unread).toBe(true);
  });
});

describe("which side the mistake is on does not matter", () => {
  test("the other way round names the same operation (B057)", async () => {
    const n = granted[5]!;
    const make = (answer: Answer): Answer => ({
      ...answer,
      ok: { ...answer.ok, step: "relayout" } as never,
    });
    const wrong = await recorded(seeds(0, 4), new FaultyAdapter(at(n, make), RUN));
    const forth = await against(at(n, make));
    const back = await against(right, { trace: wrong });
    expect(back.first).toEqual(forth.first);
    const [left, other] = [forth.runs[0]?.divergence, back.runs[0]?.divergence];
    expect([other?.base, other?.candidate]).toEqual([left?.candidate, left?.base]);

    const files = await compareFiles({ base: trace, candidate: wrong });
    const swapped = await compareFiles({ base: wrong, candidate: trace });
    expect(files.first).toEqual(forth.first);
    expect(swapped.first).toEqual(forth.first);
    expect(swapped.runs[0]?.divergence?.base).toEqual(files.runs[0]?.divergence?.candidate);
  });

  test("order of keys, times, call sites and producers are not compared (B057)", async () => {
    const shuffled = lines.map((line) => {
      const turned = Object.fromEntries(Object.entries(line).reverse());
      if (line["kind"] === "trace")
        return {
          ...turned,
          producer: { ...line["producer"], version: "2" },
          created: "2001-01-01T00:00:00Z",
        };
      return line["kind"] === "op" ? { ...turned, site: "elsewhere.ts:1", at_us: 7 } : turned;
    });
    const result = await compareFiles({ base: trace, candidate: writeLines(shuffled) });
    expect(result.verdict).toBe("equal");
    expect(result.operations).toBe(operations.length);
  });
});

describe("two files", () => {
  const withoutRun = (name: string): Line[] => {
    const from = lines.findIndex(({ kind, run }) => kind === "run" && run === name);
    const to = lines.findIndex(({ kind, run }) => kind === "end" && run === name);
    return [...lines.slice(0, from), ...lines.slice(to + 1)];
  };
  const withoutOperation = (index: number): Line[] => {
    const at = lines.findIndex(({ kind, n }) => kind === "op" && n === index);
    const end = lines.findIndex(({ kind }) => kind === "end");
    return [
      ...lines.slice(0, at),
      ...lines.slice(at + 1, end).map((line) => ({ ...line, n: line["n"] - 1 })),
      { ...lines[end], ops: lines[end]!["ops"] - 1 },
      ...lines.slice(end + 1),
    ];
  };

  test("an operation that one lacks is missing there and extra the other way round", async () => {
    const shorter = writeLines(withoutOperation(33));
    const there = await compareFiles({ base: trace, candidate: shorter });
    expect(there.runs[0]?.divergence).toMatchObject({ n: 33, kind: "missing operation" });
    const back = await compareFiles({ base: shorter, candidate: trace });
    expect(back.runs[0]?.divergence).toMatchObject({ n: 33, kind: "extra operation" });
  });

  test("a run that one lacks is a difference", async () => {
    const fewer = writeLines(withoutRun("full+state/p16/seed-1"));
    const there = await compareFiles({ base: trace, candidate: fewer });
    expect(there.runs.map(({ verdict }) => verdict)).toEqual([
      "equal",
      "divergent",
      "equal",
      "equal",
    ]);
    expect(there.runs[1]?.divergence).toMatchObject({ n: 0, kind: "missing operation" });
    const back = await compareFiles({ base: fewer, candidate: trace });
    const extra = back.runs.filter(({ verdict }) => verdict === "divergent");
    expect(extra.map(({ run, divergence }) => [run, divergence?.kind])).toEqual([
      ["full+state/p16/seed-1", "extra operation"],
    ]);
  });

  test("the order of runs does not matter", async () => {
    const ends = lines.flatMap((line, index) => (line["kind"] === "end" ? [index + 1] : []));
    const blocks = ends.map((end, i) => lines.slice(i === 0 ? 1 : ends[i - 1], end));
    const turned = writeLines([lines[0]!, ...blocks.reverse().flat()]);
    const result = await compareFiles({ base: trace, candidate: turned });
    expect(result.verdict).toBe("equal");
    expect(result.operations).toBe(operations.length);
  });

  test("another configuration is told and is never equal", async () => {
    const changed = lines.map((line) =>
      line["run"] === RUN && line["kind"] === "run"
        ? { ...line, config: { ...line["config"], move_cap: 4095 } }
        : line,
    );
    const result = await compareFiles({ base: trace, candidate: writeLines(changed) });
    expect(result.verdict).toBe("invalid");
    expect(result.differences.map(({ what }) => what)).toContain(`configuration of run ${RUN}`);
  });
});

describe("replay can say no (B053)", () => {
  /** The allocator on an arena of another size than the recorded one. */
  class Resized extends InProcessAdapter {
    readonly #pages: number;
    constructor(pages: number) {
      super({ device: "none" });
      this.#pages = pages;
    }
    override open(opening: Parameters<InProcessAdapter["open"]>[0]): Promise<void> {
      const config = opening.config as DirectConfig;
      const page = config.page_size * config.sub_pools.at(-1)!.unit_bytes;
      const arena_bytes = config.arena_bytes + this.#pages * page;
      return super.open({ ...opening, config: { ...config, arena_bytes } });
    }
    // The geometry that boot answers differs of course; this test is about what follows.
    override async apply(batch: Parameters<InProcessAdapter["apply"]>[0]) {
      const result = await super.apply(batch);
      const boot = operations[0]!;
      return batch[0]?.op === "boot"
        ? {
            ...result,
            answers: [{ ok: boot["ok"], digest: boot["digest"] }, ...result.answers.slice(1)],
          }
        : result;
    }
  }
  const bare = writeLines(
    lines
      .map(({ digest: _digest, ...line }) => line)
      .slice(0, lines.findIndex(({ kind }) => kind === "end") + 1),
  );
  const verdictOn = async (pages: number) =>
    (
      await compareTrace({
        trace: bare,
        candidate: "resized",
        start: async () => new Resized(pages),
      })
    ).runs[0]!;

  test("the same size is equal, a larger and a smaller arena diverge at an operation with a number", async () => {
    expect((await verdictOn(0)).verdict).toBe("equal");
    for (const pages of [40, -4]) {
      const { divergence } = await verdictOn(pages);
      expect(divergence?.n).toBeGreaterThan(0);
    }
  });
});

describe("what cannot be compared is said, not passed over", () => {
  const isAsk = (op: string): boolean => op.startsWith("ask.");
  const lacking = (): FaultyAdapter => {
    const ops = new InProcessAdapter({ device: "none" }).info.ops.filter((op) => !isAsk(op));
    return new FaultyAdapter(right, null, { ops });
  };

  test("a candidate that lacks operations is refused with the whole list", async () => {
    const refused = await against(right, { start: async () => lacking() }).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(CandidateError);
    expect((refused as Error).message).toContain("ask.fits");
    expect((refused as Error).message).toContain("ask.plan");
  });

  test("skipping them on request is incomplete and counted", async () => {
    const result = await against(right, { start: async () => lacking(), skipUnsupported: true });
    expect(result.verdict).toBe("incomplete");
    const asks = operations.filter(({ op }) => isAsk(op as string)).length;
    expect(asks).toBeGreaterThan(0);
    expect(result.skipped).toBe(asks);
    expect(result.operations).toBe(operations.length - asks);
  });

  test("a run that is not there, with the nearest name", async () => {
    await expect(against(right, { run: "full+window/p16/seed-O" })).rejects.toThrow(UsageError);
    await expect(against(right, { run: "full+window/p16/seed-O" })).rejects.toThrow(/did you mean/);
  });

  test("one run alone", async () => {
    const result = await against(right, { run: "full+state/p16/seed-3" });
    expect(result.runs.map(({ run }) => run)).toEqual(["full+state/p16/seed-3"]);
    expect(result.verdict).toBe("equal");
  });

  test("a trace without runs", async () => {
    await expect(against(right, { trace: writeLines([lines[0]!]) })).rejects.toThrow(InputError);
  });

  test("a truncated trace: the error is part of the result; accepted, it is incomplete", async () => {
    const cut = writeLines(lines.slice(0, -3));
    const refused = await against(right, { trace: cut });
    expect(refused.error?.code).toBe("trace_truncated");
    expect(refused.verdict).toBe("invalid");
    expect(refused.runs.slice(0, 3).every(({ verdict }) => verdict === "equal")).toBe(true);
    const accepted = await against(right, { trace: cut, reader: { acceptTruncated: true } });
    expect(accepted.error).toBeNull();
    expect(accepted.verdict).toBe("incomplete");
    expect(accepted.runs.at(-1)?.verdict).toBe("incomplete");
    expect(accepted.operations).toBe(operations.length - 2);
  });

  test("a divergence before a broken line stays a divergence", async () => {
    const cut = writeLines(lines.slice(0, -3));
    const result = await against(
      at(granted[0]!, () => ({ kind: "crash", message: "planted" })),
      { trace: cut },
    );
    expect(result.verdict).toBe("divergent");
    expect(result.error?.code).toBe("trace_truncated");
  });

  const run = lines.find(({ kind }) => kind === "run");
  const ended = (ops: readonly Line[]): string =>
    writeLines([lines[0], run, ...ops, { kind: "end", run: run.run, ops: ops.length }]);

  test("boot refused on both sides is invalid, unless that is the whole run", async () => {
    const refusal = { err: { code: "refused_plan", rule: "no_full_owner" } } as const;
    const boot = { kind: "op", n: 0, op: "boot", args: {}, ...refusal };
    const next = { kind: "op", n: 1, op: "chain.flush", args: {}, ok: {} };
    const refuses = at(0, () => refusal);
    const whole = await against(refuses, { trace: ended([boot]) });
    expect(whole.verdict).toBe("equal");
    const goesOn = await against(refuses, { trace: ended([boot, next]) });
    expect(goesOn.verdict).toBe("invalid");
    expect(goesOn.runs[0]?.note).toMatch(/boot is refused on both sides/);
  });

  test("a name that nothing opens is invalid", async () => {
    const adapter = new InProcessAdapter({ device: "none" });
    await adapter.open({ run: "x", domain: "kv", config: run.config, digestDepth: null });
    const ops = [
      { op: "boot", args: {} },
      { op: "row.free", args: { req: "r9" } },
    ] as const;
    const { answers } = await adapter.apply([...ops]);
    expect(answers[1]?.err?.rule).toBe("unknown_request");
    const dangling = ops.map((operation, n) => ({ kind: "op", n, ...operation, ...answers[n] }));
    const result = await against(right, { trace: ended(dangling) });
    expect(result.verdict).toBe("invalid");
    expect(result.runs[0]?.note).toContain("r9");
  });

  // pages that are moved, forwards whose pages settle, pages that a transfer or a copy held fast, pages given back
  test.each(["chain.flush", "forward.process", "net.end", "host.backup_done", "window.retire"])(
    "every recorded kind is executed: without one %s later answers differ (B055)",
    async (kind) => {
      const found: { run: string; n: number; answer: Answer }[] = [];
      let run = "";
      for (const line of readLines(larger)) {
        if (line.kind === "run") run = line.run;
        if (line.op !== kind || line.ok === undefined || line.digest === undefined) continue;
        if (kind === "chain.flush" && line.fx === undefined) continue; // it moved nothing
        const { n, ok, fx, digest } = line;
        if (n < 150) found.push({ run, n, answer: { ok, ...(fx && { fx }), digest } });
      }
      expect(found.length).toBeGreaterThan(2);
      for (const { run: chosen, n, answer } of found.slice(0, 3)) {
        // It answers as recorded, and does not do it.
        class Skips extends FaultyAdapter {
          #next = 0;
          override async apply(batch: Parameters<FaultyAdapter["apply"]>[0]) {
            const place = n - this.#next;
            this.#next += batch.length;
            if (place < 0 || place >= batch.length) return super.apply(batch);
            const { answers } = await super.apply(batch.filter((_, index) => index !== place));
            return {
              answers: [...answers.slice(0, place), answer, ...answers.slice(place)],
              failure: null,
            };
          }
        }
        const result = await compareTrace({
          ...{
            trace: larger,
            candidate: "skips",
            start: async () => new Skips(right),
            run: chosen,
          },
        });
        expect(result.verdict).toBe("divergent");
        expect(result.runs[0]?.divergence?.n).toBeGreaterThan(n);
      }
    },
  );
});
