// `audit`: traces against the safety rules, with no implementation at all.
import type { Command } from "commander";
import { InternalError, UnifiedTraceError } from "../../base/errors.js";
import { EXIT, worstExit } from "../../base/exit-codes.js";
import { auditJson, auditText } from "../../report/audit-text.js";
import type { FileAudit } from "../../report/audit-text.js";
import { visible } from "../../report/words.js";
import { auditTrace } from "../../tools/audit/audit.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { wholeNumber } from "../flags.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import type { Session } from "../session.js";

interface AuditFlags extends ReadingFlags {
  readonly run?: string;
  readonly most: number;
}

const HELP = `
From the lines alone audit rebuilds who owns which page, slot, id and row, and says which line
breaks which rule: no two live pages share bytes, every free names what is bound, moves copy live
pages to free ones, what is handed out is zeroed, every wait that the clearance rule demands is
there, refusals and questions change nothing, and what is live at the end has a holder.
docs/audit.md lists the rules. Several findings of one run may have one cause: look at the first.

Examples:
  unified-trace audit base.jsonl
  unified-trace audit base.jsonl real.jsonl.gz --json
  unified-trace audit live.jsonl --accept-truncated --run live/0 --most 20`;

/** @internal */
export function addAudit(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Check traces against the allocator's safety rules, without an implementation.")
    .option("--run <id>", "audit only this run")
    .option("--most <n>", "findings shown a run", wholeNumber("--most", 1), 5)
    .option("--json", "print one JSON document");
  addReadingFlags(command);
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, async (files: readonly string[], flags: AuditFlags) => {
        const audits: FileAudit[] = [];
        for (const file of files) audits.push(await audit(file, flags, session));
        if (session.isJson) session.printJson(auditJson(audits));
        else printText(audits, session);
        return worstExit(audits.flatMap(exitsOf));
      }),
    );
}

async function audit(file: string, flags: AuditFlags, session: Session): Promise<FileAudit> {
  const { run, most } = flags;
  try {
    const result = await auditTrace({
      trace: file,
      most,
      ...(run === undefined ? {} : { run }),
      reader: readerOptions(flags, session),
      signal: session.signal,
      onProgress: progressOf(session, "audited"),
    });
    return { file, result };
  } catch (thrown) {
    session.signal.throwIfAborted();
    if (!(thrown instanceof UnifiedTraceError) || thrown instanceof InternalError) throw thrown;
    return { file, result: null, error: thrown };
  }
}

function printText(audits: readonly FileAudit[], session: Session): void {
  for (const one of audits) {
    const error = one.result === null ? one.error : one.result.error;
    if (error !== null) session.note(`unified-trace: ${visible(error.describe())}`);
  }
  session.print(auditText(audits, session.palette));
}

function exitsOf(audited: FileAudit): number[] {
  if (audited.result === null) return [audited.error.exitCode];
  const { findings, isPartial, error } = audited.result;
  const exits: number[] = [];
  if (findings.length > 0) exits.push(EXIT.finding);
  if (isPartial) exits.push(EXIT.incomplete);
  if (error !== null) exits.push(error.exitCode);
  return exits;
}
