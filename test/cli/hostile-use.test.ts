// The commands that keep files and run long, used carelessly: odd folders, foreign files, endless ranges, several at once.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { file, folder, isOneLine, root, start } from "./command-line.js";

const out = (): string => mkdtempSync(join(folder, "out-"));
const STRESS = ["stress", "--no-scenarios", "--layouts", "full+window", "--ops", "20"];
const LIFO = `module:${join(root, "examples", "lifo-holes.mjs")}`;
const TRACE = "hostile.jsonl";

/** One line with the exit code, and no answer. */
async function refusal(words: readonly string[], code: number): Promise<string> {
  const result = await start(words);
  expect([result.code, result.stdout], result.stderr).toEqual([code, ""]);
  expect(isOneLine(result.stderr), result.stderr).toBe(true);
  return result.stderr;
}

beforeAll(async () => {
  const words = ["record", "--seeds", "0:1", "--ops", "60", "--out", TRACE];
  expect((await start(words)).code).toBe(0);
});

describe.concurrent("the state of stress", () => {
  const STATE = "stress-state.json";
  const words = (where: string): string[] => [...STRESS, "--seeds", "0:3", "--out", where];
  const unit = { run: "a", profile: "b", findings: [], counts: {}, coverage: [], case: null };
  const foreign: readonly [what: string, text: string, said: RegExp][] = [
    ["notes", "my notes\n", /:1:1: not JSON: my/],
    ["a cut state", '{"version":1,"key":"', /:1:20: a text without its closing quote/],
    ["nothing", "", /:1: the file is empty/],
    ["another document", '{"name":"a","ops":[]}', /missing key "version"/],
    ["a list", "[]", /expected an object/],
    ["units that are none", '{"version":1,"key":"","units":[5]}', /at \/units\/0: found 5/],
    [
      "a unit without its counts",
      JSON.stringify({ version: 1, key: "", units: [unit] }),
      /at \/units\/0\/counts.*missing key "operations"/,
    ],
  ];
  for (const [what, text, said] of foreign)
    test(`${what} under its name: exit 3, and it stays`, async () => {
      const where = out();
      writeFileSync(join(where, STATE), text);
      const line = await refusal(words(where), 3);
      expect(line).toMatch(said);
      expect(line).toContain(join(where, STATE));
      expect(line).toContain("move it away, or name another folder with --out");
      expect(readFileSync(join(where, STATE), "utf8")).toBe(text);
    });

  test("a folder or a pipe under its name: exit 3, at once", async () => {
    const [first, second] = [out(), out()];
    mkdirSync(join(first, STATE));
    expect(await refusal(words(first), 3)).toMatch(/is a directory/);
    execFileSync("mkfifo", [join(second, STATE)]);
    expect(await refusal(words(second), 3)).toMatch(/no plain file/);
  });

  test("that of another version or other flags is set aside whole", async () => {
    for (const text of ['{"version":9,"key":"x"}', '{"version":1,"key":"x","units":[]}']) {
      const where = out();
      writeFileSync(join(where, STATE), text);
      const { code, stderr } = await start(words(where));
      expect(code).toBe(0);
      expect(stderr).toMatch(/finished runs of another revision or other flags .*: set aside as /);
      expect(readFileSync(join(where, "stress-state.old.json"), "utf8")).toBe(text);
      const again = await start([...words(where), "--json"]);
      expect(JSON.parse(again.stdout)).toMatchObject({ runs: 3, resumed: 3 });
    }
  });

  test("two shards at once in one folder lose nothing of each other", async () => {
    const where = out();
    const all = [...STRESS, "--seeds", "0:40", "--out", where];
    const parts = ["1/2", "2/2"].map((part) => start([...all, "--shard", part]));
    expect((await Promise.all(parts)).map(({ code }) => code)).toEqual([0, 0]);
    const { stdout } = await start([...all, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: "passed", runs: 40, resumed: 40 });
    expect(readdirSync(where).sort()).toEqual(["cases", STATE]);
  });
});

