// Window retirement in the serving model.
import type { RetiredWindow } from "../base/operations.js";
import type { Job } from "./serving-jobs.js";
import type { Script, ServingContext } from "./serving-script.js";

/** Retires windows once `least` tokens (a page at least) lie behind them. @internal */
export function* retireWindows(context: ServingContext, job: Job, least: number): Script {
  const { config, features, windows } = context;
  const { page_size: pageSize } = config;
  const isDue = windows.some(({ window }, index) => {
    const kept = features.shares ? Math.max(window, pageSize) : window;
    const until = Math.min(job.computed - kept, job.floors[index] ?? Number.POSITIVE_INFINITY);
    return until - (job.cursors[index] ?? 0) >= Math.max(pageSize, least);
  });
  if (!isDue) return;
  const answer = yield { op: "window.retire", args: { req: job.name, len: job.computed } };
  const retired = (answer.ok ?? {}) as Readonly<Record<string, RetiredWindow>>;
  for (const [index, { name }] of windows.entries()) {
    job.cursors[index] = retired[name]?.cursor ?? job.cursors[index] ?? 0;
    job.floors[index] = features.shares ? (retired[name]?.floor ?? null) : null;
  }
}
