// Standard output into a file that takes only a part: a limit on the size of files stands for the disk that fills up.
// What could not be written is said; half an answer never passes for a whole one.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { folder, isOneLine, shell, start } from "./command-line.js";

const TRACE = "short-output.jsonl";

beforeAll(async () => {
  const { code } = await start(["record", "--seeds", "3:5", "--ops", "100", "--out", TRACE]);
  expect(code).toBe(0);
});

const BEFORE = 500; // bytes; one block of `ulimit` is 512 or 1024, as the shell counts
const HELLO = '{"hello":{"protocol":1,"tool":"unified-trace","version":"0.1.0"}}';

test.each([
  ["compare", `ut compare --trace ${TRACE} --candidate self:none --json`],
  ["stats", `ut stats ${TRACE} --json`],
  ["help", "ut compare --help"],
  ["serve", `printf '${HELLO}\\n' | ut serve`],
])("%s", async (name, line) => {
  const out = `short-${name}.txt`;
  writeFileSync(join(folder, out), "-".repeat(BEFORE));
  const { code, stderr } = await shell(`(ulimit -f 1; ${line} >> ${out})`);
  expect(stderr).toMatch(/^unified-trace: standard output cannot be written: EFBIG: /);
  expect(isOneLine(stderr)).toBe(true);
  expect(code).toBe(4);
  expect(readFileSync(join(folder, out)).length).toBeGreaterThan(BEFORE); // a part of it was taken
});

test("a file without a limit gets what a pipe gets, behind what is in it", async () => {
  const piped = await start(["stats", TRACE, "--json"]);
  const { code } = await shell(`echo before > whole.txt; ut stats ${TRACE} --json >> whole.txt`);
  expect(code).toBe(0);
  expect(readFileSync(join(folder, "whole.txt"), "utf8")).toBe(`before\n${piped.stdout}`);
});
