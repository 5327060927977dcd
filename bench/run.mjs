// Prints the numeric goals, each as a ratio inside one run; see `--help`. Files live in a temporary folder.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { adapterRows } from "./adapter.mjs";
import { allocatorRows } from "./allocator.mjs";
import { writeBenchTrace } from "./make-trace.mjs";
import { recorderRows } from "./recorder.mjs";

const USAGE = `Usage: node bench/run.mjs [--ops N] [--rounds N] [--only LIST] [--check]

  --ops N      operations of the bench trace (default: 1000000)
  --rounds N   rounds of which the median counts (default: 5)
  --only LIST  goals by their numbers, "allocator" for those of the allocator: --only 5,12
  --check      fail when three tries all miss a ratio
  --help       this text`;

const flags = flagsOf(process.argv.slice(2));
const only = flags.only?.split(",") ?? null;
const isWanted = (...goals) => only === null || goals.some((name) => only.includes(String(name)));
const OPERATIONS = Number(flags.ops);
const ROUNDS = Number(flags.rounds);
const COMMAND = fileURLToPath(new URL("../bin/unified-trace.js", import.meta.url));
const MEASURE = new URL("./measure.mjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "unified-trace-bench-"));
const rows = [];

/** The flags; ends the process after `--help`, and with one line where they are wrong. */
function flagsOf(args) {
  const options = {
    ops: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "5" },
    only: { type: "string" },
    check: { type: "boolean" },
    help: { type: "boolean" },
  };
  try {
    const { values } = parseArgs({ args, options });
    for (const name of ["ops", "rounds"])
      if (!/^[1-9]\d*$/.test(values[name]))
        throw new Error(`--${name} ${values[name]}: expected a whole number from 1 on`);
    if (!values.help) return values;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`bench/run.mjs: ${error.message.split("\n")[0]} (see --help)`);
    process.exit(2);
  }
}

/** A goal: what was found, against what, and whether it holds. */
function goal(number, text, value, limit, isMet) {
  rows.push({ number, text, isMet });
  console.log(`${isMet ? "met   " : "MISSED"} goal ${number}: ${text}: ${value} (${limit})`);
}

function measure(...words) {
  const child = spawnSync(process.execPath, [MEASURE, ...words.map(String)], { encoding: "utf8" });
  if (child.status !== 0)
    throw new Error(`${words.join(" ")}: ${child.stderr.split("\n").slice(0, 4).join(" ")}`);
  return JSON.parse(child.stdout);
}

/** Seconds of a whole process, start-up included. */
function wall(args, program = process.execPath, expected = 0) {
  const before = performance.now();
  const child = spawnSync(program, args, { encoding: "utf8" });
  if (child.status !== expected)
    throw new Error(`exit ${child.status}: ${child.stderr.split("\n")[0]}`);
  return (performance.now() - before) / 1000;
}

function median(list) {
  const sorted = [...list].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Medians of several measurements taken in turn, round by round. */
function inTurn(kinds, rounds = ROUNDS) {
  const found = Object.fromEntries(Object.keys(kinds).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(kinds)) found[name].push(run());
  }
  return found;
}

const ratio = (value) => value.toFixed(2);
const mib = (bytes) => `${Math.round(bytes / 1048576)} MiB`;
const perSecond = (count, seconds) => `${Math.round(count / seconds / 1000)}k/s`;

function verifyGoals(file, depth) {
  const found = inTurn({
    bare: () => measure("bare", file),
    validate: () => measure("validate", file),
    replay: () => measure("replay", file),
    compare: () => measure("compare", file),
  });
  const seconds = Object.fromEntries(
    Object.entries(found).map(([name, list]) => [name, median(list.map((m) => m.seconds))]),
  );
  const events = found.bare[0].events;
  for (const [name, value] of Object.entries(seconds)) {
    const peak = Math.max(...found[name].map((m) => m.rssBytes));
    console.log(
      `  ${depth} ${name.padEnd(8)} ${value.toFixed(2)} s, ${perSecond(events, value)}, ${ratio(value / seconds.bare)}x bare, peak ${mib(peak)}`,
    );
  }
  const isQuick = seconds.compare <= 2.2 * seconds.bare && events / seconds.compare >= 150_000;
  goal(
    1,
    `verify at depth ${depth}, over the bare loop`,
    `${ratio(seconds.compare / seconds.bare)}x, ${perSecond(events, seconds.compare)}`,
    "<= 2.2x and >= 150k/s",
    isQuick,
  );
  return Math.max(...found.compare.map((m) => m.rssBytes));
}

