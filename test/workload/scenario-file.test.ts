// What is wrong with a scenario file or a file of configurations is named with file, line and the nearest word.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InputError, UsageError } from "../../src/base/errors.js";
import { jsonFileKind, loadConfigFile, loadConfigs } from "../../src/workload/configs.js";
import { loadScenarios, scenarioWorkload } from "../../src/workload/scenario.js";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ut-scenario-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A good scenario, one key a line, with some keys replaced or, by undefined, left out. */
function scenario(changes: Record<string, unknown> = {}): string {
  const good = {
    name: "good",
    story: "A story.",
    configs: ["full+state/p1"],
    ops: [{ op: "row.alloc", args: { reqs: ["r1"] } }],
    ...changes,
  };
  const lines = Object.entries(good)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}

function errorOf(run: () => unknown): InputError {
  try {
    run();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  return expect.fail("nothing was thrown");
}

const CONFIG = {
  page_size: 1,
  arena_bytes: 16,
  sub_pools: [{ name: "full", kind: "mha", unit_bytes: 4 }],
  rows: 2,
  row_tokens: 8,
};
const alloc = { op: "row.alloc", args: { reqs: ["r1"] } };

describe("what is not JSON", () => {
  test.each<[string, string | Uint8Array, RegExp, number | undefined]>([
    ["empty", "", /the file is empty/, 1],
    ["cut off", '{\n"name": "a",\n', /expected a key/, 3],
    ["cut off inside a text", '{\n"name": "a', /closing quote/, 2],
    ["a comma too many", '{\n"name": "a",\n}', /expected a key/, 3],
    ["no colon", '{"name" "a"}', /expected ":"/, 1],
    ["a word", '{\n"name": nme\n}', /not JSON: nme/, 2],
    ["something after the end", "{}\n{}", /after the end/, 2],
    ["a duplicate key", '{\n"name": "a",\n"name": "b"\n}', /duplicate key "name"/, 3],
    [
      "a number beyond 2^53",
      '{\n"name": 9007199254740993\n}',
      /9007199254740993 is no integer below 2\^53/,
      2,
    ],
    ["nested too deep", `${"[".repeat(70)}${"]".repeat(70)}`, /nested deeper than 64/, 1],
    ["a byte order mark", "\uFEFF{}", /byte order mark/, 1],
    ["nothing but NUL bytes", "\u0000\u0000\u0000", /holds nothing but NUL bytes/, 1],
    ["nothing but CR", "\r\r\r", /holds nothing but white space/, 1],
    ["a NUL byte", "{\n\u0000}", /NUL byte/, 2],
    ["not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), /not UTF-8/, undefined],
  ])("%s", (_, text, message, line) => {
    const file = write("bad.json", text);
    const error = errorOf(() => loadScenarios([file]));
    expect(error.message).toMatch(message);
    expect(error.place.file).toBe(file);
    expect(error.place.line).toBe(line);
    expect(error.exitCode).toBe(3);
  });

  test("CRLF is read", () => {
    const file = write("crlf.json", scenario().replaceAll("\n", "\r\n"));
    expect(loadScenarios([file])[0]?.name).toBe("good");
  });

  test("a file that is not there, a folder without scenarios, nothing at all", () => {
    const missing = errorOf(() => loadScenarios([join(folder, "none.json")]));
    expect(missing.message).toBe("no such file");
    expect(missing.code).toBe("input_unreadable");
    mkdirSync(join(folder, "empty"));
    expect(errorOf(() => loadScenarios([join(folder, "empty")])).message).toMatch(
      /holds no scenario/,
    );
    expect(errorOf(() => loadScenarios([])).message).toMatch(/no scenario selected/);
  });
});

describe("what is no scenario", () => {
  test.each<[string, Record<string, unknown>, RegExp, number]>([
    ["an unknown key", { storys: "x" }, /unknown key "storys"; did you mean "story"\?/, 6],
    ["no name", { name: undefined }, /name must be a text/, 1],
    ["a name with a slash", { name: "a/b" }, /a name is letters/, 2],
    ["no story", { story: "" }, /story must be a text/, 3],
    ["tags that are no texts", { tags: [1] }, /tags\/0 must be a text/, 6],
    ["no configuration", { configs: undefined }, /applies to no configuration/, 1],
    ["an empty list of them", { configs: [] }, /applies to no configuration/, 4],
    [
      "an unknown one",
      { configs: ["full+state/p2"] },
      /unknown configuration "full\+state\/p2"; did you mean/,
      4,
    ],
    ["two ways of naming it", { config: CONFIG }, /"config" or "configs", not both/, 4],
    [
      "a wrong one of its own",
      { configs: undefined, config: { ...CONFIG, rows: -1 } },
      /negative number -1/,
      5,
    ],
    [
      "two bands of one name",
      {
        configs: undefined,
        config: { ...CONFIG, sub_pools: [...CONFIG.sub_pools, ...CONFIG.sub_pools] },
      },
      /two bands/,
      5,
    ],
    ["no operations", { ops: [] }, /ops must be a list/, 5],
    [
      "an unknown operation",
      { ops: [{ op: "row.aloc" }] },
      /unknown operation "row.aloc"; did you mean "row.alloc"\?/,
      5,
    ],
    [
      "an operation of another domain",
      { ops: [{ op: "heap.free" }] },
      /unknown operation "heap.free"/,
      5,
    ],
    [
      "wrong arguments",
      { ops: [{ op: "row.alloc", args: { reqs: "r1" } }] },
      /row.alloc: found "r1", expected a list/,
      5,
    ],
    [
      "an unknown argument",
      { ops: [{ ...alloc, args: { reqs: ["r1"], rqs: 1 } }] },
      /unknown key "rqs"/,
      5,
    ],
    [
      "an unknown band",
      { ops: [{ op: "ask.fits", args: { demand: { fll: 1 } } }] },
      /unknown band "fll"; did you mean "full"/,
      5,
    ],
    [
      "a negative count",
      { ops: [{ op: "ask.fits", args: { demand: { full: -1 } } }] },
      /negative number -1/,
      5,
    ],
    ["boot in the middle", { ops: [alloc, { op: "boot" }] }, /boot is the first operation/, 5],
    [
      "an unknown expectation",
      { ops: [{ ...alloc, expect: { okay: {} } }] },
      /unknown key "okay"; did you mean "ok"/,
      5,
    ],
    [
      "both outcomes",
      { ops: [{ ...alloc, expect: { ok: {}, err: { code: "refused_rows" } } }] },
      /"ok" or "err"/,
      5,
    ],
    [
      "a failure without a code",
      { ops: [{ ...alloc, expect: { err: {} } }] },
      /states its code/,
      5,
    ],
    [
      "an unknown code",
      { ops: [{ ...alloc, expect: { err: { code: "refused_row" } } }] },
      /did you mean "refused_rows"/,
      5,
    ],
    [
      "an unknown rule",
      { ops: [{ ...alloc, expect: { err: { code: "invalid", rule: "row_in_us" } } }] },
      /did you mean "row_in_use"/,
      5,
    ],
    [
      "an unknown key in what is expected",
      { ops: [{ ...alloc, expect: { ok: { row: {} } } }] },
      /row.alloc: unknown key "row"; did you mean "rows"/,
      5,
    ],
    [
      "an effect that there is none of",
      { ops: [{ ...alloc, expect: { fx: { none: ["weit"] } } }] },
      /row.alloc: unknown word "weit"; did you mean "wait"/,
      5,
    ],
    [
      "an unknown end",
      { finally: { drains: true } },
      /unknown key "drains"; did you mean "drain"/,
      6,
    ],
    ["a wrong end", { finally: { ledger: "full" } }, /ledger can only be "empty"/, 6],
  ])("%s", (_, changes, message, line) => {
    const file = write("wrong.json", scenario(changes));
    const error = errorOf(() => loadScenarios([file]));
    expect(error.message).toMatch(message);
    expect(error.place).toMatchObject({ file, line });
    expect(error.describe()).toContain(`${file}:${String(line)}:`);
    expect(error.exitCode).toBe(3);
  });

  test("two files of one name", () => {
    const files = [write("one.json", scenario()), write("two.json", scenario())];
    expect(errorOf(() => loadScenarios(files)).message).toMatch(
      /the name "good" is also that of .*one\.json/,
    );
  });

  test("the same file twice is one scenario", () => {
    const file = write("twice.json", scenario());
    expect(loadScenarios([file, file]).length).toBe(1);
  });
});

describe("a name that nothing opens makes a scenario invalid", () => {
  test.each<[string, unknown[], RegExp | null]>([
    [
      "a request",
      [alloc, { op: "row.free", args: { req: "r2" } }],
      /row.free: no earlier operation opens the request "r2"/,
    ],
    ["a forward", [{ op: "forward.process", args: { step: "f1" } }], /opens the forward "f1"/],
    ["an event", [{ op: "event.fire", args: { event: "f3", rank: 0 } }], /opens the forward "f3"/],
    [
      "a copy",
      [{ op: "host.backup_done", args: { copy: "c1", outcome: "ok" } }],
      /opens the copy "c1"/,
    ],
    [
      "one that is opened later",
      [{ op: "row.free", args: { req: "r1" } }, alloc],
      /opens the request "r1"/,
    ],
    [
      "one that is closed is no typing error",
      [alloc, { op: "row.free", args: { req: "r1" } }, { op: "row.free", args: { req: "r1" } }],
      null,
    ],
  ])("%s", (_, ops, message) => {
    const [loaded] = loadScenarios([write("names.json", scenario({ ops }))]);
    if (message === null) expect(loaded?.invalid).toBeNull();
    else expect(loaded?.invalid?.message).toMatch(message);
  });
});

describe("configurations", () => {
  test("configs.json beside a scenario comes first", () => {
    const own = join(folder, "own");
    mkdirSync(own);
    writeFileSync(join(own, "configs.json"), JSON.stringify({ configs: { mine: CONFIG } }));
    writeFileSync(join(own, "good.json"), scenario({ configs: ["mine"] }));
    const [loaded] = loadScenarios([own]);
    expect(loaded?.configs).toEqual([["mine", CONFIG]]);
    expect(scenarioWorkload(loaded!, "mine").run).toBe("good@mine");
    expect(() => scenarioWorkload(loaded!, "mien")).toThrow(
      /does not run on mien; did you mean "mine"/,
    );
  });

  test("the shipped file: geometries and what the rule gives", () => {
    const library = loadConfigs();
    expect(library.names).toContain("full+state/p1");
    expect(library.ruleNames).toEqual(["serving/tight"]);
    expect(() => library.fixed("full+sate/p1")).toThrow(UsageError);
    expect(() => library.derived("serving/tigth", "full+state", 16)).toThrow(
      /did you mean "serving\/tight"/,
    );
    const { config, serving } = library.derived("serving/tight", "full+window", 64);
    expect(serving).toMatchObject({ batch: 64, chunk: 8192 });
    expect(config).toMatchObject({ page_size: 64, row_tokens: 131072, overlap: true });
    // the sink (one page of 64 tokens), 60,000 full tokens, 64 windows of 128 tokens
    expect(config.arena_bytes).toBe((64 + 60_000 + 64 * 128) * 24_576);
    const state = library.derived("serving/tight", "full+state", 16).config;
    expect(state.arena_bytes).toBe(1_050_624 + 60_000 * 24_576 + 64 * 1_050_624);
  });

  test("a file of one configuration", () => {
    expect(loadConfigFile(write("config.json", JSON.stringify(CONFIG)))).toEqual(CONFIG);
    const bad = write("bad-config.json", JSON.stringify({ ...CONFIG, page_sise: 1 }));
    expect(errorOf(() => loadConfigFile(bad)).message).toMatch(
      /unknown key "page_sise"; did you mean "page_size"/,
    );
  });

  const pool = (name: string, more: object = {}): object => ({
    ...{ name, kind: "mha", unit_bytes: 4 },
    ...more,
  });
  describe("what no allocator could call by its name", () => {
    test.each<[string, object[], string | null]>([
      ["one owner by another name", [pool("main")], '0/name: .*named "main", expected "full"'],
      ["the same beside others", [pool("w", { window: 4 }), pool("main")], '1/name: .*"main"'],
      ["full is a window", [pool("full", { window: 4 }), pool("main")], '1/name: .*"main"'],
      ["an owner of latent rows", [pool("main", { kind: "mla" })], '0/name: .*"main"'],
      [
        "a state with a window",
        [pool("full"), pool("s", { kind: "state", window: 4 })],
        '1/window: .*"s" of kind state has a window',
      ],
      [
        "a state with a window of unknown length",
        [pool("full"), pool("s", { kind: "state", window: null })],
        "1/window: ",
      ],
      ["no owner is for boot to refuse", [pool("w", { window: 4 })], null],
      ["two owners as well", [pool("full"), pool("other")], null],
      ["an owner with its name", [pool("s", { kind: "state" }), pool("full")], null],
    ])("%s", (_, sub_pools, expected) => {
      const config = { ...CONFIG, sub_pools };
      // alone, named in a file, and as a scenario's own
      for (const [prefix, load] of [
        ["", () => loadConfigFile(write("alone.json", JSON.stringify(config)))],
        [
          "/configs/a",
          () => loadConfigs(write("named.json", JSON.stringify({ configs: { a: config } }))),
        ],
        [
          "/config",
          () => loadScenarios([write("own.json", scenario({ configs: undefined, config }))]),
        ],
      ] as const) {
        if (expected === null) {
          expect(load()).toBeDefined();
          continue;
        }
        const { place, message, exitCode } = errorOf(load);
        expect(`${place.path ?? ""}: ${message}`).toMatch(
          new RegExp(`^${prefix}/sub_pools/${expected}`),
        );
        expect([place.line !== undefined, exitCode]).toEqual([true, 3]);
      }
    });
  });

  test("what a JSON file is, by its keys", () => {
    for (const [content, kind] of [
      [scenario(), "scenario"],
      [scenario({ configs: undefined, config: CONFIG }), "scenario"],
      [JSON.stringify({ configs: { a: CONFIG } }), "configurations"],
      [JSON.stringify(CONFIG), "configuration"],
      [JSON.stringify({ model: {}, page_size: 1, budget_bytes: 7 }), "configuration"],
      [JSON.stringify({ ...CONFIG, page_size: undefined, page_sise: 1 }), "configuration"],
      ["{}", "scenario"],
      ["[]", "scenario"],
    ] as const) {
      expect(jsonFileKind(write("some.json", content)), content).toBe(kind);
    }
    expect(jsonFileKind(write("configs.json", "{}"))).toBe("configurations");
    expect(() => jsonFileKind(write("cut.json", "{"))).toThrow(InputError);
    rmSync(join(folder, "configs.json"));
  });

  test("a wrong configuration in configs.json is named", () => {
    const file = write(
      "configs-bad.json",
      JSON.stringify({ configs: { a: { ...CONFIG, rows: "2" } } }),
    );
    const error = errorOf(() => loadConfigs(file));
    expect(error.place.path).toBe("/configs/a/rows");
    expect(error.exitCode).toBe(3);
  });
});

describe("numbers", () => {
  const model = (ratio: string, page = "4"): string =>
    write(
      "model.json",
      `{"model":{"layers":[{"attention":{"heads":1,"head_dim":4}},{"attention":{"heads":1,"head_dim":4,"window":8}}]},
"page_size":${page},"budget_bytes":100000,"max_running_requests":4,"swa_full_tokens_ratio":${ratio},"row_tokens":64}`,
    );

  test("a ratio is a fraction", () => {
    expect(JSON.stringify(loadConfigFile(model("0.3")))).toContain('"swa_full_tokens_ratio":0.3');
  });

  test.each([
    ["1e400", "4", /1e400 is no integer below 2\^53/],
    ["0.3", "4.5", /4\.5.*whole number/],
  ])("ratio %s, page size %s: what is no whole number is none", (ratio, page, message) => {
    expect(() => loadConfigFile(model(ratio, page))).toThrow(message);
  });
});
