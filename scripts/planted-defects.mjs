// Looks for the planted defects: a process a defect, from the first run on; what is found is shrunk. Writes
// test/defects/found.jsonl, test/defects/cases/ and docs/defects.md after each, so that an interrupt loses one at most.
//
//   node scripts/planted-defects.mjs [--only NAME,NAME] [--part I/N] [--jobs N] [--seconds N] [--anew]
//   node scripts/planted-defects.mjs --shrink [--only NAME,NAME] [--part I/N] [--jobs N] [--seconds N]
//   node scripts/planted-defects.mjs --replay [--only NAME,NAME] [--jobs N]
//
// What was found with the same sources is kept (`--anew`: is not). `--seconds` bounds the shrinking of each, in processor
// time; `--shrink` does that alone, for what has no minimal case yet. `--replay` runs the kept cases alone, each in its own process, and without each of their operations.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const defects = join(root, "test", "defects");
const cases = join(defects, "cases");
const found = join(defects, "found.jsonl");
const plain = join(root, "build", "defects", String(process.pid));

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    part: { type: "string", default: "1/1" },
    jobs: { type: "string", default: "1" },
    seconds: { type: "string", default: "300" },
    anew: { type: "boolean", default: false },
    shrink: { type: "boolean", default: false },
    replay: { type: "boolean", default: false },
  },
});

/** The defects as plain JavaScript over dist: much faster than under a test runner, and each process is a fresh one. */
function makePlain() {
  mkdirSync(plain, { recursive: true });
  const dist = pathToFileURL(join(root, "dist")).href;
  for (const name of readdirSync(defects)) {
    if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
    const { outputText } = ts.transpileModule(readFileSync(join(defects, name), "utf8"), {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    });
    const text = outputText.replaceAll('"../../src/', `"${dist}/`);
    writeFileSync(join(plain, name.replace(/\.ts$/, ".js")), text);
  }
  writeFileSync(join(plain, "package.json"), '{ "type": "module" }\n');
}

/** A digest of everything that decides where a defect is found. */
function digestOf(name) {
  const hash = createHash("sha256");
  const add = (path) => hash.update(readFileSync(path));
  for (const part of ["base", "kv", "device", "reference", "tools", "trace", "workload"]) {
    const folder = join(root, "src", part);
    for (const file of readdirSync(folder, { recursive: true }).sort())
      if (file.endsWith(".ts")) add(join(folder, file));
  }
  for (const file of [`${name}.ts`, "search.ts", "observed.ts", "shrunk.ts"])
    add(join(defects, file));
  return hash.digest("hex").slice(0, 16);
}

function alone(...args) {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [join(plain, "alone.js"), ...args], (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout));
      else reject(new Error(`${args.join(" ")}: ${stderr.slice(0, 400)}`));
    });
  });
}

/** Works through items, a few at a time. */
async function work(items, act) {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, worker));
}

function readEntries() {
  const lines = readFileSync(found, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** What a search from the first run on finds; null where it was made with the same sources. */
async function foundAnew(name, before) {
  const of = digestOf(name);
  if (!values.anew && before?.of === of) return null;
  return { ...(await alone("find", name, cases, values.seconds)), of };
}

/** The same entry with a smaller case; null where nothing is left to do. */
async function shrunkAnew(before) {
  if (before === undefined || before.stress === null || before.shrunk?.isMinimal === true)
    return null;
  const run = String(before.stress.runs);
  return { ...before, shrunk: await alone("shrink", before.name, cases, values.seconds, run) };
}

async function main() {
  makePlain();
  const load = (name) => import(pathToFileURL(join(plain, name)).href);
  const { DEFECTS } = await load("index.js");
  const { tableOf, sizesOf } = await load("found-table.js");
  const only = values.only?.split(",");
  const [part, parts] = values.part.split("/").map(Number);
  const names = DEFECTS.map(({ name }) => name)
    .filter((name) => only === undefined || only.includes(name))
    .filter((_, index) => index % parts === part - 1);
  if (values.replay) {
    const kept = names.filter((name) => readdirSync(cases).includes(`${name}.json`));
    await work(kept, async (name) => {
      const replay = await alone("replay", name, cases);
      if (!replay.repeats || replay.spare.length > 0) process.exitCode = 1;
      console.log(JSON.stringify(replay));
    });
    return;
  }
  mkdirSync(cases, { recursive: true });
  await work(names, async (name) => {
    const before = readEntries().find((entry) => entry.name === name);
    const entry = await (values.shrink ? shrunkAnew(before) : foundAnew(name, before));
    if (entry === null) return;
    const others = readEntries().filter((one) => one.name !== name);
    const order = new Map(DEFECTS.map((defect, index) => [defect.name, index]));
    const all = [...others, entry].sort((a, b) => order.get(a.name) - order.get(b.name));
    writeFileSync(found, all.map((one) => `${JSON.stringify(one)}\n`).join(""));
    writeFileSync(join(root, "docs", "defects.md"), tableOf(DEFECTS, all));
    const { stress, shrunk } = entry;
    const where = stress === null ? "not found" : `${stress.check}, run ${stress.runs}`;
    const size = shrunk === null ? "not shrunk" : `${shrunk.ops} operations`;
    console.log(`${name}: ${where}, ${size}${shrunk?.isMinimal === false ? ", not minimal" : ""}`);
  });
  console.log(sizesOf(readEntries()));
}

try {
  await main();
} finally {
  rmSync(plain, { recursive: true, force: true });
}
