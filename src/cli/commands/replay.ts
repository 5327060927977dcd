// `replay`: a trace on an implementation, invariants only.
import type { Command } from "commander";
import { UsageError } from "../../base/errors.js";
import { EXIT, worstExit } from "../../base/exit-codes.js";
import { replayJson } from "../../report/json.js";
import { replayText } from "../../report/record-text.js";
import { Latencies } from "../../tools/latencies.js";
import { replayTrace } from "../../tools/replay.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { wholeNumber } from "../flags.js";
import { addImplementationFlags, IMPLEMENTATION_FORMS, starterOf } from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import { visible } from "../../report/words.js";
import { nanoseconds } from "../timing.js";
import type { Session } from "../session.js";

interface ReplayFlags extends ImplementationFlags, ReadingFlags {
  readonly trace?: string;
  readonly impl: string;
  readonly run?: string;
  readonly to?: number;
  readonly fromState?: number | true;
  readonly repeat: number;
  readonly time?: boolean;
}

const HELP = `
The recorded answers are not looked at: replay checks that no page loses what was written to it,
that refusals and questions change nothing, and that the implementation neither crashes nor hangs.
Use compare for the answers.

With --repeat every pass has to give the answers and the digest of the first one. --time asks each
operation alone: a median with its 95 % confidence interval, which of another process includes the
way there and back, and of self what its device verifies (self:none has none).

Examples:
  unified-trace replay --trace base.jsonl
  unified-trace replay --trace base.jsonl --verify every --run full+window/p16/seed-7 --to 120
  unified-trace replay --trace base.jsonl --from-state 5000 --to 5100
  unified-trace replay --trace base.jsonl --impl self:none --time --repeat 5
  unified-trace replay --trace base.jsonl --impl checkout:../other`;

/** @internal */
export function addReplay(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Replay a trace on an implementation and check its invariants, not its answers.")
    .option("--trace <file>", "the trace: .jsonl, .jsonl.gz, or - for standard input (required)")
    .option("--impl <implementation>", IMPLEMENTATION_FORMS, "self")
    .option("--run <id>", "replay only this run")
    .option("--to <n>", "last operation of each run", wholeNumber("--to"))
    .option(
      "--from-state [n]",
      "begin each run behind its first full state, or behind that of operation N",
      wholeNumber("--from-state"),
    )
    .option("--repeat <k>", "replay K times from the beginning", wholeNumber("--repeat", 1, 1e6), 1)
    .option("--time", "tell how long operations take, by kind; no digests are made")
    .option("--json", "print one JSON document");
  addReadingFlags(addImplementationFlags(command, "touched"));
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(settle(outcome, (flags: ReplayFlags) => replay(flags, session)));
}

async function replay(flags: ReplayFlags, session: Session): Promise<number> {
  const { trace } = flags;
  if (trace === undefined) throw new UsageError("replay needs --trace FILE (or --trace -)");
  if (trace === "-" && flags.repeat > 1) {
    throw new UsageError("--repeat needs a trace that can be read again, not standard input");
  }
  const into = flags.time === true ? new Latencies() : null;
  const { fromState } = flags;
  const result = await replayTrace({
    trace,
    passes: flags.repeat,
    ...(fromState === undefined ? {} : { fromState: fromState === true ? "first" : fromState }),
    ...(into === null ? {} : { timing: { clock: nanoseconds, into } }),
    start: starterOf(flags.impl, flags, session),
    reader: readerOptions(flags, session),
    ...(flags.run === undefined ? {} : { run: flags.run }),
    ...(flags.to === undefined ? {} : { to: flags.to }),
    signal: session.signal,
    onProgress: progressOf(session, "replayed"),
  });
  if (session.isJson) {
    session.printJson(replayJson(result));
  } else {
    session.print(replayText(result, session.palette));
    if (result.error !== null) session.note(`unified-trace: ${visible(result.error.describe())}`);
  }
  const exits: number[] = [];
  if (result.violations.length > 0) exits.push(EXIT.finding);
  if (result.isPartial) exits.push(EXIT.incomplete);
  if (result.error !== null) exits.push(result.error.exitCode);
  return worstExit(exits);
}
