// The commands with their help. Commander prints help; everything it calls an error is thrown and handled in main.ts.
import { Command } from "commander";
import type { AddCommand, CommandOutcome } from "./command.js";
import { refuseCareless } from "./flags.js";
import type { Session } from "./session.js";

const ABOUT =
  "Record what a memory allocator was asked and what it answered, replay the trace on another checkout or another " +
  "implementation, and see the first operation where the two part.";

const EXAMPLES = `
Examples:
  unified-trace record --out base.jsonl        record the default workload on this checkout
  unified-trace compare --trace base.jsonl     replay it here and compare every answer
  unified-trace compare --trace base.jsonl --candidate checkout:../other
  unified-trace run scenarios                  scenarios against what they expect (for CI)
  unified-trace COMMAND --help                 flags and examples of one command`;

const EXIT_CODES = `
Exit codes (as diff: 1 means that something was found):
  0   equal, valid or passed           5   a candidate could not be started
  1   a finding: a divergence, a       6   incomplete: input was skipped,
      failed expectation, a violation      the rest agreed
  2   wrong flags or arguments         7   the failure does not repeat
  3   a file is wrong or unreadable    70  a bug in unified-trace
  4   this machine lacks something,    130, 143  interrupted
      or an output cannot be written
  When several apply, the first of 130, 143, 2, 70, 1, 5, 3, 4, 6.`;

const HELP_COLUMNS = 100; // the same everywhere, so that help can be quoted

interface CommandEntry {
  readonly name: string;
  readonly words: string; // the arguments, as help shows them
  readonly summary: string;
  readonly load: () => Promise<AddCommand>;
}

// A command's code is loaded when its name is on the command line; the others are only listed.
const COMMANDS: readonly CommandEntry[] = [
  {
    name: "record",
    words: "",
    summary: "run a workload on an implementation and write a trace",
    load: async () => (await import("./commands/record.js")).addRecord,
  },
  {
    name: "compare",
    words: "[base] [candidate]",
    summary: "compare a trace with an implementation, or two traces",
    load: async () => (await import("./commands/compare.js")).addCompare,
  },
  {
    name: "replay",
    words: "",
    summary: "replay a trace and check invariants only",
    load: async () => (await import("./commands/replay.js")).addReplay,
  },
  {
    name: "run",
    words: "[paths...]",
    summary: "run scenarios against what they expect",
    load: async () => (await import("./commands/run.js")).addRun,
  },
  {
    name: "shrink",
    words: "<file>",
    summary: "reduce a divergent or failing run to a minimal scenario",
    load: async () => (await import("./commands/shrink.js")).addShrink,
  },
  {
    name: "bisect",
    words: "",
    summary: "find the commit, operation or value with which something changes",
    load: async () => (await import("./commands/bisect.js")).addBisect,
  },
  {
    name: "sweep",
    words: "",
    summary: "replay a trace at each value of a configuration key: refusals, moves, peaks",
    load: async () => (await import("./commands/sweep.js")).addSweep,
  },
  {
    name: "stress",
    words: "",
    summary: "look for unsafe pages: seeds on two ranks of a modelled device",
    load: async () => (await import("./commands/stress.js")).addStress,
  },
  {
    name: "metamorph",
    words: "",
    summary: "replay a trace rewritten in ways whose outcome is known",
    load: async () => (await import("./commands/metamorph.js")).addMetamorph,
  },
  {
    name: "validate",
    words: "<files...>",
    summary: "check traces, scenarios and configurations",
    load: async () => (await import("./commands/validate.js")).addValidate,
  },
  {
    name: "audit",
    words: "<files...>",
    summary: "check traces against the safety rules, without an implementation",
    load: async () => (await import("./commands/audit.js")).addAudit,
  },
  {
    name: "stats",
    words: "<files...>",
    summary: "count operations, refusals, moves and more in traces",
    load: async () => (await import("./commands/stats.js")).addStats,
  },
  {
    name: "import",
    words: "<log>",
    summary: "turn the log of another allocator into a trace",
    load: async () => (await import("./commands/import.js")).addImport,
  },
  {
    name: "edit",
    words: "<file>",
    summary: "filter, cut, change or merge traces so that they stay legal",
    load: async () => (await import("./commands/edit.js")).addEdit,
  },
  {
    name: "convert",
    words: "<file>",
    summary: "write a trace as gzip, CSV, Parquet or for Perfetto; recover a damaged one",
    load: async () => (await import("./commands/convert.js")).addConvert,
  },
  {
    name: "anonymize",
    words: "<file>",
    summary: "put other names into a trace, and prove that it replays the same",
    load: async () => (await import("./commands/anonymize.js")).addAnonymize,
  },
  {
    name: "bundle",
    words: "",
    summary: "put a trace, a report and their origin into one file",
    load: async () => (await import("./commands/bundle.js")).addBundle,
  },
  {
    name: "show",
    words: "[file]",
    summary: "show operations of a trace and the page map around them, or a plan",
    load: async () => (await import("./commands/show.js")).addShow,
  },
  {
    name: "serve",
    words: "",
    summary: "answer the adapter protocol on standard input and output",
    load: async () => (await import("./commands/serve.js")).addServe,
  },
  {
    name: "conformance",
    words: "<implementation>",
    summary: "test whether an implementation speaks the adapter protocol",
    load: async () => (await import("./commands/conformance.js")).addConformance,
  },
  {
    name: "doctor",
    words: "",
    summary: "say what is installed and what is not",
    load: async () => (await import("./commands/doctor.js")).addDoctor,
  },
];

/** The names of all commands. @internal */
export const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => name);

/**
 * Builds the program.
 * @param words - the command line; commands that it names are loaded
 * @param help - collects help that commander would print as an error
 * @internal
 */
export async function buildProgram(
  words: readonly string[],
  session: Session,
  outcome: CommandOutcome,
  help: string[],
): Promise<Command> {
  const program = new Command("unified-trace");
  program.exitOverride();
  program.configureOutput({
    writeOut: (text) => {
      session.print(text.trimEnd());
    },
    writeErr: (text) => {
      help.push(text);
    },
    getOutHelpWidth: () => HELP_COLUMNS,
    getErrHelpWidth: () => HELP_COLUMNS,
  });
  program.configureHelp({ showGlobalOptions: false });
  program.description(ABOUT);
  program.usage("COMMAND [options]");
  program.option("-V, --version", "print version and revision");
  program.helpOption("-h, --help", "print this help");
  program.helpCommand("help [command]", "print the help of a command");
  program.addHelpText("after", EXAMPLES);
  program.addHelpText("after", EXIT_CODES);
  for (const { name, words: operands, summary, load } of COMMANDS) {
    const command = program.command(`${name} ${operands}`.trim()).summary(summary);
    if (words.includes(name)) (await load())(command, session, outcome);
    else command.option("--json"); // so that its usage shows [options]
    refuseCareless(command);
  }
  return program;
}
