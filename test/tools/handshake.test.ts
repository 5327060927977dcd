// What a candidate lacks is told before it is asked anything, wherever in the trace it is used.
import { gzipSync } from "node:zlib";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { Adapter, ApplyResult, Commit, RunOpening } from "../../src/adapter/adapter.js";
import { CandidateError } from "../../src/base/errors.js";
import type { Operation } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import type { CompareTraceOptions } from "../../src/tools/compare-options.js";
import type { SideDifference } from "../../src/tools/outcome.js";
import { operationNames } from "../../src/trace/operation-table.js";
import { FaultyAdapter, readLines, recorded, right, seeds, writeLines } from "./faulty-adapter.js";
import type { Line } from "./faulty-adapter.js";

const KINDS = operationNames("kv");
const trace = await recorded(seeds(0, 4));
const lines = readLines(trace);
const used = new Set(lines.flatMap(({ kind, op }) => (kind === "op" ? [op] : [])));

/** Remembers in what order it was told and asked. */
class Watched extends FaultyAdapter {
  readonly events: string[];
  constructor(events: string[], lacking: ReadonlySet<string>) {
    super(right, null, { ops: KINDS.filter((op) => !lacking.has(op)) });
    this.events = events;
  }
  override async open(opening: RunOpening): Promise<void> {
    this.events.push("open");
    await super.open(opening);
  }
}

async function handshakeOf(
  lacking: ReadonlySet<string>,
  options: Partial<CompareTraceOptions> = {},
): Promise<{
  events: string[];
  told: SideDifference[];
  open: string[];
  error: unknown;
  skipped: number;
}> {
  const events: string[] = [];
  const told: SideDifference[] = [];
  const open: string[] = [];
  const outcome = await compareTrace({
    trace,
    candidate: "lacking",
    start: async () => new Watched(events, lacking),
    onLacking: (kinds) => {
      open.push(...kinds);
    },
    onDifferences: (differences) => {
      events.push("told");
      told.push(...differences);
    },
    ...options,
  }).catch((error: unknown) => error);
  const skipped = outcome instanceof Error ? 0 : (outcome as { skipped: number }).skipped;
  return { events, told, open, error: outcome instanceof Error ? outcome : null, skipped };
}

const kindsOf = (told: readonly SideDifference[]): SideDifference | undefined =>
  told.find(({ what }) => what === "operation kinds");

test("whatever a candidate lacks: what the trace uses is refused whole before a run is opened, the rest is told first", async () => {
  const random = new Prng(1);
  const seen = { refused: 0, told: 0 };
  for (let trial = 0; trial < 60; trial++) {
    const unused = KINDS.filter((op) => !used.has(op));
    const pool = trial % 2 === 0 ? KINDS : unused;
    const lacking = new Set(
      Array.from({ length: 1 + random.below(3) }, () => pool[random.below(pool.length)]!),
    );
    const met = [...lacking].filter((op) => used.has(op)).sort();
    const { events, told, open, error } = await handshakeOf(lacking, { trace });
    if (met.length > 0) {
      seen.refused += 1;
      expect(error).toBeInstanceOf(CandidateError);
      expect((error as Error).message).toContain(`does not answer ${met.join(", ")}, used by`);
      expect(events).toEqual([]);
      continue;
    }
    seen.told += 1;
    expect(error).toBeNull();
    expect(open).toEqual([]); // the whole trace was looked at, and uses none of them
    expect(events.slice(0, 2)).toEqual(["told", "open"]);
    const listed = KINDS.filter((op) => lacking.has(op)).join(", ");
    expect(kindsOf(told)).toMatchObject({ candidate: `lacks ${listed}`, isLoss: false });
  }
  expect(Math.min(seen.refused, seen.told)).toBeGreaterThan(10);
});

test("a candidate that answers everything is told to lack nothing", async () => {
  const { events, told, error } = await handshakeOf(new Set());
  expect(error).toBeNull();
  expect(events[0]).toBe("told");
  expect(kindsOf(told)).toBeUndefined();
});

