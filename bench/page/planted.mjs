// Writes the page of a run of 100,000 operations with a planted divergence, and says how large it is.
// Usage: node bench/page/planted.mjs [FOLDER]     (default: build/page; needs a built checkout)
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = process.argv[2] ?? join(root, "build", "page");
const trace = join(folder, "run-100000.jsonl");
const page = join(folder, "planted.html");
const candidate = fileURLToPath(new URL("./pages-swapped-once.mjs", import.meta.url));

function run(expected, ...words) {
  const command = [join(root, "bin", "unified-trace.js"), ...words];
  const { status } = spawnSync(process.execPath, command, { stdio: "inherit" });
  if (status !== expected) {
    process.stderr.write(`exit code ${status}, not ${expected}: ${words.join(" ")}\n`);
    process.exit(1);
  }
}

mkdirSync(folder, { recursive: true });
if (!existsSync(trace)) {
  const what = ["--seeds", "0:1", "--ops", "100000", "--layouts", "full+window+state"];
  run(0, "record", ...what, "--page-sizes", "16", "--out", trace);
}
const begin = performance.now();
run(1, "compare", "--trace", trace, "--candidate", `module:${candidate}`, "--html", page);
const seconds = ((performance.now() - begin) / 1000).toFixed(0);
process.stdout.write(`${page}: ${statSync(page).size} bytes, compared and drawn in ${seconds} s\n`);
