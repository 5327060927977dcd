// `compare`: a trace against an implementation, or two traces.
import type { Command } from "commander";
import { UsageError } from "../../base/errors.js";
import { EXIT, worstExit } from "../../base/exit-codes.js";
import { compareCases } from "../../report/compare-cases.js";
import { comparisonsText } from "../../report/compare-text.js";
import { compareJson } from "../../report/json.js";
import { visible } from "../../report/words.js";
import { signatureOf, withBaseline } from "../../tools/baseline.js";
import { compareTrace } from "../../tools/compare-trace.js";
import type { CompareChoices, CompareTraceOptions } from "../../tools/compare-options.js";
import type { StartAdapter } from "../../tools/candidate.js";
import type { ImplementationData } from "../../tools/parallel/part.js";
import { COMPARE_MODES, type CompareMode } from "../../tools/equality/modes.js";
import { readBaseline, readMasks } from "../../tools/known-differences.js";
import { type Mask, MaskSet } from "../../tools/masks.js";
import type { CompareResult, CompareVerdict } from "../../tools/outcome.js";
import { writeWhole } from "../../workload/case-files.js";
import { readJsonFile } from "../../workload/json-file.js";
import { checkCasesHtml } from "../cases-html.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { seconds, shardPart, unknownWord, wholeNumber, wordList } from "../flags.js";
import type { Shard } from "../flags.js";
import {
  addImplementationFlags,
  comparedImplementation,
  IMPLEMENTATION_FORMS,
  implementationData,
  starterOf,
} from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { checkPages, HTML_FLAG } from "../html-page.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import {
  addReportFlags,
  checkReportFlags,
  giveReports,
  readReport,
  REPORT_HELP,
} from "../reports.js";
import type { ReportFlags } from "../reports.js";
import { reproduceLine, withProvenance } from "../reproduce-line.js";
import type { CandidateSide } from "../reproduce-line.js";
import { refuseOverInputs } from "../same-file.js";
import type { Session } from "../session.js";
import { checkTiming, withTimes } from "../timing.js";
import { traceHash } from "../trace-hash.js";

interface CompareFlags extends ImplementationFlags, ReadingFlags, ReportFlags {
  readonly report?: string;
  readonly trace?: string;
  readonly candidate?: string;
  readonly run?: string;
  readonly candidates?: readonly string[];
  readonly shard?: Shard;
  readonly timeBudget?: number; // seconds
  readonly double?: boolean;
  readonly mask?: string;
  readonly baseline?: string;
  readonly writeBaseline?: string;
  readonly mode: CompareMode;
  readonly base?: string;
  readonly first?: boolean;
  readonly keepGoing?: boolean;
  readonly jobs: number;
  readonly last: number;
  readonly time?: boolean;
  readonly html?: string;
  readonly skipUnsupported?: boolean;
}

const VERDICT_EXITS: Readonly<Record<CompareVerdict, number>> = {
  equal: EXIT.ok,
  agree: EXIT.ok,
  divergent: EXIT.finding,
  flaky: EXIT.finding,
  incomplete: EXIT.incomplete,
  invalid: EXIT.badFile,
};

const HELP = `
By default every answer is compared exactly: results, refusals with their detail, effects in
order, digests of the state; docs/compare.md explains the other modes. The report gives each run's
verdict, and for the earliest divergence the operation, both answers, the fields and components
that differ, what still agrees, which weaker modes hold, where the sides agree again, what gave
the differing ids their places, the operations before it, and one line that reproduces it.

Two traces, or logs of other allocators (as import takes them, or by their first line), are
aligned past their first difference: what is inserted, removed, moved or changed, one line for all
that has one cause.

Candidates:
  self               the allocator of this checkout (default), on the simulated device
  reference          the second, independent allocator of this checkout, simple and slow
  heap:POLICY        a reference allocator of domain heap: first-fit, best-fit, buddy or tlsf, with
                     @SIZE behind it for its arena (docs/importing.md)
  checkout:PATH      another built checkout of unified-trace
  ref:GIT-REF        a commit of the repository around this folder, built once into the user's cache
  module:FILE        an ES module with createImplementation(config), in a worker thread
  cmd:"COMMAND"      any program that speaks the protocol on standard input and output

Examples:
  unified-trace compare --trace base.jsonl
  unified-trace compare --trace base.jsonl --candidate checkout:../other --first
  unified-trace compare --trace base.jsonl --candidate cmd:"python3 adapter.py" --timeout 20
  unified-trace compare --trace base.jsonl --run full+window/p16/seed-7 --json
  unified-trace compare --trace base.jsonl --candidate reference --jobs 4
  unified-trace compare old.jsonl new.jsonl
  unified-trace compare output.replay output.numa.replay.gz
  unified-trace compare --trace base.jsonl --junit build/compare.xml --github
  unified-trace compare --trace base.jsonl --candidate checkout:../other --html difference.html
  unified-trace compare --report saved.json --markdown report.md --html report.html
  unified-trace compare --report case.jsonl.gz
  git bisect run unified-trace compare --bisect --trace base.jsonl --candidate ref:HEAD`;

