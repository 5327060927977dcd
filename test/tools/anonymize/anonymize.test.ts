// Laws of anonymising: the trace says the same, replays equal, names nobody, and parts from an implementation where it
// did before.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Adapter } from "../../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import { InputError } from "../../../src/base/errors.js";
import type { Answer, Operation } from "../../../src/base/operations.js";
import { Prng } from "../../../src/base/prng.js";
import { ReferenceAdapter } from "../../../src/adapter/reference-adapter.js";
import { validateTrace } from "../../../src/trace/validate.js";
import { anonymizeTrace } from "../../../src/tools/anonymize/anonymize.js";
import type { AnonymizeOptions, AnonymizeResult } from "../../../src/tools/anonymize/anonymize.js";
import { compareTrace } from "../../../src/tools/compare-trace.js";
import { KeyRanks } from "../../../src/tools/anonymize/key-ranks.js";
import type { CompareResult } from "../../../src/tools/outcome.js";
import { record } from "../../../src/tools/record.js";
import { createTraceWriter } from "../../../src/trace/writer.js";
import { LAYOUTS } from "../../../src/workload/layouts.js";
import { seededWorkload, WEIGHT_NAMES } from "../../../src/workload/seeded.js";
import type { Workload, WorkloadStep } from "../../../src/workload/workload.js";
import { FaultyAdapter, freshPath, readLines, writeLines } from "../faulty-adapter.js";
import type { Line, Mistake } from "../faulty-adapter.js";

const SECRET = "acme"; // in every name, hash, note and mark of what is made anonymous here

const self = (): Adapter => new InProcessAdapter({ device: "none" });
const SELF = { spec: "self", start: async () => self() };

async function anonymous(
  trace: string,
  options: Partial<AnonymizeOptions> = {},
): Promise<{ path: string; result: AnonymizeResult }> {
  const path = freshPath("anonymous.jsonl");
  const writer = createTraceWriter(path);
  const chosen = { salt: "pepper", implementation: SELF, ...options };
  const result = await anonymizeTrace({ trace, writer, ...chosen });
  if (result.broken === null) writer.commit();
  else writer.abort();
  return { path, result };
}

const NAME = /^([hrfcltw]\d+|nobody)$/;
const HASH = 900_000_000; // no other number of a trace here is as large

/** An operation whose names and hashes tell something. */
function telling(value: unknown, key = ""): unknown {
  if (typeof value === "string") return NAME.test(value) ? `${value}.${SECRET}` : value;
  if (key === "key") {
    return (value as [number | string, number][]).map(([hash, tokens]) => [
      typeof hash === "number" && hash % 2 === 0 ? hash + HASH : `${SECRET}-${String(hash)}`,
      tokens,
    ]);
  }
  if (Array.isArray(value)) return value.map((item) => telling(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, telling(item, name)]),
  );
}

/** The runs of a trace once more, under telling words. */
function tellingRuns(trace: string): Workload[] {
  const runs: Workload[] = [];
  let steps: WorkloadStep[] = [];
  for (const line of readLines(trace)) {
    if (line.kind === "run") {
      steps = [{ mark: `turn of ${SECRET}` }];
      const left = steps;
      runs.push({
        run: `${SECRET}/${String(line.run)}`,
        config: line.config,
        source: { type: "workload", name: SECRET, file: `/home/${SECRET}/x`, requests: 3 },
        next: () => left.shift() ?? null,
      });
    } else if (line.kind === "op") {
      steps.push({ operation: { op: line.op, args: telling(line.args) } as Operation });
    }
  }
  return runs;
}

async function recordedWith(
  workloads: Iterable<Workload>,
  adapter: Adapter,
  stateEvery?: number,
): Promise<string> {
  const path = freshPath();
  const writer = createTraceWriter(path);
  await record({
    workloads,
    start: async () => adapter,
    writer,
    note: `recorded at ${SECRET}`,
    digestDepth: "layout",
    ...(stateEvery === undefined ? {} : { stateEvery }),
  });
  writer.commit();
  return path;
}

const compared = (trace: string, adapter: Adapter): Promise<CompareResult> =>
  compareTrace({ trace, candidate: "x", start: async () => adapter, isBrief: true });

/** What is left when every name is taken for its first place, so that only structure and sameness count. */
function shape(lines: readonly Line[]): unknown[] {
  const places = new Map<string, number>();
  const place = (text: string): string => {
    if (!places.has(text)) places.set(text, places.size);
    return `${text.charAt(0)}#${String(places.get(text))}`;
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === "string")
      return NAME.test(value) || /^[hnrfcltw][0-9a-f]{16}$/.test(value) ? place(value) : value;
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [walk(key), walk(item)]));
  };
  return lines
    .filter(({ kind }) => kind === "op")
    .map(({ args, digest: _digest, message: _message, ...line }) => {
      const bare =
        line.err?.message === undefined ? line : { ...line, err: { ...line.err, message: 0 } };
      return walk({
        ...bare,
        args: JSON.parse(
          JSON.stringify(args, (key, item) => (key === "key" || key === "inside" ? 0 : item)),
        ),
      });
    });
}

