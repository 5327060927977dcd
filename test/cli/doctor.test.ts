// `doctor` on machines that have and lack things: what is missing is told with what to install, and nothing of it is needed.
import { join } from "node:path";
import { expect, test } from "vitest";
import { file, folder, start } from "./command-line.js";

interface Finding {
  readonly what: string;
  readonly state: string;
  readonly text: string;
  readonly advice: string | null;
}

async function findings(env: Readonly<Record<string, string>>): Promise<Map<string, Finding>> {
  const { code, stdout } = await start(["doctor", "--json"], { env });
  expect(code).toBe(0);
  const { findings: found } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
  return new Map(found.map((finding) => [finding.what, finding]));
}

test("without programs on PATH each is missing, with what installs it", async () => {
  const found = await findings({ PATH: join(folder, "nothing") });
  for (const [what, words] of [
    ["git", "apt-get install git"],
    ["cmake", "apt-get install cmake"],
    ["c++", "apt-get install g++"],
    ["CUDA compiler", "npm run build:native"],
  ] as const) {
    expect(found.get(what)).toMatchObject({ state: "missing" });
    expect(found.get(what)?.advice).toContain(words);
  }
});

test("the folder of builds is told, and when it cannot be written", async () => {
  const own = join(folder, "own", "cache");
  expect((await findings({ UNIFIED_TRACE_CACHE: own })).get("cache of builds")).toMatchObject({
    state: "there",
    text: `${own}, 0 built commits`,
  });
  const inFile = join(file("no-folder", ""), "cache");
  const lacking = (await findings({ UNIFIED_TRACE_CACHE: inFile })).get("cache of builds");
  expect(lacking).toMatchObject({ state: "missing" });
  expect(lacking?.advice).toContain("UNIFIED_TRACE_CACHE");
});

test("every advice says that its thing is optional", async () => {
  const { code, stdout } = await start(["doctor"]);
  expect(code).toBe(0);
  for (const line of stdout.split("\n").filter((text) => text.startsWith(" ".repeat(26))))
    expect(line.trim()).toMatch(/^optional: /);
});
