// The commands with their help. Commander prints help; everything it calls an error is thrown and handled in main.ts.
import { Command } from "commander";
import { addCompare } from "./commands/compare.js";
import { addDoctor } from "./commands/doctor.js";
import { addRecord } from "./commands/record.js";
import { addReplay } from "./commands/replay.js";
import { addRun } from "./commands/run.js";
import { addServe } from "./commands/serve.js";
import { addStats } from "./commands/stats.js";
import { addValidate } from "./commands/validate.js";
import type { AddCommand, CommandOutcome } from "./command.js";
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
  2   wrong flags or arguments         70  a bug in unified-trace
  3   a file is wrong or unreadable    130, 143  interrupted
  4   this machine lacks something, or an output cannot be written
  When several apply, the first of 130, 143, 2, 70, 1, 5, 3, 4, 6.`;

const HELP_COLUMNS = 100; // the same everywhere, so that help can be quoted

const COMMANDS: readonly AddCommand[] = [
  addRecord,
  addCompare,
  addReplay,
  addRun,
  addValidate,
  addStats,
  addServe,
  addDoctor,
];

/**
 * Builds the program.
 * @param help - collects help that commander would print as an error
 * @internal
 */
export function buildProgram(session: Session, outcome: CommandOutcome, help: string[]): Command {
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
  for (const add of COMMANDS) add(program, session, outcome);
  return program;
}
