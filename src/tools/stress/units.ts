// The runs of a stress command and who works on them: this thread, or several worker threads. The results are the same.
import { builtScript } from "../../base/built-script.js";
import type { Layout } from "../../workload/layouts.js";
import { workInThreads } from "../worker-threads.js";
import type { StressDevice } from "./run.js";
import type { ExecutedOperation, StressSeedOptions, StressSeedResult } from "./seed.js";
import { stressSeed } from "./seed.js";

/** A seed's result as it travels between threads. @internal */
export interface PlainResult extends Omit<StressSeedResult, "coverage"> {
  readonly coverage: readonly (readonly [string, number])[];
  readonly ops: readonly ExecutedOperation[];
}

/** @internal */
export function plainResult(result: StressSeedResult): PlainResult {
  return { ...result, coverage: result.coverage.entries() };
}

/** What is to be run. @internal */
export interface UnitPlan {
  readonly seeds: { readonly from: number; readonly to: number }; // half open
  readonly ops: number;
  readonly layouts: readonly Layout[];
  readonly pageSizes: readonly number[]; // tokens; each seed takes one, in turn
  readonly profile: string;
  readonly questionsEvery: number;
  readonly device: StressDevice;
  readonly shard: { readonly index: number; readonly of: number } | null; // index from 1
}

/** Every run of a plan, or of its shard: layout by layout, seed by seed. @internal */
export function* unitsOf(plan: UnitPlan): Generator<StressSeedOptions> {
  const { seeds, ops, layouts, pageSizes, profile, questionsEvery, device } = plan;
  let at = 0;
  for (const layout of layouts)
    for (let seed = seeds.from; seed < seeds.to; seed++) {
      const pageSize = pageSizes[seed % pageSizes.length]!; // in range
      if (isInShard(plan, at))
        yield { seed, ops, layout, pageSize, profile, questionsEvery, device };
      at += 1;
    }
}

// Dealt out in rounds, each round beginning one part later: page sizes and profiles come in turn as well, and a part whose
// number shares a factor with theirs would get the slow ones every time.
function isInShard({ shard }: UnitPlan, at: number): boolean {
  return shard === null || at === placeInRound(shard, Math.floor(at / shard.of));
}

/** Which unit of a round is the part's. */
function placeInRound({ index, of }: { index: number; of: number }, round: number): number {
  return round * of + ((((index - 1 - round) % of) + of) % of);
}

/** How many runs `unitsOf` gives. @internal */
export function unitCount({ seeds, layouts, shard }: UnitPlan): number {
  const all = layouts.length * (seeds.to - seeds.from);
  if (shard === null) return all;
  const rounds = Math.floor(all / shard.of);
  return rounds + (placeInRound(shard, rounds) < all ? 1 : 0); // the last round may be short
}

/** Where a run stands in the order of the plan; null: it is none of its runs. @internal */
export function unitPlace(plan: UnitPlan, run: string): number | null {
  const { seeds, layouts, pageSizes } = plan;
  const match = /^([^/]+)\/p(\d+)\/seed-(\d+)$/.exec(run);
  const [, layout, pageSize, text] = match ?? [];
  const index = layouts.findIndex((one) => one === layout);
  const seed = Number(text);
  if (index < 0 || !(seed >= seeds.from && seed < seeds.to)) return null;
  if (Number(pageSize) !== pageSizes[seed % pageSizes.length]) return null;
  const at = index * (seeds.to - seeds.from) + seed - seeds.from;
  return isInShard(plan, at) ? at : null;
}

/** @internal */
export function runNameOf({ layout, pageSize, seed }: StressSeedOptions): string {
  return `${layout}/p${String(pageSize)}/seed-${String(seed)}`;
}

/** Works through units with at most `jobs` threads; `isLate` is asked before each. @internal */
export async function workThrough(
  units: Iterator<StressSeedOptions>,
  jobs: number,
  isLate: () => boolean,
  signal: AbortSignal | undefined,
  done: (result: PlainResult) => void,
): Promise<void> {
  const take = (): StressSeedOptions | null => {
    signal?.throwIfAborted();
    if (isLate()) return null;
    const unit = units.next();
    return unit.done === true ? null : unit.value;
  };
  if (jobs <= 1) {
    for (let unit = take(); unit !== null; unit = take()) {
      done(plainResult(stressSeed(unit)));
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
    return;
  }
  await workInThreads<StressSeedOptions, PlainResult>({
    script: builtScript("tools/stress/worker.js"),
    threads: jobs,
    signal,
    take,
    done: (_unit, result) => {
      done(result);
    },
  });
}
