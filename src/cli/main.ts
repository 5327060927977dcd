// The command line: parses, runs one command, turns whatever happens into an exit code. Never calls process.exit:
// output would be cut.
import { CommanderError } from "commander";
import { UsageError } from "../base/errors.js";
import { EXIT, gitBisectExit } from "../base/exit-codes.js";
import { nearestWord } from "../base/nearest.js";
import { reportFailure } from "./failure.js";
import { packageVersion } from "./place.js";
import { buildProgram, COMMAND_NAMES } from "./program.js";
import { forgetRevision, readRevision, stopReading } from "./revision.js";
import { beforeSeparator, Session } from "./session.js";

// Commands that name the revision of this checkout.
const NAMING_COMMANDS: ReadonlySet<string> = new Set([
  "record",
  "compare",
  "replay",
  "run",
  "shrink",
  "bisect",
  "anonymize",
  "bundle",
  "metamorph",
  "serve",
  "conformance",
  "doctor",
]);

/**
 * Runs the command line.
 * @param argv - as `process.argv`: the executable, the script, then the words
 * @returns the exit code; the caller sets `process.exitCode`
 * @public
 */
export async function main(argv: readonly string[]): Promise<number> {
  const words = argv.slice(2);
  const session = await Session.start(words);
  session.signal.addEventListener("abort", stopReading);
  let exitCode: number;
  try {
    exitCode = await runWords(words, session);
  } catch (thrown) {
    exitCode = reportFailure(thrown, session);
  }
  forgetRevision();
  await session.close(); // only now is it known whether the answer could be written
  const code = session.interruptCode ?? exitCode;
  return isGitBisect(words) ? gitBisectExit(code) : code;
}

// Looked for before the flags are parsed, because wrong ones have to stop the bisection too.
function isGitBisect(words: readonly string[]): boolean {
  return words[0] === "compare" && beforeSeparator(words).includes("--bisect");
}

async function runWords(words: readonly string[], session: Session): Promise<number> {
  if (words[0] === "--version" || words[0] === "-V") {
    session.print(await versionLine());
    return EXIT.ok;
  }
  if (words[0] === "help") refuseUnknownCommand(words[1]);
  // Git answers while the command's code is loaded.
  if (NAMING_COMMANDS.has(words[0] ?? "")) void readRevision();
  const outcome = { exitCode: EXIT.ok as number };
  const help: string[] = [];
  const program = await buildProgram(words, session, outcome, help);
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return EXIT.ok;
    if (thrown.code !== "commander.help") throw asUsageError(thrown);
    // No command at all: the help is the message, and nothing was done.
    session.note(help.join("").trimEnd());
    return EXIT.usage;
  }
  return outcome.exitCode;
}

// Commander answers `help` of an unknown command with the help of all.
function refuseUnknownCommand(name: string | undefined): void {
  if (name === undefined || name === "help" || name.startsWith("-") || COMMAND_NAMES.includes(name))
    return;
  const nearest = nearestWord(name, COMMAND_NAMES);
  const meant =
    nearest === null ? `one of ${COMMAND_NAMES.join(", ")}` : `did you mean ${nearest}?`;
  throw new UsageError(`unknown command '${name}': ${meant} (see --help)`);
}

/** Commander says `error: …` and puts its suggestion on a second line; here it is one line. */
function asUsageError(error: CommanderError): UsageError {
  const text = error.message.replace(/^error: /, "").replace(/\s*\n\s*/g, " ");
  return new UsageError(`${text} (see --help)`);
}

async function versionLine(): Promise<string> {
  const { revision, dirty } = await readRevision();
  const commit = revision === null ? "revision unknown" : `revision ${revision}`;
  return `unified-trace ${packageVersion()} (${commit}${dirty === true ? ", with local changes" : ""})`;
}
