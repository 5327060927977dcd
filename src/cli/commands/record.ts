// `record`: seeds, scenarios or a serving workload on an implementation, written as a trace.
import type { Command } from "commander";
import { UsageError } from "../../base/errors.js";
import { EXIT } from "../../base/exit-codes.js";
import type { DigestDepth } from "../../base/operations.js";
import { recordJson } from "../../report/json.js";
import { recordText } from "../../report/record-text.js";
import { counted } from "../../report/words.js";
import { createTraceWriter } from "../../trace/writer.js";
import type { TraceWriter } from "../../trace/writer.js";
import { record } from "../../tools/record.js";
import { servedNothing } from "../../tools/served-nothing.js";
import type { RecordResult } from "../../tools/outcome.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { everyCount, oneOf, wholeNumber } from "../flags.js";
import {
  addImplementationFlags,
  IMPLEMENTATION_FORMS,
  isForeign,
  starterOf,
} from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { addSelectionFlags, selectWorkloads } from "../selection.js";
import type { SelectionFlags } from "../selection.js";
import type { Session } from "../session.js";

interface RecordFlags extends SelectionFlags, ImplementationFlags {
  readonly impl: string;
  readonly out?: string;
  readonly digest: DigestDepth | "none";
  readonly state?: number;
  readonly last?: number;
  readonly crashSafe?: boolean;
  readonly note?: string;
  readonly stamp?: boolean;
}

/** Behind the name of the trace: what is kept while a run goes on. */
const KEPT = ".kept.jsonl";

const HELP = `
What is recorded: by default the runs are the product of seeds, page sizes and layouts; --scenario
and --workload replace the seeds. The same flags on the same implementation give the same bytes.
The file appears under its name only when it is complete: when the implementation breaks, an
earlier file of that name stays, and what was recorded until then is written to FILE.partial.
The first line says which implementation answered: its name, version and revision.
With --last each run begins with the full state before the operations that are kept, and goes on
from there in replay and compare; it is written at its end, or when the implementation breaks. With
--crash-safe as well, what is kept of the run at hand stands beside the trace at any moment, in a
file whose name ends in .partial: after a kill convert --recover makes a trace of it.

A workload serves requests one batch after another. --prefix-sharing lets them share prefixes: the
tree is asked at admission, takes finished chunks and gives its oldest entries when a take is
refused. --checkpoint says how it keeps state (layouts with state, extra_buffer where nothing is
said): at a request's end (no_buffer, without overlap) or on a grid of 256 tokens, or of TOKENS.
--host-cache copies prefixes and requests that give way to the host and brings them back. --pair
records two runs, each on an implementation of its own: one computes the prompts and sends them,
the other takes places for them and decodes; a transfer ends in both at the same time.

Examples:
  unified-trace record --out base.jsonl
  unified-trace record --seeds 0:50 --ops 400 --page-sizes 1,16,64 --out base.jsonl.gz
  unified-trace record --scenario all --out scenarios.jsonl
  unified-trace record --workload mooncake:conversation_trace.jsonl.gz --limit 1000 --out real.jsonl
  unified-trace record --workload mooncake:conversation_trace.jsonl.gz --requests 3000 \\
    --prefix-sharing --host-cache --checkpoint extra_buffer --out shared.jsonl.gz
  unified-trace record --workload synthetic --layouts full+window+state --prefix-sharing \\
    --host-cache 4096 --checkpoint extra_buffer_lazy:512 --out lazy.jsonl
  unified-trace record --workload synthetic:5 --requests 200 --pair --out pair.jsonl
  unified-trace record --workload synthetic --last 500 --out end.jsonl
  unified-trace record --workload synthetic --last 500 --crash-safe --out end.jsonl
  unified-trace record --workload synthetic --out - | head -3
  unified-trace record --impl checkout:../other --state every=100 --out other.jsonl`;

/** @internal */
export function addRecord(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description(
      "Run seeds, scenarios or a serving workload on an implementation and write a trace.",
    )
    .option(
      "--out <file>",
      "where the trace goes: .jsonl, .jsonl.gz, or - for standard output (required)",
    );
  addSelectionFlags(command)
    .option("--impl <implementation>", IMPLEMENTATION_FORMS, "self")
    .option(
      "--digest <depth>",
      "how much of the state the digests cover: light, layout, deep or none",
      oneOf("--digest", ["light", "layout", "deep", "none"]),
      "layout",
    )
    .option("--state <every=N>", "a full state after every N-th operation", everyCount("--state"))
    .option(
      "--last <n>",
      "keep the last N operations of each run and the state before them",
      wholeNumber("--last", 1, 10_000_000),
    )
    .option(
      "--crash-safe",
      "write each call down before it is made (always so for another process)",
    )
    .option("--note <text>", "a note on the first line")
    .option("--stamp", "the time of recording on the first line; it makes two recordings differ");
  addImplementationFlags(command, "touched").option("--json", "print one JSON document");
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, (flags: RecordFlags, self: Command) => recordTrace(flags, self, session)),
    );
}

async function recordTrace(
  flags: RecordFlags,
  command: Command,
  session: Session,
): Promise<number> {
  const { out } = flags;
  if (out === undefined) throw new UsageError("record needs --out FILE (or --out -)");
  if (out === "-" && session.isJson) {
    throw new UsageError("--json and --out - both want standard output");
  }
  const isKept = flags.last !== undefined && flags.crashSafe === true;
  if (isKept && out === "-") {
    throw new UsageError(
      "--last with --crash-safe keeps a file beside the trace: --out - has none",
    );
  }
  const start = starterOf(flags.impl, flags, session);
  const workloads = await selectWorkloads(flags, command, session);
  const isCrashSafe = flags.crashSafe === true || isForeign(flags.impl);
  const writer = createTraceWriter(out, { crashSafe: flags.crashSafe === true });
  let result: RecordResult;
  try {
    result = await record({
      workloads,
      start,
      writer,
      created: flags.stamp === true ? new Date().toISOString() : null,
      note: flags.note ?? null,
      digestDepth: flags.digest === "none" ? null : flags.digest,
      intentFirst: isCrashSafe,
      checksAnswers: isForeign(flags.impl),
      ...(flags.state === undefined ? {} : { stateEvery: flags.state }),
      ...(flags.last === undefined ? {} : { last: flags.last }),
      ...(isKept
        ? { openSpill: () => createTraceWriter(`${out}${KEPT}`, { crashSafe: true }) }
        : {}),
      signal: session.signal,
      onProgress: progressOf(session, "recorded"),
    });
  } catch (thrown) {
    writer.abort();
    tellInterrupt(out, writer, session);
    throw thrown;
  }
  if (writer.closed) {
    writer.abort();
    return EXIT.ok; // nobody reads any more
  }
  let partial: string | null = null;
  if (result.failure === null) writer.commit();
  else partial = writer.commitPartial();
  return print(result, out, partial, writer, session);
}

function tellInterrupt(out: string, writer: TraceWriter, session: Session): void {
  const what = out === "-" ? "the trace ends early" : `${out} was not written`;
  session.tellInterrupt(`after ${counted(writer.lines, "line")}; ${what}`);
}

function print(
  result: RecordResult,
  out: string,
  partial: string | null,
  writer: TraceWriter,
  session: Session,
): number {
  if (session.isJson) session.printJson(recordJson(result, out, partial));
  else session.say(recordText(result, out, partial, writer.bytes, session.palette), out === "-");
  if (result.failure !== null) return EXIT.finding;
  return servedNothing(result.counters) ? EXIT.incomplete : EXIT.ok;
}
