// What a file means to the shrinker, and what it is not asked to judge.
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { tallied } from "../../../src/tools/shrink/case.js";
import type { Judgement, Looked } from "../../../src/tools/shrink/case.js";
import { scenarioInput } from "../../../src/tools/shrink/inputs.js";
import type { ShrinkInput } from "../../../src/tools/shrink/inputs.js";
import { loadScenarios } from "../../../src/workload/scenario.js";
import { FaultyAdapter, freshPath, right } from "../faulty-adapter.js";
import type { Mistake } from "../faulty-adapter.js";
import { CONFIG } from "./judges.js";

async function input(change: object, mistake: Mistake): Promise<ShrinkInput | Looked> {
  const path = freshPath("scenario.json");
  const ops = [{ op: "row.alloc", args: { reqs: ["r1"] } }];
  const scenario = { name: "small", story: "One row.", config: CONFIG, ops, ...change };
  writeFileSync(path, JSON.stringify(scenario));
  const [loaded] = loadScenarios([path]);
  const start = (of: Mistake) => async (): Promise<FaultyAdapter> => new FaultyAdapter(of);
  const sides = { candidate: start(mistake), base: start(right), isSame: false };
  return scenarioInput(loaded!, sides, null);
}

const refuses: Mistake = (_n, { op }) =>
  op === "row.alloc" ? { err: { code: "refused_rows", need: 1, free: 0 } } : null;

async function failing(change: object, mistake: Mistake): Promise<ShrinkInput> {
  const found = await input(change, mistake);
  if (!("running" in found)) throw new Error("nothing fails");
  return found;
}

test("a scenario that passes is nothing to shrink: what was looked at is told", async () => {
  // its boot is an operation as well
  expect(await input({}, right)).toEqual({ runs: 1, operations: 2 });
});

test("a judge counts the operations up to where a case fails", async () => {
  const looked = { runs: 0, operations: 0 };
  const kinds = [
    { kind: "passes" },
    { kind: "invalid", n: 0 },
    { kind: "fails", finding: { signature: { check: "c", op: "o", component: null }, n: 1 } },
  ];
  const judgements = kinds.map((each) => ({ message: "", ...each }) as unknown as Judgement);
  const judge = tallied(async () => judgements[looked.runs]!, looked);
  const ops = Array.from({ length: 5 }, () => ({ op: "boot", args: {} }) as const);
  for (const judgement of judgements) expect(await judge({ config: CONFIG, ops })).toBe(judgement);
  expect(looked).toEqual({ runs: 3, operations: 5 + 1 + 2 });
});

test("a failing expectation is about its operation, which stays", async () => {
  const found = await failing({}, refuses);
  expect(found).toMatchObject({ by: "scenario", target: "kept", note: null });
  expect(await found.running.judge(found.case)).toMatchObject({
    kind: "fails",
    finding: { n: 1, signature: { check: "expectation", op: "row.alloc", component: null } },
  });
});

test("where nobody meets the expectation, the operation stays as it is and the result says so", async () => {
  const ops = [{ op: "row.alloc", args: { reqs: ["r1"] }, expect: { ok: { rows: { r1: 7 } } } }];
  const found = await failing({ ops }, right);
  expect(found).toMatchObject({ target: "unchanged" });
  expect(found.note).toMatch(/no second implementation/);
});

test("a case of another judge is sent there", async () => {
  const found = { by: "stress", check: "lost_write", op: "row.alloc", n: 1, message: "lost" };
  await expect(input({ found }, right)).rejects.toThrow(/stress --minimize/);
});
