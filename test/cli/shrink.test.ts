// `shrink` as its users start it: from a recorded run to a case that stands alone.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { file, folder, isOneLine, root, start } from "./command-line.js";

const LIFO = `module:${join(root, "examples", "lifo-holes.mjs")}`;
const traces = new Map<string, Promise<string>>();

/** Records 400 seeded operations once. */
function recorded(weights = "default"): Promise<string> {
  const known = traces.get(weights);
  if (known !== undefined) return known;
  const name = `base-${weights}.jsonl`;
  const words = ["--seeds", "0:1", "--ops", "400", "--layouts", "full+window"];
  const made = start(["record", ...words, "--weights", weights, "--out", name]).then(() => name);
  traces.set(weights, made);
  return made;
}

test("a divergence after 400 operations comes down to a dozen that replay alone", async () => {
  const trace = await recorded();
  const out = "lifo-case.json";
  const result = await start(["shrink", trace, "--candidate", LIFO, "--out", out, "--json"]);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  const report = JSON.parse(result.stdout);
  expect(report).toMatchObject({ verdict: "shrunk", from: 400, alone: true, shown_by_run: true });
  expect(report.operations).toBeLessThanOrEqual(12);
  // in fresh processes: wrong on the candidate, right on the two others
  expect(await start(["run", out, "--impl", LIFO])).toMatchObject({ code: 1 });
  expect(await start(["run", out])).toMatchObject({ code: 0 });
  expect(await start(["run", out, "--impl", "reference"])).toMatchObject({ code: 0 });
  expect(await start(["validate", out])).toMatchObject({ code: 0 });
  const scenario = JSON.parse(readFileSync(join(folder, out), "utf8"));
  expect(scenario.found).toMatchObject({ by: "divergence", ...report.signature });
  // again: the file stays as it is, byte for byte
  const before = readFileSync(join(folder, out), "utf8");
  expect(await start(["shrink", out, "--out", out])).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, out), "utf8")).toBe(before);
});

test("an interrupt keeps the best so far, and the same command goes on from it", async () => {
  const trace = await recorded();
  const slow = file(
    "slow.mjs",
    `import * as lifo from ${JSON.stringify(pathToFileURL(join(root, "examples", "lifo-holes.mjs")).href)};
     export const info = lifo.info;
     export function createImplementation(config, context) {
       const made = lifo.createImplementation(config, context);
       return { ...made, apply: async (operation) => {
         await new Promise((resolve) => setTimeout(resolve, 1));
         return made.apply(operation);
       } };
     }`,
  );
  const out = join(folder, "slow-case.json");
  const words = ["shrink", trace, "--candidate", `module:${slow}`, "--out", "slow-case.json"];
  const stopped = await start(words, {
    onStart: async (kill) => {
      while (!existsSync(out)) await new Promise((resolve) => setTimeout(resolve, 5));
      kill("SIGINT");
    },
  });
  expect(stopped.code).toBe(130);
  expect(stopped.stderr).toContain("interrupted");
  const kept = JSON.parse(readFileSync(out, "utf8")).ops.length;
  expect(kept).toBeGreaterThan(1);
  const done = await start(words);
  expect(done, done.stderr).toMatchObject({ code: 0 });
  expect(done.stdout).toContain("went on from the case");
  expect(JSON.parse(readFileSync(out, "utf8")).ops.length).toBeLessThan(kept);
});

test("a failing scenario comes down to its failing expectation", async () => {
  const extend = (req: string, to: number): object => {
    return { op: "tokens.extend", args: { batch: [{ req, from: 0, to }] } };
  };
  // a take that must not be granted: an implementation that always grants is at fault
  const scenario = {
    ...{ name: "too_much", story: "One takes all. The next is refused." },
    config: {
      ...{ page_size: 1, arena_bytes: 120, rows: 4, row_tokens: 32 },
      sub_pools: [
        { name: "window_4", kind: "mha", window: 4, unit_bytes: 4 },
        { name: "full", kind: "mha", unit_bytes: 8 },
      ],
    },
    ops: [
      { op: "row.alloc", args: { reqs: ["r1", "r2", "r3"] } },
      { op: "ask.fits", args: { demand: { full: 1 } } },
      extend("r3", 1),
      { op: "row.free", args: { req: "r2" } },
      { ...extend("r1", 12), expect: { err: { code: "refused_capacity" } } },
    ],
  };
  const generous = file(
    "generous.mjs",
    `import { KVStorage, KV_OPERATIONS } from ${JSON.stringify(pathToFileURL(join(root, "dist", "index.js")).href)};
     export const info = { ops: KV_OPERATIONS, digest: null };
     export function createImplementation(config) {
       const storage = new KVStorage(config, { digestDepth: null });
       return { apply: (operation) => {
         const answer = storage.apply(operation);
         return answer.err?.code === "refused_capacity" ? { ok: { pages: {}, step: "no_move" } } : answer;
       } };
     }`,
  );
  const path = file("too-much.json", JSON.stringify(scenario));
  const words = ["--candidate", `module:${generous}`, "--out", "too-much-case.json"];
  const result = await start(["shrink", path, ...words, "--json"]);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(result.stdout)).toMatchObject({
    ...{ verdict: "shrunk", by: "scenario", shown_by_run: true },
    signature: { check: "expectation", op: "tokens.extend" },
    operations: 3, // boot, the row, the take
  });
  expect(await start(["run", "too-much-case.json"])).toMatchObject({ code: 0 });
});

test("a saved report says what to shrink", async () => {
  const trace = await recorded();
  const compared = await start(["compare", "--trace", trace, "--candidate", LIFO, "--json"]);
  const report = file("report.json", compared.stdout);
  const result = await start(["shrink", report, "--out", "report-case.json"]);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  expect(result.stdout).toContain("shrunk: 400 operations came down to");
});

test("what does not fail ends with 7, and no file is written", async () => {
  const trace = await recorded();
  const identical = `module:${file("same.mjs", `export * from ${JSON.stringify(pathToFileURL(join(root, "examples", "lifo-holes.mjs")).href)};`)}`;
  const words = ["shrink", trace, "--candidate", identical, "--impl", LIFO, "--out", "none.json"];
  expect(await start(words)).toMatchObject({ code: 7 });
  expect(existsSync(join(folder, "none.json"))).toBe(false);
});

test("wrong words and wrong files end with one line", async () => {
  const trace = await recorded();
  const words = (...more: string[]): string[] => ["shrink", trace, "--candidate", LIFO, ...more];
  for (const [line, code] of [
    [words(), 2],
    [words("--out", "-"), 2],
    [words("--out", "y.json", "--run", "no-such-run"), 2],
    [["shrink", trace, "--impl", "self", "--out", "y.json"], 2],
    [["shrink", "missing.jsonl", "--out", "y.json"], 3],
    [words("--out", "no/folder/y.json"), 4],
  ] as const) {
    const result = await start(line);
    expect(result, line.join(" ")).toMatchObject({ code });
    expect(isOneLine(result.stderr), result.stderr).toBe(true);
  }
  // somebody's own file is not replaced
  writeFileSync(join(folder, "own.json"), "{}");
  expect(await start(words("--out", "own.json"))).toMatchObject({ code: 2 });
  expect(readFileSync(join(folder, "own.json"), "utf8")).toBe("{}");
});
