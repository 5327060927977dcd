// The clock of `--time`, and the times of both sides of a comparison.
import process from "node:process";
import { UsageError } from "../base/errors.js";
import type { CompareResult } from "../tools/outcome.js";
import type { TimeSidesOptions } from "../tools/time-sides.js";

/** Nanoseconds; does not go back. @internal */
export function nanoseconds(): number {
  return Number(process.hrtime.bigint());
}

/** Refuses what cannot be timed. Throws `UsageError`. @internal */
export function checkTiming(
  trace: string | undefined,
  { skipUnsupported, shard }: { readonly skipUnsupported?: boolean; readonly shard?: unknown },
): void {
  const needs = "--time replays the trace on both sides";
  if (trace === undefined)
    throw new UsageError(`${needs}: it goes with --trace, not with two files`);
  if (trace === "-") throw new UsageError(`${needs} many times: it cannot be standard input`);
  if (skipUnsupported === true) throw new UsageError(`${needs} whole: not with --skip-unsupported`);
  if (shard !== undefined) throw new UsageError(`${needs} whole: not with --shard`);
}

/** The comparison with the times of both sides. @internal */
export async function withTimes(
  result: CompareResult,
  options: Omit<TimeSidesOptions, "clock">,
): Promise<CompareResult> {
  if (result.error !== null) return result; // it could not be run whole
  const { timeSides } = await import("../tools/time-sides.js");
  return { ...result, times: await timeSides({ ...options, clock: nanoseconds }) };
}
