// `import`: a foreign log as a trace.
import type { Command } from "commander";
import process from "node:process";
import { UsageError } from "../../base/errors.js";
import { EXIT } from "../../base/exit-codes.js";
import { importJson, importText } from "../../report/import-text.js";
import { counted } from "../../report/words.js";
import { createTraceWriter } from "../../trace/writer.js";
import { importLog } from "../../tools/import-log.js";
import type { ImportResult } from "../../tools/import-log.js";
import { IMPORT_FORMATS, openImport } from "../../workload/import.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { byteSize } from "../flags.js";
import type { Session } from "../session.js";

interface ImportFlags {
  readonly out?: string;
  readonly time?: boolean;
  readonly arenaBytes?: number;
  readonly maxLine?: number; // bytes
}

const HELP = `
Formats, as FORMAT:FILE, or FILE alone where its first line tells the format (.gz is unpacked):
${IMPORT_FORMATS.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join("\n")}

Every object gets an id of its own for each life, every pool a name in the order of making: no
address reaches the trace. An event becomes an operation, a part of one, a mark, or is left out
under a reason; the counts add up. A free that meets no allocation, or an allocation where an
object still lives, is an error with file and line. The key x_event of an operation names the
event that it comes from (0-based, comments not counted); it is compared with nothing. An import
that left out events of unknown kinds is incomplete (exit 6).

Examples:
  unified-trace import umpire:output.replay --out umpire.jsonl
  unified-trace import umpire:output.numa.replay.gz --time --out numa.jsonl.gz
  unified-trace import android:systemui.txt.gz --out systemui.jsonl.gz
  unified-trace import minimalloc:A.1048576.csv --arena-bytes 1m --out a.jsonl
  unified-trace import umpire:- --out - < output.replay | head -3
  unified-trace compare output.replay output.numa.replay.gz     (imports on the fly)`;

/** @internal */
export function addImport(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Turn the log of another allocator into a trace.")
    .option(
      "--out <file>",
      "where the trace goes: .jsonl, .jsonl.gz, or - for standard output (required)",
    )
    .option("--time", "write the time of each operation (at_us) where the log tells it")
    .option(
      "--arena-bytes <size>",
      "size of the arena, for the run's configuration (default: none, as large as need be)",
      byteSize("--arena-bytes"),
    )
    .option("--max-line <size>", "longest line that is read (default: 64m)", byteSize("--max-line"))
    .option("--json", "print one JSON document");
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, (log: string, flags: ImportFlags) => importToFile(log, flags, session)),
    );
}

async function importToFile(spec: string, flags: ImportFlags, session: Session): Promise<number> {
  const { out } = flags;
  if (out === undefined) throw new UsageError("import needs --out FILE (or --out -)");
  if (out === "-" && session.isJson) {
    throw new UsageError("--json and --out - both want standard output");
  }
  const log = await openImport(spec, {
    stdin: process.stdin,
    signal: session.signal,
    time: flags.time === true,
    ...(flags.arenaBytes === undefined ? {} : { arenaBytes: flags.arenaBytes }),
    ...(flags.maxLine === undefined ? {} : { maxLineBytes: flags.maxLine }),
  });
  try {
    const writer = createTraceWriter(out);
    let result: ImportResult;
    try {
      const onProgress = progressOf(session, "imported");
      result = await importLog({ log, writer, signal: session.signal, onProgress });
    } catch (thrown) {
      writer.abort();
      const what = out === "-" ? "the trace ends early" : `${out} was not written`;
      session.tellInterrupt(`after ${counted(writer.lines, "line")}; ${what}`);
      throw thrown;
    }
    if (writer.closed) {
      writer.abort();
      return EXIT.ok; // nobody reads any more
    }
    writer.commit();
    if (session.isJson) session.printJson(importJson(result, out));
    else session.say(importText(result, out, writer.bytes, session.palette), out === "-");
    return result.counts.unknown === 0 ? EXIT.ok : EXIT.incomplete;
  } finally {
    await log.close();
  }
}
