// docs/guide.md, as it stands on the page: every shell block is run, and prints what stands under it. How the script reads
// the page is tried on small pages, so that it cannot pass without looking.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
// a script in plain JavaScript
import { blocksOf, missingLines } from "../../scripts/guide.mjs";
import { root } from "./command-line.js";

const page = readFileSync(join(root, "docs", "guide.md"), "utf8");

describe("reading a page", () => {
  const small = [
    ...["```sh", "a \\", "  b", "c", "```", "text", "```text", "…", "one", "two …", "```"],
    ...["```sh exit=3", "d", "```", "```js", "e", "```", ""],
  ].join("\n");

  test("shell blocks with their exit codes and what they print", () => {
    expect(blocksOf(small)).toEqual([
      { commands: "a \\\n  b\nc\n", code: 0, lines: ["…", "one", "two …"] },
      { commands: "d\n", code: 3, lines: [] },
    ]);
  });

  test("lines that do not come out, or come in another order, are missing", () => {
    const lines = ["…", "one", "two …"];
    expect(missingLines(lines, "zero\none\nother\ntwo three\n")).toEqual([]);
    expect(missingLines(lines, "one more\ntwo three\n")).toEqual(["one"]);
    expect(missingLines(lines, "two three\none\n")).toEqual(["two …"]);
    expect(missingLines(lines, "")).toEqual(["one", "two …"]);
  });
});

test("the guide: every block ends and prints as it says", { timeout: 580_000 }, () => {
  const blocks = blocksOf(page);
  expect(blocks.length).toBeGreaterThanOrEqual(20);
  expect(page.match(/^```sh/gm)).toHaveLength(blocks.length);
  expect(blocks.filter(({ lines }) => lines.length > 0).length).toBeGreaterThanOrEqual(10);
  const { status, stdout } = spawnSync(process.execPath, [join(root, "scripts", "guide.mjs")], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(stdout).toContain(`${String(blocks.length)} passed, 0 failed`);
  expect(stdout).not.toMatch(/^FAILED/m);
  expect(status).toBe(0);
});
