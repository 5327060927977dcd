// `show FILE`: runs, operations, one operation with the map around it, in text and as JSON, and what is refused.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { file, folder, isOneLine, type Outcome, root, start } from "./command-line.js";

const TRACE = "shown.jsonl"; // four runs, a state line behind every 20th operation
const ONE = "one.jsonl"; // one run
const RUN = "full+window/p16/seed-0";
const LIFO = `module:${join(root, "examples", "lifo-holes.mjs")}`;
// 40 bytes of 4-byte pages, the sink's page 0 reserved: pages 1..9
const CONFIG = {
  ...{ page_size: 1, arena_bytes: 40, rows: 2, row_tokens: 8 },
  sub_pools: [{ name: "full", kind: "mha", unit_bytes: 4 }],
};
const HEAP = "heap.jsonl";

const show = (...words: readonly string[]): Promise<Outcome> => start(["show", ...words]);
const lines = (name: string): string[] =>
  readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
const header = JSON.stringify({
  ...{ kind: "trace", format: "unified-trace", version: 1 },
  producer: { name: "hand", version: "1", revision: null, dirty: null },
  ...{ created: null, note: null },
});

/** A scenario as a trace of one run. */
async function recordedOps(name: string, ops: readonly object[]): Promise<void> {
  const head = { name, story: "Small. Looked at.", tags: [], config: CONFIG };
  const scenario = file(`${name}.json`, JSON.stringify({ ...head, ops }));
  const words = ["record", "--scenario", scenario, "--out", `${name}.jsonl`];
  expect(await start(words)).toMatchObject({ code: 0 });
}

beforeAll(async () => {
  const words = ["record", "--seeds", "0:2", "--ops", "120", "--state", "every=20"];
  expect((await start([...words, "--out", TRACE])).code).toBe(0);
  const one = ["record", "--seeds", "0:1", "--ops", "60", "--layouts", "full+window"];
  expect((await start([...one, "--out", ONE])).code).toBe(0);
  await recordedOps("small", [
    { op: "row.alloc", args: { reqs: ["r1"] } },
    { op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 4 }] } },
    { op: "tokens.free", args: { req: "r1", from: 2, to: 4, bands: "all" } },
    {
      op: "tokens.extend",
      args: { batch: [{ req: "r1", from: 2, to: 20 }] },
      expect: { err: { code: "invalid" } },
    },
  ]);
  const heap = (n: number, op: string, args: object, ok: object): string =>
    JSON.stringify({ kind: "op", n, op, args, ok });
  writeFileSync(
    join(folder, HEAP),
    [
      header,
      JSON.stringify({
        ...{ kind: "run", run: "h", domain: "heap", config: { arena_bytes: 1000 } },
        source: { type: "live", name: "hand" },
      }),
      heap(0, "heap.alloc", { id: "a", size_bytes: 500 }, { address_offset: 0 }),
      heap(1, "heap.alloc", { id: "b", size_bytes: 250 }, { address_offset: 500 }),
      heap(2, "heap.free", { id: "a" }, {}),
      JSON.stringify({ kind: "end", run: "h", ops: 3 }),
      "",
    ].join("\n"),
  );
});

describe.concurrent("lists", () => {
  test("several runs: one a line, with what they hold", async () => {
    const { code, stdout } = await show(TRACE);
    const rows = stdout.split("\n").filter((line) => line.includes("/p16/"));
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(row).toMatch(/ kv +120 +\d+ +6$/);
    expect(stdout.trimEnd().split("\n").at(-1)).toBe("shown: 4 runs and 480 operations read");
    expect(code).toBe(0);
  });

  test("one run, or the one that is named: its first operations, a line each", async () => {
    for (const words of [[ONE], [TRACE, "--run", RUN]]) {
      const { code, stdout } = await show(...words);
      const rows = stdout.split("\n").filter((line) => /^ +\d+ {2}\w/.test(line));
      expect(rows).toHaveLength(50);
      expect(rows[0]).toMatch(/^ {5}0 {2}boot → granted: bands/);
      expect(stdout).toMatch(/^ {2}(10|70) more operations \(--from 50\)$/m);
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
      expect(code).toBe(0);
    }
  });

  test("a range is listed whole", async () => {
    const { code, stdout } = await show(TRACE, "--run", RUN, "--from", "30", "--to", "109");
    const numbers = [...stdout.matchAll(/^ +(\d+) {2}\w/gm)].map(([, n]) => Number(n));
    expect(numbers).toEqual(Array.from({ length: 80 }, (_, index) => 30 + index));
    expect(code).toBe(0);
  });

  test("as JSON: the lines of the trace", async () => {
    const { stdout } = await show(ONE, "--from", "7", "--to", "9", "--json");
    const document = JSON.parse(stdout);
    const expected = lines(ONE)
      .map((line) => JSON.parse(line))
      .filter(({ kind, n }) => kind === "op" && n >= 7 && n <= 9)
      .map(({ kind: _, ...line }) => line as unknown);
    expect(document.lines).toEqual(expected);
    expect(document).toMatchObject({ verdict: "shown", omitted: 0, operations: 60 });
  });
});

