// `stats`: counts of what is in a trace.
import type { Command } from "commander";
import { EXIT } from "../../base/exit-codes.js";
import { statsJson } from "../../report/json.js";
import { statsText } from "../../report/stats-text.js";
import { traceStats } from "../../tools/stats.js";
import type { TraceStats } from "../../tools/stats.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import type { Session } from "../session.js";

interface StatsFlags extends ReadingFlags {
  readonly run?: string;
}

const HELP = `
Counted from the lines alone: operations by kind, refusals by code, steps of granted takes, moved
pages, retirements that freed pages, retractions, waits, and the operations after which freed
pages waited for a forward.

Examples:
  unified-trace stats base.jsonl
  unified-trace stats real.jsonl.gz --run serving/tight/full+window/p16/mooncake --json`;

/** @internal */
export function addStats(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Count what happened in traces.")
    .option("--run <id>", "count only this run")
    .option("--json", "print one JSON document");
  addReadingFlags(command);
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, async (files: readonly string[], flags: StatsFlags) => {
        const counted: TraceStats[] = [];
        for (const trace of files) {
          const control = { signal: session.signal, onProgress: progressOf(session, "counted") };
          const chosen = flags.run === undefined ? {} : { run: flags.run };
          counted.push(
            await traceStats({ trace, reader: readerOptions(flags), ...chosen, ...control }),
          );
        }
        if (session.isJson) session.printJson(statsJson(counted));
        else session.print(statsText(counted, session.palette));
        return counted.some(({ truncated }) => truncated) ? EXIT.incomplete : EXIT.ok;
      }),
    );
}
