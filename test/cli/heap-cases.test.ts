// Cases from public bug reports about replay, on traces of domain heap and through the command line: a replay that can
// say no (B053), operations that are left out or sent elsewhere (B055), verdicts that hang on addresses (B057).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { file, folder, isOneLine, root, shell, start } from "./command-line.js";

const kit = pathToFileURL(join(root, "examples", "kits", "typescript", "heap.mjs")).href;

type Line = Readonly<Record<string, unknown>>;

/** A trace of one run of domain heap. Operations are numbered here. */
function heapTrace(operations: readonly Line[], arenaBytes = 96): string {
  const lines = [
    {
      ...{ kind: "trace", format: "unified-trace", version: 1 },
      producer: { name: "hand", version: "1", revision: null, dirty: null },
      ...{ created: null, note: null },
    },
    {
      ...{ kind: "run", run: "heap", domain: "heap", config: { arena_bytes: arenaBytes } },
      source: { type: "live", name: "hand" },
      digest_depth: null,
    },
    ...operations.map((operation, n) => ({ kind: "op", n, ...operation })),
    { kind: "end", run: "heap", ops: operations.length },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

const alloc = (id: string, size_bytes: number, answer: Line): Line => ({
  ...{ op: "heap.alloc", args: { id, size_bytes } },
  ...answer,
});
const at = (address_offset: number): Line => ({ ok: { address_offset } });
const REFUSED = { err: { code: "refused_capacity", limit: "bytes" } };

// First fit by hand, 96 bytes in grains of 16: 32 + 32 leave 32; the fifth operation asks for 48 and is refused.
const RUN: readonly Line[] = [
  alloc("a1", 32, at(0)),
  alloc("a2", 32, at(32)),
  { op: "heap.free", args: { id: "a1" }, ok: {} },
  alloc("a3", 16, at(0)),
  alloc("a4", 16, at(16)),
  alloc("a5", 48, REFUSED),
  alloc("a6", 32, at(64)),
];

describe.concurrent("replay can say no (B053)", () => {
  const trace = file("heap.jsonl", heapTrace(RUN));
  /** The example heap on an arena of another size than the recorded one. */
  const resized = (bytes: number): string =>
    `module:${file(
      `resized${bytes}.mjs`,
      `import * as heap from ${JSON.stringify(kit)};
       export const info = heap.info;
       export const createImplementation = (config, context) =>
         heap.createImplementation({ ...config, arena_bytes: config.arena_bytes + ${bytes} }, context);`,
    )}`;
  const compared = (bytes: number) =>
    start(["compare", "--trace", trace, "--candidate", resized(bytes), "--json"]);

  test("on the same size equal, refusal included", async () => {
    const { code, stdout } = await compared(0);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: "equal", operations: 7 });
    expect(code).toBe(0);
  });

  test("on a larger arena the refused operation is granted, and named", async () => {
    const { code, stdout } = await compared(16);
    const [{ divergence }] = JSON.parse(stdout).runs;
    expect(divergence).toMatchObject({ n: 5, op: "heap.alloc" });
    expect([divergence.base.err.code, divergence.candidate.ok]).toEqual([
      ...["refused_capacity", { address_offset: 64 }],
    ]);
    expect(code).toBe(1);
  });

  test("on a smaller one the first operation that no longer fits is named", async () => {
    const { code, stdout } = await compared(-16);
    const [{ divergence }] = JSON.parse(stdout).runs;
    expect(divergence).toMatchObject({ n: 6, op: "heap.alloc" });
    expect(divergence.candidate.err.code).toBe("refused_capacity");
    expect(code).toBe(1);
  });

  test("a broken trace and a broken candidate have codes of their own", async () => {
    const cut = file("cut.jsonl", heapTrace(RUN).split("\n").slice(0, 6).join("\n"));
    const words = ["compare", "--candidate", resized(0), "--trace"];
    expect((await start([...words, cut])).code).toBe(3);
    const dies = `module:${file("dies.mjs", `throw new Error("no");`)}`;
    expect((await start(["compare", "--trace", trace, "--candidate", dies])).code).toBe(5);
  });

  test("a stream is a part of its event", async () => {
    const onStream = (stream: string): string =>
      file(
        "stream.jsonl",
        heapTrace([{ op: "heap.alloc", args: { id: "a1", size_bytes: 16, stream }, ...at(0) }]),
      );
    const [first, same, other] = [onStream("1"), onStream("1"), onStream("2")];
    expect((await start(["compare", first, same])).code).toBe(0);
    const { code, stdout } = await start(["compare", first, other, "--json"]);
    expect(JSON.parse(stdout).first).toEqual({ run: "heap", n: 0 });
    expect(code).toBe(1);
  });
});

