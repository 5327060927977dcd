// `stress … --html FILE`: asks the runs of the findings once more, for the maps of their pages.
import { MAPS_MAX } from "../report/html/cases-page.js";
import { stressPage, type ToldFinding } from "../report/html/stress-page.js";
import type { Reproduce } from "../report/stress-text.js";
import { failingRun, type FailingRunPlan } from "../tools/stress/failing-run.js";
import type { StressFinding, StressResult } from "../tools/stress/stress.js";
import { type CaseView, collectCase } from "../tools/view/case-view.js";
import { giveCasesPage, orReason } from "./cases-html.js";
import { progressOf } from "./command.js";
import { starterOf } from "./implementation.js";
import type { Session } from "./session.js";

/** What was found, and how its runs are had again. @internal */
export interface StressFound {
  readonly result: StressResult;
  readonly reproduce: Reproduce;
  readonly plan: FailingRunPlan | null; // null: of a saved report
  readonly note?: string; // remark on the whole, one sentence
}

/** Writes the page of what was found; the exit code. @internal */
export async function giveStressPage(
  file: string,
  { result, reproduce, plan, note }: StressFound,
  session: Session,
): Promise<number> {
  const make = async (): Promise<ReturnType<typeof stressPage>> => {
    const told = new Map<StressFinding, ToldFinding>();
    let shown = 0;
    for (const finding of plan === null ? [] : result.findings) {
      const again = await toldOf(finding, plan, shown < MAPS_MAX, session);
      if ("view" in again && again.view !== null) shown += 1;
      told.set(finding, again);
    }
    const isSaved = plan === null && result.findings.length > 0;
    const notes = isSaved
      ? [
          "This page is made of a saved report, which holds no states: run the line of a finding with --html for page maps and the answer.",
        ]
      : [];
    const remarks = note === undefined ? notes : [note, ...notes];
    return stressPage({ result, told, reproduce, notes: remarks });
  };
  return giveCasesPage(file, make, session);
}

async function toldOf(
  finding: StressFinding,
  plan: FailingRunPlan | null,
  hasRoom: boolean,
  session: Session,
): Promise<ToldFinding> {
  if (!hasRoom)
    return {
      noMaps: `Page maps are here for the first ${MAPS_MAX} findings: the line above with --html draws them.`,
    };
  // the allocator's own state is the same whatever carries the bytes
  const implementation = { spec: "self:none", start: starterOf("self:none", {}, session) };
  const control = { signal: session.signal, onProgress: progressOf(session, "drawn") };
  const again = await orReason(async (): Promise<CaseView | null> => {
    const workload = plan === null ? null : failingRun(finding, plan);
    if (workload === null) return null;
    return collectCase({ workload, implementation, n: finding.n, ...control });
  }, session);
  if (again === null) return { noMaps: "There are no page maps: the run is not found again." };
  if ("reason" in again) return { noMaps: `There are no page maps: ${again.reason}` };
  return again;
}
