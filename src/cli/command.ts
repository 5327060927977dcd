// What every command of the command line shares: the flags, the shape, how its exit code comes back.
import type { Command } from "commander";
import { counted } from "../report/words.js";
import type { OnProgress } from "../tools/outcome.js";
import type { Session } from "./session.js";

/** Where a command leaves its exit code. @internal */
export interface CommandOutcome {
  exitCode: number;
}

/** Gives a command of the program its flags, help and work. @internal */
export type AddCommand = (command: Command, session: Session, outcome: CommandOutcome) => void;

/** Flags that every command takes. @internal */
export function addSharedFlags(command: Command): Command {
  return command
    .option("--verbose", "more about what happens, and the cause of an error")
    .option("--no-color", "no colour (NO_COLOR and CI are respected as well)")
    .helpOption("-h, --help", "print this help");
}

/** The text after a command's flags. @internal */
export function afterHelp(text: string): string {
  return `\n${text.trim()}\n\nExit codes: unified-trace --help lists them.`;
}

/** Wraps a command's work: its exit code goes to the outcome. @internal */
export function settle<A extends unknown[]>(
  outcome: CommandOutcome,
  work: (...args: A) => Promise<number>,
): (...args: A) => Promise<void> {
  return async (...args) => {
    outcome.exitCode = await work(...args);
  };
}

/** Shows how far a tool is, on a terminal. @internal */
export function progressOf(session: Session, verb: string): OnProgress {
  return ({ runs, operations, run }) => {
    const where = run === null ? "" : ` (${run})`;
    session.progress.show(
      `${counted(operations, "operation")} ${verb}, ${counted(runs, "run")} done${where}`,
    );
  };
}
