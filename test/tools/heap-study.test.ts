// Heap runs on the reference allocators: failures, peaks and idle bytes of runs that can be counted by hand.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { HeapAdapter } from "../../src/adapter/heap-adapter.js";
import { parseHeapSpec } from "../../src/adapter/heap-spec.js";
import { InputError, UsageError } from "../../src/base/errors.js";
import { HEAP_POLICIES } from "../../src/heap/heap-allocator.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import type { CompareMode } from "../../src/tools/equality/modes.js";
import { importLog } from "../../src/tools/import-log.js";
import type { CompareVerdict } from "../../src/tools/outcome.js";
import { createTraceWriter } from "../../src/trace/writer.js";
import { openImport } from "../../src/workload/import.js";
import { HeapCurve } from "../../src/tools/heap-curve.js";
import { studyHeap } from "../../src/tools/heap-study.js";
import type { HeapStudy } from "../../src/tools/heap-study.js";
import { describeUnless } from "../skip-aloud.js";

const folder = mkdtempSync(join(tmpdir(), "ut-study-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function fileOf(name: string, lines: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

async function studied(
  file: string,
  allocators: readonly string[],
  arenaBytes: number | null = null,
): Promise<HeapStudy[]> {
  return studyHeap({
    files: [file],
    allocators: allocators.map(parseHeapSpec),
    arenaBytes,
    now: () => 0,
  });
}

// a 32, b 32, c 32; b goes; d 48 has no place in 112 bytes but behind c (16 are free there); e 16 has.
const CALLS = [
  ...["op,ptr,size", "malloc,0x1,32", "malloc,0x2,32", "malloc,0x3,32", "free,0x2,0"],
  ...["malloc,0x4,48", "malloc,0x5,16", "free,0x4,0", "free,0x1,0"],
];

describe("a run by hand", () => {
  const file = fileOf("calls.csv", CALLS);

  test("too small: what fails, what is left out after it, how far it reached", async () => {
    const [study] = await studied(`malloc-csv:${file}`, ["first-fit"], 112);
    expect(study).toMatchObject({
      ...{ run: "malloc-csv", allocator: "first-fit", arenaBytes: 112 },
      ...{ failed: 1, firstFailure: 4, left: 1, operations: 7 }, // the free of d is left out
      ...{ peakObjects: 3, peakRequestedBytes: 96, peakBytes: 96, idleShare: 0 },
    });
    // e lies in b's place
    expect(study!.curve.map(({ endBytes }) => endBytes)).toEqual([32, 64, 96, 96, 96, 96, 96]);
  });

  test("large enough: d behind c, and b's place is idle", async () => {
    const [study] = await studied(file, ["first-fit"]);
    expect(study).toMatchObject({
      arenaBytes: null,
      failed: 0,
      left: 0,
      operations: 8,
      peakBytes: 144,
    });
    // 32 + 32 + 48 of 144 bytes were asked for when they were reached
    expect(study!.idleShare).toBeCloseTo(1 - 112 / 144);
  });

  test("a size at an allocator goes before the flag, and the flag before the configuration", async () => {
    const studies = await studied(file, ["first-fit@96", "best-fit"], 112);
    expect(studies.map(({ arenaBytes }) => arenaBytes)).toEqual([96, 112]);
    const line = (body: object): string => JSON.stringify(body);
    const trace = fileOf("sized.jsonl", [
      line({
        ...{ kind: "trace", format: "unified-trace", version: 1 },
        producer: { name: "hand", version: "1", revision: null, dirty: null },
        ...{ created: null, note: null },
      }),
      line({
        ...{ kind: "run", run: "r", domain: "heap", config: { arena_bytes: 64 } },
        source: { type: "live", name: "hand" },
      }),
      line({ kind: "op", n: 0, op: "heap.alloc", args: { id: "a", size_bytes: 65 }, ok: {} }),
      line({ kind: "end", run: "r", ops: 1 }),
    ]);
    expect((await studied(trace, ["buddy"]))[0]).toMatchObject({ arenaBytes: 64, failed: 1 });
    expect((await studied(trace, ["buddy"], 128))[0]).toMatchObject({ arenaBytes: 128, failed: 0 });
  });
});

test("the farthest byte is never below what was asked for at once, on any of them", async () => {
  const lines = ["op,ptr,size"];
  for (let at = 1; at <= 300; at++) lines.push(`malloc,0x${at.toString(16)},${(at * 37) % 500}`);
  for (let at = 1; at <= 300; at += 3) lines.push(`free,0x${at.toString(16)},0`);
  for (let at = 301; at <= 400; at++) lines.push(`malloc,0x${at.toString(16)},${(at * 91) % 300}`);
  const studies = await studied(fileOf("many.csv", lines), HEAP_POLICIES);
  expect(studies.length).toBe(4);
  for (const study of studies) {
    expect(study.failed).toBe(0);
    expect(study.peakUsedBytes).toBeGreaterThanOrEqual(study.peakRequestedBytes);
    expect(study.peakBytes).toBeGreaterThanOrEqual(study.peakUsedBytes);
    // what it needed is enough, what is below what was asked for is not
    const again = async (bytes: number): Promise<number> =>
      (await studied(join(folder, "many.csv"), [`${study.allocator}@${bytes}`]))[0]!.failed;
    if (study.allocator === "first-fit") expect(await again(study.peakBytes)).toBe(0);
    expect(await again(study.peakRequestedBytes - 16)).toBeGreaterThan(0);
  }
});

describe("compare on a log, which tells no addresses", () => {
  const compared = async (policy: string, mode: CompareMode): Promise<CompareVerdict> => {
    const trace = join(folder, "calls.jsonl");
    const writer = createTraceWriter(trace);
    const log = await openImport(`malloc-csv:${fileOf("again.csv", CALLS)}`);
    await importLog({ log, writer });
    await log.close();
    writer.commit();
    const spec = parseHeapSpec(policy);
    const start = async (): Promise<HeapAdapter> => new HeapAdapter(spec);
    return (await compareTrace({ trace, candidate: policy, start, mode })).verdict;
  };

  test.each(HEAP_POLICIES)(
    "%s: agrees in decisions and in all but placement, while all fits",
    async (policy) => {
      expect(await compared(policy, "decisions")).toBe("agree");
      expect(await compared(policy, "placement-free")).toBe("agree");
      expect(await compared(policy, "exact")).toBe("divergent"); // it tells where objects lie
    },
  );

  test("who refuses what was granted diverges in either", async () => {
    expect(await compared("first-fit@112", "decisions")).toBe("divergent");
    expect(await compared("first-fit@112", "placement-free")).toBe("divergent");
    expect(await compared("first-fit@144", "placement-free")).toBe("agree");
  });
});

test("a file without a heap is refused", async () => {
  const head = fileOf("empty.csv", ["op,ptr,size"]);
  await expect(studied(head, ["buddy"])).rejects.toBeInstanceOf(InputError);
});

test.each([
  ["frist-fit", /unknown allocator "frist-fit" \(did you mean first-fit\?\)/],
  ["buddy@", /"" is no size/],
  ["buddy@0", /"0" is no size/],
  ["buddy@1t", /"1t" is no size/],
  ["buddy@1m@2", /is no size/],
])("%s is wrong usage", (spec, message) => {
  expect(() => parseHeapSpec(spec)).toThrow(message);
  expect(() => parseHeapSpec(spec)).toThrow(UsageError);
});

test("sizes of arenas have units", () => {
  expect(
    ["buddy", "buddy@96", "buddy@2k", "buddy@1M"].map((spec) => parseHeapSpec(spec).arenaBytes),
  ).toEqual([...[null, 96, 2048, 1_048_576]]);
});

test("a curve is bounded, ends with the run and keeps every peak", () => {
  for (const length of [1, 127, 128, 129, 1000, 5000]) {
    const curve = new HeapCurve();
    for (let n = 0; n < length; n++) {
      const requestedBytes = n === Math.floor(length / 3) ? 1_000_000 : n % 7;
      curve.add({ n, requestedBytes, usedBytes: 0, endBytes: n });
    }
    const { points } = curve;
    expect(points.length).toBeLessThanOrEqual(128);
    expect(points.at(-1)).toMatchObject({ n: length - 1, endBytes: length - 1 });
    expect(Math.max(...points.map(({ requestedBytes }) => requestedBytes))).toBe(1_000_000);
    const numbers = points.map(({ n }) => n);
    expect([...numbers].sort((left, right) => left - right)).toEqual(numbers);
  }
});

const DATA = fileURLToPath(new URL("../../../shared/data/minimalloc/", import.meta.url));
describeUnless(existsSync(DATA) ? undefined : "../shared/data is not here", "minimalloc", () => {
  test.each(["A", "B", "C", "D", "E"])("%s: as large as need be everything fits", async (name) => {
    const file = `${DATA}${name}.1048576.csv`;
    for (const study of await studied(file, HEAP_POLICIES)) {
      expect([study.failed, study.left]).toEqual([0, 0]);
      expect(study.peakBytes).toBeGreaterThanOrEqual(study.peakRequestedBytes);
    }
  });
});
