// Host waits over ranks, and what keeps ranks in step.
import { describe, expect, test } from "vitest";
import type { Answer, KvOperation } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import { type RankAllocator, RankGroup } from "../../src/device/ranks-group.js";
import { CompletionSchedule } from "../../src/device/ranks-schedule.js";
import { minReduce, type RankJudge, waitTogether } from "../../src/device/ranks-waiter.js";

/** Sees each transfer done from a round on. */
function judgeOf(done: Readonly<Record<string, number>>, clock: { round: number }): RankJudge {
  return { isDone: (name) => clock.round >= (done[name] ?? Infinity) };
}

/** Waits on ranks that see each transfer done at given rounds. @param rounds - [ranks] */
function wait(
  rounds: readonly Readonly<Record<string, number>>[],
  deadline: number,
): ReturnType<typeof waitTogether> {
  const clock = { round: 1 };
  const names = Object.keys(rounds[0]!);
  return waitTogether(
    rounds.map((done) => judgeOf(done, clock)),
    names,
    deadline,
    () => (clock.round += 1),
  );
}

describe("a host wait", () => {
  test("returns on every rank in the round in which the last rank sees the last transfer done", () => {
    expect(wait([{ t1: 2 }, { t1: 5 }], 10)).toEqual([
      { round: 5, inFlight: [] },
      { round: 5, inFlight: [] },
    ]);
    expect(wait([{ t1: 1 }, { t1: 1 }], 1)).toEqual([
      { round: 1, inFlight: [] },
      { round: 1, inFlight: [] },
    ]);
  });

  test("meets its deadline on every rank in the same round and names what is in flight anywhere", () => {
    const late = { round: 4, inFlight: ["t2", "t3"] };
    expect(
      wait(
        [
          { t1: 1, t2: 1, t3: 9 },
          { t1: 3, t2: 9, t3: 1 },
        ],
        4,
      ),
    ).toEqual([late, late]);
  });

  test("over random ranks and completions", () => {
    const prng = new Prng(5);
    let deadlines = 0;
    for (let i = 0; i < 3000; i++) {
      const names = Array.from({ length: prng.between(1, 4) }, (_, n) => `t${String(n)}`);
      const ranks = Array.from({ length: prng.between(1, 5) }, () =>
        Object.fromEntries(names.map((name) => [name, prng.between(1, 12)])),
      );
      const deadline = prng.between(1, 14);
      const slowest = (name: string): number => Math.max(...ranks.map((rank) => rank[name]!));
      const inFlight = names.filter((name) => slowest(name) > deadline);
      const round = Math.min(deadline, Math.max(...names.map(slowest)));
      expect(wait(ranks, deadline)).toEqual(ranks.map(() => ({ round, inFlight })));
      if (inFlight.length > 0) deadlines += 1;
    }
    expect(deadlines).toBeGreaterThan(500);
  });

  test("a judgement is the least of all ranks'", () => {
    expect(
      minReduce([
        [1, 1, 0],
        [1, 0, 1],
      ]),
    ).toEqual([1, 0, 0]);
  });
});

describe("a completion schedule", () => {
  test("is the same for a seed and rank, and differs between ranks", () => {
    const dues = (seed: number, rank: number): boolean[] => {
      const schedule = new CompletionSchedule(seed, rank, 20);
      return Array.from({ length: 50 }, (_, i) => {
        schedule.start(`f${String(i)}`);
        for (let tick = 0; tick < 8; tick++) schedule.tick();
        return schedule.isDone(`f${String(i)}`);
      });
    };
    expect(dues(1, 0)).toEqual(dues(1, 0));
    expect(dues(1, 0)).not.toEqual(dues(1, 1));
    expect(dues(1, 0)).not.toEqual(dues(2, 0));
  });

  test("a hint completes, a stall never does, also for what starts later", () => {
    const schedule = new CompletionSchedule(0, 0, 1_000_000);
    schedule.start("f1");
    expect(schedule.isDone("f1")).toBe(false);
    schedule.fire("f1");
    expect(schedule.isDone("f1")).toBe(true);
    schedule.stall("t1");
    schedule.start("t1");
    for (let tick = 0; tick < 100; tick++) schedule.tick();
    schedule.fire("t2"); // never started
    expect([schedule.isDone("t1"), schedule.isStalled("t1")]).toEqual([false, true]);
    schedule.forget("t1");
    expect(schedule.isDone("t1")).toBe(true);
  });
});

describe("ranks in step", () => {
  const asked: KvOperation = { op: "chain.relieve", args: { demand: { full: 1 } } };
  const stall: KvOperation = { op: "net.stall", args: { transfer: "t1" } };
  const send: KvOperation = { op: "net.send", args: { transfer: "t1", req: "r1", from: 0, to: 1 } };
  const started: Answer = { ok: { pages: {}, epoch: 0 }, fx: [["net", "t1", "send", {}]] };
  const scripted = (answers: readonly Answer[]): RankAllocator => {
    let next = 0;
    return { apply: () => answers[next++]! };
  };
  const groupOf = (...ranks: readonly (readonly Answer[])[]): RankGroup =>
    new RankGroup({ seed: 3, ranks: ranks.map(scripted) });
  const relieved = (fx: Answer["fx"]): Answer => ({
    ok: { spans: {}, moves: {}, step: "no_move" },
    ...(fx === undefined ? {} : { fx }),
  });

  test("a rank that answers otherwise has diverged: one wait less is enough", () => {
    const waits = relieved([["wait", "f1"]]);
    const group = groupOf([waits, waits], [waits, relieved(undefined)]);
    expect(group.apply(asked).violation).toBeNull();
    expect(group.apply(asked).violation).toMatchObject({ check: "rank_divergence" });
  });

  test("a host wait for a transfer that completes returns; for a stalled one it would not", () => {
    const waited = relieved([["hostwait", "t1"]]);
    const fine = groupOf([started, waited], [started, waited]);
    expect([send, asked].map((each) => fine.apply(each).violation)).toEqual([null, null]);
    expect(fine.counts).toMatchObject({ hostWaits: 1, deadlines: 0 });
    const late = groupOf([started, { ok: {} }, waited], [started, { ok: {} }, waited]);
    const violations = [send, stall, asked].map((each) => late.apply(each).violation);
    expect(violations.slice(0, 2)).toEqual([null, null]);
    expect(violations[2]).toMatchObject({ check: "deadline" });
  });

  test("a refusal at the deadline must be true", () => {
    const refused: Answer = { err: { code: "deadline", transfers: ["t1"] } };
    const stalled = groupOf([started, { ok: {} }, refused], [started, { ok: {} }, refused]);
    const right = [send, stall, asked].map((each) => stalled.apply(each).violation);
    expect(right).toEqual([null, null, null]);
    expect(stalled.counts.deadlines).toBe(1);
    const hasty = groupOf([started, refused], [started, refused]);
    expect(hasty.apply(send).violation).toBeNull();
    expect(hasty.apply(asked).violation).toMatchObject({ check: "deadline" });
  });
});
