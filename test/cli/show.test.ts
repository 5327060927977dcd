// `show --plan`, and presets and model forms as the configuration of a workload.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PRESETS } from "../../src/kv/presets/presets.js";
import { file, folder, isOneLine, start } from "./command-line.js";

interface PlanDocument {
  readonly verdict: string;
  readonly refusal: { readonly code: string; readonly rule?: string; readonly message: string };
  readonly plan: {
    readonly page_tokens: number;
    readonly sink_bytes: number;
    readonly bands: readonly Readonly<Record<string, unknown>>[];
    readonly targets: Readonly<Record<string, number>>;
  };
}

const json = async (config: string): Promise<[number | null, PlanDocument]> => {
  const { code, stdout } = await start(["show", "--plan", config, "--json"]);
  return [code, JSON.parse(stdout) as PlanDocument];
};
const small = { budget_bytes: 100_000, page_size: 4, row_tokens: 64, max_running_requests: 4 };
const model = (entries: readonly unknown[], extra: object = {}): string =>
  JSON.stringify({ model: { layers: entries }, ...small, ...extra });
const SERVING = { budget_bytes: 100_000_000, row_tokens: 131_072 };
const FULL = { attention: { heads: 2, head_dim: 4, dtype: "float16" } };
const WINDOW = { attention: { ...FULL.attention, window: 8 } };

describe.concurrent("show --plan", () => {
  test("every preset prints its plan, or the rule that refuses it", async () => {
    for (const { name, source, refusedAs } of PRESETS) {
      const { code, stdout } = await start(["show", "--plan", name]);
      expect(stdout.startsWith(`${name}\n`), name).toBe(true);
      if (refusedAs !== null) {
        expect(stdout).toMatch(new RegExp(`^refused: refused_plan ${refusedAs}: .+`, "m"));
        expect(code).toBe(1);
        continue;
      }
      expect(stdout).toContain(source);
      expect(stdout).toMatch(/^ {2}full \((mha|mla), grows down\)$/m);
      expect(stdout).toMatch(/^planned: [23] bands, low to high in the arena\n$/m);
      expect(code).toBe(0);
    }
  });

  test("as JSON: 18 window and 18 full layers of 2 x 8 heads x 64 in two bytes", async () => {
    const [code, { verdict, plan }] = await json("gpt-oss-120b");
    expect([code, verdict, plan.page_tokens]).toEqual([0, "planned", 16]);
    const unit = 18 * 2 * 8 * 64 * 2;
    expect(plan.bands).toMatchObject([
      { name: "window_128", grow: "up", window: 128, unit_bytes: unit, page_bytes: 16 * unit },
      { name: "full", grow: "down", window: null, unit_bytes: unit, page_bytes: 16 * unit },
    ]);
    expect(plan.sink_bytes).toBe(16 * unit);
    expect(plan.targets["budget_bytes"]).toBe(16 * 2 ** 30);
  });

  test("a file in the model form", async () => {
    const name = file("model.json", model([FULL, { count: 3, ...WINDOW }]));
    const { code, stdout } = await start(["show", "--plan", name]);
    expect(stdout).toMatch(/^ {2}window_8 \(mha, window of 8 tokens, grows up\)$/m);
    expect(stdout).toMatch(/layers +3, 32 B each: 1-3$/m);
    expect(code).toBe(0);
  });

  test("a file in the direct form: 40 bytes, sink 4, full pages 1 to 9", async () => {
    const config = {
      page_size: 1,
      arena_bytes: 40,
      sub_pools: [{ name: "full", kind: "mha", unit_bytes: 4 }],
      rows: 2,
      row_tokens: 8,
    };
    const [code, { plan }] = await json(file("direct.json", JSON.stringify(config)));
    expect(plan.bands).toMatchObject([{ name: "full", pages: 10, first_page: 1, usable_pages: 9 }]);
    expect(code).toBe(0);
  });

  test("a floor that the budget misses is told term by term", async () => {
    // window min(64, 8 + 4) * 32 * 3, sink 4 * 96, two rows of 64 ids of 8 bytes
    const name = file("low.json", model([FULL, { count: 3, ...WINDOW }], { budget_bytes: 2559 }));
    const { code, stdout } = await start(["show", "--plan", name]);
    for (const term of [/window_8 +1,152$/m, /sink +384$/m, /fixed +1,024$/m])
      expect(stdout).toMatch(term);
    expect(stdout).toMatch(/^refused: refused_floor: .*2559.*2560/m);
    expect(code).toBe(1);
    const [, { verdict, refusal }] = await json(name);
    expect([verdict, refusal.code]).toEqual(["refused", "refused_floor"]);
  });

  test("what is no configuration is wrong usage or a wrong file", async () => {
    const wrong: readonly [readonly string[], number, RegExp][] = [
      [["show"], 2, /--plan/],
      [["show", "--plan", "gpt-oss-12b"], 2, /did you mean gpt-oss-120b\?/],
      [["show", "--plan", "absent.json"], 3, /absent\.json/],
      [
        ["show", "--plan", file("typo.json", model([FULL], { budget_byte: 1 }))],
        3,
        /budget_byte.*budget_bytes/,
      ],
      [["show", "--plan", file("hollow.json", '{"model":{},"page_size":1}')], 3, /budget_bytes/],
    ];
    for (const [words, exit, message] of wrong) {
      const { code, stdout, stderr } = await start(words);
      expect(stderr).toMatch(message);
      expect(isOneLine(stderr)).toBe(true);
      expect(stdout).toBe("");
      expect(code).toBe(exit);
    }
  });
});

