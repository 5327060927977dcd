// The forms of `show`: a list of runs or operations, one operation with the arena around it, the plan of a configuration.
import { UsageError } from "../base/errors.js";
import { EXIT, worstExit } from "../base/exit-codes.js";
import { planReport } from "../kv/build-report.js";
import { listingText } from "../report/listing-text.js";
import { lookText } from "../report/look-text.js";
import { planJson, planText } from "../report/plan-text.js";
import { listingJson, lookJson, lookVerdict } from "../report/show-json.js";
import { counted, grouped, visible } from "../report/words.js";
import { listOperations } from "../tools/view/list-operations.js";
import { lookAt } from "../tools/view/look-at.js";
import type { Look } from "../tools/view/look.js";
import type { WalkOptions } from "../tools/view/walker.js";
import { loadConfigs } from "../workload/configs.js";
import { readInputs } from "../workload/read-inputs.js";
import { progressOf } from "./command.js";
import { configurationNamed } from "./configuration.js";
import { starterOf } from "./implementation.js";
import { readerOptions } from "./reading.js";
import type { Session } from "./session.js";
import type { ShowFlags } from "./show-flags.js";

type IsGiven = (name: string) => boolean;

const LISTED = 50; // operations, where no end is named

/** @internal */
export async function showPlan(
  { plan = "" }: ShowFlags,
  isGiven: IsGiven,
  session: Session,
): Promise<number> {
  const ofTraces = [
    "run",
    "op",
    "state",
    "step",
    "break",
    "from",
    "to",
    "impl",
    "candidate",
    "html",
  ];
  for (const flag of ofTraces)
    if (isGiven(flag)) throw new UsageError(`--${flag} is about a trace: name its FILE`);
  const inputs = await readInputs([plan], session.signal);
  const planned = planReport(configurationNamed(plan, "--plan", loadConfigs(), inputs));
  if (session.isJson) session.printJson(planJson(plan, planned));
  else session.print(planText(plan, planned, session.palette));
  return "refusal" in planned ? EXIT.finding : EXIT.ok;
}

/** @internal */
export async function showFile(
  file: string,
  flags: ShowFlags,
  isGiven: IsGiven,
  session: Session,
): Promise<number> {
  const { html } = flags;
  if (html !== undefined) {
    for (const flag of ["state", "step", "break", "from", "to", "candidate", "json"])
      if (isGiven(flag)) throw new UsageError(`--${flag} says nothing beside --html`);
    const { showHtml } = await import("./show-html.js");
    return showHtml(file, { ...flags, html }, session);
  }
  if (flags.step === true) return walkRun(file, flags, isGiven, session);
  if (isGiven("break")) throw new UsageError("--break is about --step");
  if (flags.op === undefined) {
    for (const flag of ["state", "impl", "candidate"])
      if (isGiven(flag)) throw new UsageError(`--${flag} is about one operation: --op N names it`);
    return list(file, flags, session);
  }
  for (const flag of ["from", "to"])
    if (isGiven(flag))
      throw new UsageError(`--${flag} lists operations and --op N shows one of them`);
  return showOperation(file, { ...flags, op: flags.op }, isGiven, session);
}

async function list(file: string, flags: ShowFlags, session: Session): Promise<number> {
  const { run, from, to } = flags;
  if (from !== undefined && to !== undefined && to < from)
    throw new UsageError(`--from ${String(from)} --to ${String(to)}: names no operation`);
  const listing = await listOperations({
    trace: file,
    ...(run === undefined ? {} : { run }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    most: to === undefined ? LISTED : Infinity,
    reader: readerOptions(flags, session),
    signal: session.signal,
    onProgress: progressOf(session, "read"),
  });
  const { error, isPartial } = listing;
  if (session.isJson) session.printJson(listingJson(listing));
  else {
    session.print(listingText(listing, session.palette, session.columns));
    if (error !== null) session.note(`unified-trace: ${visible(error.describe())}`);
  }
  if (error !== null) return error.exitCode;
  return isPartial ? EXIT.incomplete : EXIT.ok;
}

async function walkRun(
  file: string,
  flags: ShowFlags,
  isGiven: IsGiven,
  session: Session,
): Promise<number> {
  for (const flag of ["from", "to", "state"])
    if (isGiven(flag)) throw new UsageError(`--${flag} says nothing with --step`);
  if (session.isJson)
    throw new UsageError("--json: --step is for reading; --op N --json gives one operation");
  if (file === "-")
    throw new UsageError("-: --step reads its commands from standard input: name a file");
  const { step } = await import("./stepping.js");
  const { Walker } = await import("../tools/view/walker.js");
  const walker = await Walker.open({ trace: file, ...sidesOf(flags, isGiven, session) });
  try {
    return await step(walker, flags.op ?? null, flags.break ?? [], session);
  } finally {
    await walker.dispose();
  }
}

/** What a look and a walk are told alike. */
function sidesOf(flags: ShowFlags, isGiven: IsGiven, session: Session): Omit<WalkOptions, "trace"> {
  const { run, impl, candidate } = flags;
  return {
    base: { spec: impl, start: starterOf(impl, flags, session) },
    isBaseAsked: isGiven("impl") && impl.startsWith("heap:"),
    ...(run === undefined ? {} : { run }),
    ...(candidate === undefined
      ? {}
      : { candidate: { spec: candidate, start: starterOf(candidate, flags, session) } }),
    reader: readerOptions(flags, session),
    signal: session.signal,
    onProgress: progressOf(session, "read"),
  };
}

async function showOperation(
  file: string,
  flags: ShowFlags & { readonly op: number },
  isGiven: IsGiven,
  session: Session,
): Promise<number> {
  const look = await lookAt({ trace: file, op: flags.op, ...sidesOf(flags, isGiven, session) });
  const hasState = flags.state === true;
  if (session.isJson) session.printJson(lookJson(look, hasState));
  else {
    const { palette, columns, isVerbose } = session;
    const lines = lookText(look, {
      palette,
      columns,
      verbose: isVerbose,
      hasState,
      tellsSource: true,
    });
    session.print([...lines, summary(look, session)].join("\n"));
  }
  return exitOf(look);
}

function summary(look: Look, { palette }: Session): string {
  const { run, line, operations, replayed } = look;
  const verdict = lookVerdict(look);
  const counts = `${counted(operations, "operation")} read, ${grouped(replayed)} replayed`;
  const paint = verdict === "shown" ? palette.good : palette.warn;
  return paint(`${verdict}: operation ${grouped(line.n)} of run ${visible(run.run)}; ${counts}`);
}

function exitOf({ parting, isPartial, base, candidate }: Look): number {
  const exits: number[] = [];
  if (parting !== null || base.failure !== null || (candidate?.failure ?? null) !== null)
    exits.push(EXIT.finding);
  if (isPartial) exits.push(EXIT.incomplete);
  return worstExit(exits);
}
