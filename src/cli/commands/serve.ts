// `serve`: an implementation behind the protocol, on standard input and output.
import process from "node:process";
import type { Command } from "commander";
import { serveProtocol } from "../../adapter/serve.js";
import { addSharedFlags, afterHelp, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { addImplementationFlags, IMPLEMENTATION_FORMS, starterOf } from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { visible } from "../../report/words.js";
import type { Session } from "../session.js";

interface ServeFlags extends ImplementationFlags {
  readonly impl: string;
}

const HELP = `
JSON lines come in on standard input and the answers go out on standard output; docs/adapter-
protocol.md has the messages. It ends when the input does.

Examples:
  unified-trace serve
  unified-trace compare --trace base.jsonl --candidate cmd:"unified-trace serve"`;

/** @internal */
export function addServe(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Put an implementation behind the adapter protocol.")
    .option("--impl <implementation>", IMPLEMENTATION_FORMS, "self");
  addImplementationFlags(command, "touched");
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(settle(outcome, (flags: ServeFlags) => serve(flags, session)));
}

async function serve(flags: ServeFlags, session: Session): Promise<number> {
  const start = starterOf(flags.impl, flags, session);
  const input = process.stdin;
  session.signal.addEventListener("abort", () => {
    input.destroy();
  });
  try {
    const { exitCode, message } = await serveProtocol({
      input,
      output: session.output,
      makeImplementation: start,
    });
    if (message !== null) session.note(`unified-trace: ${visible(message)}`);
    return exitCode;
  } catch (thrown) {
    // A destroyed input ends the loop with an error of its own.
    if (session.interruptCode !== null) return session.interruptCode;
    throw thrown;
  }
}
