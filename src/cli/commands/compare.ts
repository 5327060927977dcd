// `compare`: a trace against an implementation, or two traces.
import type { Command } from "commander";
import { UsageError } from "../../base/errors.js";
import { EXIT, worstExit } from "../../base/exit-codes.js";
import { compareText } from "../../report/compare-text.js";
import { compareJson } from "../../report/json.js";
import { revisionName, visible } from "../../report/words.js";
import { compareFiles } from "../../tools/compare-files.js";
import { compareTrace } from "../../tools/compare-trace.js";
import type { CompareChoices } from "../../tools/compare-trace.js";
import type { CompareResult, CompareVerdict, SideInfo } from "../../tools/outcome.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { shellWord, unknownWord, wholeNumber } from "../flags.js";
import { addImplementationFlags, IMPLEMENTATION_FORMS, starterOf } from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import type { Session } from "../session.js";
import { fileOfSpec } from "../../workload/import.js";
import { traceHash } from "../trace-hash.js";

interface CompareFlags extends ImplementationFlags, ReadingFlags {
  readonly trace?: string;
  readonly candidate?: string;
  readonly run?: string;
  readonly first?: boolean;
  readonly keepGoing?: boolean;
  readonly last: number;
  readonly skipUnsupported?: boolean;
}

const LATER_MODES = ["renamed", "placement-free", "decisions", "quiescent"];
const VERDICT_EXITS: Readonly<Record<CompareVerdict, number>> = {
  equal: EXIT.ok,
  divergent: EXIT.finding,
  incomplete: EXIT.incomplete,
  invalid: EXIT.badFile,
};

const HELP = `
Every answer is compared exactly: results, refusals with their detail, effects in order, digests
of the state. The report gives each run's verdict, and for the earliest divergence the operation,
both answers, the fields and components that differ, what still agrees, the operations before it,
and one line that reproduces it.

Candidates:
  self               the allocator of this checkout (default), on the simulated device
  reference          the second, independent allocator of this checkout, simple and slow
  checkout:PATH      another built checkout of unified-trace
  ref:GIT-REF        a commit of the repository around this folder, built once into the user's cache
  module:FILE        an ES module with createImplementation(config), in a worker thread
  cmd:"COMMAND"      any program that speaks the protocol on standard input and output

Examples:
  unified-trace compare --trace base.jsonl
  unified-trace compare --trace base.jsonl --candidate checkout:../other --first
  unified-trace compare --trace base.jsonl --candidate cmd:"python3 adapter.py" --timeout 20
  unified-trace compare --trace base.jsonl --run full+window/p16/seed-7 --json
  unified-trace compare old.jsonl new.jsonl
  git bisect run unified-trace compare --bisect --trace base.jsonl --candidate ref:HEAD`;

/** @internal */
export function addCompare(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description(
      "Replay a trace on a candidate and report the first divergence, or compare two traces.",
    )
    .option("--trace <file>", "the base trace (.jsonl, .jsonl.gz, or - for standard input)")
    .option("--candidate <implementation>", `${IMPLEMENTATION_FORMS} (default: self)`)
    .option("--mode <mode>", "what must agree: exact", modeWord, "exact")
    .option("--run <id>", "compare only this run")
    .option("--first", "stop at the first divergent run")
    .option(
      "--keep-going",
      "two traces: align all operations past a difference, not the first 10,000",
    )
    .option("--last <n>", "operations shown before a divergence", wholeNumber("--last", 1, 1000), 5)
    .option(
      "--skip-unsupported",
      "leave out operations that the candidate does not answer (exit 6)",
    )
    .option("--bisect", "exit codes for git bisect run: 125 where this commit cannot be judged")
    .option("--json", "print one JSON document");
  addReadingFlags(addImplementationFlags(command, "touched"));
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(
        outcome,
        (base: string | undefined, candidate: string | undefined, flags: CompareFlags) =>
          compare([base, candidate], flags, session),
      ),
    );
}

function modeWord(text: string): string {
  if (LATER_MODES.includes(text)) {
    throw new UsageError(`--mode ${text} is not available in this version; available: exact`);
  }
  return text === "exact" ? text : unknownWord(`--mode ${text}`, text, ["exact"]);
}

