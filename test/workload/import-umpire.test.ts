// Logs of Umpire become a run: every event is accounted for, no address, time or build reaches what is compared.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { InputError, UsageError } from "../../src/base/errors.js";
import { Prng } from "../../src/base/prng.js";
import { validateTrace } from "../../src/trace/validate.js";
import { foreignLog, openImport } from "../../src/workload/import.js";
import type { ImportCounts } from "../../src/workload/import.js";
import { describeUnless } from "../skip-aloud.js";
import { fixture, imported, linesOf, logOf, writtenImport } from "./import-lines.js";

const sum = ({ operations, joined, marks, dropped }: ImportCounts): number =>
  operations + joined + marks + Object.values(dropped).reduce((total, count) => total + count, 0);

/** Operations as `name arguments`. */
async function asked(spec: string): Promise<string[]> {
  const { lines } = await imported(spec);
  return lines.flatMap((line) =>
    line.kind === "op" ? [`${line.op} ${JSON.stringify(line.args)}`] : [],
  );
}

describe("the event form", () => {
  test("operations in their order, ids by lifetime, pools by making", async () => {
    expect(await asked(fixture("events.replay"))).toEqual([
      'pool.make {"pool":"p1","type":"memory_resource","args":["HOST","introspection=1"]}',
      'pool.make {"pool":"p2","type":"umpire::strategy::QuickPool","args":["quick","introspection=1","HOST",512,"p1"]}',
      'heap.alloc {"id":"o1","size_bytes":128,"pool":"p1"}',
      'heap.alloc {"id":"o2","size_bytes":64,"pool":"p2"}',
      'heap.copy {"from":"o1","to":"o2","bytes":16}',
      'heap.realloc {"id":"o2","size_bytes":96}',
      'heap.free {"id":"o2"}', // the reallocation to nothing is told by what it did
      'heap.alloc {"id":"o3","size_bytes":0,"pool":"p2"}',
      'heap.free {"id":"o1"}',
      'heap.alloc {"id":"o4","size_bytes":256,"pool":"p1"}', // at the address of o1, another life
      'heap.coalesce {"pool":"p2"}',
      'heap.release {"pool":"p2"}',
      'heap.free {"id":"o3"}',
    ]);
  });

  test("every operation knows its event, and the counts add up", async () => {
    const { lines, counts } = await imported(fixture("events.replay"));
    const events = lines.flatMap((line) =>
      line.kind === "op" ? [(line as { x_event?: unknown }).x_event] : [],
    );
    expect(events).toEqual([1, 2, 3, 4, 5, [7, 8], 10, 11, 13, 14, 15, 16, 17]);
    expect(counts).toMatchObject({ events: 18, operations: 13, joined: 1, marks: 1, live: 1 });
    expect(counts.dropped).toMatchObject({ version: 1 });
    expect(sum(counts)).toBe(18);
  });

  test("times only on request, from the first event on, in microseconds", async () => {
    const plain = await imported(fixture("events.replay"));
    expect(JSON.stringify(plain.lines)).not.toContain("at_us");
    const timed = await imported(fixture("events.replay"), { time: true });
    const times = timed.lines.flatMap((line) => (line.kind === "op" ? [line.at_us] : []));
    expect(times.slice(0, 3)).toEqual([1, 2, 3]);
  });
});

describe("the form of intents and results", () => {
  test("an operation is written once, where its result stands", async () => {
    expect(await asked(fixture("intents.replay"))).toEqual([
      'pool.make {"pool":"p1","type":"memory_resource","args":["HOST"]}',
      'pool.make {"pool":"p2","type":"umpire::strategy::QuickPool","args":["quick","introspection=1","HOST",512]}',
      'heap.alloc {"id":"o1","size_bytes":64,"pool":"p2"}',
      'heap.alloc {"id":"o2","size_bytes":4,"pool":"p2"}',
      'heap.realloc {"id":"o2","size_bytes":12}',
      'heap.copy {"from":"o1","to":"o2","bytes":8}',
      'heap.free {"id":"o2"}',
      'heap.coalesce {"pool":"p2"}',
      'heap.release {"pool":"p2"}',
    ]);
  });

  test("what never returned is counted under its reason", async () => {
    const { counts } = await imported(fixture("intents.replay"));
    expect(counts.dropped).toMatchObject({ "intent without a result": 1 });
    expect(sum(counts)).toBe(counts.events);
    expect(counts.events).toBe(19);
  });
});

// Addresses, times, process ids and commits in the place of others; what the program did stays.
function disguised(lines: readonly string[], seed: number): string[] {
  const prng = new Prng(seed);
  const shift = BigInt(prng.between(1, 1_000_000)) * 4096n;
  return lines.map((line) =>
    line.startsWith("#")
      ? line
      : line
          .replaceAll(
            /"0x([0-9a-fA-F]+)"/g,
            (_, digits: string) => `"0x${(BigInt(`0x${digits}`) + shift).toString(16)}"`,
          )
          .replace(/"timestamp"\s*:\s*\d+/, `"timestamp":${prng.between(1, 1_000_000_000)}`)
          .replace(/"uid":\d+/, `"uid":${prng.between(1, 99999)}`)
          .replace(/"rc"\s*:\s*"\w+"/, `"rc":"${prng.between(1, 99999)}"`),
  );
}

/** The same event with its members in another order. */
function shuffledKeys(line: string, prng: Prng): string {
  if (line.startsWith("#")) return line;
  const shuffled = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).map(([key, member]) => [key, shuffled(member)] as const);
    for (let i = entries.length - 1; i > 0; i--) {
      const j = prng.below(i + 1);
      [entries[i], entries[j]] = [entries[j]!, entries[i]!];
    }
    return Object.fromEntries(entries);
  };
  // the two lines of one operation have the same payload, in the same order
  const event = JSON.parse(line) as Record<string, unknown>;
  const { payload, ...rest } = event;
  const mixed = shuffled(rest) as Record<string, unknown>;
  return JSON.stringify(payload === undefined ? mixed : { payload, ...mixed });
}

