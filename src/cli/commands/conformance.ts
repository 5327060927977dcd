// `conformance`: the protocol's own test of an implementation.
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import type { Command } from "commander";
import { openAdapter } from "../../adapter/open-adapter.js";
import { transportTo } from "../../adapter/open-transport.js";
import { CandidateError, InputError } from "../../base/errors.js";
import { EXIT } from "../../base/exit-codes.js";
import type { Domain, RunConfig } from "../../base/operations.js";
import { conformanceJson, conformanceText } from "../../report/conformance-text.js";
import { testConformance } from "../../tools/conformance/conformance.js";
import { addSharedFlags, afterHelp, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { oneOf, seconds, wholeNumber } from "../flags.js";
import { packageVersion } from "../place.js";
import { readRevision } from "../revision.js";
import type { Session } from "../session.js";

interface ConformanceFlags {
  readonly domain?: Domain;
  readonly config?: string;
  readonly ops?: number;
  readonly rate?: boolean;
  readonly timeout?: number; // seconds
}

const HELP = `
C is self, reference, checkout:PATH, module:FILE or cmd:COMMAND. Each check has a number, a verdict
and, where it fails, one line that names what is wrong, what was sent and what came: an answer that
is skipped, given twice or wrongly numbered, garbage, a crash, a hang, a refusal that changes
something, a question that does, a digest that lies.

Exit code 0: every check passed or was skipped; 1: one failed; 5: no start, or no proper hello.

Examples:
  unified-trace conformance 'cmd:python3 examples/kits/python/adapter.py'
  unified-trace conformance module:./mine.mjs --domain kv --config mine.json
  unified-trace conformance cmd:./adapter --ops 1000000 --rate
  unified-trace conformance cmd:./adapter --json`;

/** @internal */
export function addConformance(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Test whether an implementation speaks the adapter protocol as it should.")
    .option(
      "--domain <domain>",
      "only this one: heap or kv (default: all that its hello lists)",
      oneOf<Domain>("--domain", ["heap", "kv"]),
    )
    .option("--config <file>", "configuration of the runs, a JSON object")
    .option(
      "--ops <n>",
      "a longer run of so many operations at full window as well, twice",
      wholeNumber("--ops", 1, 100_000_000),
    )
    .option("--rate", "measure operations a second at window 256 and at window 1")
    .option(
      "--timeout <seconds>",
      "longest wait for an answer before it counts as a hang (default: 5)",
      seconds("--timeout"),
    )
    .option("--json", "print one JSON document");
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, (implementation: string, flags: ConformanceFlags) =>
        conformance(implementation, flags, session),
      ),
    );
}

async function conformance(
  spec: string,
  flags: ConformanceFlags,
  session: Session,
): Promise<number> {
  const { domain, config, ops, timeout } = flags;
  const options = {
    ...(await readRevision()),
    toolVersion: packageVersion(),
    ...(timeout === undefined ? {} : { timeoutSeconds: timeout }),
  };
  const result = await named(
    spec,
    testConformance({
      make: await transportTo(spec, options),
      waits: { answerMs: (timeout ?? 5) * 1000, startMs: 30_000 },
      toolVersion: packageVersion(),
      ...(domain === undefined ? {} : { domain }),
      ...(config === undefined ? {} : { config: readConfig(config) }),
      ...(ops === undefined ? {} : { operations: ops }),
      ...(flags.rate === true
        ? {
            rate: {
              start: (windowSize: number) => openAdapter(spec, { ...options, windowSize }),
              now: () => performance.now(),
            },
          }
        : {}),
      signal: session.signal,
      onCheck: (number, name) => {
        session.progress.show(`check ${number}: ${name}`);
      },
    }),
  );
  session.progress.clear();
  if (session.isJson) session.printJson(conformanceJson(result, spec));
  else session.print(conformanceText(result, spec, session.palette));
  if (result.verdict === "passed") return EXIT.ok;
  return result.hasHello ? EXIT.finding : EXIT.candidate;
}

// The test itself does not know what its subject is called.
async function named<T>(spec: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof CandidateError)) throw error;
    throw new CandidateError(error.code, `${spec}: ${error.message}`, error.place, error.cause);
  }
}

// Domain heap takes any object, so that only the implementation can say what is wrong with it.
function readConfig(file: string): RunConfig {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const code = error instanceof SyntaxError ? "config" : "input_unreadable";
    const message = error instanceof Error ? error.message : String(error);
    throw new InputError(code, message, { file });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new InputError("config", "expected a JSON object", { file });
  return value as RunConfig;
}
