// The line of a log that names the cause, and a log without the frames that hide it.
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { tellingLine, withoutDeepFrames } from "../../src/adapter/log-lines.js";

const crash = (source: string): string =>
  spawnSync(process.execPath, ["--input-type=module", "-e", source], { encoding: "utf8" }).stderr;

describe("a crash of Node", () => {
  test.each([
    [
      `function f(n) { if (n > 0) f(n - 1); throw new TypeError("deep"); } f(30);`,
      /^TypeError: deep$/,
    ],
    [`import "no-such-package-anywhere";`, /^Error \[ERR_MODULE_NOT_FOUND\]: Cannot find package/],
    [`throw new Error("first line\\nsecond line");`, /^Error: first line$/],
  ])("%s", (source, line) => {
    const log = crash(source);
    expect(log).toMatch(/Node\.js v/);
    expect(tellingLine(log)).toMatch(line);
    const shown = withoutDeepFrames(log).trimEnd().split("\n");
    expect(shown.slice(-8).some((text) => line.test(text))).toBe(true);
  });
});

test.each([
  ["", ""],
  ["no error at all\nthe last words\n", "the last words"],
  ["Error: bad\nbye\n", "Error: bad"],
  [
    "Traceback (most recent call last):\n  File x, line 1\nValueError: 3 is odd\n",
    "ValueError: 3 is odd",
  ],
  ["Node.js v20.0.0\nready", "ready"],
])("%j tells %j", (log, line) => {
  expect(tellingLine(log)).toBe(line);
});
