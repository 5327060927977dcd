// The page of a comparison: which run it shows, and what drives its two sides.
import { comparisonsText } from "../report/compare-text.js";
import { PLAIN } from "../report/palette.js";
import type { StartAdapter } from "../tools/candidate.js";
import type { CompareResult, RunComparison } from "../tools/outcome.js";
import type { ReaderOptions } from "../trace/reader.js";
import type { CollectOptions } from "../tools/view/collect.js";
import { writeHtml } from "./html-page.js";
import type { Session } from "./session.js";

/** @internal */
export interface ComparePage {
  readonly file: string;
  readonly result: CompareResult;
  readonly run: string | null; // that the user chose
  readonly trace: string;
  readonly hash: string | null;
  /** Of the trace, and of a second one: what answers as it does. */
  readonly base: { readonly spec: string; readonly start: StartAdapter } | null;
  readonly candidate: NonNullable<CollectOptions["candidate"]>;
  readonly reader: ReaderOptions;
}

/** Writes the page of the run with the earliest divergence; without one, of the run that was chosen or the first.
 * @internal */
export async function writeCompareHtml(page: ComparePage, session: Session): Promise<void> {
  const { result, trace, hash, base, candidate, reader } = page;
  const name = result.first?.run ?? page.run ?? result.runs[0]?.run ?? null;
  const comparison = result.runs.find(({ run }) => run === name) ?? null;
  const divergence = comparison?.divergence ?? null;
  const options = {
    trace,
    run: name,
    base,
    candidate,
    divergence: divergence?.n ?? null,
    sameBefore: comparison === null ? 0 : sameBefore(result, comparison),
    focus: focusOf(comparison),
    reader,
  };
  const report = {
    command: "compare",
    comparison,
    mode: result.mode,
    text: comparisonsText([result], { palette: PLAIN, verbose: false, trace: hash }),
    reproduce: comparison?.reproduce ?? null,
    notes: notesOf(result, name),
  };
  await writeHtml(page.file, options, report, session);
}

/** Equal digests of all components are an equal state; without them nothing is known. */
function sameBefore({ mode, base, candidate }: CompareResult, run: RunComparison): number {
  const hasDigests = base?.digest === "layout" && candidate?.digest !== null;
  if (mode !== "exact" || !hasDigests || run.skipped > 0) return 0;
  if (run.divergence !== null) return run.divergence.n;
  return run.verdict === "equal" ? Infinity : 0;
}

function focusOf(run: RunComparison | null): readonly number[] {
  const { cause } = run?.divergence ?? { cause: null };
  const { recovers = null, origins = [] } = run?.examination ?? {};
  const last = origins.map(({ n }) => n).sort((one, other) => other - one);
  const found = [cause?.n ?? null, last[0] ?? null, recovers].filter((n) => n !== null);
  return [...new Set(found)].filter((n) => n !== run?.divergence?.n);
}

function notesOf({ runs, first }: CompareResult, shown: string | null): string[] {
  if (runs.length < 2) return [];
  const divergent = runs.filter(({ divergence }) => divergence !== null).length;
  const which = first === null ? "one of them" : "the one with the earliest divergence";
  return [
    `${runs.length} runs were compared, ${divergent} of them differ. This page shows ${which}: ${shown ?? "none"}.`,
  ];
}