describe.each(WEIGHT_NAMES)("over seeds and layouts: %s", (weights) => {
  const workloads = LAYOUTS.map((layout, seed) =>
    seededWorkload({ seed, ops: 150, layout, pageSize: seed % 2 === 0 ? 4 : 1, weights }),
  );

  test("it is proved, replays equal with every digest and state, and says the same", async () => {
    const trace = await recordedWith(workloads, self(), 40);
    const { path, result } = await anonymous(trace);
    const lines = readLines(trace);
    const made = readLines(path);
    const counted = (kind: string): number => lines.filter((line) => line.kind === kind).length;
    expect(result).toMatchObject({
      runs: LAYOUTS.length,
      proved: LAYOUTS.length,
      operations: counted("op"),
      ...{ differing: 0, undigested: 0, lostStates: 0, broken: null, isPartial: false },
    });
    const { verdict, operations } = await compared(path, self());
    expect([verdict, operations]).toEqual(["equal", counted("op")]);
    expect(made.map(({ kind }) => kind)).toEqual(lines.map(({ kind }) => kind));
    const digests = (all: Line[]): number =>
      all.filter(({ digest }) => digest !== undefined).length;
    expect(digests(made)).toBeGreaterThanOrEqual(digests(lines));
    expect(shape(made)).toEqual(shape(lines));
  });
});

describe("words", () => {
  test("nothing that was named is left; one salt gives one trace, another other names", async () => {
    const workloads = ["tight", "transfers"].map((weights, seed) =>
      seededWorkload({ seed, ops: 200, layout: "full+window+state", pageSize: 4, weights }),
    );
    const trace = await recordedWith(
      tellingRuns(await recordedWith(workloads, self())),
      self(),
      25,
    );
    const told = readFileSync(trace, "utf8");
    for (const word of [`.${SECRET}"`, `"${SECRET}-`, "[9000000", `turn of ${SECRET}`]) {
      expect(told).toContain(word);
    }
    const { path, result } = await anonymous(trace);
    expect(result).toMatchObject({ proved: 2, differing: 0, undigested: 0, lostStates: 0 });
    expect(result.hashes).toBeGreaterThan(3);
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain(SECRET);
    expect(text).not.toMatch(/\b9000000\d\d/);
    expect(text).not.toContain("/home");
    expect((await compared(path, self())).verdict).toBe("equal");
    expect((await validateTrace(path)).operations).toBe(400);

    const [again, other] = [await anonymous(trace), await anonymous(trace, { salt: "salt" })];
    expect(readFileSync(again.path, "utf8")).toBe(text);
    const names = (file: string): Set<string> =>
      new Set(readFileSync(file, "utf8").match(/[hrfcltwn-][0-9a-f]{16}/g));
    const [first, second] = [names(path), names(other.path)];
    expect(first.size).toBe(second.size);
    expect([...first].filter((name) => second.has(name))).toEqual([]);
  });

  test("ranks of hashes keep their order, numbers before texts, and are no other hash twice", () => {
    const prng = new Prng(7);
    for (let trial = 0; trial < 50; trial++) {
      const ranks = new KeyRanks();
      const hashes = Array.from({ length: 1 + prng.below(40) }, () =>
        prng.chance(1, 2) ? prng.below(2 ** 31) * 2 ** 21 : `${prng.below(300).toString(36)}é`,
      );
      for (const hash of hashes) ranks.note(hash);
      for (const left of hashes) {
        for (const right of hashes) {
          const [one, other] = [ranks.of(left), ranks.of(right)];
          expect(typeof one).toBe(typeof left);
          if (typeof left !== typeof right) continue;
          expect([one < other, one === other]).toEqual([left < right, left === right]);
        }
      }
    }
  });
});

