// The page of a comparison: which run it shows, and what drives its two sides.
import { EXIT } from "../base/exit-codes.js";
import { comparisonsText } from "../report/compare-text.js";
import { PLAIN } from "../report/palette.js";
import { visible } from "../report/words.js";
import { savedComparePage } from "../report/html/saved-compare-page.js";
import type { CompareResult, RunComparison } from "../tools/outcome.js";
import type { MapImplementation } from "../tools/view/map-source.js";
import { giveCasesPage } from "./cases-html.js";
import { giveHtml } from "./html-page.js";
import { type ImplementationFlags, starterOf } from "./implementation.js";
import { readerOptions, type ReadingFlags } from "./reading.js";
import type { Session } from "./session.js";

interface PageFlags extends ImplementationFlags, ReadingFlags {
  readonly html: string;
  readonly base?: string;
  readonly run?: string;
}

/** What was compared, and what came out. @internal */
export interface Compared {
  readonly trace: string;
  readonly candidate: { readonly kind: "file" | "implementation"; readonly name: string };
  readonly result: CompareResult;
  readonly hash: string | null;
}

/** Writes the page of the run with the earliest divergence; without one, of the run that was chosen or the first. The exit
 * code. @internal */
export async function giveComparePage(
  flags: PageFlags,
  { trace, candidate: { kind, name }, result, hash }: Compared,
  session: Session,
): Promise<number> {
  const side = (spec: string): MapImplementation => ({
    spec,
    start: starterOf(spec, flags, session),
  });
  // what answers as the trace does; `self` tells nothing of it where it is what is compared
  const isSelf = kind === "implementation" && name.startsWith("self");
  const baseSpec = flags.base ?? (isSelf ? null : "self");
  const run = result.first?.run ?? flags.run ?? result.runs[0]?.run ?? null;
  const comparison = result.runs.find((each) => each.run === run) ?? null;
  const blocks = comparison?.alignment?.blocks ?? [];
  const candidate =
    kind === "file"
      ? ({ kind: "trace", trace: name, implementation: side(baseSpec ?? "self"), blocks } as const)
      : ({ kind, implementation: side(name) } as const);
  const options = {
    trace,
    run,
    base: baseSpec === null ? null : side(baseSpec),
    candidate,
    divergence: comparison?.divergence?.n ?? null,
    sameBefore: comparison === null ? 0 : sameBefore(result, comparison),
    focus: focusOf(comparison),
    reader: readerOptions(flags, session),
  };
  const report = {
    command: "compare",
    comparison,
    mode: result.mode,
    text: comparisonsText([result], { palette: PLAIN, verbose: false, trace: hash }),
    reproduce: comparison?.reproduce ?? null,
    notes: [...notesOf(result, run), ...limitNotes(comparison)],
  };
  const { code } = await giveHtml(flags.html, options, report, session);
  return code;
}

/** Writes the page of a saved report: its runs and what it holds of their differences. The exit code. @internal */
export async function giveSavedPage(
  file: string,
  results: readonly CompareResult[],
  trace: string | null,
  session: Session,
): Promise<number> {
  const code = await giveCasesPage(file, async () => savedComparePage(results, trace), session);
  const differing = results.flatMap(({ runs }) => runs).find((run) => run.reproduce !== null);
  const [command] = differing?.reproduce?.split(/ {3}# /, 1) ?? [];
  if (code === EXIT.ok && command !== undefined)
    session.note(
      `unified-trace: a saved report holds no page maps; with the trace at hand: ${visible(command)} --html FILE`,
    );
  return code;
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

function limitNotes(run: RunComparison | null): string[] {
  if (run?.alignment?.isWhole !== false) return [];
  return [
    "Operations were aligned up to a limit: those behind it stand side by side as they come. With --keep-going all are aligned.",
  ];
}