async function compare(
  files: readonly (string | undefined)[],
  flags: CompareFlags,
  session: Session,
): Promise<number> {
  const { base, candidate } = sidesOf(files, flags);
  const choices: CompareChoices = {
    signal: session.signal,
    onProgress: progressOf(session, "compared"),
    reader: readerOptions(flags, session),
    keep: flags.last,
    ...(flags.run === undefined ? {} : { run: flags.run }),
    ...(flags.first === true ? { first: true } : {}),
    reproduce: (run, n) => reproduceLine(base, candidate, flags, run, n),
  };
  const result =
    candidate.kind === "file"
      ? await compareFiles({
          ...choices,
          base,
          candidate: candidate.name,
          keepGoing: flags.keepGoing === true,
        })
      : await compareTrace({
          ...choices,
          trace: base,
          candidate: candidate.name,
          start: starterOf(candidate.name, flags, session),
          skipUnsupported: flags.skipUnsupported === true,
        });
  return print(result, base, session);
}

interface CandidateSide {
  readonly kind: "file" | "implementation";
  readonly name: string;
}

function sidesOf(
  files: readonly (string | undefined)[],
  flags: CompareFlags,
): { base: string; candidate: CandidateSide } {
  const [first, second] = files;
  const { trace, candidate } = flags;
  if (trace !== undefined) {
    if (first !== undefined) {
      throw new UsageError(`${first}: compare takes --trace FILE or two files, not both`);
    }
    return { base: trace, candidate: { kind: "implementation", name: candidate ?? "self" } };
  }
  if (first === undefined || second === undefined) {
    const given = first === undefined ? "nothing to compare" : `${first} alone`;
    throw new UsageError(`${given}: compare takes --trace FILE, or two trace files`);
  }
  if (candidate !== undefined) {
    throw new UsageError("--candidate goes with --trace, not with two files");
  }
  if (first === "-" && second === "-") {
    throw new UsageError("only one of two traces can come from standard input");
  }
  return { base: first, candidate: { kind: "file", name: second } };
}

function print(compared: CompareResult, trace: string, session: Session): number {
  const hash = traceHash(fileOfSpec(trace));
  const result = withProvenance(compared, hash);
  if (session.isJson) {
    session.printJson(compareJson(result, hash));
  } else {
    const { palette, isVerbose } = session;
    session.print(compareText(result, { palette, verbose: isVerbose, trace: hash }));
    if (result.error !== null) session.note(`unified-trace: ${visible(result.error.describe())}`);
  }
  const exits = [VERDICT_EXITS[result.verdict]];
  if (result.error !== null) exits.push(result.error.exitCode);
  return worstExit(exits);
}

/** What a reproduction depends on, behind each command: the trace and the two revisions. */
function withProvenance(result: CompareResult, hash: string | null): CompareResult {
  const revision = (side: SideInfo | null): string =>
    side === null ? "unknown" : revisionName(side.revision, side.dirty).replace("revision ", "");
  const trace = hash === null ? "" : `; trace ${hash}`;
  const revisions = `; base ${revision(result.base)}, candidate ${revision(result.candidate)}`;
  const runs = result.runs.map((run) =>
    run.reproduce === null ? run : { ...run, reproduce: run.reproduce + trace + revisions },
  );
  return { ...result, runs };
}

/** The command that shows the divergence again. */
function reproduceLine(
  base: string,
  candidate: CandidateSide,
  flags: CompareFlags,
  run: string,
  n: number,
): string | null {
  if (base === "-" || candidate.name === "-") return null;
  const sides =
    candidate.kind === "file"
      ? [shellWord(base), shellWord(candidate.name)]
      : ["--trace", shellWord(base), "--candidate", shellWord(candidate.name)];
  const words = ["unified-trace", "compare", ...sides, "--run", shellWord(run)];
  if (flags.keepGoing === true) words.push("--keep-going");
  if (flags.timeout !== undefined) words.push("--timeout", String(flags.timeout));
  for (const command of flags.build ?? []) words.push("--build", shellWord(command));
  if (flags.skipUnsupported === true) words.push("--skip-unsupported");
  return `${words.join(" ")}   # operation ${n}`;
}
