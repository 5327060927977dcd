// `--html FILE`: writes the report page of what a command just looked at.
import { InternalError, UnifiedTraceError, UsageError } from "../base/errors.js";
import { EXIT } from "../base/exit-codes.js";
import type { HtmlPage } from "../report/html/page.js";
import type { PageReport } from "../report/html/page-report.js";
import { bytes, counted, visible } from "../report/words.js";
import { isReadAgain } from "../trace/reader-input.js";
import type { TraceStats } from "../tools/stats.js";
import type { CollectOptions } from "../tools/view/collect.js";
import type { ViewData } from "../tools/view/view-data.js";
import { writeWhole } from "../workload/case-files.js";
import { progressOf } from "./command.js";
import { isSameFile } from "./same-file.js";
import type { Session } from "./session.js";

/** Help of the flag. @internal */
export const HTML_FLAG = "write one offline page: maps, curves, the difference";

/** Refuses what no page can be made of, before any work is done. Throws `UsageError`. @internal */
export function checkHtml(file: string | undefined, trace: string | undefined): void {
  if (file === undefined) return;
  if (file === "-") throw new UsageError("--html writes a file: - is none");
  if (trace !== undefined && !isReadAgain(trace)) {
    throw new UsageError(`--html reads the trace once more, and ${trace} can be read only once`);
  }
  if (trace !== undefined && isSameFile(trace, file)) {
    throw new UsageError(`--html ${file} is the trace itself: give the page a file of its own`);
  }
}

/** Refuses a page that another flag names as well. Throws `UsageError`. @internal */
export function refuseTwice(file: string, others: readonly (string | undefined)[]): void {
  if (others.some((other) => other !== undefined && other !== "-" && isSameFile(other, file)))
    throw new UsageError(`--html ${file} is named twice: give the page a file of its own`);
}

/** The same of a comparison: a page has two sides, and `others` are the files of its other flags. @internal */
export function checkPages(
  file: string | undefined,
  base: string,
  candidates: readonly { readonly kind: "file" | "implementation"; readonly name: string }[],
  others: readonly (string | undefined)[],
): void {
  if (file === undefined) return;
  refuseTwice(file, others);
  if (candidates.length > 1) throw new UsageError("--html shows one candidate, not several");
  for (const { kind, name } of candidates) if (kind === "file") checkHtml(file, name);
  checkHtml(file, base);
}

/**
 * Collects the maps of a run and writes the page; the exit code, and what it shows. What keeps it from being written is told
 * and takes nothing from the answer that was printed. @internal
 */
export async function giveHtml(
  file: string,
  options: Omit<CollectOptions, "signal" | "onProgress">,
  report: PageReport,
  session: Session,
): Promise<{ readonly code: number; readonly data: ViewData | null }> {
  const data = await written(session, () => writeHtml(file, options, report, session));
  return typeof data === "number" ? { code: data, data: null } : { code: EXIT.ok, data };
}

/** Writes the page of `stats`; the exit code. What keeps it from being written is told and takes nothing from the answer.
 * @internal */
export async function giveStatsPage(
  file: string,
  files: readonly TraceStats[],
  session: Session,
): Promise<number> {
  const { statsPage } = await import("../report/html/stats-page.js");
  const done = await written(session, () => {
    const page = statsPage(files);
    writeWhole(file, page.html);
    const shown = `${counted(page.curves, "curve")} and the counts of ${counted(files.length, "file")}`;
    session.note(`unified-trace: ${visible(file)} shows ${shown}, ${bytes(page.bytes)}`);
    return page;
  });
  return typeof done === "number" ? done : EXIT.ok;
}

/** What was written, or the exit code of what kept it from that, which is told and takes nothing from the answer. @internal */
export async function written<T extends object>(
  session: Session,
  write: () => T | Promise<T>,
): Promise<T | number> {
  try {
    return await write();
  } catch (error) {
    session.signal.throwIfAborted();
    if (!(error instanceof UnifiedTraceError) || error instanceof InternalError) throw error;
    session.note(`unified-trace: no page: ${visible(error.describe())}`);
    return error.exitCode;
  }
}

async function writeHtml(
  file: string,
  options: Omit<CollectOptions, "signal" | "onProgress">,
  report: PageReport,
  session: Session,
): Promise<ViewData> {
  const { collectView } = await import("../tools/view/collect.js");
  const { htmlPage } = await import("../report/html/page.js");
  const control = { signal: session.signal, onProgress: progressOf(session, "drawn") };
  const data = await collectView({ ...options, ...control });
  const page: HtmlPage = htmlPage(data, report);
  writeWhole(file, page.html);
  const shown = `${counted(page.frames, "operation")} of run ${visible(data.run)}`;
  session.note(`unified-trace: ${visible(file)} shows ${shown}, ${bytes(page.bytes)}`);
  return data;
}