describe.concurrent("every recorded operation is executed, where it was (B055)", () => {
  // Each pool hands out upwards, and begins again from 0 once it is empty and coalesced or released.
  const pools = (ops: readonly string[]): string =>
    `module:${file(
      "pools.mjs",
      `export const info = { name: "pools", version: "1", domains: ["heap"], ops: ${JSON.stringify(ops)}, fx: false };
       export function createImplementation() {
         const pools = new Map();
         const of = (name = "main") => {
           if (!pools.has(name)) pools.set(name, { top: 0, live: new Set() });
           return pools.get(name);
         };
         return {
           apply({ op, args }) {
             const pool = of(args.pool);
             if (op === "heap.alloc") {
               pool.live.add(args.id);
               pool.top += args.size_bytes;
               return { ok: { address_offset: pool.top - args.size_bytes } };
             }
             if (op === "heap.free") for (const each of pools.values()) each.live.delete(args.id);
             if ((op === "heap.coalesce" || op === "heap.release") && pool.live.size === 0) pool.top = 0;
             return { ok: {} };
           },
         };
       }`,
    )}`;
  const ALL = [
    "heap.alloc",
    "heap.free",
    "heap.copy",
    "heap.release",
    "heap.coalesce",
    "pool.make",
  ];
  const inPool = (id: string, pool: string, place: number): Line => ({
    ...{ op: "heap.alloc", args: { id, size_bytes: 16, pool } },
    ...at(place),
  });
  const done = (op: string, args: Line): Line => ({ op, args, ok: {} });
  const EVENTS: readonly Line[] = [
    done("pool.make", { pool: "p", type: "bump", args: [16, "x"] }),
    inPool("a1", "p", 0),
    inPool("b1", "q", 0),
    done("heap.copy", { from: "a1", to: "b1", bytes: 16 }),
    done("heap.free", { id: "a1" }),
    done("heap.coalesce", { pool: "p" }),
    inPool("a2", "p", 0),
    inPool("b2", "q", 16),
    done("heap.free", { id: "b1" }),
    done("heap.free", { id: "b2" }),
    done("heap.release", { pool: "q" }),
    inPool("b3", "q", 0),
  ];
  const compare = (events: readonly Line[], ops = ALL, ...flags: readonly string[]) =>
    start([
      ...["compare", "--trace", file("pools.jsonl", heapTrace(events))],
      ...["--candidate", pools(ops), "--json", ...flags],
    ]);

  test("all of them, in the pool that they name", async () => {
    const { code, stdout } = await compare(EVENTS);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: "equal", operations: EVENTS.length });
    expect(code).toBe(0);
  });

  test.each([
    [5, "heap.coalesce", 6, 16],
    [10, "heap.release", 11, 32],
  ])("without operation %i, %s, a later place differs", async (left, op, recorded, place) => {
    expect(EVENTS[left]?.["op"]).toBe(op);
    const { code, stdout } = await compare(EVENTS.filter((_, n) => n !== left));
    const [{ divergence }] = JSON.parse(stdout).runs;
    expect(divergence).toMatchObject({ n: recorded - 1, kind: "result" });
    expect(divergence.candidate.ok.address_offset).toBe(place);
    expect(code).toBe(1);
  });

  test("coalescing another pool than the recorded one is seen", async () => {
    const moved = EVENTS.map((event, n) => (n === 5 ? { ...event, args: { pool: "q" } } : event));
    const { stdout } = await compare(moved);
    expect(JSON.parse(stdout).first).toEqual({ run: "heap", n: 6 });
  });

  test("kinds that a candidate lacks are refused by name; leaving them out is incomplete", async () => {
    const lacking = ALL.filter((op) => op !== "heap.copy");
    const refused = await compare(EVENTS, lacking);
    expect(JSON.parse(refused.stdout).error.message).toMatch(/heap\.copy/);
    expect(refused.code).toBe(5);
    const skipped = await compare(EVENTS, lacking, "--skip-unsupported");
    expect(JSON.parse(skipped.stdout)).toMatchObject({ verdict: "incomplete", skipped: 1 });
    expect(skipped.code).toBe(6);
  });

  test("an unknown kind, and a kind of the other domain, stop it with their number", async () => {
    for (const [op, message] of [
      ["heap.coalese", /:8:\d+: .*heap\.coalese.*heap\.coalesce/],
      ["chain.flush", /:8: .*chain\.flush is no operation of domain heap/],
    ] as const) {
      const args = op === "chain.flush" ? {} : { pool: "p" };
      const changed = EVENTS.map((event, n) => (n === 5 ? { op, args, ok: {} } : event));
      const trace = file("unknown.jsonl", heapTrace(changed));
      const { code, stderr } = await start([
        "compare",
        "--trace",
        trace,
        "--candidate",
        pools(ALL),
      ]);
      expect(stderr).toMatch(message);
      expect(isOneLine(stderr)).toBe(true);
      expect(code).toBe(3);
    }
  });
});

