// `edit`: a trace with fewer runs or operations, other values, or the runs of several.
import { Option } from "commander";
import type { Command } from "commander";
import { UsageError } from "../../base/errors.js";
import { EXIT } from "../../base/exit-codes.js";
import { editJson, editText, editVerdict } from "../../report/edit-text.js";
import type { EditVerdict } from "../../report/edit-text.js";
import { editsOperations, editTrace } from "../../tools/edit/edit.js";
import type { EditResult } from "../../tools/edit/edit.js";
import { parseFilter } from "../../tools/edit/filters.js";
import type { Filter } from "../../tools/edit/filters.js";
import type { Range } from "../../tools/edit/operation-edit.js";
import { parseSubstitution } from "../../tools/edit/substitutions.js";
import type { Substitution } from "../../tools/edit/substitutions.js";
import { createTraceWriter } from "../../trace/writer.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { mayRepeat } from "../flags.js";
import { addImplementationFlags, IMPLEMENTATION_FORMS, starterOf } from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import { isSameFile } from "../same-file.js";
import type { Session } from "../session.js";

interface EditFlags extends ImplementationFlags, ReadingFlags {
  readonly out?: string;
  readonly filter?: readonly Filter[];
  readonly cut?: Range;
  readonly substitute?: readonly Substitution[];
  readonly merge?: readonly string[];
  readonly renameRuns?: boolean;
  readonly impl: string;
}

const VERDICT_EXITS: Readonly<Record<EditVerdict, number>> = {
  edited: EXIT.ok,
  failed: EXIT.finding,
  incomplete: EXIT.incomplete,
};

const HELP = `
--filter KEY=WORDS keeps what one of the words fits, KEY!=WORDS what none does; KEY is run, op (the
operation's kind) or req (a request); a * stands for any text. --cut A:B takes the operations A up
to B, not included, out of every run; A: goes to the end. --substitute puts another value into the
configuration (config:KEY=VALUE) or into arguments (OPERATION:ARGUMENT=VALUE, NUMBER:…); a path
goes on behind dots, * is any key or place of a list. --merge adds the runs of other traces.

A run that no operation of changes keeps its lines. Any other stays legal: what uses something that
is gone goes too, later token positions move down, and what ends or carries on something that is
still open stays. It is asked anew (--impl), and its answers, effects and digests are those; what
the edit took the ground from (invalid now and not before) is left out. docs/edit.md says more.

Examples:
  unified-trace edit base.jsonl --filter "run=full+window/*" --out windows.jsonl
  unified-trace edit base.jsonl --cut 100:200 --out shorter.jsonl
  unified-trace edit base.jsonl --filter req=r1,r2 --filter "op!=ask.*" --out two.jsonl
  unified-trace edit base.jsonl --substitute config:arena_bytes=2m --out larger.jsonl
  unified-trace edit a.jsonl --merge b.jsonl --merge c.jsonl --rename-runs --out all.jsonl.gz`;

/** @internal */
export function addEdit(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Filter, cut, change or merge traces; the result is a legal trace.")
    .option(
      "--out <file>",
      "where the trace goes: .jsonl, .jsonl.gz, or - for standard output (required)",
    )
    .addOption(
      several("--filter <key=words>", "keep what fits: run=, op=, req=, or !=", parseFilter),
    )
    .option("--cut <a:b>", "take operations A to B (B not included) out of every run", rangeOf)
    .addOption(
      several(
        "--substitute <target:path=value>",
        "another value in the configuration or in arguments",
        parseSubstitution,
      ),
    )
    .addOption(several("--merge <file>", "add the runs of another trace", (text) => text))
    .option("--rename-runs", "give a run whose name was there before another one")
    .option("--impl <implementation>", `who answers edited runs: ${IMPLEMENTATION_FORMS}`, "self")
    .option("--json", "print one JSON document");
  addReadingFlags(addImplementationFlags(command, "touched"));
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(settle(outcome, (trace: string, flags: EditFlags) => edit(trace, flags, session)));
}

function several<T>(flags: string, about: string, parse: (text: string) => T): Option {
  const option = new Option(flags, `${about} (several times if need be)`);
  return mayRepeat(
    option.argParser((text: string, before: readonly T[] | undefined) => [
      ...(before ?? []),
      parse(text),
    ]),
  );
}

function rangeOf(text: string): Range {
  const match = /^(\d+):(\d*)$/.exec(text);
  const [from, to] = [Number(match?.[1]), match?.[2] === "" ? Infinity : Number(match?.[2])];
  if (match === null || to <= from || !Number.isSafeInteger(from)) {
    const expected = "A:B with A below B, or A: for all behind";
    throw new UsageError(`--cut ${text}: expected ${expected}`, expected);
  }
  return { from, to };
}

async function edit(trace: string, flags: EditFlags, session: Session): Promise<number> {
  const { out, impl } = flags;
  if (out === undefined) throw new UsageError("edit needs --out FILE (or --out -)");
  if (out === "-" && session.isJson) {
    throw new UsageError("--json and --out - both want standard output");
  }
  const traces = [trace, ...(flags.merge ?? [])];
  const chosen = {
    filters: flags.filter ?? [],
    substitutions: flags.substitute ?? [],
    ...(flags.cut === undefined ? {} : { cut: flags.cut }),
  };
  check(traces, out, editsOperations(chosen), flags);
  const writer = createTraceWriter(out);
  let result: EditResult;
  try {
    result = await editTrace({
      ...chosen,
      traces,
      writer,
      start: starterOf(impl, flags, session),
      renamesRuns: flags.renameRuns === true,
      reader: readerOptions(flags, session),
      signal: session.signal,
      onProgress: progressOf(session, "edited"),
    });
    if (result.broken === null && !writer.closed) writer.commit();
  } finally {
    writer.abort(); // after a commit this does nothing
  }
  if (writer.closed) return EXIT.ok; // nobody reads any more
  if (session.isJson) session.printJson(editJson(result, out));
  else {
    session.say(editText(result, { out, implementation: impl }, session.palette), out === "-");
  }
  return VERDICT_EXITS[editVerdict(result)];
}

function check(traces: readonly string[], out: string, editsThem: boolean, flags: EditFlags): void {
  const { filter = [], merge = [] } = flags;
  if (!editsThem && filter.length === 0 && merge.length === 0)
    throw new UsageError("edit needs --filter, --cut, --substitute or --merge: else use convert");
  if (flags.renameRuns === true && merge.length === 0)
    throw new UsageError("--rename-runs goes with --merge");
  if (flags.acceptTruncated === true)
    throw new UsageError("edit takes whole traces: convert --recover closes a truncated one");
  const inputs = traces.filter((trace) => trace === "-").length;
  if (inputs > 1) throw new UsageError("standard input can be one of the traces only");
  if (inputs > 0 && editsThem)
    throw new UsageError("edit reads a trace twice: name a file, not standard input");
  for (const trace of traces)
    if (trace !== "-" && out !== "-" && isSameFile(trace, out))
      throw new UsageError(`--out ${out} is one of the traces`);
}
