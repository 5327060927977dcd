// One measurement in a process of its own: node bench/measure.mjs WHAT FILE [more]. Prints one line of JSON with the
// seconds of the work itself, the events it handled and the peak memory of the process.
import { closeSync, openSync, readSync } from "node:fs";
import { performance } from "node:perf_hooks";

const BUFFER_BYTES = 1 << 20;

/** The bare loop that ratios are taken against: read lines into one buffer, JSON.parse each. */
function bare(file) {
  const fd = openSync(file, "r");
  let buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  let held = 0;
  let events = 0;
  for (;;) {
    if (held === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
    const got = readSync(fd, buffer, held, buffer.length - held, null);
    if (got === 0) break;
    held += got;
    let start = 0;
    for (let end = buffer.indexOf(10); end >= 0 && end < held; end = buffer.indexOf(10, start)) {
      if (JSON.parse(buffer.utf8Slice(start, end)).kind === "op") events += 1;
      start = end + 1;
    }
    buffer.copy(buffer, 0, start, held);
    held -= start;
  }
  closeSync(fd);
  return events;
}

async function validate(file) {
  const { validateTrace } = await import("../dist/trace/validate.js");
  return (await validateTrace(file)).operations;
}

async function replay(file) {
  const { replayTrace } = await import("../dist/tools/replay.js");
  const { openAdapter } = await import("../dist/adapter/open-adapter.js");
  const result = await replayTrace({ trace: file, start: () => openAdapter("self:none") });
  if (result.violations.length > 0) throw new Error("the replay found violations");
  return result.operations;
}

async function compare(file, expected = "equal", candidate = "self:none") {
  const { compareTrace } = await import("../dist/tools/compare-trace.js");
  const { openAdapter } = await import("../dist/adapter/open-adapter.js");
  const start = () => openAdapter(candidate);
  const result = await compareTrace({
    trace: file,
    candidate,
    start,
    first: expected === "divergent",
  });
  if (result.verdict !== expected)
    throw new Error(`verdict ${result.verdict}, expected ${expected}`);
  return result.operations;
}

async function files(base, candidate) {
  const { compareFiles } = await import("../dist/tools/compare-files.js");
  const result = await compareFiles({ base, candidate });
  if (result.verdict !== "equal") throw new Error(`verdict ${result.verdict}, expected equal`);
  return result.operations;
}

async function write(file, target) {
  const { createTraceWriter } = await import("../dist/trace/writer.js");
  const lines = parsedLines(file);
  return {
    work: () => {
      const writer = createTraceWriter(target);
      writer.header({ name: "bench", version: "0", revision: null, dirty: false });
      for (const { n, op, args, ...answer } of lines) writer.op(n, { op, args }, answer);
      writer.commit();
      return lines.length;
    },
  };
}

function stringify(file) {
  const lines = parsedLines(file);
  return {
    work: () => {
      let bytes = 0;
      for (const line of lines) bytes += JSON.stringify({ kind: "op", ...line }).length;
      return bytes > 0 ? lines.length : 0;
    },
  };
}

/** The checks of parsed lines alone; then again after every kind of operation went through the same code. */
async function checks(file, mixedFile) {
  const { countAllKeys, isPlainOpLine } = await import("../dist/trace/check.js");
  const counted = (path) =>
    parsedLines(path).map((line) => {
      const whole = { kind: "op", ...line };
      return [whole, countAllKeys(whole)];
    });
  const pass = (lines) => {
    const before = performance.now();
    for (const [line, keys] of lines)
      if (!isPlainOpLine(line, keys, null)) throw new Error(`not plain: ${line.op}`);
    return ((performance.now() - before) * 1000) / lines.length;
  };
  const best = (lines) => Math.min(pass(lines), pass(lines), pass(lines));
  const lines = counted(file);
  const few = best(lines);
  const mixed = counted(mixedFile);
  pass(mixed);
  const many = best(lines);
  const kinds = new Set(mixed.map(([line]) => line.op)).size;
  return { work: () => ({ few, many, kinds }) };
}

// Up to 200,000 operations in memory, so that only the writing is timed.
function parsedLines(file) {
  const fd = openSync(file, "r");
  const buffer = Buffer.alloc(64 << 20);
  const got = readSync(fd, buffer, 0, buffer.length, 0);
  closeSync(fd);
  const texts = buffer.utf8Slice(0, got).split("\n");
  texts.pop();
  const lines = [];
  for (const text of texts) {
    const { kind, ...line } = JSON.parse(text);
    if (kind === "op" && lines.length < 200_000) lines.push(line);
  }
  return lines;
}

async function adapter(operations, window, command) {
  const { openAdapter } = await import("../dist/adapter/open-adapter.js");
  const { BENCH_CONFIG } = await import("./bench-trace.mjs");
  const child = await openAdapter(`cmd:${command}`, { windowSize: Number(window) });
  await child.open({ run: "echo", domain: "kv", config: BENCH_CONFIG, digestDepth: null });
  const operation = { op: "ask.fits", args: { demand: { full: 1 } } };
  await child.apply([{ op: "boot", args: {} }]);
  return {
    work: async () => {
      const batch = Array.from({ length: Number(window) }, () => operation);
      let done = 0;
      while (done < Number(operations)) {
        const { answers, failure } = await child.apply(batch);
        if (failure !== null) throw new Error(failure.message);
        done += answers.length;
      }
      await child.dispose();
      return done;
    },
  };
}

const [what, ...rest] = process.argv.slice(2);
const prepared = { bare, validate, replay, compare, files, checks, write, stringify, adapter }[
  what
];
const startsLate =
  what === "checks" || what === "write" || what === "stringify" || what === "adapter";
const ready = startsLate ? await prepared(...rest) : { work: () => prepared(...rest) };
const before = performance.now();
const cpuBefore = process.cpuUsage();
const events = await ready.work();
const seconds = (performance.now() - before) / 1000;
const rssBytes = process.resourceUsage().maxRSS * 1024;
const { user, system } = process.cpuUsage();
const cpuSeconds = (user + system) / 1e6; // of the whole process
const workCpuSeconds = cpuSeconds - (cpuBefore.user + cpuBefore.system) / 1e6;
console.log(JSON.stringify({ seconds, cpuSeconds, workCpuSeconds, events, rssBytes }));