describe.concurrent("a run that the trace lacks is a mistyped request (B059)", () => {
  test.each([
    ["compare", "--candidate"],
    ["replay", "--impl"],
  ])("%s --run", async (command, flag) => {
    const words = [command, "--trace", file("one.jsonl", heapTrace(RUN)), "--run", "heep"];
    const { code, stdout, stderr } = await start([...words, flag, `module:${fileURLToPath(kit)}`]);
    expect(stderr).toMatch(/--run heep: .*holds no such run/);
    expect(isOneLine(stderr)).toBe(true);
    expect([code, stdout]).toEqual([2, ""]);
  });
});

describe.concurrent("addresses and process numbers mean nothing (B057)", () => {
  test("two recordings of one run at other addresses are equal, byte by byte", async () => {
    const recorder = pathToFileURL(
      join(root, "examples", "kits", "typescript", "unified-trace-kit.mjs"),
    ).href;
    const program = file(
      "placed.mjs",
      `import { LiveRecorder } from ${JSON.stringify(recorder)};
       const base = Number(process.argv[2]);
       const live = new LiveRecorder({ name: "placed", version: "1", config: {}, base });
       for (const offset of [0, 64, 0, 32]) {
         live.alloc({ sizeBytes: 16 }, (call) => call.granted(base + offset));
         if (offset !== 64) live.free(base + offset, (call) => call.granted());
       }`,
    );
    const recorded = async (base: number): Promise<string> => {
      const out = file(`placed${base}.jsonl`, "");
      const { code } = await shell(
        `UNIFIED_TRACE=${out} "${process.execPath}" ${program} ${String(base)}`,
      );
      expect(code).toBe(0);
      return out;
    };
    const [low, high] = [await recorded(4096), await recorded(281474976710656)];
    const read = (name: string): string => readFileSync(join(folder, name), "utf8");
    expect(read(high)).toBe(read(low));
    const { code, stdout } = await start(["compare", low, high]);
    expect(stdout).toMatch(/^equal: 1 run and 7 operations compared$/m);
    expect(code).toBe(0);
    // a place comes up twice, an object never
    const ids = [...read(low).matchAll(/heap\.alloc","args":\{"id":"(a\d)"/g)].map(
      (found) => found[1],
    );
    expect(ids).toEqual(["a1", "a2", "a3", "a4"]);
  });
});