describe.concurrent("a preset or a model form as the configuration of a workload", () => {
  test("the run line holds the derived form; the trace is valid and compares equal", async () => {
    const words = ["record", "--workload", "synthetic", "--config", "gpt-oss-120b"];
    const made = await start([...words, "--limit", "3", "--out", "preset.jsonl"]);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    const [, run, boot] = readFileSync(join(folder, "preset.jsonl"), "utf8")
      .split("\n", 3)
      .map((line) => JSON.parse(line) as Record<string, Record<string, unknown>>);
    expect(run!["run"]).toBe("gpt-oss-120b/full+window/p16/synthetic-1");
    expect(run!["config"]!["model"]).toEqual({ preset: "gpt-oss-120b" });
    const targets = boot!["ok"]!["targets"] as Record<string, number>;
    expect(run!["derived"]).toMatchObject({
      page_size: 16,
      arena_bytes: targets["arena_bytes"],
      rows: targets["concurrency"],
    });
    expect((await start(["validate", "preset.jsonl"])).code).toBe(0);
    const compared = await start(["compare", "--trace", "preset.jsonl"]);
    expect(compared.stdout).toMatch(/^equal: 1 run/m);
    expect(compared.code).toBe(0);
  });

  test("run serves requests on a model form of a file", async () => {
    const config = file("serve.json", model([FULL, WINDOW], SERVING));
    const long = config.replace(".json", "");
    const words = ["run", "--workload", "synthetic", "--config", config, "--limit", "2", "--json"];
    const { code, stdout } = await start(words);
    const { scenarios } = JSON.parse(stdout) as { scenarios: readonly { name: string }[] };
    expect(scenarios.map(({ name }) => name)).toEqual([`${long}/full+window/p4/synthetic-1`]);
    expect(code).toBe(0);
  });

  test("one that boot refuses is a wrong configuration", async () => {
    const words = ["record", "--workload", "synthetic", "--config", "deepseek-v3", "--out", "x"];
    const { code, stderr } = await start([...words]);
    expect(stderr).toMatch(/deepseek-v3: refused_plan \(full_only\): /);
    expect(isOneLine(stderr)).toBe(true);
    expect(code).toBe(3);
  });
});
