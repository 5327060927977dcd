// `metamorph`: one implementation, one trace, rewritten in ways whose outcome is known.
import type { Command } from "commander";
import { UsageError } from "../../base/errors.js";
import { EXIT, worstExit } from "../../base/exit-codes.js";
import { metamorphJson, metamorphText } from "../../report/metamorph-text.js";
import { visible } from "../../report/words.js";
import { metamorph, REWRITE_NAMES } from "../../tools/metamorph/metamorph.js";
import type {
  MetamorphFinding,
  MetamorphOptions,
  MetamorphResult,
  RewriteName,
} from "../../tools/metamorph/metamorph.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import {
  oneOf,
  seconds,
  seedRange,
  seedsOf,
  shardPart,
  shellWord,
  wholeNumber,
  wordList,
} from "../flags.js";
import type { SeedRange, Shard } from "../flags.js";
import { addImplementationFlags, IMPLEMENTATION_FORMS, starterOf } from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import type { Session } from "../session.js";

interface MetamorphFlags extends ImplementationFlags, ReadingFlags {
  readonly trace?: string;
  readonly impl: string;
  readonly run?: string;
  readonly rewrite?: readonly RewriteName[];
  readonly seeds?: SeedRange;
  readonly jobs: number;
  readonly shard?: Shard;
  readonly timeBudget?: number; // seconds
}

const VERDICT_EXITS: Readonly<Record<MetamorphResult["verdict"], number>> = {
  passed: EXIT.ok,
  failed: EXIT.finding,
  incomplete: EXIT.incomplete,
};

const HELP = `
Each run is replayed as it is and rewritten; no second implementation is needed.

  names      requests, forwards, copies, loads, transfers renamed: the same answers
  hashes     hashes of tree keys replaced: the same answers
  questions  questions repeated, left out, put in: not a line changes
  refusals   refused operations repeated or left out: not a line changes
  times      events seen as fired at other moments: not a line changes
  pair       a stranger takes pages at rest and gives them back: the same grants and counts
  batch      a take that needed no room made is split: the same ids, grants and counts
  swap       neighbours for different requests change places: the same grants and counts

Examples:
  unified-trace metamorph --trace base.jsonl
  unified-trace metamorph --trace base.jsonl --impl module:./mine.mjs --seeds 0:10
  unified-trace metamorph --trace base.jsonl --rewrite names,questions --json`;

/** @internal */
export function addMetamorph(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Replay a trace rewritten in ways whose outcome is known.")
    .option("--trace <file>", "the trace: .jsonl, .jsonl.gz, or - for standard input (required)")
    .option("--impl <implementation>", IMPLEMENTATION_FORMS, "self")
    .option("--run <id>", "only this run")
    .option("--rewrite <names>", `only these: ${REWRITE_NAMES.join(", ")}`, rewriteList)
    .option("--seeds <from:to>", "seeds of the rewrites, TO not included", seedRange("--seeds"))
    .option("--jobs <n>", "rewritten runs replayed at once", wholeNumber("--jobs", 1, 64), 1)
    .option("--shard <i/n>", "only every n-th run, from the i-th on (exit 6)", shardPart("--shard"))
    .option(
      "--time-budget <seconds>",
      "stop when it is over; what is left out makes the verdict incomplete",
      seconds("--time-budget"),
    )
    .option("--json", "print one JSON document");
  addReadingFlags(addImplementationFlags(command, "touched"));
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(settle(outcome, (flags: MetamorphFlags) => metamorphCommand(flags, session)));
}

function rewriteList(text: string): readonly RewriteName[] {
  return wordList("--rewrite")(text).map(oneOf("--rewrite", REWRITE_NAMES));
}

async function metamorphCommand(flags: MetamorphFlags, session: Session): Promise<number> {
  const { trace, seeds, shard, rewrite, run } = flags;
  if (trace === undefined) throw new UsageError("metamorph needs --trace FILE (or --trace -)");
  const end = performance.now() + (flags.timeBudget ?? Infinity) * 1000;
  const options: MetamorphOptions = {
    trace,
    start: starterOf(flags.impl, flags, session),
    reader: readerOptions(flags, session),
    seeds: seedsOf(seeds ?? { from: 0, to: 1 }),
    jobs: flags.jobs,
    isTimeOver: () => performance.now() > end,
    signal: session.signal,
    onProgress: progressOf(session, "replayed"),
    ...(run === undefined ? {} : { run }),
    ...(rewrite === undefined ? {} : { rewrites: rewrite }),
    ...(shard === undefined ? {} : { shard }),
  };
  const result = await metamorph(options);
  const reproduce = (finding: MetamorphFinding): string | null =>
    reproduceLine(trace, flags.impl, finding);
  if (session.isJson) session.printJson(metamorphJson(result, reproduce));
  else session.print(metamorphText(result, session.palette, reproduce));
  const { error, verdict } = result;
  if (error === null) return VERDICT_EXITS[verdict];
  if (!session.isJson) session.note(`unified-trace: ${visible(error.describe())}`);
  return worstExit([VERDICT_EXITS[verdict], error.exitCode]);
}

function reproduceLine(trace: string, impl: string, finding: MetamorphFinding): string | null {
  if (trace === "-") return null;
  const { run, rewrite, seed } = finding;
  const words = [
    "unified-trace",
    "metamorph",
    "--trace",
    shellWord(trace),
    "--run",
    shellWord(run),
  ];
  return [...words, "--rewrite", rewrite, "--seeds", String(seed), "--impl", shellWord(impl)].join(
    " ",
  );
}