describe.each(["events.replay", "intents.replay"])("%s: what no run may depend on", (name) => {
  test.each([1, 2, 3, 4, 5])(
    "addresses, times, process ids, builds, key order (seed %i)",
    async (seed) => {
      const original = await asked(fixture(name));
      const prng = new Prng(seed, 5);
      const changed = disguised(linesOf(name), seed).map((line) => shuffledKeys(line, prng));
      expect(await asked(logOf(changed))).toEqual(original);
    },
  );

  test("the trace is valid", async () => {
    const path = await writtenImport(fixture(name));
    const summary = await validateTrace(path);
    expect(summary.operations).toBe((await imported(fixture(name))).counts.operations);
  });
});

describe("objects without bytes", () => {
  const pool =
    '{"category":"operation","name":"make_memory_resource","numeric_args":{},"string_args":{"allocator_ref":"0x1"},"tags":{"allocator_name":"HOST"}}';
  const alloc = (size: number): string =>
    `{"category":"operation","name":"allocate","numeric_args":{"size":${size}},"string_args":{"allocator_ref":"0x1","pointer":"0x10"},"tags":{}}`;
  const free =
    '{"category":"operation","name":"deallocate","string_args":{"allocator_ref":"0x1","pointer":"0x10"},"tags":{}}';

  test("share an address; a free means the newest", async () => {
    const ops = await asked(logOf([pool, alloc(0), alloc(8), alloc(0), free, free, free]));
    expect(ops.slice(4)).toEqual([
      'heap.free {"id":"o3"}',
      'heap.free {"id":"o2"}',
      'heap.free {"id":"o1"}',
    ]);
  });

  test.each([
    ["an allocation where an object lives", [pool, alloc(8), alloc(8)], 3],
    ["a free where none lives", [pool, alloc(8), free, free], 4],
  ])("%s is an error with its line", async (_, lines, line) => {
    await expect(imported(logOf(lines))).rejects.toMatchObject({
      code: "input_format",
      place: { line },
    });
  });
});

describe("wrong logs", () => {
  const wrong: readonly [string, readonly string[], RegExp][] = [
    ["not JSON", [...linesOf("events.replay"), '{"category":'], /not JSON/],
    [
      "an address that is none",
      [linesOf("events.replay")[4]!.replace('"0xA000"', '"A000"')],
      /pointer must be an address/,
    ],
    [
      "a negative size",
      [linesOf("events.replay")[4]!.replace("128", "-1")],
      /size must be a whole number/,
    ],
    ["a result that nothing began", [linesOf("events.replay")[9]!], /no event begins/],
    [
      "another form of event",
      [...linesOf("events.replay"), '{"time":3}'],
      /no event of an Umpire log/,
    ],
  ];
  test.each(wrong)("%s", async (_, lines, message) => {
    await expect(imported(`umpire:${logOf(lines)}`)).rejects.toThrow(message);
    await expect(imported(`umpire:${logOf(lines)}`)).rejects.toBeInstanceOf(InputError);
  });

  test("an unknown event is left out by name and makes the import incomplete", async () => {
    const lines = [
      ...linesOf("events.replay"),
      '{"category":"operation","name":"teleport","string_args":{},"tags":{}}',
    ];
    const { counts } = await imported(logOf(lines));
    expect(counts.dropped).toMatchObject({ "unknown event teleport": 1 });
    expect(counts.unknown).toBe(1);
    expect(sum(counts)).toBe(counts.events);
  });

  test("a name of the object prototype is an unknown event", async () => {
    const lines = [
      ...linesOf("events.replay"),
      '{"category":"operation","name":"toString","string_args":{},"tags":{}}',
    ];
    expect((await imported(logOf(lines))).counts.unknown).toBe(1);
  });

  test("an empty log, a trace, an unknown format", async () => {
    await expect(imported(`umpire:${logOf(["# nothing"])}`)).rejects.toThrow("holds no event");
    await expect(openImport(logOf(['{"kind":"trace"}']))).rejects.toThrow(
      "the first line is none of a log",
    );
    await expect(openImport("umpir:x.replay")).rejects.toThrow("did you mean umpire?");
    await expect(openImport("umpir:x.replay")).rejects.toBeInstanceOf(UsageError);
    await expect(openImport("umpire:")).rejects.toBeInstanceOf(UsageError);
    expect(await foreignLog("nothing-here.jsonl")).toBeNull();
  });
});

const data = fileURLToPath(new URL("../../../shared/data/umpire/", import.meta.url));
const missing = existsSync(data) ? undefined : "../shared/data is not here";

describeUnless(missing, "real logs", () => {
  const real: readonly [string, number, number][] = [
    ["output.replay", 524, 177],
    ["output.numa.replay.gz", 538, 183],
    ["output.omp.replay.gz", 1129, 382],
    ["tut_replay_log.json", 200, 64],
    ["umpire.0000.v2022.3.1-oldformat.replay", 91, 11],
    ["v2.0.0-host.good.gz", 1363, 200],
  ];
  test.each(real)("%s: all %i events, %i objects", async (name, events, objects) => {
    const path = `${data}${name}`;
    const { counts, lines } = await imported(path);
    expect(counts.events).toBe(events);
    expect(counts.allocations).toBe(objects);
    expect(counts.unknown).toBe(0);
    expect(JSON.stringify(lines)).not.toMatch(/0x[0-9a-f]{4}/);
    const written = await writtenImport(path);
    expect((await validateTrace(written)).operations).toBe(counts.operations);
  });
});
