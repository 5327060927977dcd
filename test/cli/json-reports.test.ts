// What every command prints with `--json` keeps to the schema that is published for it, clean, with findings and after
// errors; and no key of it is missing from that schema.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";
import { publishedSchemas } from "../../src/trace/schema-documents.js";
import { file, folder, root, start } from "./command-line.js";

// A document is read field by field; what is not there fails the test.
type Bag = ReturnType<typeof JSON.parse>;

const ajv = new Ajv2020({ strict: false, allErrors: true });

/** The schema as it stands in the package, without the permission of further keys. */
function closedSchema(name: string): ReturnType<typeof ajv.compile> {
  const published: unknown = JSON.parse(readFileSync(join(root, "schemas", name), "utf8"));
  expect(published).toEqual(JSON.parse(JSON.stringify(publishedSchemas()[name])));
  const close = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(close);
    if (typeof schema !== "object" || schema === null) return schema;
    const closed = Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [key, close(value)]),
    );
    const isOpen = JSON.stringify(closed["additionalProperties"]) === "{}";
    const hasFields = Object.keys(closed["properties"] ?? {}).length > 0;
    return isOpen && hasFields ? { ...closed, additionalProperties: false } : closed;
  };
  const { $id: _, ...closed } = close(published) as Record<string, unknown>;
  return ajv.compile(closed);
}

/** Runs the words and `--json`: one document that keeps to the schema of its command, or of an error. */
async function documentOf(words: readonly string[], code: number): Promise<Bag> {
  const { stdout, stderr, code: exit } = await start([...words, "--json"]);
  expect([exit, stderr]).toEqual([code, ""]);
  const document = JSON.parse(stdout);
  const name = document["command"] === undefined ? "error" : `${words[0] ?? ""}-report`;
  const validate = closedSchema(`${name}.schema.json`);
  void validate(document);
  expect(validate.errors ?? []).toEqual([]);
  return document;
}

/** The allocator of this checkout with one mistake: code that may change `answer` of operation `n`. */
function planted(name: string, mistake: string): string {
  const own = pathToFileURL(join(root, "dist", "index.js")).href;
  const path = file(
    `${name}.mjs`,
    `import { KV_OPERATIONS, KVStorage } from ${JSON.stringify(own)};
     export const info = { name: "${name}", version: "1", ops: KV_OPERATIONS, digest: "layout", fx: true };
     export function createImplementation(config, { digestDepth }) {
       const storage = new KVStorage(config, { digestDepth });
       let n = -1;
       return {
         apply({ op, args }) {
           n += 1;
           let answer = storage.apply({ op, args });
           const digest = storage.takeDigest();
           if (digest !== undefined) answer = { ...answer, digest };
           ${mistake}
           return answer;
         },
         state: () => storage.state(),
         close: () => storage.endDigest(),
       };
     }`,
  );
  return `module:${path}`;
}

const DIRECT = {
  ...{ page_size: 1, arena_bytes: 40, rows: 2, row_tokens: 8 },
  sub_pools: [{ name: "full", kind: "mha", unit_bytes: 4 }],
};
/** A scenario of one operation. */
function scenario(more: object): string {
  const head = { name: "small", story: "A row. It is given.", tags: [], config: DIRECT };
  const ops = [{ op: "row.alloc", args: { reqs: ["r1"] }, ...more }];
  return file("small.json", JSON.stringify({ ...head, ops }));
}

const TRACE = "reports.jsonl";
const WORDS = ["record", "--seeds", "0:1", "--ops", "60", "--layouts", "full+window"];
const BROKEN = "reports-broken.jsonl"; // a zero effect is left out
const CUT = "reports-cut.jsonl"; // the last line is missing
const crashes = planted("crashes", `if (n === 5) throw new Error("planted");`);
const tires = planted("tires", `if (n > 60) throw new Error("planted");`); // longer runs than the trace's
const right = planted("right", "");
const wrong = planted("wrong", `if (n === 4) answer = { err: { code: "refused_rows", need: 9 } };`);

beforeAll(async () => {
  expect((await start([...WORDS, "--out", TRACE])).code).toBe(0);
  const lines = readFileSync(join(folder, TRACE), "utf8").trimEnd().split("\n");
  const at = lines.findIndex((line) => line.includes('["zero",'));
  const without = lines.map((line, index) =>
    index === at ? line.replace(/\["zero",[^\]]*\]\]\],?/, "") : line,
  );
  writeFileSync(join(folder, BROKEN), `${without.join("\n")}\n`);
  writeFileSync(join(folder, CUT), `${lines.slice(0, -1).join("\n")}\n`);
});

