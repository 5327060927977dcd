// A recording whose implementation breaks costs nobody the file that was there.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { file, folder, start } from "./command-line.js";

const MODULE = `
export const info = { name: "breaks", version: "7" };
export function createImplementation(config) {
  return { apply() { throw new Error("planted"); } };
}`;

const words = (out: string): string[] => [
  ...["record", "--impl", `module:${file("breaks.mjs", MODULE)}`],
  ...["--seeds", "0:1", "--ops", "10", "--out", out],
];

test("the earlier file stays; what was recorded stands beside it and names the implementation", async () => {
  const out = file("kept.jsonl", "what was there\n");
  const { code, stdout } = await start(words(out));
  expect(code).toBe(1);
  expect(readFileSync(join(folder, out), "utf8")).toBe("what was there\n");
  const partial = readFileSync(join(folder, `${out}.partial`), "utf8").split("\n");
  expect(JSON.parse(partial[0] ?? "")).toMatchObject({
    producer: { name: "breaks", version: "7", revision: null, dirty: null },
  });
  expect(stdout).toContain(`${out} was not written`);
  expect(stdout).toContain(`${out}.partial`);
});

test("with --json the file beside it is named; on standard output the trace just ends", async () => {
  const out = file("json.jsonl", "what was there\n");
  const json = await start([...words(out), "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ verdict: "failed", partial: `${out}.partial` });
  const piped = await start(words("-"));
  expect(piped.code).toBe(1);
  expect(piped.stdout).toContain('"kind":"run"');
  expect(existsSync(join(folder, "-.partial"))).toBe(false);
});
