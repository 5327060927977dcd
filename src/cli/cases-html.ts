// `--html FILE` of `run`, `stress` and of saved reports: a page with a table of runs, and the failures in full.
import { InternalError, UnifiedTraceError, UsageError } from "../base/errors.js";
import { EXIT } from "../base/exit-codes.js";
import type { CasesPage } from "../report/html/cases-page.js";
import { bytes, counted, visible } from "../report/words.js";
import { writeWhole } from "../workload/case-files.js";
import { refuseTwice, written } from "./html-page.js";
import type { ReportFlags } from "./reports.js";
import { refuseOverInputs } from "./same-file.js";
import type { Session } from "./session.js";

/** Help of the flag. @internal */
export const CASES_HTML_FLAG =
  "write one offline page: the table of runs, failures with their maps";

/** Refuses an output that is none or has another use, before any work is done. Throws `UsageError`. @internal */
export function checkCasesHtml(
  html: string | undefined,
  { junit, markdown }: ReportFlags,
  inputs: readonly (string | undefined)[],
): void {
  if (html === undefined) return;
  if (html === "-") throw new UsageError("--html writes a file: - is none");
  refuseOverInputs([["--html", html]], inputs);
  refuseTwice(html, [junit, markdown]);
}

/**
 * Makes the page and writes it; the exit code. What keeps it from being written is told and takes nothing from the answer that
 * was printed. @internal
 */
export async function giveCasesPage(
  file: string,
  make: () => Promise<CasesPage>,
  session: Session,
): Promise<number> {
  const done = await written(session, async () => {
    const parts = await make();
    const { casesPage } = await import("../report/html/cases-page.js"); // the viewer with it
    const page = casesPage(parts);
    writeWhole(file, page.html);
    const cases = parts.report.suites.reduce((sum, suite) => sum + suite.cases.length, 0);
    const maps = [...parts.details.values()].filter(({ view }) => view !== null).length;
    const shown = `${counted(cases, "case")}, ${counted(maps, "page map")}`;
    session.note(`unified-trace: ${visible(file)} tells of ${shown}, ${bytes(page.bytes)}`);
    return page;
  });
  return typeof done === "number" ? done : EXIT.ok;
}

/** What cannot be had again is told in the place of the maps. @internal */
export async function orReason<T>(
  work: () => Promise<T>,
  session: Session,
): Promise<T | { readonly reason: string }> {
  try {
    return await work();
  } catch (error) {
    session.signal.throwIfAborted();
    if (!(error instanceof UnifiedTraceError) || error instanceof InternalError) throw error;
    return { reason: error.describe() };
  }
}