/** @internal */
export function addCompare(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description(
      "Replay a trace on a candidate and report the first divergence, or compare two traces.",
    )
    .option("--trace <file>", "the base trace (.jsonl, .jsonl.gz, or - for standard input)")
    .option("--candidate <implementation>", `${IMPLEMENTATION_FORMS} (default: self)`)
    .option(
      "--candidates <list>",
      "several candidates, separated by commas",
      wordList("--candidates"),
    )
    .option("--double", "run the candidate twice: one that disagrees with itself is flaky")
    .option("--mask <file>", "fields that are not compared, each with reason and last day")
    .option("--baseline <file>", "divergences that are known and accepted")
    .option("--write-baseline <file>", "write the divergences found as such a file")
    .option("--mode <mode>", `what must agree: ${COMPARE_MODES.join(", ")}`, modeWord, "exact")
    .option("--base <implementation>", "what made the trace, for full states (default: self)")
    .option("--run <id>", "compare only this run")
    .option("--first", "stop at the first divergent run")
    .option("--keep-going", "look at every operation behind a divergence, not at 10,000")
    .option(
      "--shard <i/n>",
      "only the runs of part I of N, about as many operations each (exit 6)",
      shardPart("--shard"),
    )
    .option("--time-budget <seconds>", "begin no run after that (exit 6)", seconds("--time-budget"))
    .option("--jobs <n>", "runs compared at once, on threads", wholeNumber("--jobs", 1, 64), 1)
    .option("--last <n>", "operations shown before a divergence", wholeNumber("--last", 1, 1000), 5)
    .option(
      "--skip-unsupported",
      "leave out operations that the candidate does not answer (exit 6)",
    )
    .option("--bisect", "exit codes for git bisect run: 125 where this commit cannot be judged")
    .option(
      "--time",
      "replay on --base and on the candidate as well, and tell how long operations take",
    )
    .option("--html <file>", HTML_FLAG)
    .option("--report <file>", "print a saved report (--json, or a bundle) in another form")
    .option("--json", "print one JSON document");
  addReportFlags(addReadingFlags(addImplementationFlags(command, "touched")));
  addSharedFlags(command)
    .addHelpText("after", afterHelp(`${HELP}\n\n${REPORT_HELP}`))
    .action(
      settle(
        outcome,
        async (
          base: string | undefined,
          candidate: string | undefined,
          flags: CompareFlags,
          self: Command,
        ) => {
          const read = [flags.report, flags.trace, base, candidate, flags.mask];
          checkReportFlags(flags, session, [...read, flags.baseline]);
          refuseOverInputs([["--write-baseline", flags.writeBaseline]], read);
          if (flags.report === undefined) return compare([base, candidate], flags, session);
          const saved = await readReport(flags.report, [base, candidate], self, session);
          const { comparisonFromJson } = await import("../../report/from-json.js");
          const { results, trace } = comparisonFromJson(saved);
          checkCasesHtml(flags.html, flags, read);
          const code = give(results, trace, flags, session);
          if (flags.html === undefined) return code;
          const { giveSavedPage } = await import("../compare-html.js");
          return worstExit([code, await giveSavedPage(flags.html, results, trace, session)]);
        },
      ),
    );
}

function modeWord(text: string): CompareMode {
  const mode = COMPARE_MODES.find((known) => known === text);
  return mode ?? unknownWord(`--mode ${text}`, text, COMPARE_MODES);
}

