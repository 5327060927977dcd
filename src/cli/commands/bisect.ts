// `bisect`: the first commit, operation or value of a configuration key with which something changes.
import type { Command } from "commander";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { findCommit, openRepository, unknownRef } from "../../adapter/checkout-git.js";
import type { Repository } from "../../adapter/checkout-git.js";
import { History } from "../../adapter/checkout-history.js";
import { splitCommandWords } from "../../adapter/command-words.js";
import { logTail, runCommand } from "../../adapter/process-command.js";
import { UsageError } from "../../base/errors.js";
import { EXIT } from "../../base/exit-codes.js";
import { bisectJson } from "../../report/bisect-json.js";
import { bisectText, testedText } from "../../report/bisect-text.js";
import { grouped, visible } from "../../report/words.js";
import { bisectCheck } from "../../tools/bisect/check.js";
import { bisectCommits } from "../../tools/bisect/commits.js";
import type { NamedCommit } from "../../tools/bisect/commits.js";
import { valuesBetween } from "../../tools/bisect/config-key.js";
import { bisectKey } from "../../tools/bisect/keys.js";
import { bisectStates } from "../../tools/bisect/operations.js";
import type { Bisection, TestedPoint } from "../../tools/bisect/outcome.js";
import type { ReaderOptions } from "../../trace/reader.js";
import { bisectMode, keyRange } from "../bisect-choices.js";
import type { BisectFlags, BisectMode, KeyRange } from "../bisect-choices.js";
import { withoutRepository } from "../building.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { oneOf, seconds, shellWord } from "../flags.js";
import { addImplementationFlags, IMPLEMENTATION_FORMS, starterOf } from "../implementation.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { Session } from "../session.js";
import { traceHash } from "../trace-hash.js";

const HELP = `
Commits: --good is equal to the trace, --bad diverges from it; both are tested first. Commits in
between are built as ref:GIT-REF builds them, and compared, by halves. One that cannot be built or
does not understand the trace is skipped. The working tree and git's own bisection stay as they
are.

Operations: with --operations the first operation of a run after which --candidate (default: self)
is in another state than --impl (default: self, or reference), though their answers may agree until
much later. With --check the first operation of a run with which COMMAND fails: it gets a trace of
the run up to there, in place of {} or as its last word. It ends as for git bisect run: 0 passes,
125 cannot tell, any other below 128 fails.

Keys: --key gives a number of the configuration the values from GOOD to BAD and finds the first one
with which an operation comes to something else than at GOOD: granted or refused (--by refusals),
or with another answer (--by answers). A page size takes powers of two in between.

Exit code 0: found; 6: several are left, because of what was skipped or --time-budget.

Examples:
  unified-trace bisect --trace base.jsonl --good v1.2 --bad main
  unified-trace bisect --trace base.jsonl --good HEAD~20 --bad HEAD --build "npm ci" \\
    --build "npm run build:fast" --json
  unified-trace bisect --trace base.jsonl --operations --candidate checkout:../other
  unified-trace bisect --trace live.jsonl --run live-7 --check "unified-trace audit {}"
  unified-trace bisect --trace base.jsonl --key arena_bytes=64m:1m:64k`;

/** @internal */
export function addBisect(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Find the commit, the operation or the value with which something changes.")
    .option("--trace <file>", "the base trace: .jsonl or .jsonl.gz (required)")
    .option("--run <id>", "only this run")
    .option("--good <ref>", "a commit that is equal to the trace")
    .option("--bad <ref>", "a commit that diverges from it")
    .option("--first-parent", "take each merge as one step")
    .option("--first", "stop each comparison at its first divergent run")
    .option("--skip-unsupported", "leave out operations that a commit does not answer")
    .option("--operations", "search the first operation after which two states differ")
    .option("--check <command>", "search the first operation with which this command fails")
    .option("--key <key=good:bad>", "search the value of this key, with :STEP if need be", keyRange)
    .option(
      "--by <what>",
      "with --key, what is looked at: refusals or answers",
      oneOf("--by", ["refusals", "answers"]),
      "refusals",
    )
    .option("--candidate <implementation>", `${IMPLEMENTATION_FORMS} (default: self)`)
    .option("--impl <implementation>", "with --operations, the other side")
    .option("--time-budget <seconds>", "stop with what is left (exit 6)", seconds("--time-budget"))
    .option("--json", "print one JSON document");
  addReadingFlags(addImplementationFlags(command, "touched"));
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, (flags: BisectFlags, self: Command) => bisectCommand(flags, self, session)),
    );
}

/** What every search is told. */
interface Task {
  readonly trace: string;
  readonly flags: BisectFlags;
  readonly session: Session;
  readonly control: {
    readonly trace: string;
    readonly reader: ReaderOptions;
    readonly signal: AbortSignal;
    readonly isTimeOver: () => boolean;
    readonly run?: string;
  };
}

async function bisectCommand(
  flags: BisectFlags,
  command: Command,
  session: Session,
): Promise<number> {
  const { trace, run } = flags;
  if (trace === undefined) throw new UsageError("bisect needs --trace FILE");
  if (trace === "-")
    throw new UsageError("--trace -: the trace is read again and again: name a file");
  const mode = bisectMode(flags, command);
  const end = performance.now() + (flags.timeBudget ?? Infinity) * 1000;
  const control = {
    trace,
    reader: readerOptions(flags, session),
    signal: session.signal,
    isTimeOver: () => performance.now() > end,
    ...(run === undefined ? {} : { run }),
  };
  const result = await search(mode, { trace, flags, session, control });
  const reproduce = reproduceLine(result, { trace, flags, session, control });
  if (session.isJson) session.printJson(bisectJson(result, traceHash(trace), reproduce));
  else session.print(bisectText(result, session.palette, reproduce));
  return result.verdict === "found" ? EXIT.ok : EXIT.incomplete;
}

