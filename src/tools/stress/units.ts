// The runs of a stress command and who works on them: this thread, or several worker threads. The results are the same.
import { Worker } from "node:worker_threads";
import type { Layout } from "../../workload/layouts.js";
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
  readonly shard: { readonly index: number; readonly of: number } | null; // index from 1
}

/** Every run of a plan, or of its shard: layout by layout, seed by seed. @internal */
export function unitsOf(plan: UnitPlan): readonly StressSeedOptions[] {
  const { seeds, ops, layouts, pageSizes, profile, questionsEvery, shard } = plan;
  const units: StressSeedOptions[] = [];
  let at = 0;
  for (const layout of layouts)
    for (let seed = seeds.from; seed < seeds.to; seed++) {
      const pageSize = pageSizes[seed % pageSizes.length]!; // in range
      if (shard === null || at % shard.of === shard.index - 1)
        units.push({ seed, ops, layout, pageSize, profile, questionsEvery });
      at += 1;
    }
  return units;
}

/** @internal */
export function runNameOf({ layout, pageSize, seed }: StressSeedOptions): string {
  return `${layout}/p${String(pageSize)}/seed-${String(seed)}`;
}

/**
 * Works through units with `jobs` threads; `isLate` is asked before each.
 * @returns how many were not begun
 * @internal
 */
export async function workThrough(
  units: readonly StressSeedOptions[],
  jobs: number,
  isLate: () => boolean,
  signal: AbortSignal | undefined,
  done: (result: PlainResult) => void,
): Promise<number> {
  let next = 0;
  const take = (): StressSeedOptions | null => {
    signal?.throwIfAborted();
    return next < units.length && !isLate() ? units[next++]! : null;
  };
  if (jobs === 1) {
    for (let unit = take(); unit !== null; unit = take()) {
      done(plainResult(stressSeed(unit)));
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
    return units.length - next;
  }
  const workers = Array.from({ length: Math.min(jobs, units.length) }, () => {
    return new Worker(new URL("./worker.js", import.meta.url));
  });
  try {
    await Promise.all(workers.map((worker) => serve(worker, take, signal, done)));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  return units.length - next;
}

/** Feeds one worker until nothing is left. */
function serve(
  worker: Worker,
  take: () => StressSeedOptions | null,
  signal: AbortSignal | undefined,
  done: (result: PlainResult) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const feed = (): void => {
      try {
        const unit = take();
        if (unit === null) resolve();
        else worker.postMessage(unit);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    signal?.addEventListener("abort", () => {
      reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    });
    worker.on("message", (result: PlainResult) => {
      try {
        done(result);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      feed();
    });
    worker.on("error", reject);
    worker.on("exit", (code) => {
      reject(new Error(`a worker thread ended with code ${String(code)}`));
    });
    feed();
  });
}