function validationGoals(file) {
  const mixed = join(folder, "mixed.jsonl");
  const cli = new URL("../bin/unified-trace.js", import.meta.url).pathname;
  const seeded = ["record", "--seeds", "0:20", "--ops", "400", "--impl", "self:none"];
  const child = spawnSync(process.execPath, [cli, ...seeded, "--out", mixed], { encoding: "utf8" });
  if (child.status !== 0) throw new Error(child.stderr);
  const found = inTurn({ checks: () => measure("checks", file, mixed).events });
  const few = median(found.checks.map((m) => m.few));
  const many = median(found.checks.map((m) => m.many));
  goal(4, "validation of a parsed event", `${few.toFixed(2)} us`, "<= 1 us", few <= 1);
  const { kinds } = found.checks[0];
  goal(4, `the same after ${kinds} kinds`, `${ratio(many / few)}x`, "<= 1.2x", many <= 1.2 * few);
}

function memoryGoals(peak) {
  const large = join(folder, "large.jsonl");
  writeBenchTrace(large, 4 * OPERATIONS, "layout");
  const four = measure("compare", large).rssBytes;
  goal(3, "peak memory of verify", mib(peak), "<= 128 MiB", peak <= 128 * 1048576);
  goal(
    3,
    "peak memory at four times the length",
    `${mib(four)} against ${mib(peak)}`,
    "<= +16 MiB",
    four <= peak + 16 * 1048576,
  );
  const longLine = join(folder, "long.jsonl");
  writeBenchTrace(longLine, 100, "layout");
  const text = `{"kind":"mark","n":100,"text":"${"x".repeat(16 * 1048576)}"}\n`;
  const withMark = insertMark(longLine, text);
  const peakLong = measure("validate", withMark).rssBytes;
  goal(
    3,
    "peak memory with a line of 16 MiB",
    mib(peakLong),
    "<= 256 MiB",
    peakLong <= 256 * 1048576,
  );
}

/** The trace with a mark before its end line. */
function insertMark(file, mark) {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const end = lines.pop();
  const marked = `${file}.marked.jsonl`;
  writeFileSync(marked, `${lines.join("\n")}\n${mark}${end}\n`);
  return marked;
}

function divergenceGoals() {
  const planted = (n, answer) =>
    n === 1000 ? { ...answer, digest: { ...answer.digest, full: "0000000000000000" } } : answer;
  const short = join(folder, "divergent.jsonl");
  const long = join(folder, "divergent-long.jsonl");
  writeBenchTrace(short, OPERATIONS, "layout", 1, planted);
  writeBenchTrace(long, 4 * OPERATIONS, "layout", 1, planted);
  const command = (trace) => [
    COMMAND,
    "compare",
    "--trace",
    trace,
    "--candidate",
    "self:none",
    "--first",
  ];
  const found = inTurn({
    nothing: () => wall(["-e", "0"]),
    short: () => wall(command(short), process.execPath, 1),
    long: () => wall(command(long), process.execPath, 1),
  });
  const nothing = median(found.nothing);
  const added = median(found.short) - nothing;
  goal(
    5,
    "the whole command with its report, a divergence at event 1,000, over an empty Node process",
    `+ ${added.toFixed(2)} s over ${nothing.toFixed(2)} s`,
    "<= + 0.25 s",
    added <= 0.25,
  );
  const growth = median(found.long) / median(found.short);
  goal(5, "the same at four times the length", `${ratio(growth)}x`, "<= 1.2x", growth <= 1.2);
}