describe.concurrent("one operation", () => {
  // r1's four tokens take the pages from the high end: 6..9. The last two come back as holes.
  test("a free: asked, answered, both maps, the marks under what changed", async () => {
    const { code, stdout } = await start(["show", "small.jsonl", "--op", "3"], {
      env: { COLUMNS: "56" }, // forty columns for forty bytes
    });
    expect(stdout).toMatch(/^run small.*, operation 3: tokens.free$/m);
    expect(stdout).toContain("asked     req r1, from 2, to 4, bands all");
    expect(stdout).toContain("answered  granted: freed (virtual 3..4, full 8..9)");
    const page = (text: string): string => text.repeat(4);
    const [sink, free] = [page("="), page(".").repeat(5)];
    expect(stdout).toContain(`  full before |${sink}${free}${page("#").repeat(4)}|`);
    expect(stdout).toContain(
      `       after  |${sink}${free}${page("#").repeat(2)}${page("o").repeat(2)}|`,
    );
    expect(stdout).toContain(`\n${" ".repeat(15 + 32)}${"^".repeat(8)}\n`);
    expect(stdout).toContain("  full 8..9: live, id 3..4 of r1 → hole");
    expect(stdout.replace(/\s+/g, " ")).toContain(
      "holes 2 (before 0), pending 0, vacated 0, span 6..9,",
    );
    expect(code).toBe(0);
  });

  test("a refusal: its detail, and no page changed", async () => {
    const { code, stdout } = await show("small.jsonl", "--op", "4");
    expect(stdout).toMatch(/answered {2}broken contract: rule beyond_row, req r1/);
    expect(stdout).toMatch(/^no page changed$/m);
    expect(stdout).not.toContain("before |");
    expect(code).toBe(0);
  });

  test("as JSON: page 9 is a hole, 6 is r1's", async () => {
    const { stdout } = await show("small.jsonl", "--op", "3", "--state", "--json");
    const { base, n, op, verdict } = JSON.parse(stdout);
    expect([n, op, verdict, base.source.from]).toEqual([3, "tokens.free", "shown", "replay"]);
    const [lane] = base.after.lanes;
    expect(lane.cells).toEqual([
      { first: 1, count: 5, class: "free", virtual: null, holders: [], waits: [] },
      {
        ...{ first: 6, count: 2, class: "live", virtual: 1 },
        ...{ holders: [{ kind: "request", name: "r1" }], waits: [] },
      },
      { first: 8, count: 2, class: "hole", virtual: null, holders: [], waits: [] },
    ]);
    expect(lane).toMatchObject({ live: 2, holes: 2, free_ids: 7, capacity: 9, fragmentation: 0.5 });
    expect(base.after.occupancy).toBeCloseTo(8 / 36);
    expect(base.changes.full).toEqual([
      {
        ...{ first: 8, count: 2, before: { class: "live", virtual: 3 } },
        after: { class: "hole", virtual: null },
      },
    ]);
    expect(base.state.full.holes).toEqual([[8, 2]]);
  });

  test("at a state line the trace tells both maps where it has both", async () => {
    const at = lines(TRACE).findIndex((line) => line.includes('"kind":"state"'));
    const { n } = JSON.parse(lines(TRACE)[at]!) as { n: number };
    const shown = await show(TRACE, "--op", String(n + 1));
    const text = shown.stdout.replace(/\s+/g, " ");
    expect(text).toContain(
      `replayed on self from the state of operation ${String(n)} (1 operation;`,
    );
    expect(shown.code).toBe(0);
  });

  test("a second side, with its own maps", async () => {
    const words = ["--run", "full+state/p16/seed-1", "--candidate", LIFO];
    const { code, stdout } = await show(TRACE, ...words, "--op", "60");
    expect(stdout).toMatch(/^base$/m);
    expect(stdout).toMatch(/^candidate \(module:.*lifo-holes.mjs\)$/m);
    expect(stdout.replace(/\s+/g, " ")).toMatch(/not as recorded from operation \d+ on/);
    expect(code).toBe(0);
  });

  test("a heap: objects in address space", async () => {
    const { code, stdout } = await start(["show", HEAP, "--op", "2"], { env: { COLUMNS: "36" } });
    // 20 columns of 50 bytes
    expect(stdout).toContain("  heap before |###############.....|");
    expect(stdout).toContain("       after  |..........#####.....|");
    expect(stdout).toContain("object a at 0, 500 B: freed");
    expect(code).toBe(0);
  });

  test("an implementation that answers otherwise tells no state: exit 1", async () => {
    const words = ["--run", "full+state/p16/seed-1", "--impl", LIFO, "--op", "110"];
    const { code, stdout } = await show(TRACE, ...words);
    expect(stdout.replace(/\s+/g, " ")).toMatch(
      /not known: module:.* parts from the record at operation \d+/,
    );
    expect(stdout).toMatch(/^parted: /m);
    expect(code).toBe(1);
    // behind operation 119 stands a state line, in front of it none
    const last = await show(TRACE, ...words.slice(0, -1), "119");
    expect(last.stdout).toContain("state     from the trace's state lines");
    expect(last.stdout).toMatch(/^the replay parts from the record at operation \d+/m);
    expect(last.code).toBe(1);
  });
});

