// A git that hangs, or prints what means nothing: one line, no hanging process, and the signal that ends it at once.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { git } from "../../src/adapter/checkout-git.js";
import { EnvironmentError } from "../../src/base/errors.js";
import { folder, gitThat, isOneLine, start } from "./command-line.js";

const TRACE = "strange-git.jsonl";

beforeAll(async () => {
  const { code } = await start(["record", "--seeds", "3:4", "--ops", "50", "--out", TRACE]);
  expect(code).toBe(0);
});

const toCommit = ["compare", "--trace", TRACE, "--candidate", "ref:HEAD"];
const bisect = ["bisect", "--trace", TRACE, "--good", "HEAD~1", "--bad", "HEAD"];
const HASH = "ab".repeat(20);
const GOOD = "cd".repeat(20);

describe.each([
  ["compare", toCommit],
  ["bisect", bisect],
])("%s", (command, words) => {
  test.each([
    ["nonsense", String.raw`printf 'a\000\033[31m\377\001b'`],
    [
      "nonsense after the folder",
      String.raw`case "$*" in *--git-common-dir*|*--show-toplevel*) pwd;; *) printf '\001\033[31m\377';; esac`,
    ],
    [
      "nonsense after the commit",
      String.raw`case "$*" in *--git-common-dir*|*--show-toplevel*) pwd;; *HEAD~1*) echo ${GOOD};; *--verify*) echo ${HASH};; *) printf '\000\033[31m\377\n' | tee /dev/stderr; exit 128;; esac`,
    ],
  ])("a git that prints %s", async (name, script) => {
    const env = gitThat(`${command}-${name.replaceAll(" ", "-")}`, script);
    const { code, stderr } = await start(words, { env });
    expect([4, 5]).toContain(code);
    expect(isOneLine(stderr)).toBe(true);
    expect(stderr.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f]/);
  });

  test.each([
    ["any question", "exec sleep 60"],
    ["a question of a child of its own", "sleep 60; true"],
    [
      "the commit",
      `case "$*" in *--git-common-dir*|*--show-toplevel*) pwd;; *) exec sleep 60;; esac`,
    ],
  ])("SIGINT ends a git that hangs at %s", async (name, script) => {
    const env = gitThat(`${command}-hangs-at-${name.replaceAll(" ", "-")}`, script);
    let sent = 0;
    const onStart = async (kill: (signal: NodeJS.Signals) => void): Promise<void> => {
      await sleep(1500);
      sent = performance.now();
      kill("SIGINT");
    };
    const { code, stderr } = await start(words, { env, onStart });
    expect(performance.now() - sent).toBeLessThan(1500);
    expect(code).toBe(130);
    expect(isOneLine(stderr)).toBe(true);
  });
});

test("a question has a limit", async () => {
  const environment = gitThat("is-slow", "sleep 60");
  const asked = git({ folder, environment }, ["rev-parse", "HEAD"], undefined, 100);
  await expect(asked).rejects.toThrow(EnvironmentError);
  await expect(asked).rejects.toThrow("git rev-parse did not answer within 0.1 s");
});