function search(mode: BisectMode, task: Task): Promise<Bisection> {
  switch (mode.over) {
    case "commits":
      return overCommits(mode.good, mode.bad, task);
    case "states":
      return overStates(task);
    case "check":
      return overChecks(mode.check, task);
    case "key":
      return overKey(mode.range, task);
  }
}

async function overCommits(good: string, bad: string, task: Task): Promise<Bisection> {
  const { flags, session, control } = task;
  const repository = await openRepository(
    process.cwd(),
    withoutRepository(process.env),
    session.signal,
  );
  const named = async (flag: string, ref: string): Promise<NamedCommit> =>
    namedCommit(repository, flag, ref, session.signal);
  return bisectCommits({
    ...control,
    history: new History(repository, {
      signal: session.signal,
      firstParent: flags.firstParent === true,
    }),
    good: await named("--good", good),
    bad: await named("--bad", bad),
    // that some commits do not build is expected: one line on each is enough
    start: (commit) => starterOf(`ref:${commit}`, flags, session, session.isVerbose),
    skipUnsupported: flags.skipUnsupported === true,
    first: flags.first === true,
    keep: 1,
    onProgress: progressOf(session, "compared"),
    onTested: (tested, left) => {
      session.note(`unified-trace: ${testedText(tested, left)}`);
    },
  });
}

async function namedCommit(
  repository: Repository,
  flag: string,
  ref: string,
  signal: AbortSignal,
): Promise<NamedCommit> {
  const commit = await findCommit(repository, ref, signal);
  if (commit === null) throw new UsageError(`${flag} ${await unknownRef(repository, ref, signal)}`);
  return { ref, commit };
}

function overStates({ flags, session, control }: Task): Promise<Bisection> {
  const { candidate, impl } = sidesOf(flags);
  if (candidate === impl) {
    throw new UsageError(`${candidate} is compared with itself: --impl names the other side`);
  }
  return bisectStates({
    ...control,
    base: starterOf(impl, flags, session),
    candidate: starterOf(candidate, flags, session),
    onProgress: progressOf(session, "replayed"),
    onTested: tellPoint(session, "operations"),
  });
}

function sidesOf(flags: BisectFlags): { readonly candidate: string; readonly impl: string } {
  const candidate = flags.candidate ?? "self";
  const other = candidate.split(":")[0] === "self" ? "reference" : "self";
  return { candidate, impl: flags.impl ?? other };
}

async function overChecks(check: string, { session, control }: Task): Promise<Bisection> {
  const words = splitCommandWords(check);
  const folder = mkdtempSync(join(tmpdir(), "unified-trace-bisect-"));
  const prefix = join(folder, "prefix.jsonl");
  const log = join(folder, "check.log");
  const filled = words.map((word) => word.replaceAll("{}", () => prefix));
  if (!words.some((word) => word.includes("{}"))) filled.push(prefix);
  try {
    return await bisectCheck({
      ...control,
      prefix,
      check: async () => {
        rmSync(log, { force: true });
        const end = await runCommand(filled, {
          folder: process.cwd(),
          log,
          signal: session.signal,
        });
        const tail = session.isVerbose ? logTail(log, 5) : "";
        if (tail !== "") session.note(visible(tail));
        return end;
      },
      onProgress: progressOf(session, "checked"),
      onTested: tellPoint(session, "operations"),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function overKey({ key, good, bad, step }: KeyRange, task: Task): Promise<Bisection> {
  const { flags, session, control } = task;
  return bisectKey({
    ...control,
    key,
    values: valuesBetween(key, good, bad, step),
    by: flags.by,
    start: starterOf(flags.candidate ?? "self", flags, session),
    onProgress: progressOf(session, "replayed"),
    onTested: tellPoint(session, key),
  });
}

function tellPoint(session: Session, what: string): (tested: TestedPoint) => void {
  return ({ value, outcome }) => {
    session.progress.show(`${what} ${grouped(value)}: ${outcome}`);
  };
}

/** The command that shows what was found. */
function reproduceLine(result: Bisection, { trace, flags }: Task): string | null {
  const head = ["unified-trace"];
  const file = ["--trace", shellWord(trace)];
  switch (result.over) {
    case "commits": {
      const { commit, divergence } = result.first;
      if (divergence === null) return null;
      const words = [...head, "compare", ...file, "--candidate", `ref:${commit}`];
      for (const build of flags.build ?? []) words.push("--build", shellWord(build));
      return [...words, "--run", shellWord(divergence.run)].join(" ");
    }
    case "operations": {
      if (result.by === "check") return null;
      const { candidate, impl } = sidesOf(flags);
      const sides = ["--candidate", shellWord(candidate), "--impl", shellWord(impl)];
      const words = [...head, "bisect", ...file, "--run", shellWord(result.run), "--operations"];
      return [...words, ...sides].join(" ");
    }
    case "key": {
      const { key, last, first, run, by } = result;
      const range = shellWord(`${key}=${String(last)}:${String(first)}`);
      const candidate = shellWord(flags.candidate ?? "self");
      const words = [...head, "bisect", ...file, "--run", shellWord(run), "--key", range];
      return [...words, "--by", by, "--candidate", candidate].join(" ");
    }
  }
}
