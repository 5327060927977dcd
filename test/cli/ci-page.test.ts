// The recipes of docs/ci.md, as they stand on the page: the shell's is run, the commands of the workflow are known.
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { bin, folder, root, start } from "./command-line.js";

const page = readFileSync(join(root, "docs", "ci.md"), "utf8");
const block = (language: string): string => {
  const [, text = ""] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page) ?? [];
  return text;
};

/** Runs the shell's recipe with the built command line, in a folder of its own with these scenarios. */
function recipe(name: string, scenarios: readonly string[], change = (text: string) => text) {
  const home = join(folder, name);
  mkdirSync(join(home, "scenarios"), { recursive: true });
  cpSync(join(root, "scenarios", "configs.json"), join(home, "scenarios", "configs.json"));
  for (const each of scenarios) {
    const text = readFileSync(join(root, "scenarios", `${each}.json`), "utf8");
    writeFileSync(join(home, "scenarios", `${each}.json`), change(text));
  }
  writeFileSync(join(home, "ci.sh"), block("sh"));
  const command = join(home, "unified-trace");
  writeFileSync(
    command,
    `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(bin)} "$@"\n`,
  );
  chmodSync(command, 0o755);
  const path = `${home}${delimiter}${process.env["PATH"] ?? ""}`;
  const made = spawnSync("sh", ["ci.sh", "2"], {
    cwd: home,
    encoding: "utf8",
    env: { PATH: path },
  });
  return { home, ...made };
}

const SOME = ["boot_floor_met_exactly", "chunk_below_grid_at_boot", "broken_contracts_of_rows"];

test("the shell's recipe passes where all pass, and writes a report for each part", () => {
  const { home, status, stdout, stderr } = recipe("good", SOME);
  expect([status, stderr]).toEqual([0, ""]);
  const ran = [...stdout.matchAll(/incomplete: (\d+) of \d+ runs? passed, (\d+) runs? left out/g)];
  expect(ran.length).toBe(2);
  const numbers = ran.map((match) => [Number(match[1]), Number(match[2])]);
  expect(numbers[0]![0]! + numbers[1]![0]!).toBe(numbers[0]![0]! + numbers[0]![1]!);
  for (const part of [1, 2])
    expect(existsSync(join(home, "build", `scenarios-${part}.xml`))).toBe(true);
});

test("it fails where one fails, whichever part has it", () => {
  const broken = (text: string): string =>
    text.replace(
      /"row\.alloc", *"args": *\{ *"reqs": *\[[^\]]*\] *\} *\}/,
      '"row.alloc","args":{"reqs":["r1"]},"expect":{"err":{"code":"refused_rows"}}}',
    );
  const { status } = recipe("bad", SOME, broken);
  expect(status).toBe(1);
});

test("every flag on the page is one of its command", async () => {
  const commands = page.match(/(?:unified-trace|unified-trace\.js) (?:run|compare) [^\n|]*/g) ?? [];
  expect(commands.length).toBeGreaterThanOrEqual(3);
  for (const line of commands) {
    const [, word = ""] = line.split(" ");
    const { stdout } = await start([word, "--help"]);
    for (const flag of line.match(/--[a-z-]+/g) ?? []) expect(stdout).toContain(flag);
  }
  expect(block("yaml")).toContain("|| test $? -eq 6");
});
