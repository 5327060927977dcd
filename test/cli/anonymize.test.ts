// `anonymize` on the command line: what comes out, what stays, and with which exit code.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { file, folder, isOneLine, linesOf, root, start } from "./command-line.js";

const LOG = join(root, "test", "fixtures", "logs", "events.replay");

beforeAll(async () => {
  const words = [
    "record",
    "--seeds",
    "0:2",
    "--ops",
    "60",
    "--weights",
    "swarm",
    "--digest",
    "deep",
  ];
  expect((await start([...words, "--out", "base.jsonl"])).code).toBe(0);
});

describe.concurrent("anonymize", () => {
  test("digests of the contents of pages too: it replays equal, and a second salt gives another file", async () => {
    const made = await start(["anonymize", "base.jsonl", "--out", "a.jsonl.gz", "--salt", "s"]);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    expect(made.stdout).toMatch(
      /^4 runs replayed on self .*\nanonymized a\.jsonl\.gz: 4 runs, 240 operations/,
    );
    const compared = await start(["compare", "--trace", "a.jsonl.gz", "--json"]);
    expect(JSON.parse(compared.stdout)).toMatchObject({ verdict: "equal", operations: 240 });
    await start(["anonymize", "base.jsonl", "--out", "b.jsonl.gz", "--salt", "s"]);
    await start(["anonymize", "base.jsonl", "--out", "c.jsonl.gz"]);
    await start(["anonymize", "base.jsonl", "--out", "d.jsonl.gz"]);
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => linesOf(`${name}.jsonl.gz`));
    expect(b).toEqual(a);
    expect(c).not.toEqual(a);
    expect(d).not.toEqual(c);
  });

  test("of a model its sizes stay; where its configuration came from goes", async () => {
    const layers = ["sliding_attention", "full_attention"];
    const heads = { num_attention_heads: 2, num_key_value_heads: 2, head_dim: 4 };
    const origin = { _name_or_path: "acme/secret", name: "secret", x_note: "secret" };
    const model = {
      ...{ model_type: "gpt_oss", num_hidden_layers: 2, sliding_window: 128, layer_types: layers },
      ...{ ...heads, torch_dtype: "bfloat16", ...origin },
    };
    const limits = { page_size: 16, budget_bytes: 2_000_000, row_tokens: 4096 };
    const config = file(
      "model.json",
      JSON.stringify({ model, ...limits, max_running_requests: 4 }),
    );
    const trace = "model.jsonl";
    const words = ["record", "--workload", "synthetic", "--requests", "4", "--out", trace];
    await start([...words, "--config", config]);
    expect(linesOf(trace).length).toBeGreaterThan(100);
    expect(linesOf(trace)[1].config.model).toMatchObject(origin);
    const made = await start(["anonymize", trace, "--out", "told-a.jsonl"]);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    expect(readFileSync(join(folder, "told-a.jsonl"), "utf8")).not.toContain("secret");
    expect((await start(["compare", "--trace", "told-a.jsonl"])).code).toBe(0);
  });

  test("a log of another allocator: objects, pools, marks and source have other names, sizes and order stay", async () => {
    await start(["import", LOG, "--out", "log.jsonl"]);
    const made = await start(["anonymize", "log.jsonl", "--out", "log-a.jsonl"]);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    expect(made.stdout).toMatch(/1 run not replayed: self does not answer the domain\n/);
    const text = readFileSync(join(folder, "log-a.jsonl"), "utf8");
    for (const word of ["HOST", "quick", '"o1"', '"p1"', "x_event"])
      expect(text).not.toContain(word);
    const [before, after] = [linesOf("log.jsonl"), linesOf("log-a.jsonl")];
    const names = new Map<string, string>();
    for (const [index, { op, args }] of before.entries()) {
      const other = after[index];
      expect([other.kind, other.op]).toEqual([before[index].kind, op]);
      for (const key of ["id", "from", "to", "pool"]) {
        if (args?.[key] === undefined) continue;
        expect(other.args[key]).toBe(names.get(args[key]) ?? other.args[key]);
        names.set(args[key], other.args[key]);
      }
      expect(other.args?.size_bytes).toBe(args?.size_bytes);
      expect(other.args?.type).toBe(args?.type);
    }
    expect(names.size).toBeGreaterThan(4);
    expect(new Set(names.values()).size).toBe(names.size);
    expect((await start(["validate", "log-a.jsonl"])).code).toBe(0);
  });

  test("without a replay digests are lost, which is incomplete", async () => {
    const words = ["anonymize", "base.jsonl", "--no-replay", "--out", "bare.jsonl", "--json"];
    const { code, stdout } = await start(words);
    expect(code).toBe(6);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: "incomplete", undigested: 4, proved: 0 });
    expect((await start(["compare", "--trace", "bare.jsonl"])).code).toBe(0);
  });

  test("an answer that depends on a name: 1, and nothing is written", async () => {
    const own = join(root, "dist", "index.js");
    const picky = file(
      "picky.mjs",
      `import { KVStorage } from ${JSON.stringify(own)};
       export const info = { name: "picky", version: "1", digest: null, fx: true };
       export function createImplementation(config) {
         const storage = new KVStorage(config, { digestDepth: null });
         return {
           apply({ op, args }) {
             if (op === "row.alloc" && args.reqs.includes("r2")) {
               return { err: { code: "refused_rows", need: 1, free: 0 } };
             }
             return storage.apply({ op, args });
           },
         };
       }`,
    );
    const words = ["anonymize", "base.jsonl", "--impl", `module:${picky}`, "--out", "picky.jsonl"];
    const { code, stdout } = await start(words);
    expect([code, existsSync(join(folder, "picky.jsonl"))]).toEqual([1, false]);
    expect(stdout).toMatch(
      /^failed: an answer of module:\S+ depends on a name: operation \d+ \(row\.alloc\)/,
    );
  });

  test.each([
    [2, ["base.jsonl"]],
    [2, ["-", "--out", "x.jsonl"]],
    [2, ["base.jsonl", "--out", "base.jsonl"]],
    [2, ["base.jsonl", "--out", "x.jsonl", "--impl", "slef"]],
    [3, ["none.jsonl", "--out", "x.jsonl"]],
    [4, ["base.jsonl", "--out", "none/x.jsonl"]],
    [5, ["base.jsonl", "--out", "x.jsonl", "--impl", "cmd:exit 3"]],
  ])("exit %i: %s", async (code, words) => {
    const made = await start(["anonymize", ...words]);
    expect([made.code, made.stdout]).toEqual([code, ""]);
    expect(isOneLine(made.stderr)).toBe(true);
    expect(existsSync(join(folder, "x.jsonl"))).toBe(false);
  });
});
