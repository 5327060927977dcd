// `anonymize`: a trace that can be handed on.
import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { UsageError } from "../../base/errors.js";
import { EXIT } from "../../base/exit-codes.js";
import { anonymizeJson, anonymizeText, anonymizeVerdict } from "../../report/anonymize-text.js";
import type { AnonymizeVerdict } from "../../report/anonymize-text.js";
import { anonymizeTrace } from "../../tools/anonymize/anonymize.js";
import type { AnonymizeResult } from "../../tools/anonymize/anonymize.js";
import { createTraceWriter } from "../../trace/writer.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { addImplementationFlags, IMPLEMENTATION_FORMS, starterOf } from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import { isSameFile } from "../same-file.js";
import type { Session } from "../session.js";

interface AnonymizeFlags extends ImplementationFlags, ReadingFlags {
  readonly out?: string;
  readonly salt?: string;
  readonly impl: string;
  readonly replay: boolean;
}

const VERDICT_EXITS: Readonly<Record<AnonymizeVerdict, number>> = {
  anonymized: EXIT.ok,
  failed: EXIT.finding,
  incomplete: EXIT.incomplete,
};

const HELP = `
Requests, forwards, copies, loads, transfers, writers, holders, objects, pools, streams, runs,
sources and marks get other names, made from the salt; hashes of keys become their ranks, in the
same order; notes, call sites, messages and x_ keys go. Operations, answers, effects, lengths,
sizes, times, the configuration and the producer stay. One salt gives one name the same new name
in every trace; without --salt it is drawn and written nowhere.

The implementation is asked the whole trace under both sets of names: its answers must be the same
but for the names, and its digests tell what names do to digests. So the new trace replays equal
where the old one did, and parts where the old one did. An implementation that does not answer the
domain of a run is not asked; then digests, which hash names, are left out (exit 6).

Examples:
  unified-trace anonymize base.jsonl --out shared.jsonl.gz
  unified-trace anonymize base.jsonl --impl checkout:../other --salt "our team" --out shared.jsonl
  unified-trace compare --trace shared.jsonl`;

/** @internal */
export function addAnonymize(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Put other names and hashes into a trace, and prove that it replays the same.")
    .option(
      "--out <file>",
      "where the trace goes: .jsonl, .jsonl.gz, or - for standard output (required)",
    )
    .option("--salt <text>", "what names are made from (default: drawn, written nowhere)")
    .option("--impl <implementation>", IMPLEMENTATION_FORMS, "self")
    .option("--no-replay", "ask no implementation: nothing is proved, digests are left out")
    .option("--json", "print one JSON document");
  addReadingFlags(addImplementationFlags(command, "touched"));
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, (trace: string, flags: AnonymizeFlags) => anonymize(trace, flags, session)),
    );
}

async function anonymize(trace: string, flags: AnonymizeFlags, session: Session): Promise<number> {
  const { out, impl } = flags;
  if (out === undefined) throw new UsageError("anonymize needs --out FILE (or --out -)");
  if (trace === "-") {
    throw new UsageError("anonymize reads a trace twice: name a file, not standard input");
  }
  if (out === "-" && session.isJson) {
    throw new UsageError("--json and --out - both want standard output");
  }
  if (isSameFile(trace, out)) throw new UsageError(`--out ${out} is the trace itself`);
  const implementation = flags.replay
    ? { spec: impl, start: starterOf(impl, flags, session) }
    : null;
  const writer = createTraceWriter(out);
  let result: AnonymizeResult;
  try {
    result = await anonymizeTrace({
      trace,
      writer,
      salt: flags.salt ?? randomBytes(32).toString("hex"),
      implementation,
      reader: readerOptions(flags, session),
      signal: session.signal,
      onProgress: progressOf(session, "renamed"),
    });
    if (result.broken === null && !writer.closed) writer.commit();
  } finally {
    writer.abort(); // after a commit this does nothing
  }
  if (writer.closed) return EXIT.ok; // nobody reads any more
  const names = { out, implementation: implementation?.spec ?? null };
  if (session.isJson) session.printJson(anonymizeJson(result, out));
  else session.say(anonymizeText(result, names, session.palette), out === "-");
  return VERDICT_EXITS[anonymizeVerdict(result)];
}
