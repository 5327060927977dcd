// The planted defects themselves: each goes in and comes out without a trace, and each changes what some run does.
import { afterAll, describe, expect, test } from "vitest";
import { stressSeed } from "../../src/tools/stress/seed.js";
import { DEFECTS } from "./index.js";
import { REACHED } from "./reached.js";
import { type SeededLines, seededLines } from "./seeded-lines.js";

const OPS = 400;
const CHECKED = { seed: 5, ops: 120, layout: "full+2window+state", pageSize: 4 } as const;
const checkedLines = (): SeededLines => seededLines({ ...CHECKED, weights: "tight" });
const clean = checkedLines();
const seen: string[] = [];

/** The clean run of each seed, made once. */
const cleanRuns = new Map<string, SeededLines>();
function cleanRun(options: Parameters<typeof seededLines>[0]): SeededLines {
  const key = JSON.stringify(options);
  const known = cleanRuns.get(key);
  if (known !== undefined) return known;
  const lines = seededLines(options);
  cleanRuns.set(key, lines);
  return lines;
}

/** What a planted run shows that the clean one does not; null for nothing. */
function difference(before: SeededLines, planted: SeededLines): string | null {
  if (planted.thrown !== null) return `throws ${planted.thrown}`;
  if (planted.device !== null) return `device: ${planted.device}`;
  const at = planted.lines.findIndex((line, index) => line !== before.lines[index]);
  if (at >= 0) return `line ${at}: ${(planted.lines[at] ?? "").slice(0, 100)}`;
  return planted.idle === null ? null : `check.idle: ${planted.idle}`;
}

describe("the planted defects", () => {
  test("are at least forty, of different names, and ten of them blind", () => {
    const names = DEFECTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(44);
    expect(names.filter((name) => name.startsWith("blind-"))).toHaveLength(10);
    const ofRuns = DEFECTS.filter(({ where }) => where === "kv").map(({ name }) => name);
    expect(Object.keys(REACHED).sort()).toEqual([...ofRuns].sort());
  });

  test.each(DEFECTS.filter(({ where }) => where === "kv"))(
    "$name comes out as it went in, and changes a run",
    ({ name, plant }) => {
      const options = { ...REACHED[name]!, ops: OPS }; // one each, says the test above
      const before = cleanRun(options);
      expect([before.device, before.idle, before.thrown]).toEqual([null, null, null]);
      const undo = plant();
      let planted: SeededLines;
      try {
        planted = seededLines(options);
      } finally {
        undo();
      }
      const found = difference(before, planted);
      seen.push(`${name}: ${found ?? "nothing"}`);
      expect(found).not.toBeNull();
      expect(checkedLines()).toEqual(clean);
    },
  );

  test.each(DEFECTS.filter(({ where }) => where === "device"))(
    "$name comes out as it went in, and changes what the harness sees",
    ({ name, plant }) => {
      const runs = (): (string | undefined)[] =>
        DEVICE_SEEDS.map(({ seed, profile, layout }) => {
          const options = { seed, ops: OPS, layout, pageSize: 3, profile };
          return stressSeed(options).findings[0]?.message;
        });
      const undo = plant();
      let planted: (string | undefined)[];
      try {
        planted = runs();
      } finally {
        undo();
      }
      const found = planted.find((message) => message !== undefined);
      seen.push(`${name}: harness: ${found ?? "nothing"}`);
      expect(found).toBeDefined();
      expect(runs().every((message) => message === undefined)).toBe(true);
    },
  );

  afterAll(() => {
    console.log(seen.join("\n"));
  });
});

const DEVICE_SEEDS = [
  { seed: 1, profile: "speculative", layout: "full+state" },
  { seed: 1, profile: "stages", layout: "full+2window+state" },
] as const;