describe.concurrent("refusals and hostile input", () => {
  const wrong: readonly [words: readonly string[], code: number, message: RegExp][] = [
    [[], 2, /FILE.*--plan/],
    [["--op", "3"], 2, /FILE/],
    [[TRACE, "--plan", "inkling"], 2, /takes no FILE/],
    [["--plan", "inkling", "--op", "1"], 2, /--op is about a trace/],
    [[TRACE, "--run", "full+window/p16/seed-9"], 2, /did you mean full\+window\/p16\/seed-0/],
    [[TRACE, "--run", "full+windw/p16/seed-0", "--op", "3"], 2, /did you mean/],
    [[TRACE, "--op", "120"], 2, /holds operations 0 to 119/],
    [[TRACE, "--op", "-1"], 2, /--op/],
    [[TRACE, "--state"], 2, /--op N/],
    [[TRACE, "--op", "1", "--from", "2"], 2, /--from/],
    [[ONE, "--from", "60"], 2, /holds operations 0 to 59/],
    [[ONE, "--from", "6", "--to", "5"], 2, /names no operation/],
    [[TRACE, "--from", "6", "--to", "9"], 2, /which run/],
    [["no-such-file.jsonl"], 3, /no-such-file/],
    [[TRACE, "--op", "1", "--impl", "sefl"], 2, /self/],
  ];
  test.each(wrong)("%j", async (words, code, message) => {
    const outcome = await show(...words);
    expect(outcome.stderr).toMatch(message);
    expect(isOneLine(outcome.stderr)).toBe(true);
    expect([outcome.code, outcome.stdout]).toEqual([code, ""]);
  });

  test("a truncated trace: what lies before the cut is shown, what lies behind it is told", async () => {
    const whole = lines(ONE);
    const cut = file("cut.jsonl", `${whole.slice(0, 40).join("\n")}\n${whole[40]!.slice(0, 30)}`);
    expect((await show(cut, "--op", "20")).code).toBe(0);
    const beyond = await show(cut, "--op", "50");
    expect(beyond.stderr).toMatch(/truncated after operation 37/);
    expect(beyond.code).toBe(3);
    const accepted = await show(cut, "--op", "50", "--accept-truncated");
    expect(accepted.stderr).toMatch(/holds operations 0 to 37 before it is cut/);
    expect(accepted.code).toBe(2);
    const listed = await show(cut, "--from", "30");
    expect(listed.stdout).toMatch(/^ +37 {2}/m);
    expect(listed.stdout).toMatch(/incomplete: /);
    expect(listed.code).toBe(3);
    expect((await show(cut, "--accept-truncated")).code).toBe(6);
  });

  test("names from a trace do not act on the terminal", async () => {
    const text = readFileSync(join(folder, "small.jsonl"), "utf8");
    const name = "r1\\u001b[31m"; // as JSON writes it
    const hostile = file("hostile.jsonl", text.replaceAll('"r1"', `"${name}"`));
    for (const words of [["--op", "3"], [], ["--op", "3", "--state", "--verbose"]]) {
      const { stdout, stderr } = await show(hostile, ...words);
      expect(`${stdout}${stderr}`).not.toContain("\u001b");
    }
  });

  test("narrow and wide: lanes keep to the width, and no colour without a terminal", async () => {
    for (const columns of ["40", "60", "100", "200", "1", "x", "0"]) {
      const env = { COLUMNS: columns, NO_COLOR: "" };
      const { code, stdout } = await start(["show", TRACE, "--op", "60"], { env });
      const width = { "1": 20, x: 100, "0": 100 }[columns] ?? Number(columns);
      const lanes = stdout.split("\n").filter((line) => line.endsWith("|"));
      expect(lanes.length).toBeGreaterThan(1);
      for (const lane of lanes) expect(lane.length).toBeLessThanOrEqual(Math.max(width, 35));
      expect(stdout).not.toContain("\u001b");
      expect(code).toBe(0);
    }
  });
});
