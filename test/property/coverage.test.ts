// What the recorded corpus exercises: every operation kind, refusal, broken rule, effect, step of relief and cell of the
// clearance table. A slice of the corpus does: every scenario, and two seeds of each profile on every layout.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { start } from "../cli/command-line.js";

const PROFILES = ["steady", "swarm", "tight", "transfers", "windows", "speculative", "stages"];
const LAYOUTS = "full+window,full+state,full+window+state,full+2window,full+2window+state";

const folder = mkdtempSync(join(tmpdir(), "coverage-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function recorded(name: string, what: readonly string[]): Promise<string> {
  const out = join(folder, `${name}.jsonl`);
  const words = ["record", "--impl", "self:none", "--digest", "none", "--out", out];
  const { code, stderr } = await start([...words, ...what]);
  expect(code, stderr).toBe(0);
  return out;
}

test("the corpus covers every table", async () => {
  const files = [await recorded("scenarios", ["--scenario", "all"])];
  for (const profile of PROFILES) {
    const seeds = ["--seeds", "0:2", "--ops", "400", "--page-sizes", "1,16", "--layouts", LAYOUTS];
    files.push(await recorded(profile, ["--weights", profile, ...seeds]));
  }
  const { code, stdout } = await start(["stats", ...files, "--coverage", "--floor", "100"]);
  console.log(stdout);
  expect(stdout).not.toContain("missing");
  expect(code).toBe(0);
});
