// However this process ends, its children end with it.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CompiledEntry, compileEntry } from "./compiled-sources.js";
import { faulty } from "./operations.js";

let entry: CompiledEntry;
let folder: string;
beforeAll(async () => {
  entry = await compileEntry("process-adapter");
  folder = mkdtempSync(join(tmpdir(), "unified-trace-children-"));
});
afterAll(() => {
  entry.remove();
  rmSync(folder, { recursive: true });
});

/** Processes whose command line holds `text`, zombies left out. */
function processesWith(text: string): string[] {
  const table = execFileSync("ps", ["-A", "-o", "stat=,pid=,args="], { encoding: "utf8" });
  return table.split("\n").filter((line) => line.includes(text) && !line.trim().startsWith("Z"));
}

const waitMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs a parent whose child ignores SIGTERM and the end of its input; says how the parent ended. */
async function runParent(
  name: string,
  afterStart: string,
  signal?: NodeJS.Signals,
): Promise<string> {
  const mark = join(folder, `${name}.mark`);
  const script = join(folder, `${name}.mjs`);
  writeFileSync(
    script,
    `import { openProcessAdapter } from ${JSON.stringify(entry.url.href)};
     await openProcessAdapter(${JSON.stringify([...faulty("stubborn"), mark])});
     console.log("ready");
     ${afterStart}
     setInterval(() => undefined, 1000);`,
  );
  const parent = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<string>((resolve) => {
    parent.once("exit", (code, endSignal) => {
      resolve(endSignal ?? String(code));
    });
  });
  await new Promise((resolve) => parent.stdout.once("data", resolve));
  if (signal !== undefined) {
    expect(processesWith(mark).length, "while the parent lives").toBe(1);
    parent.kill(signal);
  }
  const how = await ended;
  for (let waitedMs = 0; waitedMs < 2000 && processesWith(mark).length > 0; waitedMs += 50)
    await waitMs(50);
  expect(processesWith(mark), "after the parent ended").toEqual([]);
  return how;
}

test.each([
  ["exit", "process.exit(17);", undefined, "17"],
  [
    "throw",
    `setTimeout(() => { throw "x"; }, 0); process.on("uncaughtException", () => process.exit(18));`,
    undefined,
    "18",
  ],
  ["sigterm", "", "SIGTERM", "SIGTERM"],
  ["sigint", "", "SIGINT", "SIGINT"],
  ["handled", `process.once("SIGINT", () => process.exit(19));`, "SIGINT", "19"],
  [
    "handled-later",
    `process.once("SIGINT", () => setTimeout(() => process.exit(20), 200));`,
    "SIGINT",
    "20",
  ],
] as const)(
  "a parent that ends by %s takes its child along",
  async (name, afterStart, signal, how) => {
    expect(await runParent(name, afterStart, signal)).toBe(how);
  },
);