function validatorGoal() {
  const url = JSON.stringify(
    pathToFileURL(new URL("../dist/trace/generated/validators.js", import.meta.url).pathname).href,
  );
  const script = `const t = performance.now(); await import(${url}); console.log(performance.now() - t)`;
  const found = inTurn({
    load: () =>
      Number(
        spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" })
          .stdout,
      ),
  });
  const ms = median(found.load);
  goal(6, "standalone validators load", `${ms.toFixed(1)} ms`, "<= 30 ms", ms <= 30);
}

function writerGoal(file) {
  const found = inTurn({
    stringify: () => measure("stringify", file).seconds,
    write: () => measure("write", file, join(folder, "written.jsonl")),
  });
  const stringify = median(found.stringify);
  const write = median(found.write.map((m) => m.seconds));
  const events = found.write[0].events;
  const speed = stringify / write;
  goal(
    9,
    "writer against a JSON.stringify-only loop",
    `${ratio(speed)}x, ${perSecond(events, write)}`,
    ">= 0.6x and >= 300k/s",
    speed >= 0.6 && events / write >= 300_000,
  );
}

/** Verify of a packed trace against the plain one, both as whole processes. */
function packedGoal(file) {
  const packed = `${file}.gz`;
  writeFileSync(packed, gzipSync(readFileSync(file), { level: 1 }));
  const found = inTurn({
    plain: () => wall([MEASURE, "compare", file]),
    packed: () => wall([MEASURE, "compare", packed]),
  });
  const [plain, other] = [median(found.plain), median(found.packed)];
  goal(
    12,
    "verify of a .gz trace against the plain one",
    `${ratio(other / plain)}x, ${other.toFixed(2)} s`,
    "<= 1.5x",
    other <= 1.5 * plain,
  );
  rmSync(packed);
}

/** Two equal traces against `cmp`, both as whole processes. */
function equalFilesGoal(file) {
  const copy = `${file}.copy`;
  copyFileSync(file, copy);
  if (spawnSync("cmp", [file, copy]).status !== 0) {
    console.log("skipped goal 11: no cmp on this machine");
    return;
  }
  const found = inTurn({
    cmp: () => wall([file, copy], "cmp"),
    ours: () => wall([COMMAND, "compare", file, copy]),
    measured: () => measure("files", file, copy),
  });
  const [cmp, ours] = [median(found.cmp), median(found.ours)];
  const peak = Math.max(...found.measured.map((m) => m.rssBytes));
  const size = mib(statSync(file).size);
  goal(
    11,
    `comparison of two equal traces of ${size} against cmp`,
    `${ratio(ours / cmp)}x, ${ours.toFixed(2)} s, peak ${mib(peak)}`,
    "<= 4x and <= 128 MiB",
    ours <= 4 * cmp && peak <= 128 * 1048576,
  );
  rmSync(copy);
}

function everything() {
  rows.length = 0;
  let peak = 0;
  const small = join(folder, "layout.jsonl");
  for (const depth of ["light", "layout"]) {
    if (!isWanted(1, 3, 4, 9, 11, 12)) break;
    const file = join(folder, `${depth}.jsonl`);
    writeBenchTrace(file, OPERATIONS, depth);
    if (isWanted(1, 3)) peak = verifyGoals(file, depth);
  }
  if (isWanted(3)) memoryGoals(peak);
  if (isWanted(4)) validationGoals(small);
  if (isWanted(5)) divergenceGoals();
  if (isWanted(6)) validatorGoal();
  if (isWanted(7)) recorderRows(goal);
  if (isWanted(9)) writerGoal(small);
  if (isWanted(10)) adapterRows(goal, { measure, inTurn, median, folder });
  if (isWanted(11)) equalFilesGoal(small);
  if (isWanted(12)) packedGoal(small);
  if (isWanted("allocator")) allocatorRows(goal);
  return rows.filter((row) => !row.isMet);
}

try {
  let missed = everything();
  for (let attempt = 1; flags.check && attempt < 3 && missed.length > 0; attempt++) {
    console.log(`missed ${missed.length}; try ${attempt + 1} of 3`);
    missed = everything();
  }
  console.log(`${rows.length - missed.length} goals met, ${missed.length} missed`);
  if (flags.check && missed.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
