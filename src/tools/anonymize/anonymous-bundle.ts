// A bundle in other words: the runs that matter, and the report about them, by the same names.
import { createTraceWriter } from "../../trace/writer.js";
import { Spool } from "../../trace/writer-spool.js";
import { bundleHeader } from "../bundle.js";
import type { BundleResult } from "../bundle.js";
import type { CompareResult } from "../outcome.js";
import { anonymizeRuns } from "./anonymize.js";
import type { AnonymizeOptions, AnonymizeResult, Renaming } from "./anonymize.js";
import { anonymousResults } from "./anonymous-report.js";

/** @internal */
export interface AnonymousBundleOptions extends Omit<AnonymizeOptions, "writer"> {
  readonly out: string;
  readonly runs: ReadonlySet<string> | null; // those to keep; null: all
  readonly results: readonly CompareResult[] | null; // of the report
  /** What becomes `x_bundle`, from the report in the new words. */
  readonly about: (results: readonly CompareResult[] | null) => Readonly<Record<string, unknown>>;
}

const FILE = "bundle"; // what the report calls the trace: the name of the file is for whoever keeps it

/**
 * Writes it. With `broken` nothing is written. Throws `InputError` for a bad trace and for a run that it lacks,
 * `CandidateError`, `EnvironmentError`; the file under the final name stays as it was then. @internal
 */
export async function writeAnonymousBundle(
  options: AnonymousBundleOptions,
): Promise<{ readonly bundle: BundleResult; readonly result: AnonymizeResult }> {
  const { out, runs, results, about, ...rest } = options;
  const writer = createTraceWriter(out);
  const spool = new Spool(); // the report comes first, and needs what the runs tell
  try {
    const { result, renaming } = await anonymizeRuns(
      { ...rest, writer: spool.writer },
      { runs, watched: watchedOf(results ?? []) },
    );
    const { header } = renaming;
    if (result.broken === null && header !== null) {
      const told = results && inNewWords(results, renaming);
      writer.line(bundleHeader(header, about(told)));
      spool.appendTo(writer);
      writer.commit();
    }
    const { operations, leftOut } = result;
    return { bundle: { runs: result.runs, operations, leftOut }, result };
  } finally {
    writer.abort(); // after a commit this does nothing
    spool.dispose();
  }
}

function inNewWords(
  results: readonly CompareResult[],
  { lines, names, shifts }: Renaming,
): readonly CompareResult[] {
  return anonymousResults(results, {
    lines,
    run: (run) => names.run(run),
    file: FILE,
    // where no digests are known any more, other words still differ where the digests did
    shift: (run, n, component, digest) =>
      shifts.get(run)?.get(n)?.of(component, digest) ?? names.digest(digest),
  });
}

function watchedOf(results: readonly CompareResult[]): Map<string, Set<number>> {
  const watched = new Map<string, Set<number>>();
  for (const { run, divergence } of results.flatMap(({ runs }) => runs)) {
    if (divergence === null) continue;
    watched.set(run, (watched.get(run) ?? new Set()).add(divergence.n));
  }
  return watched;
}
