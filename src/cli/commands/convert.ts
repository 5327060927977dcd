// `convert`: a trace in another form, or what is whole of a damaged one.
import type { Command } from "commander";
import { UsageError } from "../../base/errors.js";
import { EXIT } from "../../base/exit-codes.js";
import { convertJson, convertText, convertVerdict } from "../../report/convert-text.js";
import { convertTrace } from "../../tools/convert/convert.js";
import { CONVERT_FORMATS } from "../../tools/convert/target.js";
import type { ConvertFormat } from "../../tools/convert/target.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { oneOf } from "../flags.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import { isSameFile } from "../same-file.js";
import type { Session } from "../session.js";

interface ConvertFlags extends ReadingFlags {
  readonly out?: string;
  readonly to?: ConvertFormat;
  readonly with?: string;
  readonly run?: string;
  readonly recover?: boolean;
}

const HELP = `
Formats, told by the suffix of --out unless --to says otherwise (.gz behind any but .parquet packs):
  jsonl     .jsonl          the trace itself, every line in canonical key order
  csv       .csv            a row an operation, after RFC 4180
  parquet   .parquet        the same columns
  perfetto  .perfetto.json  for the Perfetto viewer: pages of bands, requests, forwards, transfers

--recover writes what is whole of a damaged trace (a last line that is cut, missing ends, a torn
.gz, bad lines) as a legal one: a run ends at the last operation before the damage, and what was
dropped is told and counted (exit 6). docs/convert.md has the columns and the events.

Examples:
  unified-trace convert base.jsonl --out base.jsonl.gz
  unified-trace convert base.jsonl.gz --out operations.csv
  unified-trace convert base.jsonl --to parquet --out operations.parquet
  unified-trace convert base.jsonl --with other.jsonl --out both.perfetto.json
  unified-trace convert crashed.jsonl.partial --recover --out crashed.jsonl
  unified-trace convert base.jsonl --to csv --out - | head -3`;

/** @internal */
export function addConvert(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Write a trace in another form, or what is whole of a damaged one.")
    .option("--out <file>", "where it goes, or - for standard output (required)")
    .option(
      "--to <format>",
      `${CONVERT_FORMATS.join(", ")} (default: what the suffix of --out says)`,
      oneOf("--to", CONVERT_FORMATS),
    )
    .option("--with <file>", "another trace beside it, for Perfetto: each side a process")
    .option("--run <id>", "convert only this run")
    .option("--recover", "write what is whole of a damaged trace")
    .option("--json", "print one JSON document");
  addReadingFlags(command);
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, (trace: string, flags: ConvertFlags) => convert(trace, flags, session)),
    );
}

async function convert(trace: string, flags: ConvertFlags, session: Session): Promise<number> {
  const { out } = flags;
  if (out === undefined) throw new UsageError("convert needs --out FILE (or --out -)");
  if (out === "-" && session.isJson) {
    throw new UsageError("--json and --out - both want standard output");
  }
  const format = flags.to ?? formatOf(out);
  const traces = [trace, ...(flags.with === undefined ? [] : [flags.with])];
  check(traces, out, format, flags);
  const result = await convertTrace({
    traces,
    out,
    format,
    recover: flags.recover === true,
    ...(flags.run === undefined ? {} : { run: flags.run }),
    reader: readerOptions(flags, session),
    signal: session.signal,
    onProgress: progressOf(session, "converted"),
  });
  if (result.isClosed) return EXIT.ok; // nobody reads any more
  if (session.isJson) session.printJson(convertJson(result, out));
  else session.say(convertText(result, out, session.palette), out === "-");
  return convertVerdict(result) === "converted" ? EXIT.ok : EXIT.incomplete;
}

function check(
  traces: readonly string[],
  out: string,
  format: ConvertFormat,
  flags: ConvertFlags,
): void {
  if (traces.length > 1 && format !== "perfetto")
    throw new UsageError("--with puts two sides into one file for Perfetto: it goes with that");
  if (traces.length > 1 && flags.recover === true)
    throw new UsageError("--recover is about one trace: recover each, then put them together");
  if (traces.every((trace) => trace === "-") && traces.length > 1)
    throw new UsageError("both sides are standard input: name a file for one of them");
  if (flags.recover === true && flags.acceptTruncated === true)
    throw new UsageError("--recover goes further than --accept-truncated: give one of them");
  if (format === "parquet" && out.endsWith(".gz"))
    throw new UsageError(`--out ${out}: Parquet packs its pages itself and takes no .gz`);
  for (const trace of traces)
    if (trace !== "-" && out !== "-" && isSameFile(trace, out))
      throw new UsageError(`--out ${out} is the trace itself`);
}

const SUFFIXES: readonly (readonly [string, ConvertFormat])[] = [
  [".jsonl", "jsonl"],
  [".csv", "csv"],
  [".parquet", "parquet"],
  [".json", "perfetto"],
];

function formatOf(out: string): ConvertFormat {
  const name = out.endsWith(".gz") ? out.slice(0, -".gz".length) : out;
  for (const [suffix, format] of SUFFIXES) if (name.endsWith(suffix)) return format;
  const expected = SUFFIXES.map(([suffix]) => suffix).join(", ");
  throw new UsageError(`--out ${out} tells no format: end it in ${expected}, or say it with --to`);
}
