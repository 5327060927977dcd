// `run … --html FILE`: runs what failed once more for its maps, and says how each failure is seen again.
import { MAPS_MAX } from "../report/html/cases-page.js";
import { runPage, type ToldScenario } from "../report/html/run-page.js";
import type { RunResult, ScenarioResult } from "../tools/outcome.js";
import { failedScenario } from "../tools/view/failed-scenario.js";
import type { MapImplementation } from "../tools/view/map-source.js";
import type { Scenario } from "../workload/scenario.js";
import { giveCasesPage, orReason } from "./cases-html.js";
import { progressOf } from "./command.js";
import { shellWord } from "./flags.js";
import { type ImplementationFlags, starterOf } from "./implementation.js";
import type { ServingFlags } from "./serving-selection.js";
import type { Session } from "./session.js";

interface PageFlags extends ServingFlags, ImplementationFlags {
  readonly html: string;
  readonly impl: string;
  readonly report?: string;
}

/** Writes the page of what was run; the exit code. @param scenarios - empty: of a workload, or of a saved report. @internal */
export async function giveRunPage(
  flags: PageFlags,
  { result, scenarios }: { readonly result: RunResult; readonly scenarios: readonly Scenario[] },
  session: Session,
): Promise<number> {
  const isSaved = flags.report !== undefined;
  const implementation = { spec: flags.impl, start: starterOf(flags.impl, flags, session) };
  const make = async (): Promise<ReturnType<typeof runPage>> => {
    const failed = result.scenarios.filter(({ verdict }) => verdict !== "passed");
    const told = new Map<ScenarioResult, ToldScenario>();
    for (const one of failed) {
      const scenario = scenarios.find(({ name, file }) => name === one.name && file === one.file);
      if (scenario === undefined) continue;
      const shown = [...told.values()].filter(({ again }) => again !== null).length;
      told.set(one, await toldOf(one, scenario, implementation, shown < MAPS_MAX, session));
    }
    const reproduce = (one: ScenarioResult): string | null =>
      one.file === null ? workloadLine(flags) : scenarioLine(one, flags);
    return runPage({ result, told, reproduce, notes: notesOf(result, isSaved) });
  };
  return giveCasesPage(flags.html, make, session);
}

function notesOf({ scenarios }: RunResult, isSaved: boolean): string[] {
  const failed = scenarios.filter(({ verdict }) => verdict === "failed");
  if (failed.length === 0) return [];
  if (isSaved)
    return [
      "This page is made of a saved report, which holds no states: run the scenarios with --html themselves, on the implementation that they failed on, for page maps and both answers.",
    ];
  if (failed.some(({ file }) => file !== null)) return [];
  return [
    "A workload is not run again for this page: record it with the same flags, then show the trace with --op N --html FILE for page maps around the failure.",
  ];
}

async function toldOf(
  { verdict, n, config }: ScenarioResult,
  scenario: Scenario,
  implementation: MapImplementation,
  hasRoom: boolean,
  session: Session,
): Promise<ToldScenario> {
  const told = { story: scenario.story, again: null, noMaps: null };
  if (verdict !== "failed" || n === null) return told;
  if (!hasRoom)
    return { ...told, noMaps: `Page maps are here for the first ${MAPS_MAX} failures only.` };
  const control = { signal: session.signal, onProgress: progressOf(session, "drawn") };
  const again = await orReason(
    () => failedScenario({ scenario, config, implementation, n, ...control }),
    session,
  );
  if ("reason" in again) return { ...told, noMaps: `There are no page maps: ${again.reason}` };
  return { ...told, again };
}

function scenarioLine({ file, config }: ScenarioResult, flags: PageFlags): string | null {
  const named = config === null ? [] : ["--config", shellWord(config)];
  return ["unified-trace run", shellWord(file ?? ""), ...named, ...driven(flags)].join(" ");
}

function workloadLine(flags: PageFlags): string | null {
  const { workload, columns, limit, requests, config, pageSizes, layouts, checkpoint } = flags;
  if (workload === undefined) return null; // of a saved report
  const { prefixSharing, hostCache, pair } = flags;
  const most = limit ?? requests;
  const grid = checkpoint?.interval === undefined ? "" : `:${checkpoint.interval}`;
  return [
    ...["unified-trace run --workload", shellWord(workload)],
    ...(columns === undefined ? [] : ["--columns", shellWord(columns)]),
    ...(most === undefined ? [] : ["--limit", String(most)]),
    ...(config === undefined ? [] : ["--config", shellWord(config)]),
    ...["--page-sizes", pageSizes.join(","), "--layouts", layouts.join(",")],
    ...(prefixSharing === true ? ["--prefix-sharing"] : []),
    ...(hostCache === undefined ? [] : ["--host-cache"]),
    ...(typeof hostCache === "number" ? [String(hostCache)] : []),
    ...(checkpoint === undefined ? [] : ["--checkpoint", `${checkpoint.strategy}${grid}`]),
    ...(pair === true ? ["--pair"] : []),
    ...driven(flags),
  ].join(" ");
}

/** How the implementation is driven, where that is not as usual. A saved report does not tell. */
function driven({ report, impl, timeout, build }: PageFlags): string[] {
  if (report !== undefined) return [];
  return [
    ...(impl === "self" ? [] : ["--impl", shellWord(impl)]),
    ...(timeout === undefined ? [] : ["--timeout", String(timeout)]),
    ...(build ?? []).flatMap((command) => ["--build", shellWord(command)]),
  ];
}
