// `compare --jobs N` and `run --jobs N` print what one thread prints, byte for byte, whatever is met.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { file, folder, root, start } from "./command-line.js";

const LIFO = `module:${join(root, "examples", "lifo-holes.mjs")}`;
const OWN = join(root, "dist", "index.js");

const files: Record<string, string> = {};

beforeAll(async () => {
  const words = ["record", "--seeds", "0:4", "--ops", "40", "--page-sizes", "4", "--out"];
  expect((await start([...words, "base.jsonl"])).code).toBe(0);
  const text = readFileSync(join(folder, "base.jsonl"), "utf8");
  const lines = text.trimEnd().split("\n");
  const at = Math.floor(lines.length * 0.7);
  const put = (name: string, changed: readonly string[]): void => {
    files[name] = file(`${name}.jsonl`, `${changed.join("\n")}\n`);
  };
  files["whole"] = "base.jsonl";
  files["packed"] = file("packed.jsonl.gz", gzipSync(text));
  put("cut", lines.slice(0, -3));
  put(
    "wrong line",
    lines.map((line, i) => (i === at ? line.slice(0, -4) : line)),
  );
  put("run twice", [
    ...lines,
    ...lines.slice(1, lines.findIndex((line) => line.includes('"end"')) + 1),
  ]);
  // what stands before the first run that begins as writers begin it
  put("garbage in front", [lines[0]!, "this is garbage", ...lines.slice(1)]);
  put("empty line in front", [lines[0]!, "", ...lines.slice(1)]);
  const withFirst = (change: (line: string) => string): readonly string[] =>
    lines.map((line, i) => (i === 1 ? change(line) : i < 12 && i > 4 ? other(line) : line));
  const other = (line: string): string =>
    line.replace(/("digest":\{"[^"]+":")[0-9a-f]{8}/, "$100000000");
  put(
    "first run otherwise",
    withFirst((line) => line.replace('"kind":', '"kind": ')),
  );
  put(
    "bad escape",
    withFirst((line) => line.replace('"run":"f', '"run":"\\q')),
  );
  put(
    "escape",
    lines.map((line) => line.replace('"run":"full', '"run":"f\\u0075ll')),
  );
  // a run line that does not begin as writers begin it
  put(
    "other order",
    lines.map((line) => {
      if (!line.startsWith('{"kind":"run"') || !line.includes("seed-3")) return line;
      const { kind, ...rest } = JSON.parse(line);
      return JSON.stringify({ ...rest, kind });
    }),
  );
  const candidate = (name: string, body: string): string => {
    const made = `import { KVStorage } from ${JSON.stringify(OWN)};
      export function createImplementation(config) {
        const storage = new KVStorage(config, { digestDepth: null });
        let n = -1;
        return { apply(operation) { n += 1; ${body}; return storage.apply(operation); } };
      }`;
    return (files[name] = `module:${file(`${name}.mjs`, made)}`);
  };
  candidate(
    "crashes",
    'if (n === 9 && config.page_size === 4 && operation.op === "row.alloc") throw new Error("x")',
  );
  candidate("wrong", 'if (n === 30) return { err: { code: "refused_rows", need: 1, free: 0 } }');
  files["lacks"] = `module:${file(
    "lacks.mjs",
    readFileSync(join(folder, files["wrong"]!.slice(7)), "utf8").replace(
      "export function",
      'export const info = { name: "lacks", version: "1", ops: ["boot", "row.alloc"] };\nexport function',
    ),
  )}`;
  files["mask"] = file(
    "mask.json",
    JSON.stringify({
      masks: [{ path: "/ok/pages", reason: "a test", expires: "2999-01-01" }],
    }),
  );
});

const CASES: readonly [string, readonly string[]][] = [
  ["whole", ["--json"]],
  ["garbage in front", []],
  ["empty line in front", []],
  ["first run otherwise", []],
  ["bad escape", []],
  ["escape", []],
  ["whole", ["--candidate", LIFO, "--json", "--verbose"]],
  ["whole", ["--candidates", `reference,${LIFO}`]],
  ["whole", ["--candidate", LIFO, "--shard", "2/3", "--json"]],
  ["whole", ["--candidate", LIFO, "--mask", "mask"]],
  ["whole", ["--candidate", "crashes", "--json"]],
  ["whole", ["--candidate", "wrong", "--double"]],
  ["whole", ["--candidate", "lacks", "--skip-unsupported", "--json"]],
  ["packed", ["--json"]],
  ["cut", ["--accept-truncated", "--json"]],
  ["wrong line", []],
  ["run twice", ["--json"]],
  ["other order", ["--candidate", LIFO, "--json"]],
];

test.concurrent.each(CASES)("%s %j", async (name, flags) => {
  const named = flags.map((word) => (Object.hasOwn(files, word) ? files[word]! : word));
  const words = ["compare", "--trace", files[name]!, ...named];
  const [one, two] = [await start(words), await start([...words, "--jobs", "2"])];
  expect(two).toEqual(one);
  expect(one.stdout + one.stderr).not.toBe("");
});

test("--jobs goes with --trace, and is a number", async () => {
  for (const words of [
    ["base.jsonl", "base.jsonl", "--jobs", "2"],
    ["--trace", "base.jsonl", "--jobs", "0"],
    ["--trace", "base.jsonl", "--jobs", "two"],
  ]) {
    expect((await start(["compare", ...words])).code).toBe(2);
  }
});

const SOME = readdirSync(join(root, "scenarios"))
  .filter((name) => /^(admission|arena|boot|end)/.test(name))
  .map((name) => join(root, "scenarios", name));

test.concurrent.each([
  [[]],
  [["--json"]],
  [["--impl", "crashes"]], // some scenarios fail
  [["--impl", "lacks", "--json"]], // incomplete
  [["--impl", "heap:buddy"]], // cannot run any
  [["--shard", "1/2", "--json"]],
])("run scenarios %j", async (flags) => {
  const named = flags.map((word) => (Object.hasOwn(files, word) ? files[word]! : word));
  const words = ["run", ...SOME, ...named];
  const [one, two] = [await start(words), await start([...words, "--jobs", "2"])];
  expect(two).toEqual(one);
  expect(one.stdout + one.stderr).not.toBe("");
});
