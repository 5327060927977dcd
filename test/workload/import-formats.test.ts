// Logs of every format: laws that hold for all of them, then what each one reads and refuses.
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/base/errors.js";
import { validateTrace } from "../../src/trace/validate.js";
import { foreignLog, IMPORT_FORMATS } from "../../src/workload/import.js";
import type { ImportCounts } from "../../src/workload/import.js";
import { freshPath, imported, linesOf, logOf, writtenImport } from "./import-lines.js";
import type { Imported } from "./import-lines.js";

const SNAPSHOT = {
  segments: [{ device: 0, address: 4096, blocks: [{ size: 1, state: 'a"}]\\' }] }],
  device_traces: [
    [
      { action: "segment_alloc", addr: 4096, size: 2048, stream: 0, time_us: 10 },
      { action: "alloc", addr: 4096, size: 512, stream: 0, time_us: 11, frames: [{ name: "}" }] },
      { action: "alloc", addr: 4608, size: 100, stream: 7, time_us: 13 },
      { action: "free_requested", addr: 4096, size: 512, stream: 0, time_us: 14 },
      { action: "free_completed", addr: 4096, size: 512, stream: 0, time_us: 15 },
      { action: "alloc", addr: 4096, size: 256, stream: 0, time_us: 16 },
      { action: "oom", size: 1e9, device_free: 3, stream: 0, time_us: 17 },
    ],
    [{ action: "alloc", addr: "0x7fffffffffffffff", size: 8, stream: 0, time_us: 20 }],
  ],
};

