// The main job from end to end, in a temporary folder: record, compare with itself, compare with an allocator that makes
// one decision differently, and say in plain words what was found. Run by `npm run demo`.
// Exit: 0 when the trace equals itself and the planted difference was found, else 1.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const tool = fileURLToPath(new URL("../bin/unified-trace.js", import.meta.url));
const other = fileURLToPath(new URL("lifo-holes.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "unified-trace-demo-"));
const trace = join(folder, "base.jsonl");

const say = (text = "") => process.stdout.write(`${text}\n`);

/** Runs the tool and shows what it prints; file names without the temporary folder. */
function run(words, shown = words) {
  say(`$ unified-trace ${shown.join(" ")}`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [tool, ...words], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  say((stdout + stderr).trimEnd().replaceAll(other, "examples/lifo-holes.mjs"));
  say(`(exit code ${status})\n`);
  return { status, stdout };
}

function demo() {
  say("1. Record: ask the allocator of this project 4,000 things and write down every answer.\n");
  const recorded = run(["record", "--out", "base.jsonl"]);
  if (recorded.status !== 0) return `recording failed with exit code ${recorded.status}`;

  say("2. Compare it with itself: ask the same again. Every answer must be the same.\n");
  const same = run(["compare", "--trace", "base.jsonl"]);
  if (same.status !== 0) return `the allocator differs from itself (exit code ${same.status})`;

  say("3. Compare it with another allocator. It is the same code but for one decision: when pages were");
  say("   freed, it reuses the one freed last instead of the one freed first. Nobody tells the tool.\n");
  const candidate = `module:${other}`;
  const words = ["compare", "--trace", "base.jsonl", "--candidate", candidate];
  const shown = [...words.slice(0, 4), "module:examples/lifo-holes.mjs"];
  const differs = run(words, shown);
  if (differs.status !== 1) return `the difference was not found (exit code ${differs.status})`;
  return explain(candidate);
}

/** Says what the report of step 3 means, from its JSON form. */
function explain(candidate) {
  const words = [tool, "compare", "--trace", trace, "--candidate", candidate, "--json"];
  const { stdout } = spawnSync(process.execPath, words, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const report = JSON.parse(stdout);
  const found = report.runs.find(({ run: name }) => name === report.first?.run)?.divergence;
  if (found === undefined || found === null) return "the report names no divergence";
  const [field] = found.fields;
  const page = (value) => JSON.stringify(value);
  say("What was found, in words:");
  say(`- the first operation that is answered differently is number ${found.n}, ${found.op};`);
  say(`- at ${field.path} the base answers ${page(field.base)}, the candidate ${page(field.candidate)}`);
  say("  (lists of [first page, number of pages]; a number below zero counts downwards);");
  say(`- the component whose state differs from then on: ${found.component ?? "none"};`);
  say(`- what still agrees: every one of the ${found.n} operations before it, and in this operation`);
  say("  itself that the request is granted. No page was lost: only the order of reuse differs.");
  return null;
}

let problem;
try {
  problem = demo();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (problem === null) {
  say("\nDemo passed: equal where it must be equal, and the planted difference was found.");
} else {
  say(`\nDemo failed: ${problem}.`);
  process.exitCode = 1;
}
