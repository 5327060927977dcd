// Every planted defect is found: in the run in which it was found first, by the check that found it. The long run looks
// for each from the first run on, shrinks what it finds, and holds `found.jsonl` and the table in docs/ against that;
// `npx vitest run --project property --mode full test/defects/found.test.ts -u` writes them anew.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CHECKS } from "../tools/stress/checks.js";
import type { Defect } from "./defect.js";
import { DEFECTS } from "./index.js";
import { type Entry, HOLES, tableOf } from "./found-table.js";
import { observe } from "./observed.js";
import { observedRun, search, stressWith } from "./search.js";
import { shrinkFound } from "./shrunk.js";

const FULL = process.env["UT_FULL"] === "1";
const RUNS = 350; // 70 seeds on five layouts: every profile with every page size, twice

const entries = readFileSync(new URL("found.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Entry); // written by the long run

function entryOf({ name }: Defect): Entry {
  const entry = entries.find((each) => each.name === name);
  if (entry === undefined) throw new Error(`found.jsonl lacks ${name}`);
  return entry;
}

describe.skipIf(FULL)("where it was found first", () => {
  test.each(DEFECTS)("$name is found", (defect) => {
    const { stress, observers } = entryOf(defect);
    if (stress !== null) {
      const { findings } = stressWith(defect, stress.runs - 1);
      expect(findings.map(({ signature }) => signature.check)).toContain(stress.check);
      return;
    }
    const { compare } = observers;
    if (compare === undefined) {
      expect(Object.keys(HOLES)).toContain(defect.name); // known, with the reason
      return;
    }
    const options = observedRun(compare.runs - 1);
    expect(observe(options, new Set(["compare"])).compare).toBeUndefined();
    const undo = defect.plant();
    try {
      expect(observe(options, new Set(["compare"])).compare).toBe(compare.what);
    } finally {
      undo();
    }
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

  test("what the stress harness finds shrinks to a dozen operations", () => {
    const sizes = entries.flatMap(({ ops }) => (ops === null ? [] : [ops]));
    sizes.sort((left, right) => left - right);
    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes[sizes.length >> 1]).toBeLessThanOrEqual(12);
  });

  test("the table in docs/ is that of the entries", async () => {
    await expect(tableOf(DEFECTS, entries)).toMatchFileSnapshot("../../docs/defects.md");
  });
});

describe.runIf(FULL)("from the first run on", () => {
  test("each defect is found where the table says", async () => {
    const all: Entry[] = [];
    for (const defect of DEFECTS) {
      const { stress, observers } = search(defect, RUNS);
      const shrunk = stress === null ? null : await shrinkFound(defect, stress.runs - 1);
      if (shrunk !== null) {
        expect(shrunk.isMinimal, defect.name).toBe(true);
        expect(shrunk.repeats, defect.name).toBe(true);
      }
      all.push({ name: defect.name, stress, observers, ops: shrunk?.ops ?? null });
    }
    const lines = all.map((entry) => `${JSON.stringify(entry)}\n`);
    await expect(lines.join("")).toMatchFileSnapshot("found.jsonl");
    await expect(tableOf(DEFECTS, all)).toMatchFileSnapshot("../../docs/defects.md");
  });
});