/** A good log of each format. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  umpire: linesOf("events.replay"),
  android: [
    "1: malloc 0x1000 16",
    "1: calloc 0x2000 3 8",
    "2: memalign 0x3000 64 100",
    "2: realloc 0x4000 0x1000 32",
    "1: free 0x2000",
    "1: free 0x0",
    "3: realloc 0x2000 0x0 5",
    "3: realloc 0x0 0x2000 0",
    "2: free 0x3000",
    "1: malloc 0x2000 7",
    "2: thread_done 0x0",
  ],
  rmm: [
    "Thread,Time,Action,Pointer,Size,Stream",
    "11,23:59:59.999998,allocate,0x7f00,256,0x0",
    "11,23:59:59.999999,allocate,0x8000,512,0x1",
    "12,00:00:00.000001,allocate failure,0x0,1024,0x0",
    "12,00:00:00.000003,free,0x7f00,256,0x0",
    "11,00:00:00.000009,allocate,0x7f00,64,0x0",
  ],
  pytorch: [JSON.stringify(SNAPSHOT)],
  minimalloc: ["id,lower,upper,size", "b1,0,3,4", "b2,3,9,4", "b3,0,9,4"],
  "malloc-csv": [
    "op,ptr,size,old,count,align,thread,time_us",
    "malloc,0x10,8,,,,a,100",
    "calloc,0x20,8,,4,,a,101",
    "memalign,0x40,16,,,64,b,105",
    "realloc,0x80,24,0x10,,,b,105",
    "free,0x20,0,,,,b,107",
    "free,0x0,0,,,,b,108",
    "malloc,0x20,1,,,,a,110",
  ],
};

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

function fileOf(content: string): string {
  const path = freshPath(".log");
  writeFileSync(path, content);
  return path;
}

const asked = ({ lines }: Imported): string[] =>
  lines.flatMap((line) => (line.kind === "op" ? [`${line.op} ${JSON.stringify(line.args)}`] : []));

const sum = ({ operations, joined, marks, dropped }: ImportCounts): number =>
  operations + joined + marks + Object.values(dropped).reduce((total, count) => total + count, 0);

async function failure(spec: string): Promise<InputError> {
  try {
    await imported(spec);
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  return expect.fail("nothing was thrown");
}

test("every format has a sample, and is known by its first line", async () => {
  expect(Object.keys(SAMPLES).sort()).toEqual(IMPORT_FORMATS.map(({ name }) => name).sort());
  for (const [format, lines] of Object.entries(SAMPLES)) {
    const file = logOf(lines);
    expect(await foreignLog(file)).toEqual({ format, file });
  }
});

describe.each(Object.entries(SAMPLES))("%s: laws", (format, lines) => {
  const whole = text(lines);
  const spec = `${format}:${logOf(lines)}`;

  test("a valid trace of lives: opened once, closed at most once, counted", async () => {
    const all = await imported(spec);
    const { counts } = all;
    expect(sum(counts)).toBe(counts.events);
    expect(counts.allocations - counts.frees).toBe(counts.live);
    expect((await validateTrace(await writtenImport(spec))).operations).toBe(counts.operations);
    let run = "";
    const open = new Set<string>();
    let [live, peak, opened] = [0, 0, 0];
    for (const line of all.lines) {
      if (line.kind === "run") [run, live] = [line.run, 0];
      if (line.kind !== "op") continue;
      const { id } = line.args as { id: string };
      if (line.op === "heap.alloc" && line.ok !== undefined) {
        expect(open.has(`${run} ${id}`)).toBe(false);
        open.add(`${run} ${id}`);
        opened += 1;
        live += 1;
        peak = Math.max(peak, live);
      } else if (line.op === "heap.free") {
        expect(open.delete(`${run} ${id}`)).toBe(true);
        live -= 1;
      }
    }
    expect([opened, open.size]).toEqual([counts.allocations, counts.live]);
    expect(counts.facts["peak_objects"]).toBe(peak);
    // no address reaches the trace
    expect(JSON.stringify(all.lines)).not.toMatch(/0x[0-9a-f]{3}/);
  });

  test("CR LF and a missing last line end change nothing", async () => {
    const plain = await imported(spec);
    for (const content of [whole.replaceAll("\n", "\r\n"), whole.slice(0, -1)]) {
      const other = await imported(`${format}:${fileOf(content)}`);
      expect(other.lines).toEqual(plain.lines);
      expect(other.counts).toEqual(plain.counts);
    }
  });

  test("times ascend where the log tells them, and stand only on request", async () => {
    expect(JSON.stringify((await imported(spec)).lines)).not.toContain("at_us");
    const timed = await imported(spec, { time: true });
    let latest = 0;
    for (const line of timed.lines) {
      if (line.kind === "run") latest = 0;
      if (line.kind !== "op" || line.at_us === undefined) continue;
      expect(line.at_us).toBeGreaterThanOrEqual(latest);
      latest = line.at_us;
    }
  });

  test("a size of the arena stands in the configuration", async () => {
    const { lines: sized } = await imported(spec, { arenaBytes: 1024 });
    for (const line of sized) {
      if (line.kind === "run") expect(line.config).toEqual({ arena_bytes: 1024 });
    }
  });

  test("cut anywhere: a beginning of the same operations, or one error with file and line", async () => {
    const all = asked(await imported(spec));
    // lifetimes are sorted, so that a row less is another list
    const isPrefix = format !== "minimalloc";
    const step = Math.ceil(whole.length / 300);
    for (let bytes = 0; bytes < whole.length - 1; bytes += step) {
      const cut = whole.slice(0, bytes);
      try {
        const some = asked(await imported(`${format}:${fileOf(cut)}`));
        // the digits of the last number may be cut, and nothing tells
        if (isPrefix) expect(all.slice(0, Math.max(0, some.length - 1))).toEqual(some.slice(0, -1));
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        expect([error.exitCode, error.describe().includes("\n")]).toEqual([3, false]);
        expect(error.place.file).toBeDefined();
        expect(error.place.line ?? 1).toBeLessThanOrEqual(cut.split("\n").length);
      }
    }
  });

  test("a line replaced by something else is refused by line", async () => {
    for (let at = 0; at < lines.length; at++) {
      for (const wrong of [
        "1,2",
        "null",
        '{"a":1}}',
        "\u0000\u0000",
        "a,b,c,d,e,f,g,h,i",
        "x: y z",
      ]) {
        const changed = [...lines];
        changed[at] = wrong;
        const error = await failure(`${format}:${logOf(changed)}`);
        expect(error.place.file).toBeDefined();
        expect(error.message.length).toBeLessThan(300);
        expect(error.exitCode).toBe(3);
      }
    }
  });

  test("a free before its allocation is refused by line", async () => {
    if (["minimalloc", "umpire", "pytorch"].includes(format)) return; // sorted; two forms; may begin in the middle
    const free = lines.findIndex((line) => /free\b.*0x[2-7]/.test(line));
    const first = format === "android" ? 0 : 1;
    const changed = [...lines];
    changed.splice(first, 0, ...changed.splice(free, 1));
    const error = await failure(`${format}:${logOf(changed)}`);
    expect(error.message).toMatch(/a free of 0x\w+, where no object lives/);
    expect(error.place).toMatchObject({
      line: first + 1,
      expected: "the address of a live object",
    });
  });
});

describe("android", () => {
  test("calls become lives; threads are streams", async () => {
    const all = await imported(`android:${logOf(SAMPLES["android"]!)}`);
    expect(asked(all)).toEqual([
      'heap.alloc {"id":"o1","size_bytes":16,"stream":"1"}',
      'heap.alloc {"id":"o2","size_bytes":24,"stream":"1"}',
      'heap.alloc {"id":"o3","size_bytes":100,"align_bytes":64,"stream":"2"}',
      'heap.realloc {"id":"o1","size_bytes":32}',
      'heap.free {"id":"o2","stream":"1"}',
      'heap.alloc {"id":"o4","size_bytes":5,"stream":"3"}',
      'heap.free {"id":"o4","stream":"3"}',
      'heap.free {"id":"o3","stream":"2"}',
      'heap.alloc {"id":"o5","size_bytes":7,"stream":"1"}',
    ]);
    expect(all.counts.dropped).toEqual({ "free of the null pointer": 1, "end of a thread": 1 });
    expect(all.counts.facts).toEqual({
      ...{ threads: 3, peak_objects: 3, peak_bytes: 156 }, // 32 + 24 + 100
      ...{ address_reuses: 2, reallocations_to_nothing: 1 },
    });
  });

  test("who frees what another thread allocated or reallocated is counted", async () => {
    const lines = [
      "1: malloc 0x1 8",
      "2: realloc 0x2 0x1 9",
      "2: free 0x2",
      "1: malloc 0x3 1",
      "2: free 0x3",
    ];
    const { counts } = await imported(`android:${logOf(lines)}`);
    expect(counts.facts["frees_by_another_thread"]).toBe(1);
  });

  test("what fails is refused in the trace; nothing for nothing is no failure", async () => {
    const lines = [
      "1: malloc 0x0 8",
      "1: malloc 0x0 0",
      "1: malloc 0x1 4",
      "1: realloc 0x0 0x1 99",
      "1: free 0x1",
    ];
    const all = await imported(`android:${logOf(lines)}`);
    const errors = all.lines.flatMap((line) =>
      line.kind === "op" ? [line.err?.code ?? "ok"] : [],
    );
    expect(errors).toEqual(["refused_capacity", "ok", "refused_capacity", "ok"]);
    expect(all.counts.dropped).toEqual({ "allocation of nothing": 1 });
    expect(all.counts.facts["failed_allocations"]).toBe(2);
  });

  test("times at the end of newer lines, in nanoseconds", async () => {
    const lines = ["1: malloc 0x1 8 5000 5100", "1: free 0x1 8999 9100"];
    const { lines: timed } = await imported(`android:${logOf(lines)}`, { time: true });
    expect(timed.flatMap((line) => (line.kind === "op" ? [line.at_us] : []))).toEqual([0, 3]);
  });

  test.each<[string, string, RegExp, string | undefined]>([
    ["a size beyond 2^53", "1: malloc 0x1 9007199254740992", /SIZE of malloc must be/, "/SIZE"],
    [
      "a product beyond 2^53",
      "1: calloc 0x1 4294967296 4294967296",
      /SIZE of calloc must be/,
      "/SIZE",
    ],
    ["a negative size", "1: malloc 0x1 -1", /SIZE of malloc must be .*found "-1"/, "/SIZE"],
    ["an address that is none", "1: free 1000", /PTR of free must be an address/, "/PTR"],
    [
      "a word too few",
      "1: realloc 0x1 8",
      /2 words behind realloc, expected `TID: realloc NEW OLD SIZE`/,
      undefined,
    ],
    [
      "an unknown function",
      "1: maloc 0x1 8",
      /unknown function "maloc"; did you mean "malloc"/,
      "/FUNCTION",
    ],
    ["no thread", "malloc 0x1 8", /is no call: .*expected `TID: FUNCTION …`/, undefined],
    ["an empty line", "", /is no call: an empty line/, undefined],
    [
      "an allocation where one lives",
      "1: malloc 0x9 1",
      /an allocation at 0x9, where an object/,
      undefined,
    ],
    ["a second free", "1: free 0x8", /a free of 0x8, where no object lives/, undefined],
    [
      "a reallocation of nothing that lives",
      "1: realloc 0x7 0x8 1",
      /a reallocation of 0x8, where/,
      undefined,
    ],
    [
      "a reallocation onto another",
      "1: realloc 0x9 0xa 1",
      /a reallocation to 0x9, where an object/,
      undefined,
    ],
  ])("%s", async (_, line, message, path) => {
    const before = ["1: malloc 0x8 1", "1: free 0x8", "1: malloc 0x9 4", "1: malloc 0xa 4"];
    const error = await failure(`android:${logOf([...before, line])}`);
    expect(error.message).toMatch(message);
    expect(error.place.line).toBe(5);
    expect(error.place.path).toBe(path);
    expect(error.place.expected).toBeDefined();
  });
});

describe("rmm", () => {
  test("streams, failures, sizes of frees, midnight", async () => {
    const all = await imported(`rmm:${logOf(SAMPLES["rmm"]!)}`, { time: true });
    expect(asked(all)).toEqual([
      'heap.alloc {"id":"o1","size_bytes":256,"stream":"0x0"}',
      'heap.alloc {"id":"o2","size_bytes":512,"stream":"0x1"}',
      'heap.alloc {"id":"o3","size_bytes":1024,"stream":"0x0"}',
      'heap.free {"id":"o1","stream":"0x0"}',
      'heap.alloc {"id":"o4","size_bytes":64,"stream":"0x0"}',
    ]);
    expect(all.lines.flatMap((line) => (line.kind === "op" ? [line.at_us] : []))).toEqual([
      0, 1, 3, 5, 11,
    ]);
    expect(all.counts.facts).toMatchObject({ failed_allocations: 1, frees_by_another_thread: 1 });
  });

  test.each<[string, string, RegExp, string | undefined]>([
    [
      "a free of another size",
      "1,00:00:00.000001,free,0x7f00,8,0x0",
      /a free of 8 bytes at 0x7f00, where an object of 256/,
      undefined,
    ],
    [
      "an unknown action",
      "1,00:00:00.000001,alocate,0x1,8,0x0",
      /unknown Action "alocate".*did you mean "allocate"/,
      "/Action",
    ],
    ["a time in another unit", "1,1234,allocate,0x1,8,0x0", /Time must be a time of day/, "/Time"],
    [
      "an hour that is none",
      "1,24:00:00.000000,allocate,0x1,8,0x0",
      /Time must be a time of day/,
      "/Time",
    ],
    [
      "an allocation at nothing",
      "1,00:00:00.000001,allocate,0x0,8,0x0",
      /Pointer must be the address/,
      "/Pointer",
    ],
    [
      "a size beyond 2^53",
      "1,00:00:00.000001,allocate,0x1,9007199254740993,0x0",
      /Size must be/,
      "/Size",
    ],
    ["a cell less", "1,00:00:00.000001,allocate,0x1,8", /5 cells, expected 6/, undefined],
  ])("%s", async (_, line, message, path) => {
    const error = await failure(`rmm:${logOf([...SAMPLES["rmm"]!.slice(0, 2), line])}`);
    expect(error.message).toMatch(message);
    expect(error.place.line).toBe(3);
    expect(error.place.path).toBe(path);
  });

  test("columns in another order are read, a missing one is named", async () => {
    const rows = SAMPLES["rmm"]!.map((line) => line.split(","));
    const turned = rows.map((cells) => [...cells].reverse().join(","));
    expect(asked(await imported(`rmm:${logOf(turned)}`))).toEqual(
      asked(await imported(`rmm:${logOf(SAMPLES["rmm"]!)}`)),
    );
    const error = await failure(`rmm:${logOf(rows.map((cells) => cells.slice(0, 5).join(",")))}`);
    expect(error.message).toMatch(/no column "Stream"/);
    expect(error.place).toMatchObject({ line: 1, path: "/Stream" });
  });
});

describe("pytorch", () => {
  const snapshot = (...traces: readonly (readonly object[])[]): string =>
    JSON.stringify({ device_traces: traces });

  test("a run a device; a free when it is completed; what the allocator does for itself is left out", async () => {
    const all = await imported(`pytorch:${logOf(SAMPLES["pytorch"]!)}`);
    expect(all.lines.flatMap((line) => (line.kind === "run" ? [line.run] : []))).toEqual([
      "pytorch/device-0",
      "pytorch/device-1",
    ]);
    expect(asked(all)).toEqual([
      'heap.alloc {"id":"o1","size_bytes":512,"stream":"0"}',
      'heap.alloc {"id":"o2","size_bytes":100,"stream":"7"}',
      'heap.free {"id":"o1","stream":"0"}',
      'heap.alloc {"id":"o3","size_bytes":256,"stream":"0"}',
      'heap.alloc {"id":"o4","size_bytes":1000000000,"stream":"0"}',
      'heap.alloc {"id":"o1","size_bytes":8,"stream":"0"}',
    ]);
    expect(all.counts).toMatchObject({ events: 8, operations: 6, joined: 1, live: 3 });
    expect(all.counts.dropped).toEqual({ "segment_alloc: the allocator's own doing": 1 });
  });

  test("the same however the document is broken into lines", async () => {
    const plain = await imported(`pytorch:${logOf(SAMPLES["pytorch"]!)}`);
    for (const indent of [1, 2, "\t"]) {
      const pretty = JSON.stringify(SNAPSHOT, null, indent);
      const file = fileOf(pretty);
      expect(await foreignLog(file)).toEqual({ format: "pytorch", file });
      expect((await imported(file)).lines).toEqual(plain.lines);
    }
  });

  test("a trace may begin in the middle, and end there", async () => {
    const lines = snapshot([
      { action: "free_requested", addr: 1, size: 2, stream: 0 },
      { action: "free_completed", addr: 1, size: 2, stream: 0 },
      { action: "free_completed", addr: 9, size: 2, stream: 0 },
      { action: "alloc", addr: 1, size: 3, stream: 0 },
      { action: "free_requested", addr: 1, size: 3, stream: 0 },
    ]);
    const { counts } = await imported(`pytorch:${logOf([lines])}`);
    expect(counts.dropped).toEqual({
      "free of what lived before the trace began": 3,
      "free that was requested and not completed": 1,
    });
    expect(counts).toMatchObject({ events: 5, operations: 1, live: 1 });
  });

  test("an unknown action is left out by name, and the import is incomplete", async () => {
    const entry = { action: "teleport", addr: 1, size: 2, stream: 0 };
    const { counts } = await imported(`pytorch:${logOf([snapshot([entry])])}`);
    expect(counts.unknown).toBe(1);
    expect(counts.dropped).toEqual({ "unknown action teleport": 1 });
  });

  const alloc = { action: "alloc", addr: 4096, size: 8, stream: 0 };
  test.each<[string, string, RegExp, string | undefined]>([
    [
      "an address beyond 2^53",
      snapshot([{ ...alloc, addr: 2 ** 53 }]),
      /addr must be an address: a whole number below 2\^53, or hex/,
      "/device_traces/0/0/addr",
    ],
    ["no action", snapshot([alloc, { addr: 1 }]), /action must be a text/, "/device_traces/0/1"],
    [
      "an allocation where one lives",
      snapshot([alloc, alloc]),
      /where an object still lives/,
      "/device_traces/0/1",
    ],
    [
      "a free of another size",
      snapshot([], [alloc, { ...alloc, action: "free_completed", size: 9 }]),
      /a free of 9 bytes at 0x1000, where an object of 8/,
      "/device_traces/1/1",
    ],
    [
      "no history",
      '{"segments":[]}',
      /has no device_traces: a snapshot without history/,
      "/device_traces",
    ],
    ["an empty history", snapshot([], []), /device_traces holds no entry/, "/device_traces"],
    ["a document that is cut", snapshot([alloc]).slice(0, -3), /ends inside \{\[\[/, undefined],
    ["brackets that do not match", '{"segments":[}', /unexpected \}/, undefined],
    ["a second document", `${snapshot([alloc])}{}`, /more behind the end/, undefined],
  ])("%s", async (_, line, message, path) => {
    const error = await failure(`pytorch:${logOf([line])}`);
    expect(error.message).toMatch(message);
    expect(error.place.path).toBe(path);
    expect(error.exitCode).toBe(3);
  });

  test("an execution trace is refused, and the line says why", async () => {
    const trace = { schema: "1.0.1", pid: 1, nodes: [{ name: "aten::add", id: 1 }] };
    const why = /is a PyTorch execution trace: it holds operators and tensors, no allocator events/;
    for (const content of [JSON.stringify(trace), JSON.stringify(trace, null, 2)]) {
      const file = fileOf(content);
      for (const spec of [file, `pytorch:${file}`, `pytorch-et:${file}`])
        expect((await failure(spec)).message).toMatch(why);
    }
  });
});

describe("minimalloc", () => {
  test("of one moment frees come first, then allocations in the order of the file", async () => {
    const all = await imported(`minimalloc:${logOf(SAMPLES["minimalloc"]!)}`);
    expect(asked(all)).toEqual([
      'heap.alloc {"id":"o1","size_bytes":4}', // b1 [0, 3)
      'heap.alloc {"id":"o2","size_bytes":4}', // b3 [0, 9)
      'heap.free {"id":"o1"}',
      'heap.alloc {"id":"o3","size_bytes":4}', // b2 [3, 9)
      'heap.free {"id":"o3"}', // b2 stands before b3
      'heap.free {"id":"o2"}',
    ]);
    expect(all.counts.facts).toMatchObject({ buffers: 3, peak_bytes: 8, peak_objects: 2 });
  });

  test.each<[string, string, RegExp, string]>([
    [
      "a lifetime of no length",
      "b9,4,4,1",
      /upper must be more than lower, which is 4, found "4"/,
      "/upper",
    ],
    ["an id twice", "b1,4,5,1", /id must be an id of its own, found "b1"/, "/id"],
    ["a size that is no number", "b9,4,5,x", /size must be a whole number/, "/size"],
    ["a time below 0", "b9,-4,5,1", /lower must be a whole number/, "/lower"],
  ])("%s", async (_, line, message, path) => {
    const error = await failure(`minimalloc:${logOf([...SAMPLES["minimalloc"]!, line])}`);
    expect(error.message).toMatch(message);
    expect(error.place).toMatchObject({ line: 5, path });
  });
});

describe("malloc-csv", () => {
  test("calls become lives", async () => {
    const all = await imported(`malloc-csv:${logOf(SAMPLES["malloc-csv"]!)}`, { time: true });
    expect(asked(all)).toEqual([
      'heap.alloc {"id":"o1","size_bytes":8,"stream":"a"}',
      'heap.alloc {"id":"o2","size_bytes":32,"stream":"a"}',
      'heap.alloc {"id":"o3","size_bytes":16,"align_bytes":64,"stream":"b"}',
      'heap.realloc {"id":"o1","size_bytes":24}',
      'heap.free {"id":"o2","stream":"b"}',
      'heap.alloc {"id":"o4","size_bytes":1,"stream":"a"}',
    ]);
    expect(all.lines.flatMap((line) => (line.kind === "op" ? [line.at_us] : []))).toEqual([
      0, 1, 5, 5, 7, 10,
    ]);
    expect(all.counts.dropped).toEqual({ "free of the null pointer": 1 });
  });

  test("three columns do; a realloc needs the old address", async () => {
    const plain = ["op,ptr,size", "malloc,0x1,8", "free,0x1,0"];
    expect(asked(await imported(`malloc-csv:${logOf(plain)}`))).toEqual([
      'heap.alloc {"id":"o1","size_bytes":8}',
      'heap.free {"id":"o1"}',
    ]);
    const error = await failure(`malloc-csv:${logOf([...plain, "realloc,0x2,8"])}`);
    expect(error.message).toMatch(/no column "old"/);
    expect(error.place.line).toBe(4);
  });
});