describe.concurrent("documents", () => {
  test("record: made, and broken on the way", async () => {
    const made = await documentOf([...WORDS, "--out", "made.jsonl"], 0);
    expect(made).toMatchObject({ verdict: "recorded", runs: 1, operations: 60, failure: null });
    const words = [...WORDS, "--impl", crashes, "--out", "never.jsonl"];
    const failed = await documentOf(words, 1);
    expect(failed).toMatchObject({ verdict: "failed", failure: { n: 5 } });
  });

  test("replay: passed, violated, cut", async () => {
    const words = ["replay", "--trace", TRACE];
    expect(await documentOf(words, 0)).toMatchObject({ verdict: "passed", error: null });
    const violated = await documentOf([...words, "--impl", crashes], 1);
    expect(violated).toMatchObject({ violations: [{ n: 5, failure: { kind: "crash" } }] });
    const cut = await documentOf(["replay", "--trace", CUT], 3);
    expect(cut).toMatchObject({ error: { code: "trace_truncated", file: CUT } });
  });

  test("sweep: swept, refused at a value, broken, of a heap", async () => {
    const words = ["sweep", "--trace", TRACE, "--key"];
    const whole = await documentOf([...words, "arena_bytes=64k:4k:x2"], 0);
    expect(whole).toMatchObject({ verdict: "swept", error: null, runs: 5 });
    expect(whole["refusals"].length).toBeGreaterThan(0);
    const refused = await documentOf([...words, "page_size=16:0"], 0);
    expect(refused["points"].at(-1)).toMatchObject({ value: 0, outcome: "refused" });
    const broken = await documentOf([...words, "rows=8:9:1", "--impl", crashes], 1);
    expect(broken).toMatchObject({ verdict: "broken", points: [{ outcome: "broken" }, {}] });
    const log = `minimalloc:${file("lifetimes.csv", "id,lower,upper,size\na,0,2,32\nb,1,3,32\n")}`;
    const heap = ["sweep", "--trace", log, "--impl", "heap:tlsf", "--key", "arena_bytes=64:32:32"];
    expect(await documentOf(heap, 0)).toMatchObject({
      points: [
        { refused: 0, heap: { requested_bytes: 64, end_bytes: 64 } },
        { refused: 1, left: 1 },
      ],
    });
  });

  test("import: whole, and with an event that no rule names", async () => {
    const log = join(root, "test", "fixtures", "logs", "events.replay");
    const whole = await documentOf(["import", log, "--out", "imported.jsonl"], 0);
    expect(whole).toMatchObject({ verdict: "imported", operations: 13, events: 18 });
    const strange = file(
      "strange.replay",
      `${readFileSync(log, "utf8")}{"category":"operation","name":"teleport"}\n`,
    );
    const part = await documentOf(["import", `umpire:${strange}`, "--out", "part.jsonl"], 6);
    expect(part).toMatchObject({ verdict: "incomplete", unknown: 1 });
    const aligned = await documentOf(["compare", log, "part.jsonl"], 0);
    expect(aligned).toMatchObject({ verdict: "equal", runs: [{ alignment: null }] });
  });

  test("convert: whole, recovered, a part, what could not be followed", async () => {
    const whole = await documentOf(["convert", TRACE, "--out", "converted.csv"], 0);
    expect(whole).toMatchObject({ verdict: "converted", operations: 60, recovery: null });
    const cut = await documentOf(["convert", CUT, "--recover", "--out", "recovered.jsonl"], 6);
    expect(cut).toMatchObject({ verdict: "recovered", recovery: { damaged: 1 } });
    expect(cut.recovery.damages).toHaveLength(1);
    const part = ["convert", CUT, "--accept-truncated", "--out", "part.parquet"];
    expect(await documentOf(part, 6)).toMatchObject({ verdict: "incomplete", recovery: null });
    expect(await documentOf(["convert", TRACE, "--out", "none/x.csv"], 4)).toHaveProperty("error");
  });

  test("edit: edited, broken", async () => {
    const cut = ["edit", TRACE, "--cut", "20:30", "--out", "edited.jsonl"];
    expect(await documentOf(cut, 0)).toMatchObject({ verdict: "edited", runs: 1, broken: null });
    const failed = await documentOf([...cut, "--impl", crashes], 1);
    expect(failed).toMatchObject({ verdict: "failed", out: null, broken: { n: 5 } });
  });

  test("anonymize: whole, and what a cut trace holds", async () => {
    const whole = await documentOf(["anonymize", TRACE, "--out", "anonymous.jsonl"], 0);
    expect(whole).toMatchObject({ verdict: "anonymized", operations: 60, proved: 1, broken: null });
    const words = ["anonymize", CUT, "--accept-truncated", "--out", "cut-anonymous.jsonl"];
    expect(await documentOf(words, 6)).toMatchObject({ verdict: "incomplete", partial: true });
  });

  test("compare: two logs, aligned past their difference", async () => {
    const log = join(root, "test", "fixtures", "logs", "events.replay");
    const lines = readFileSync(log, "utf8").split("\n");
    const shorter = file("shorter.replay", [...lines.slice(0, 6), ...lines.slice(7)].join("\n"));
    const found = await documentOf(["compare", log, shorter], 1);
    expect(found).toMatchObject({
      runs: [
        {
          alignment: { blocks: [{ kind: "removed", base: { from: 4, to: 5, events: [5, 6] } }] },
          divergence: { n: 4, kind: "missing operation", recovers: 5 },
        },
      ],
    });
  });

  test("compare: equal, divergent, cut", async () => {
    const words = ["compare", "--trace", TRACE];
    expect(await documentOf(words, 0)).toMatchObject({ verdict: "equal", error: null });
    const found = await documentOf([...words, "--candidate", wrong], 1);
    expect(found).toMatchObject({ verdict: "divergent", first: { n: 4 } });
    const cut = await documentOf(["compare", "--trace", CUT], 3);
    expect(cut).toMatchObject({ error: { code: "trace_truncated" } });
  });

  test("run: passed, failed", async () => {
    const words = ["run", join(root, "scenarios", "backend_latent_rows.json")];
    expect(await documentOf(words, 0)).toMatchObject({ verdict: "passed" });
    const expected = scenario({ expect: { ok: { rows: { r1: 2 } } } });
    const failed = await documentOf(["run", expected], 1);
    expect(failed).toMatchObject({ verdict: "failed", scenarios: [{ n: 1, op: "row.alloc" }] });
  });

  test("validate: every kind of file, good and bad", async () => {
    const configs = join(root, "scenarios", "configs.json");
    const words = ["validate", TRACE, scenario({}), configs];
    const good = await documentOf(words, 0);
    expect(good["files"].map(({ kind }: { kind: string }) => kind)).toEqual([
      ...["trace", "scenario", "configurations"],
    ]);
    const bad = await documentOf([...words, CUT, "absent.jsonl"], 3);
    expect(bad["files"][4]).toMatchObject({ verdict: "invalid", error: { file: "absent.jsonl" } });
  });

  test("audit: clean, broken, cut, absent; every file has the same keys", async () => {
    expect(await documentOf(["audit", TRACE], 0)).toMatchObject({ verdict: "clean" });
    const found = await documentOf(["audit", TRACE, BROKEN, CUT, "absent.jsonl"], 1);
    expect(found["verdict"]).toBe("broken");
    const [clean, broken, cut, absent] = found["files"];
    expect(clean).toMatchObject({ verdict: "clean", findings: [], error: null });
    expect(broken).toMatchObject({ verdict: "broken", error: null });
    expect(broken.findings[0]).toMatchObject({ rule: "zero.missing", component: "window_53" });
    expect(cut).toMatchObject({ verdict: "invalid", error: { code: "trace_truncated" } });
    expect(absent.error).toMatchObject({ code: "input_unreadable", file: "absent.jsonl" });
    for (const one of [broken, cut, absent]) expect(Object.keys(one)).toEqual(Object.keys(clean));
  });

  test("stats: a heap in a trace, and what allocators make of it", async () => {
    const calls = file("calls.csv", "op,ptr,size\nmalloc,0x1,40\nmalloc,0x2,40\nfree,0x1,0\n");
    const imported = ["import", calls, "--arena-bytes", "1k", "--out", join(folder, "heap.jsonl")];
    const document = await documentOf(imported, 0);
    expect(document).toMatchObject({ format: "malloc-csv", facts: { peak_bytes: 80 } });
    const [{ heap }] = (await documentOf(["stats", "heap.jsonl"], 0))["files"];
    expect(heap).toMatchObject({ objects: 2, live: 1, peak_requested_bytes: 80, peak_bytes: null });
    expect(heap.curve).toEqual([
      [0, 40, 0, 0],
      [1, 80, 0, 0],
      [2, 40, 0, 0],
    ]);
    const words = ["stats", "heap.jsonl", "--allocators", "first-fit@64,buddy"];
    const [small, buddy] = (await documentOf(words, 0))["allocators"];
    // 40 bytes are three grains of 16; to buddies four
    expect(small).toMatchObject({ arena_bytes: 64, fits: false, failed: 1, first_failure: 1 });
    expect(buddy).toMatchObject({ arena_bytes: 1024, fits: true, peak_bytes: 128, left: 0 });
  });

  test("run: a shard says what it left out", async () => {
    const document = await documentOf(["run", join(root, "scenarios"), "--shard", "1/40"], 6);
    expect(document).toMatchObject({ verdict: "incomplete" });
    expect(document["left_out"]).toBeGreaterThan(100);
  });

  test("run: what scenarios exercise, on threads as on one, and short of the floor", async () => {
    const files = ["drafts_fork_a_state", "two_requests_take_turns", "stages_must_agree"];
    const paths = files.map((name) => join(root, "scenarios", `${name}.json`));
    const words = ["run", ...paths, "--coverage", "--jobs"];
    const one = await documentOf([...words, "1"], 0);
    expect(one).toMatchObject({ verdict: "passed", coverage: { floor: null } });
    expect(one["coverage"].tables.length).toBe(6);
    expect((await documentOf([...words, "2"], 0))["coverage"]).toEqual(one["coverage"]);
    const short = await documentOf([...words, "2", "--floor", "100"], 1);
    expect(short).toMatchObject({ verdict: "short", coverage: { floor: 100 } });
  });

  test("stats: counted, cut, coverage above and below the floor", async () => {
    expect(await documentOf(["stats", TRACE], 0)).toMatchObject({ verdict: "counted" });
    const cut = await documentOf(["stats", CUT, "--accept-truncated"], 6);
    expect(cut).toMatchObject({ verdict: "incomplete", files: [{ truncated: true }] });
    const coverage = await documentOf(["stats", TRACE, "--coverage"], 0);
    expect(coverage).toMatchObject({ verdict: "counted", operations: 60 });
    const short = await documentOf(["stats", TRACE, "--coverage", "--floor", "100"], 1);
    expect(short).toMatchObject({ verdict: "short" });
  });

  test("shrink: shrunk, stopped, nothing fails, no longer repeats; the same keys each time", async () => {
    const words = ["shrink", TRACE, "--candidate", wrong, "--out"];
    const shrunk = await documentOf([...words, "shrunk.json"], 0);
    expect(shrunk).toMatchObject({ verdict: "shrunk", out: "shrunk.json", finding: { n: 4 } });
    const stopped = await documentOf([...words, "stopped.json", "--time-budget", "0.001"], 0);
    expect(stopped).toMatchObject({ verdict: "stopped", stopped: "time budget", from: 60 });
    const nothing = await documentOf(["shrink", TRACE, "--out", "nothing.json"], 7);
    expect(nothing).toMatchObject({ verdict: "not_repeated", out: null, case: null });
    const repaired = ["shrink", "shrunk.json", "--candidate", right, "--out", "again.json"];
    const gone = await documentOf(repaired, 7);
    expect(gone).toMatchObject({ verdict: "not_repeated", judgements: [{ kind: "passes" }, {}] });
    expect(gone["signature"]).toEqual(shrunk["signature"]);
    for (const one of [stopped, nothing, gone])
      expect(Object.keys(one)).toEqual(Object.keys(shrunk));
  });

  test("metamorph: passed, broken, incomplete", async () => {
    const words = ["metamorph", "--trace", TRACE];
    expect(await documentOf(words, 0)).toMatchObject({ verdict: "passed", findings: [] });
    const found = await documentOf([...words, "--impl", tires], 1);
    expect(found).toMatchObject({ verdict: "failed" });
    const [first] = found["findings"];
    expect(first).toMatchObject({ check: "crash", at: 61 });
    expect(first.reproduce).toContain(`--rewrite ${first.rewrite} --seeds ${first.seed}`);
    const part = await documentOf([...words, "--shard", "2/2"], 6);
    expect(part).toMatchObject({ verdict: "incomplete", runs: 0 });
  });

  test("stress: passed, a budget that is over, a case that no longer fails", async () => {
    const words = ["stress", "--no-scenarios", "--layouts", "full+window", "--ops", "40"];
    expect(await documentOf([...words, "--seeds", "0:2"], 0)).toMatchObject({ runs: 2 });
    const late = await documentOf([...words, "--time-budget", "0.000001"], 6);
    expect(late).toMatchObject({ verdict: "incomplete", left_out: 20 });
    const saved = scenario({});
    const replayed = await documentOf(["stress", "--replay", saved], 7);
    expect(replayed).toMatchObject({ verdict: "not_repeated" });
  });

  test("show: runs, operations, one operation on two sides, a heap, a cut trace", async () => {
    expect(await documentOf(["show", TRACE], 0)).toMatchObject({ verdict: "shown", run_count: 1 });
    const at = ["show", TRACE, "--op", "30", "--state"];
    expect(await documentOf(at, 0)).toMatchObject({ n: 30, candidate: null, parting: null });
    expect(await documentOf([...at, "--candidate", wrong], 0)).toMatchObject({
      candidate: { source: { parting: { n: 4, what: "answer" } } },
    });
    expect(await documentOf([...at, "--candidate", crashes], 1)).toMatchObject({
      candidate: { answer: null, failure: { kind: "crash" } },
    });
    expect(await documentOf([...at, "--impl", wrong], 1)).toMatchObject({
      verdict: "parted",
      base: { source: { from: "nowhere" }, after: null },
    });
    expect(await documentOf(["show", CUT], 3)).toMatchObject({ verdict: "incomplete" });
    expect(await documentOf(["show", TRACE, "--op", "60"], 2)).toMatchObject({
      error: { code: "usage" },
    });
  });

  test("show: a plan of either form, a refusal; doctor", async () => {
    expect(await documentOf(["show", "--plan", "gpt-oss-120b"], 0)).toMatchObject({
      ...{ verdict: "planned", refusal: null },
    });
    const direct = file("plan.json", JSON.stringify(DIRECT));
    expect(await documentOf(["show", "--plan", direct], 0)).toMatchObject({
      plan: { model: null, layout: null },
    });
    const low = { model: { preset: "gpt-oss-120b" }, page_size: 16, budget_bytes: 1000 };
    const refused = await documentOf(["show", "--plan", file("low.json", JSON.stringify(low))], 1);
    expect(refused).toMatchObject({ verdict: "refused", plan: null });
    expect(await documentOf(["doctor"], 0)).toMatchObject({ verdict: "ready" });
  });

  test("conformance: passed, and failed at the hello", async () => {
    const adapter = join(root, "examples", "kits", "typescript", "heap.mjs");
    const passed = await documentOf(["conformance", `module:${adapter}`, "--rate"], 0);
    expect(passed).toMatchObject({ verdict: "passed", implementation: { name: "first-fit" } });
    expect(passed.rates.heap.window_256).toBeGreaterThan(0);
    const rude = file(
      "rude.mjs",
      `process.stdout.write("good morning\\n"); process.stdin.resume();`,
    );
    const failed = await documentOf(["conformance", `cmd:${process.execPath} ${rude}`], 5);
    expect(failed).toMatchObject({ verdict: "failed", implementation: { name: null } });
  });

  test("an error of each command", async () => {
    const words: readonly (readonly [readonly string[], number])[] = [
      [["record", "--seeds", "5:5", "--out", "x.jsonl"], 2],
      [["record", "--seeds", "0:1", "--out", "no/such/folder/x.jsonl"], 4],
      [["compare", "--trace", TRACE, "--candidate", "cmd:no-such-program"], 5],
      [["replay"], 2],
      [["run", "absent.json"], 3],
      [["validate", TRACE, "--max-line", "x"], 2],
      [["audit", TRACE, "--most", "0"], 2],
      [["stats", "absent.jsonl"], 3],
      [["shrink", "absent.jsonl", "--out", "x.json"], 3],
      [["metamorph", "--trace", "absent.jsonl"], 3],
      [["conformance", "cmd:no-such-program"], 5],
      [["stress", "--jobs", "0"], 2],
      [["stress", "--replay", TRACE], 3],
      [["show", "--plan", "absent.json"], 3],
    ];
    for (const [each, code] of words) {
      const document = await documentOf(each, code);
      expect(Object.keys(document), each.join(" ")).toEqual(["error"]);
    }
  });
});