test("a kind that only the last run uses is refused before the first; not where that run is not compared", async () => {
  const last = lines.map(({ kind }) => kind).lastIndexOf("op");
  const rare = KINDS.find((op) => !used.has(op) && op.startsWith("ask."))!;
  const changed = lines.map((line, i): Line => (i === last ? { ...line, op: rare } : line));
  const runs = lines.flatMap((line) => (line["kind"] === "run" ? [line["run"] as string] : []));
  const path = writeLines(changed);
  const packed = `${path}.gz`;
  writeFileSync(packed, gzipSync(readFileSync(path)));
  for (const file of [path, packed]) {
    const { events, error } = await handshakeOf(new Set([rare]), { trace: file });
    expect(events).toEqual([]);
    expect((error as Error).message).toContain(`${rare}, used by run ${runs.at(-1)!}`);
    const one = await handshakeOf(new Set([rare]), { trace: file, run: runs[0]! });
    expect(one.error).toBeNull();
    const shard = { index: 1, of: runs.length };
    expect((await handshakeOf(new Set([rare]), { trace: file, shard })).error).toBeNull();
  }
});

test("of a trace that goes on behind the look, and of standard input, all that is lacking is told", async () => {
  const unused = KINDS.find((op) => !used.has(op))!;
  const mark = { kind: "mark", n: 0, text: "x".repeat(1 << 20) };
  const run = lines.findIndex(({ kind }) => kind === "run");
  const long = writeLines([
    ...lines.slice(0, run + 1),
    ...Array.from({ length: 9 }, () => mark),
    ...lines.slice(run + 1),
  ]);
  const stdin = Readable.from([readFileSync(trace)]);
  for (const options of [{ trace: long }, { trace: "-", reader: { stdin } }]) {
    const { open, error } = await handshakeOf(new Set([unused]), options);
    expect(error).toBeNull();
    expect(open).toEqual([unused]);
  }
});

test("leaving them out is told first as well, with what the trace uses of them", async () => {
  const op = [...used].find((name) => String(name).startsWith("ask."));
  const { events, told, open, skipped } = await handshakeOf(new Set([String(op)]), {
    skipUnsupported: true,
  });
  expect(events[0]).toBe("told");
  expect(open).toEqual([op]);
  expect(kindsOf(told)).toMatchObject({ base: `uses ${String(op)}`, isLoss: true });
  expect(skipped).toBe(lines.filter((line) => line.op === op).length);
});

/** A commit that nobody finds before the first operation was asked. */
function lateCommit(): { commit: Promise<Commit>; found: () => void } {
  let found = (): void => undefined;
  const commit = new Promise<Commit>((resolve) => {
    found = () => {
      resolve({ revision: "ab".repeat(20), dirty: true });
    };
  });
  return { commit, found };
}

test("a commit that is found late holds up no operation, and the result names it", async () => {
  const { commit, found } = lateCommit();
  class Finding extends FaultyAdapter {
    override async apply(operations: readonly Operation[]): Promise<ApplyResult> {
      found();
      return super.apply(operations);
    }
  }
  const start = async (): Promise<Adapter> => new Finding(right);
  const result = await compareTrace({ trace, candidate: "self", start, commit });
  expect(result.candidate).toMatchObject({ revision: "ab".repeat(20), dirty: true });
  const [difference] = result.differences.filter(({ what }) => what === "revision");
  expect(difference?.candidate).toBe(`${"ab".repeat(20)} with local changes`);
});

test("whoever is told the differences before the first operation is told the commit with them", async () => {
  const { commit, found } = lateCommit();
  const kinds: string[][] = [];
  const onLacking = (list: readonly string[]): number => kinds.push([...list]);
  setTimeout(found, 50);
  const { events, told } = await handshakeOf(new Set(), { commit, onLacking });
  expect(events.slice(0, 2)).toEqual(["told", "open"]);
  expect(told.map(({ what }) => what)).toContain("revision");
  expect(kinds).toEqual([]); // nothing lacks, so nothing is said of it
});
