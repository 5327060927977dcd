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
  say(
    "The allocator of this project keeps several memories in one arena. Each is a band of pages: full for",
  );
  say(
    "attention over all tokens, window_… for attention over the last ones, mamba for recurrent states.\n",
  );
  say("1. Record: ask it 4,000 things in 20 runs, and write down every answer.\n");
  const recorded = run(["record", "--out", "base.jsonl"]);
  if (recorded.status !== 0) return `recording failed with exit code ${recorded.status}`;

  say("2. Compare it with itself: ask the same again. Every answer must be the same.\n");
  const same = run(["compare", "--trace", "base.jsonl"]);
  if (same.status !== 0) return `the allocator differs from itself (exit code ${same.status})`;

  say(
    "3. Compare it with another allocator. It is the same code but for one decision: when pages were",
  );
  say(
    "   freed, it reuses the one freed last instead of the one freed first. Nobody tells the tool.\n",
  );
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
  const bands = [
    ...new Set(found.fields.filter(({ path }) => path.startsWith("/ok/")).map(lastWord)),
  ];
  const band = lastWord(field);
  say("What was found, in words:");
  say(`- The first operation that is answered differently is number ${found.n}, ${found.op}.`);
  say(`- The base hands out pages ${inWords(field.base)} of ${band},`);
  say(`  the candidate hands out pages ${inWords(field.candidate)} of ${band}.`);
  say(`- From then on the state of ${found.component ?? band} differs.`);
  say(
    `- What still agrees: all ${found.n} operations before it, that both sides grant this one, and in its`,
  );
  say(`  answer everything but ${bands.join(" and ")}.`);
  if (isPageList(field.base) && pagesOf(field.base) === pagesOf(field.candidate))
    say(
      "- Both hand out the same pages, only in another order: the one decision that was changed.",
    );
  say(
    "\nThe line under `reproduce` names base.jsonl, which is gone with the demo's folder. To try it, record",
  );
  say("that file first: unified-trace record --out base.jsonl");
  return null;
}

const lastWord = ({ path }) => path.split("/").at(-1);
const isPageList = (value) =>
  Array.isArray(value) && value.length > 0 && value.every(Array.isArray);

/** Which pages a list names, whatever their order; as text, to compare. */
function pagesOf(list) {
  if (!isPageList(list)) return null;
  const pages = list.flatMap(([first, count]) =>
    Array.from({ length: Math.abs(count) }, (_, i) => first + i * Math.sign(count)),
  );
  return JSON.stringify(pages.sort((a, b) => a - b));
}

/** `18 to 29 and 7 to 9`; a list of pages is pairs of [first, how many], counting downwards below zero. */
function inWords(pages) {
  if (!isPageList(pages)) return JSON.stringify(pages);
  const words = pages.map(([first, count]) => {
    if (count === 1) return String(first);
    return count > 0 ? `${first} to ${first + count - 1}` : `${first} down to ${first + count + 1}`;
  });
  return words.join(" and ");
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