describe("an allocator that does something else", () => {
  const workloads = (): Workload[] =>
    [2, 3].map((seed) =>
      seededWorkload({ seed, ops: 150, layout: "full+window", pageSize: 4, weights: "tight" }),
    );
  /** Another answer, or null where an answer of this kind cannot be wrong so. */
  const kinds: readonly [string, (right: Answer) => Answer | null][] = [
    [
      "result",
      ({ ok, ...rest }) => {
        if (ok === undefined || !("step" in ok)) return null;
        return { ...rest, ok: { ...ok, step: ok.step === "relayout" ? "no_move" : "relayout" } };
      },
    ],
    ["refusal", () => ({ err: { code: "invalid", rule: "row_in_use", req: "r1" } })],
    ["effect", (right) => (right.fx === undefined ? null : { ...right, fx: [["forward", "f77"]] })],
    [
      "state",
      ({ digest, ...rest }) => {
        if (digest === undefined) return null;
        return { ...rest, digest: { ...digest, rows: "00000000deadbeef" } };
      },
    ],
  ];

  test.each(kinds)(
    "%s: the trace parts from this one where it did, in the same components",
    async (kind, wrong) => {
      const prng = new Prng(3);
      for (let trial = 0; trial < 5; trial++) {
        const from = 3 + prng.below(100);
        let isDone = false;
        const mistake: Mistake = (n, _operation, right) => {
          const answer = n < from || isDone ? null : wrong(right);
          if (answer !== null) isDone = true;
          return answer;
        };
        const trace = await recordedWith(workloads(), new FaultyAdapter(mistake));
        const { path, result } = await anonymous(trace);
        expect(result).toMatchObject({ proved: 2, undigested: 0, broken: null });
        const [before, after] = [await compared(trace, self()), await compared(path, self())];
        expect(after.verdict).toBe(before.verdict);
        const places = ({ runs }: CompareResult): unknown =>
          runs.map(({ divergence }) => {
            if (divergence === null) return null;
            const { n, op, kind, components, agreeing, cause } = divergence;
            return {
              n,
              op,
              kind,
              agreeing,
              cause,
              components: components.map(({ component }) => component),
            };
          });
        expect(places(after)).toEqual(places(before));
        expect(before.runs[0]!.divergence?.kind).toBe(kind);
      }
    },
  );

  test("its digests of another component, or none where ours are asked: left out, and said", async () => {
    const trace = await recordedWith(workloads(), self());
    const { path, result } = await anonymous(trace, { implementation: null });
    expect(result).toMatchObject({ proved: 0, undigested: 2, differing: 0 });
    const lines = readLines(path);
    expect(lines.filter(({ digest }) => digest !== undefined)).toEqual([]);
    expect(lines.filter(({ kind }) => kind === "run").map((line) => line.digest_depth)).toEqual([
      null,
      null,
    ]);
    expect((await compared(path, self())).verdict).toBe("equal");
  });

  test("an answer that depends on a name is found, with the operation", async () => {
    class Picky extends FaultyAdapter {
      constructor() {
        super((_n, { op, args }, right) => {
          const reqs = op === "row.alloc" ? args.reqs : [];
          return reqs.includes("r2") ? { err: { code: "refused_rows", need: 1, free: 0 } } : right;
        });
      }
    }
    const { result } = await anonymous(await recordedWith(workloads(), self()), {
      implementation: { spec: "picky", start: async () => new Picky() },
    });
    expect(result.broken).toMatchObject({ op: "row.alloc" });
  });

  test("states of another form are left out, and said; a run that begins with one is refused", async () => {
    const trace = await recordedWith(
      workloads(),
      new ReferenceAdapter({ revision: null, dirty: null }),
      50,
    );
    const { path, result } = await anonymous(trace);
    expect(result.lostStates).toBe(readLines(trace).filter(({ kind }) => kind === "state").length);
    expect(result.lostStates).toBeGreaterThan(0);
    expect((await compared(path, self())).verdict).toBe("equal");
  });
});

describe("parts of a run", () => {
  /** The run of a trace from its `index`-th full state on. */
  function fromState(trace: string, index: number): string {
    const lines = readLines(trace);
    const at = lines.flatMap(({ kind }, i) => (kind === "state" ? [i] : []))[index]!;
    const [header, run] = lines as [Line, Line];
    const n: number = lines[at].n;
    const rest = lines.slice(at).filter(({ kind }) => kind === "op" || kind === "end");
    const ops = rest.filter(({ kind }) => kind === "op").length;
    return writeLines([
      header,
      { ...run, starts_at: n + 1, dropped: n + 1, digest_depth: null },
      lines[at],
      ...rest.map(({ digest: _digest, ...line }) =>
        line.kind === "end" ? { ...line, ops } : line,
      ),
    ]);
  }

  test.each(WEIGHT_NAMES)(
    "a run goes on from its anonymous state as from its own: %s",
    async (weights) => {
      for (const [seed, layout] of LAYOUTS.entries()) {
        const workload = seededWorkload({ seed, ops: 100, layout, pageSize: 4, weights });
        const cut = fromState(await recordedWith([workload], self(), 20), 1 + (seed % 3));
        expect((await compared(cut, self())).verdict).toBe("equal");
        const { path, result } = await anonymous(cut);
        expect(result).toMatchObject({ proved: 1, differing: 0, lostStates: 0, undigested: 0 });
        expect((await compared(path, self())).verdict).toBe("equal");
      }
    },
  );

  test("a trace that stops inside is anonymised as far as it goes; standard input is refused", async () => {
    const workload = seededWorkload({ seed: 1, ops: 60, layout: "full+window", pageSize: 4 });
    const lines = readLines(await recordedWith([workload], self()));
    const cut = writeLines(lines.slice(0, -5));
    await expect(anonymous(cut)).rejects.toThrow(InputError);
    const { result } = await anonymous(cut, { reader: { acceptTruncated: true } });
    expect(result).toMatchObject({ isPartial: true, proved: 1 });
    await expect(anonymous("-")).rejects.toThrow(/twice/);
  });
});
