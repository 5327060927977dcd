// The same trace on two implementations, operation by operation against the clock. After a pass each to warm up, rounds of
// one pass each, the sides taking turns to begin. What a machine does to one round it does to both sides of it, so
// the ratio is taken round by round: the true median ratio lies between the least and the greatest of six with
// 1 - 2 / 2^6 = 97 % (order statistics, as in latencies.ts).
import type { ReaderOptions } from "../trace/reader.js";
import type { StartAdapter } from "./candidate.js";
import { Latencies } from "./latencies.js";
import type { LatencyRow, SideTimes, TimeRatio } from "./latencies.js";
import type { ToolControl } from "./pulse.js";
import { replayTrace } from "./replay.js";

const ROUNDS = 6;

/** @internal */
export interface TimeSidesOptions extends ToolControl {
  readonly trace: string; // can be read again
  readonly base: { readonly spec: string; readonly start: StartAdapter };
  readonly candidate: { readonly spec: string; readonly start: StartAdapter };
  readonly clock: () => number; // nanoseconds
  readonly run?: string;
  readonly reader?: ReaderOptions;
}

/** Throws `CandidateError` where a side cannot be started or lacks an operation, `InputError`. @internal */
export async function timeSides(options: TimeSidesOptions): Promise<SideTimes> {
  const { base, candidate, clock, ...rest } = options;
  const pass = async (side: { readonly start: StartAdapter }, into: Latencies): Promise<void> => {
    const { error } = await replayTrace({ ...rest, start: side.start, timing: { clock, into } });
    if (error !== null) throw error;
  };
  for (const side of [base, candidate]) await pass(side, new Latencies());
  const rounds: { readonly base: Latencies; readonly candidate: Latencies }[] = [];
  for (let index = 0; index < ROUNDS; index += 1) {
    const round = { base: new Latencies(), candidate: new Latencies() };
    const sides =
      index % 2 === 0 ? (["base", "candidate"] as const) : (["candidate", "base"] as const);
    for (const side of sides) await pass(options[side], round[side]);
    rounds.push(round);
  }
  return {
    base: { spec: base.spec, rows: joined(rounds.map((round) => round.base)) },
    candidate: { spec: candidate.spec, rows: joined(rounds.map((round) => round.candidate)) },
    ratios: ratiosOf(rounds),
  };
}

function joined(rounds: readonly Latencies[]): readonly LatencyRow[] {
  const all = new Latencies();
  for (const round of rounds) all.join(round);
  return all.rows();
}

function ratiosOf(
  rounds: readonly { readonly base: Latencies; readonly candidate: Latencies }[],
): readonly TimeRatio[] {
  const found = new Map<string, number[]>();
  for (const { base, candidate } of rounds) {
    const others = new Map(candidate.rows().map(({ op, median }) => [op, median]));
    for (const { op, median } of base.rows()) {
      const other = others.get(op);
      if (other !== undefined) found.set(op, [...(found.get(op) ?? []), other / median]);
    }
  }
  return [...found].map(([op, ratios]) => {
    const sorted = ratios.toSorted((left, right) => left - right);
    const [low, high] = [sorted[0]!, sorted.at(-1)!];
    const half = sorted.length / 2;
    const ratio = (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2;
    return { op, ratio, low, high };
  });
}