async function compare(
  files: readonly (string | undefined)[],
  flags: CompareFlags,
  session: Session,
): Promise<number> {
  const { base, candidates } = await sidesOf(files, flags);
  checkPages(flags.html, base, candidates, [flags.writeBaseline, flags.baseline, flags.mask]);
  if (flags.time === true) checkTiming(flags.trace, flags);
  const accepted = flags.baseline === undefined ? null : readBaseline(readJsonFile(flags.baseline));
  const masks = masksOf(flags);
  const results: CompareResult[] = [];
  for (const candidate of candidates) {
    let result = await compareOne(base, candidate, flags, session, masks.active);
    if (flags.time === true) {
      const { name } = candidate;
      const sides = {
        base: {
          spec: flags.base ?? "self",
          start: starterOf(flags.base ?? "self", flags, session),
        },
        candidate: { spec: name, start: starterOf(name, flags, session) },
      };
      result = await withTimes(result, { ...sides, trace: base, ...controlOf(flags, session) });
    }
    results.push(accepted === null ? result : withBaseline(result, accepted));
  }
  if (flags.writeBaseline !== undefined) writeBaseline(flags.writeBaseline, results);
  for (const { path, expires, reason } of masks.expired) {
    session.note(
      `unified-trace: mask ${path} ended on ${expires} and hides nothing (${visible(reason)})`,
    );
  }
  const hash = traceHash(await fileOf(base));
  const told = results.map((result) => withProvenance(result, hash));
  const code = give(told, hash, flags, session);
  const [result] = told;
  const [candidate] = candidates;
  if (flags.html === undefined || result === undefined || candidate === undefined) return code;
  const { giveComparePage } = await import("../compare-html.js");
  const sides = { trace: base, candidate, result, hash };
  return worstExit([code, await giveComparePage({ ...flags, html: flags.html }, sides, session)]);
}

function controlOf(flags: CompareFlags, session: Session): Omit<CompareChoices, "reproduce"> {
  return {
    signal: session.signal,
    onProgress: progressOf(session, "compared"),
    reader: readerOptions(flags, session),
    ...(flags.run === undefined ? {} : { run: flags.run }),
  };
}

/** Masks whose last day is not over, and the others. */
function masksOf({ mask }: CompareFlags): { active: readonly Mask[]; expired: readonly Mask[] } {
  const masks = mask === undefined ? [] : readMasks(readJsonFile(mask));
  const today = new Date().toISOString().slice(0, 10);
  return {
    active: masks.filter(({ expires }) => expires >= today),
    expired: masks.filter(({ expires }) => expires < today),
  };
}

async function compareOne(
  base: string,
  candidate: CandidateSide,
  flags: CompareFlags,
  session: Session,
  masks: readonly Mask[],
): Promise<CompareResult> {
  const end = performance.now() + (flags.timeBudget ?? Infinity) * 1000;
  const choices: CompareChoices = {
    ...controlOf(flags, session),
    keep: flags.last,
    mode: flags.mode,
    ...(masks.length === 0 ? {} : { masks: new MaskSet(masks) }),
    ...(flags.keepGoing === true ? { past: Infinity } : {}),
    ...(flags.first === true ? { first: true } : {}),
    reproduce: (run, n) => reproduceLine(base, candidate, flags, run, n),
  };
  if (candidate.kind === "file") {
    const { compareFiles } = await import("../../tools/compare-files.js");
    return compareFiles({ ...choices, base, candidate: candidate.name });
  }
  const options: CompareTraceOptions = {
    ...choices,
    trace: base,
    candidate: candidate.name,
    ...comparedImplementation(candidate.name, flags, session),
    skipUnsupported: flags.skipUnsupported === true,
    isDoubled: flags.double === true,
    ...(flags.shard && { shard: flags.shard }),
    isOverTime: () => performance.now() > end,
    ...handshakeNews(candidate.name, session),
    ...standInOf(candidate.name, flags, session),
  };
  if (flags.jobs === 1) return compareTrace(options);
  const { compareParallel } = await import("../../tools/parallel/compare-parallel.js");
  const dataOf = (spec: string): Promise<ImplementationData> =>
    implementationData(spec, flags, session);
  return compareParallel({
    ...options,
    jobs: flags.jobs,
    data: {
      candidate: await dataOf(candidate.name),
      base: options.base === undefined ? null : await dataOf(options.base.spec),
      masks,
      deadline: end === Infinity ? null : Date.now() + end - performance.now(),
    },
  });
}

