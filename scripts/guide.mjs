// Runs docs/guide.md as it stands: its shell blocks in order in one shell, and holds what is printed under a block against
// what really comes out. `--fresh` clones this repository first, installs and builds, as a newcomer does.
// Exit: 0 when every block ended as it says and printed what it says, else 1.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const PAGE = join(root, "docs", "guide.md");
const REST = "…"; // on the page: what is left out
const MARK = "@@ block";

const say = (text) => process.stdout.write(`${text}\n`);

/** The shell blocks of a page, each with the exit code it is to end with and the lines it is to print. */
export function blocksOf(page) {
  const blocks = [];
  for (const [, language, more, text] of page.matchAll(/^```(\w+)([^\n]*)\n([^]*?)^```$/gm)) {
    if (language === "sh") {
      const [, code = "0"] = /exit=(\d+)/.exec(more) ?? [];
      blocks.push({ commands: text, code: Number(code), lines: [] });
    } else if (language === "text") {
      blocks.at(-1)?.lines.push(...text.trimEnd().split("\n"));
    }
  }
  return blocks;
}

/** Lines that are on the page and do not come out, in this order. A line that ends with … is the beginning of one. */
export function missingLines(expected, output) {
  const found = output.split("\n");
  let at = 0;
  return expected.filter((line) => {
    if (line === REST) return false;
    const isIt = (each) =>
      line.endsWith(REST) ? each.startsWith(line.slice(0, -REST.length)) : each === line;
    const next = found.findIndex((each, index) => index >= at && isIt(each));
    if (next >= 0) at = next + 1;
    return next < 0;
  });
}

/** Runs all blocks in one shell: what one leaves in the environment is there for the next. */
function runBlocks(blocks, cwd) {
  const script = blocks
    .map(({ commands }, index) =>
      [
        // it ends at its first command that fails, and leaves its variables behind
        "code=0; for once in 1; do",
        ...joined(commands).map((command) => `${command} || { code=$?; break; }`),
        `done; printf '\\n${MARK} ${index} %s\\n' "$code"`,
      ].join("\n"),
    )
    .join("\n");
  const { stdout, error } = spawnSync("sh", ["-c", `exec 2>&1\n${script}`], {
    cwd,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    env: { ...process.env, NO_COLOR: "1", COLUMNS: "100" },
  });
  if (error !== undefined) throw error;
  return stdout;
}

/** The commands of a block; a line that ends with a backslash goes on. */
function joined(commands) {
  return commands
    .replaceAll("\\\n", "")
    .split("\n")
    .filter((line) => line.trim() !== "");
}

/** Clones, installs and builds as a newcomer does; the folder. */
function fresh() {
  const folder = join(mkdtempSync(join(tmpdir(), "unified-trace-guide-")), "unified-trace");
  for (const [command, words, cwd] of [
    ["git", ["clone", "--quiet", root, folder], root],
    ["npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], folder],
    ["npm", ["run", "build", "--silent"], folder],
  ]) {
    say(`$ ${command} ${words.join(" ")}`);
    const { status } = spawnSync(command, words, { cwd, stdio: "inherit" });
    if (status !== 0) throw new Error(`${command} ${words[0]} ended with ${status}`);
  }
  return folder;
}

function guide(words) {
  const began = performance.now();
  const isFresh = words.includes("--fresh");
  const cwd = isFresh ? fresh() : root;
  const blocks = blocksOf(readFileSync(PAGE, "utf8"));
  const parts = runBlocks(blocks, cwd).split(/^@@ block (\d+) (\d+)$/gm);
  let failed = 0;
  for (const [index, { commands, code, lines }] of blocks.entries()) {
    const [output = "", , ended] = parts.slice(3 * index, 3 * index + 3);
    const missing = missingLines(lines, output);
    const isGood = Number(ended) === code && missing.length === 0;
    say(`${isGood ? "passed" : "FAILED"}  ${commands.trim().split("\n").join("\n        ")}`);
    if (isGood) continue;
    failed += 1;
    say(`  exit code ${ended ?? "none"}, expected ${code}`);
    for (const line of missing) say(`  not printed: ${line}`);
    say(output.trim().split("\n").slice(-60).join("\n"));
  }
  if (isFresh) rmSync(join(cwd, ".."), { recursive: true, force: true });
  const seconds = Math.round((performance.now() - began) / 1000);
  const passed = blocks.length - failed;
  say(`${passed} passed, ${failed} failed: ${blocks.length} blocks of the guide in ${seconds} s`);
  return failed === 0 && blocks.length > 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = guide(process.argv.slice(2));
