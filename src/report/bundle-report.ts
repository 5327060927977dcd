// What `bundle` prints.
import type { BundleResult } from "../tools/bundle.js";
import { counted, visible } from "./words.js";

/** One line. @public */
export function bundleText({ runs, operations, leftOut }: BundleResult, out: string): string {
  const rest = leftOut === 0 ? "" : `; ${counted(leftOut, "run")} left out (--all keeps them)`;
  return `bundled ${visible(out)}: ${counted(runs, "run")}, ${counted(operations, "operation")}${rest}`;
}

/** @public */
export type BundleVerdict = "bundled" | "incomplete" | "failed";

/** The document of `bundle`; `out` is null where nothing was written. @public */
export function bundleJson(
  { runs, operations, leftOut, verdict }: BundleResult & { readonly verdict: BundleVerdict },
  out: string,
): unknown {
  const written = verdict === "failed" ? null : out;
  return { command: "bundle", verdict, out: written, runs, operations, left_out: leftOut };
}