// Told while nothing has run yet; the report names all of it again.
function handshakeNews(
  name: string,
  session: Session,
): Pick<CompareTraceOptions, "onLacking" | "onDifferences"> {
  const tell = (what: string): void => {
    session.note(`unified-trace: before the first operation: ${what}`);
  };
  const onLacking = (kinds: readonly string[]): void => {
    tell(visible(`${name} does not answer ${kinds.join(", ")}`));
  };
  if (!session.isVerbose) return { onLacking };
  return {
    onLacking,
    onDifferences: (differences) => {
      for (const { what, base, candidate } of differences)
        tell(`${what}: ${visible(`base ${base}, candidate ${candidate}`)}`);
    },
  };
}

// The allocator of this checkout answers as a trace of its own does, unless it is what is compared.
function standInOf(
  candidate: string,
  flags: CompareFlags,
  session: Session,
): { readonly base?: { readonly spec: string; readonly start: StartAdapter } } {
  const spec = flags.base ?? (candidate.startsWith("self") ? null : "self");
  return spec === null
    ? {}
    : { base: { spec, start: comparedImplementation(spec, flags, session).start } };
}

async function sidesOf(
  files: readonly (string | undefined)[],
  flags: CompareFlags,
): Promise<{ base: string; candidates: readonly CandidateSide[] }> {
  const [first, second] = files;
  const { trace, candidate, candidates } = flags;
  if (candidate !== undefined && candidates !== undefined) {
    throw new UsageError("--candidate and --candidates exclude each other");
  }
  if (trace !== undefined) {
    if (first !== undefined) {
      throw new UsageError(`${first}: compare takes --trace FILE or two files, not both`);
    }
    const named = candidates ?? [candidate ?? "self"];
    if (trace === "-" && named.length > 1) {
      throw new UsageError("--candidates needs a trace that can be read again, not standard input");
    }
    return { base: trace, candidates: named.map((name) => ({ kind: "implementation", name })) };
  }
  if (first === undefined || second === undefined) {
    const given = first === undefined ? "nothing to compare" : `${first} alone`;
    throw new UsageError(`${given}: compare takes --trace FILE, or two trace files`);
  }
  if (flags.jobs > 1) throw new UsageError("--jobs goes with --trace, not with two files");
  if (candidate !== undefined || candidates !== undefined) {
    throw new UsageError("--candidate goes with --trace, not with two files");
  }
  if ((await fileOf(first)) === "-" && (await fileOf(second)) === "-") {
    throw new UsageError("only one of two traces can come from standard input");
  }
  return { base: first, candidates: [{ kind: "file", name: second }] };
}

function writeBaseline(path: string, results: readonly CompareResult[]): void {
  const found = new Map<string, object>();
  for (const { divergence } of results.flatMap(({ runs }) => runs)) {
    if (divergence === null) continue;
    const signature = signatureOf(divergence);
    found.set(JSON.stringify(signature), { ...signature, reason: "found when this was written" });
  }
  writeWhole(path, `${JSON.stringify({ accepted: [...found.values()] }, null, 2)}\n`);
}

/** Prints what was found, now or once, in every form that is asked for. */
function give(
  results: readonly CompareResult[],
  trace: string | null,
  flags: ReportFlags,
  session: Session,
): number {
  const { palette, isVerbose } = session;
  const forms = {
    text: () => comparisonsText(results, { palette, verbose: isVerbose, trace }),
    json: () => compareJson(results, trace),
    cases: () => compareCases(results, trace),
  };
  const verdicts = results.flatMap(({ verdict, error }) => [
    VERDICT_EXITS[verdict],
    ...(error === null ? [] : [error.exitCode]),
  ]);
  const code = giveReports(flags, forms, worstExit(verdicts), session);
  if (!session.isJson) {
    for (const { error } of results) {
      if (error !== null) session.note(`unified-trace: ${visible(error.describe())}`);
    }
  }
  return code;
}

/** The file of a trace, or of a log whose format stands in front of it; formats are loaded where one may be meant. */
async function fileOf(spec: string): Promise<string> {
  if (!spec.includes(":")) return spec;
  const { fileOfSpec } = await import("../../workload/import.js");
  return fileOfSpec(spec);
}
