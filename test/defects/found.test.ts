// Every planted defect is found: in the run in which it was found first, by the check that found it. Its shrunk case, run
// alone in a process of its own, shows the same failure, and no operation can go. `scripts/planted-defects.mjs` looks for
// each from the first run on and writes what is read here.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { isFullRun } from "../property/sweep.js";
import { CHECKS } from "../tools/stress/checks.js";
import type { Defect } from "./defect.js";
import { type Entry, medianOf, sizesOf, tableOf } from "./found-table.js";
import { DEFECTS } from "./index.js";
import { stressWith } from "./search.js";
import { CASES, type Replay } from "./shrunk.js";

const entries = readFileSync(new URL("found.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Entry); // written by the script
const kept = readdirSync(CASES).map((name) => name.replace(/\.json$/, ""));

function entryOf({ name }: Defect): Entry {
  const entry = entries.find((each) => each.name === name);
  if (entry === undefined) throw new Error(`found.jsonl lacks ${name}`);
  return entry;
}

describe("where it was found first", () => {
  test.each(DEFECTS)("$name is found", (defect) => {
    const { stress } = entryOf(defect);
    if (stress === null) expect.fail("by nothing");
    const { findings } = stressWith(defect, stress.runs - 1);
    expect(findings.map(({ signature }) => signature.check)).toContain(stress.check);
  });

  test("every check finds at least two", () => {
    for (const check of CHECKS) {
      const by = entries.filter(({ stress }) => stress?.checks.includes(check) === true);
      expect(by.length, check).toBeGreaterThanOrEqual(2);
    }
  });

  test("the auditor finds at least 25 from their traces alone", () => {
    expect(entries.filter(({ observers }) => observers.audit).length).toBeGreaterThanOrEqual(25);
  });
});

describe("shrunk cases", () => {
  test("are a dozen operations long in the median", () => {
    const sizes = entries.flatMap(({ shrunk }) => (shrunk === null ? [] : [shrunk.ops]));
    console.log(sizesOf(entries));
    expect(sizes.length).toBeGreaterThanOrEqual(40);
    expect(medianOf(sizes.sort((left, right) => left - right))).toBeLessThanOrEqual(12);
  });

  test("are kept, each with its size", () => {
    const shrunk = entries.filter((entry) => entry.shrunk !== null).map(({ name }) => name);
    expect([...kept].sort()).toEqual([...shrunk].sort());
  });

  // Each in a fresh process over dist.
  test("replay alone, keep their signature, and need every operation", async () => {
    const script = fileURLToPath(new URL("../../scripts/planted-defects.mjs", import.meta.url));
    // All of them in the full run, else every fourth.
    const replayed = kept.filter((_name, at) => isFullRun || at % 4 === 0);
    const words = [script, "--replay", "--jobs", "2", "--only", replayed.join(",")];
    const { stdout } = await promisify(execFile)(process.execPath, words).catch(
      (error: unknown) => error as { readonly stdout: string }, // told below, case by case
    );
    const replays = stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Replay); // what the script prints
    expect(replays.length).toBe(replayed.length);
    for (const { name, ops, repeats, spare } of replays) {
      const shrunk = entries.find((entry) => entry.name === name)?.shrunk;
      expect({ name, ops, repeats }).toEqual({ name, ops: shrunk?.ops, repeats: true });
      if (shrunk?.isMinimal === true) expect(spare, name).toEqual([]);
    }
  });
});

test("the table in docs/ is that of the entries", async () => {
  await expect(tableOf(DEFECTS, entries)).toMatchFileSnapshot("../../docs/defects.md");
});
