// What `bundle` prints.
import type { BundleResult } from "../tools/bundle.js";
import { counted, visible } from "./words.js";

/** One line. @public */
export function bundleText({ runs, operations, leftOut }: BundleResult, out: string): string {
  const rest = leftOut === 0 ? "" : `; ${counted(leftOut, "run")} left out (--all keeps them)`;
  return `bundled ${visible(out)}: ${counted(runs, "run")}, ${counted(operations, "operation")}${rest}`;
}

/** The document of `bundle`. @public */
export function bundleJson({ runs, operations, leftOut }: BundleResult, out: string): unknown {
  return { command: "bundle", verdict: "bundled", out, runs, operations, left_out: leftOut };
}