describe.concurrent("folders and files to write", () => {
  test("where no folder can be made: exit 4, at once", async () => {
    const plain = file("plain.txt", "text");
    for (const [where, said] of [
      [`${plain}/x`, /cannot be made: a part of its path is no folder/],
      [plain, /cannot be made: a part of its path is no folder/],
      ["/proc/unified-trace", /cannot be made: no folder can be made there/],
    ] as const) {
      if (where.startsWith("/proc") && !existsSync("/proc/self")) continue;
      expect(await refusal([...STRESS, "--seeds", "0:1", "--out", where], 4)).toMatch(said);
    }
    const taken = out();
    writeFileSync(join(taken, "cases"), "");
    expect(await refusal([...STRESS, "--seeds", "0:1", "--out", taken], 4)).toMatch(/cases/);
  });

  test("a saved case that is none: exit 3, named", async () => {
    const where = out();
    mkdirSync(join(where, "cases"));
    writeFileSync(join(where, "cases", "x.json"), "{");
    expect(await refusal([...STRESS, "--seeds", "0:1", "--out", where], 3)).toMatch(/x\.json:1:2/);
    expect(readFileSync(join(where, "cases", "x.json"), "utf8")).toBe("{");
  });

  test("another failure's name that is taken stays as it is", async () => {
    const twice = file(
      "twice.mjs",
      `import * as right from ${JSON.stringify(join(root, "examples", "lifo-holes.mjs"))};
       export const info = right.info;
       export function createImplementation(config, context) {
         const made = right.createImplementation(config, context);
         let n = 0;
         return { ...made, apply: (operation) => {
           const answer = made.apply(operation);
           return n++ === 4 ? { err: { code: "refused_rows", need: 9 } } : answer;
         } };
       }`,
    );
    const words = ["shrink", TRACE, "--candidate", `module:${twice}`, "--out", "mine.json"];
    writeFileSync(join(folder, "mine.second-1.json"), "mine");
    const { code, stdout } = await start([...words, "--json"]);
    expect(code).toBe(0);
    const { others } = JSON.parse(stdout);
    expect(others[0].file).toBe("mine.second-2.json"); // it has a second failure
    expect(readFileSync(join(folder, "mine.second-1.json"), "utf8")).toBe("mine");
  });
});

describe.concurrent("words", () => {
  test("an endless range of seeds is refused, a long one needs no memory", async () => {
    for (const words of [
      ["stress", "--seeds", "0:999999999999999"],
      ["metamorph", "--trace", TRACE, "--seeds", "0:999999999999999"],
      ["record", "--seeds", "0:999999999999999", "--out", "x.jsonl"],
    ])
      expect(await refusal(words, 2)).toMatch(/4294967296 seeds at most/);
    const budget = ["--seeds", "0:4294967296", "--time-budget", "0.2", "--json"];
    const long = await start([...STRESS, ...budget, "--shard", "1/3"]);
    expect(long.code).toBe(6);
    const { runs, left_out: leftOut } = JSON.parse(long.stdout);
    const share = Math.floor(2 ** 32 / 3); // one of the three has one more
    expect(runs + leftOut).toBeOneOf([share, share + 1]);
    const rewritten = await start(["metamorph", "--trace", TRACE, ...budget]);
    expect([rewritten.code, rewritten.stderr]).toEqual([6, ""]);
  });

  test("--shard is I of N for every command that has it", async () => {
    for (const part of ["0/3", "3/2", "1", "1/0", "1/99999999999999999999"])
      for (const words of [["stress"], ["metamorph", "--trace", TRACE]])
        expect(await refusal([...words, "--shard", part], 2)).toMatch(/I\/N with I from 1 to N/);
  });

  test("--replay refuses every flag that says nothing there", async () => {
    const flags = [["--deep"], ["--jobs", "2"], ["--no-scenarios"], ["--time-budget", "3"]];
    for (const words of [...flags, ["--page-sizes", "4"], ["--minimize"], ["--out", "x"]]) {
      const line = await refusal(["stress", "--replay", "absent.json", ...words], 2);
      expect(line).toContain(`${words[0] ?? ""} says nothing there`);
    }
  });

  test("shrink --run names a configuration of the scenario, or nothing is tried", async () => {
    const scenario = join(root, "scenarios", "backend_latent_rows.json");
    const words = ["shrink", scenario, "--candidate", LIFO, "--out", "never.json"];
    expect(await refusal([...words, "--run", "absent"], 2)).toMatch(/--run absent: no config/);
    expect(existsSync(join(folder, "never.json"))).toBe(false);
  });

  test("metamorph: a trace that is wrong at its end keeps what was found before", async () => {
    const lines = readFileSync(join(folder, TRACE), "utf8").trimEnd().split("\n");
    const cut = file("cut.jsonl", `${lines.slice(0, -1).join("\n")}\n`);
    const words = ["metamorph", "--trace", cut, "--rewrite", "names", "--json"];
    const clean = await start(words);
    expect(clean.code).toBe(3);
    const code = "trace_truncated";
    expect(JSON.parse(clean.stdout)).toMatchObject({ verdict: "incomplete", error: { code } });
    const broken = file(
      "names.mjs",
      `import * as right from ${JSON.stringify(join(root, "examples", "lifo-holes.mjs"))};
       export const info = right.info;
       export function createImplementation(config, context) {
         const made = right.createImplementation(config, context);
         return { ...made, apply: (operation) => {
           const answer = made.apply(operation);
           const isOther = operation.op === "row.alloc" && !operation.args.reqs.includes("r1");
           return isOther ? { ...answer, fx: [["reset", [[1, 1]]]] } : answer;
         } };
       }`,
    );
    const found = await start([...words, "--impl", `module:${broken}`]);
    expect(found.code).toBe(1);
    expect(JSON.parse(found.stdout)).toMatchObject({ verdict: "failed", error: { code } });
  });
});
