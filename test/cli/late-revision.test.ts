// The commit that a report names is asked of git while the comparison works: a slow git, a broken one, one that hangs and none
// at all.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { bin, folder, gitThat, isOneLine, start } from "./command-line.js";

const COMMIT = "ab".repeat(20);
const TRACE = "late-revision.jsonl";
const AT_ONCE_MS = 4000; // less than git gets

beforeAll(async () => {
  const { code } = await start(["record", "--seeds", "3:4", "--ops", "200", "--out", TRACE]);
  expect(code).toBe(0);
});

const compare = ["compare", "--trace", TRACE, "--candidate", "self:none"];

test("git answers after the last operation: the report and --verbose name the commit all the same", async () => {
  const env = gitThat(
    "slow",
    `sleep 1.5; printf '# branch.oid ${COMMIT}\\n1 .M N... 100644 100644 100644 a a a.txt\\n'`,
  );
  const [json, verbose] = await Promise.all([
    start([...compare, "--json"], { env }),
    start([...compare, "--verbose"], { env }),
  ]);
  expect(json.code).toBe(0);
  expect(JSON.parse(json.stdout)).toMatchObject({
    candidates: [{ revision: COMMIT, dirty: true }],
  });
  expect(verbose.stderr).toContain(`before the first operation: revision: base `);
  expect(verbose.stderr).toContain(`candidate ${COMMIT} with local changes`);
});

test.each([
  ["fails", "exit 1"],
  ["says nothing", "exit 0"],
  ["dies", "kill -9 $$"],
])("a git that %s leaves the commit unknown, and the verdict as it is", async (name, script) => {
  const env = gitThat(name.replaceAll(" ", "-"), script);
  const { code, stdout } = await start([...compare, "--json"], { env });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ candidates: [{ revision: null, dirty: null }] });
});

test("without git the commit is unknown", async () => {
  const env = { PATH: join(folder, "nothing-here") };
  const { code, stdout } = await start([...compare, "--json"], { env });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ candidates: [{ revision: null, dirty: null }] });
});

test.each([
  ["a file that is not there", ["compare", "--trace", "none.jsonl"], 3],
  ["a wrong flag", ["compare", "--tarce", TRACE], 2],
])("%s does not wait for the commit", async (name, words, expected) => {
  const env = gitThat(`for-${name.replaceAll(" ", "-")}`, "sleep 60; true");
  const began = performance.now();
  const { code, stderr } = await start(words, { env });
  expect(performance.now() - began).toBeLessThan(AT_ONCE_MS);
  expect(code).toBe(expected);
  expect(isOneLine(stderr)).toBe(true);
});

test("SIGTERM ends the wait for the commit", async () => {
  const env = gitThat("sigterm", "sleep 60; true");
  const began = performance.now();
  const { code } = await start([...compare, "--json"], { env, signalAfterMs: ["SIGTERM", 1500] });
  expect(performance.now() - began).toBeLessThan(AT_ONCE_MS);
  expect(code).toBe(143);
});

test("where git is missing, a command that ends at once ends nothing but itself", () => {
  const command = `"${process.execPath}" "${bin}" compare --nonsense; echo survived $?`;
  for (let trial = 0; trial < 5; trial++) {
    // in a group of its own: a signal to the group would reach the shell
    const { stdout, stderr, signal } = spawnSync("/bin/sh", ["-c", command], {
      ...{ encoding: "utf8", detached: true, timeout: 20_000 },
      env: { PATH: join(folder, "nothing-here") },
    });
    expect([stdout, signal], stderr).toEqual(["survived 2\n", null]);
  }
});
