// `replay --repeat --from-state --time` and `compare --time` on the command line.
import { beforeAll, expect, test } from "vitest";
import { file, isOneLine, start } from "./command-line.js";

const base = ["--trace", "timed.jsonl"];

beforeAll(async () => {
  const words = ["record", "--seeds", "0:1", "--ops", "40", "--state", "every=10"];
  expect((await start([...words, "--out", "timed.jsonl"])).code).toBe(0);
});

test("replay repeats, goes on from a state and tells times, each in one answer", async () => {
  const whole = await start(["replay", ...base, "--repeat", "3", "--json"]);
  expect([whole.code, JSON.parse(whole.stdout).passes]).toEqual([0, 3]);
  const later = await start(["replay", ...base, "--from-state", "29", "--time", "--json"]);
  const document = JSON.parse(later.stdout);
  expect(document.operations).toBe(JSON.parse(whole.stdout).operations - 2 * 30);
  const counts = document.latencies.map(({ count }: { readonly count: number }) => count);
  expect(counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(document.operations);
  const text = await start(["replay", ...base, "--time"]);
  expect(text.stdout).toMatch(/^operation +times +median us \(95 %\) +99 % us +max us\n/);
});

test.each([
  [["--from-state", "7"], 3, "no full state behind operation 7"],
  [["--repeat", "0"], 2, "--repeat"],
  [["--repeat", "2", "--trace", "-"], 2, "standard input"],
])("replay %j: exit %d in one line", async (flags, exit, part) => {
  const words = flags.includes("--trace") ? flags : [...base, ...flags];
  const { code, stderr } = await start(["replay", ...words]);
  expect([code, isOneLine(stderr)]).toEqual([exit, true]);
  expect(stderr).toContain(part);
});

test("compare times both sides, and the saved report prints the same table", async () => {
  const words = ["compare", ...base, "--candidate", "self:none", "--time"];
  const made = await start([...words, "--json"]);
  expect(made.code).toBe(0);
  const [times] = JSON.parse(made.stdout).times;
  expect([times.base.spec, times.candidate.spec]).toEqual(["self", "self:none"]);
  const saved = file("times.json", made.stdout);
  expect((await start(["compare", "--report", saved, "--json"])).stdout).toBe(made.stdout);
  const { stdout } = await start(["compare", "--report", saved]);
  expect(stdout).toContain("times of self and self:none, without digests:");
  expect(stdout.split("\n").filter((line) => /x \(.+ to .+\)/.test(line)).length).toBe(
    times.ratios.length,
  );
});

test.each([[["timed.jsonl", "timed.jsonl"]], [[...base, "--skip-unsupported"]]])(
  "compare --time %j: exit 2 in one line",
  async (words) => {
    const { code, stderr } = await start(["compare", ...words, "--time"]);
    expect([code, isOneLine(stderr)]).toEqual([2, true]);
  },
);
