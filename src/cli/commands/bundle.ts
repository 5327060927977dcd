// `bundle`: what somebody else needs to look at a divergence, in one file.
import { randomBytes } from "node:crypto";
import process from "node:process";
import type { Command } from "commander";
import { InputError, UsageError } from "../../base/errors.js";
import { EXIT } from "../../base/exit-codes.js";
import { anonymizeText, anonymizeVerdict } from "../../report/anonymize-text.js";
import { bundleJson, bundleText } from "../../report/bundle-report.js";
import type { BundleVerdict } from "../../report/bundle-report.js";
import { comparisonFromJson } from "../../report/from-json.js";
import { compareJson } from "../../report/json.js";
import { reportWithoutFolders } from "../../tools/bundle-words.js";
import { writeAnonymousBundle } from "../../tools/anonymize/anonymous-bundle.js";
import type { AnonymousBundleOptions } from "../../tools/anonymize/anonymous-bundle.js";
import { writeBundle } from "../../tools/bundle.js";
import type { BundleResult } from "../../tools/bundle.js";
import type { CompareResult } from "../../tools/outcome.js";
import { readJsonFile } from "../../workload/json-file.js";
import { readInputs } from "../../workload/read-inputs.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { addImplementationFlags, IMPLEMENTATION_FORMS, starterOf } from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { packageVersion } from "../place.js";
import { readRevision } from "../revision.js";
import { isSameFile } from "../same-file.js";
import type { Session } from "../session.js";
import { traceHash } from "../trace-hash.js";

interface BundleFlags extends ImplementationFlags {
  readonly anonymize?: boolean;
  readonly salt?: string;
  readonly impl: string;
  readonly trace?: string;
  readonly report?: string;
  readonly out?: string;
  readonly all?: boolean;
}

const HELP = `
A bundle is a trace itself: compare, replay, audit, validate, stats and shrink read it as it stands.
With a report of compare it keeps the runs that the report finds fault with, or all of them (--all,
or where nothing was found). Its first line carries, under x_bundle, the report with both sides and
their revisions, the hash of the whole trace, and the versions of the tool, of Node and of the
platform. Folders of this machine are taken out of what names files; no host, no user and no
variable of the environment is written. Equal inputs give equal bytes.

--anonymize puts the trace and the report into other words, as the command anonymize does; then
nothing of the report but its numbers, kinds and renamed fields is kept: no message, no file, no
command of a candidate.

Examples:
  unified-trace bundle --trace base.jsonl --report saved.json --out case.jsonl.gz
  unified-trace bundle --trace base.jsonl --report saved.json --anonymize --out case.jsonl.gz
  unified-trace bundle --trace base.jsonl --out whole.jsonl.gz
  unified-trace compare --trace case.jsonl.gz --candidate self`;

/** @internal */
export function addBundle(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Put a trace, a report and what both were made with into one file to hand on.")
    .option("--trace <file>", "the base trace (required)")
    .option("--report <file>", "a saved report (--json) of compare about this trace")
    .option("--out <file>", "where it goes: .jsonl or .jsonl.gz (required)")
    .option("--all", "keep every run, not only those that the report finds fault with")
    .option("--anonymize", "put trace and report into other words")
    .option("--salt <text>", "what names are made from (default: drawn, written nowhere)")
    .option("--impl <implementation>", `asked for --anonymize: ${IMPLEMENTATION_FORMS}`, "self")
    .option("--json", "print one JSON document");
  addImplementationFlags(command, "touched");
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(settle(outcome, (flags: BundleFlags) => bundle(flags, session)));
}

async function bundle(flags: BundleFlags, session: Session): Promise<number> {
  const { trace, out, report } = flags;
  if (trace === undefined) throw new UsageError("bundle needs --trace FILE");
  if (out === undefined) throw new UsageError("bundle needs --out FILE");
  if (trace === "-" || out === "-") {
    throw new UsageError("bundle reads a file and writes a file, not standard input or output");
  }
  if (!/\.jsonl(\.gz)?$/.test(out)) {
    throw new UsageError(
      `--out ${out}: a bundle is a trace, so its name ends in .jsonl or .jsonl.gz`,
    );
  }
  if (isSameFile(trace, out)) throw new UsageError(`--out ${out} is the trace itself`);
  const hash = traceHash(trace);
  const saved = report === undefined ? null : await readSaved(report, trace, hash, session);
  const { revision, dirty } = await readRevision();
  const about = {
    version: 1,
    tool: { name: "unified-trace", version: packageVersion(), revision, dirty },
    environment: {
      node: process.versions.node,
      platform: process.platform,
      architecture: process.arch,
    },
  };
  const shared = {
    trace,
    out,
    runs: saved === null || flags.all === true ? null : faultyRuns(saved),
    reader: { signal: session.signal },
    onProgress: progressOf(session, "bundled"),
  };
  if (flags.anonymize === true) return anonymous(shared, about, saved, flags, session);
  if (flags.salt !== undefined) throw new UsageError("--salt goes with --anonymize");
  const result = await writeBundle({
    ...shared,
    about: {
      ...about,
      trace: hash, // of the whole
      report: saved === null ? null : reportWithoutFolders(compareJson(saved, hash)),
    },
  });
  return tell({ ...result, verdict: "bundled" }, out, session);
}

/** The hash of the trace would tell which one it was. */
async function anonymous(
  shared: Omit<AnonymousBundleOptions, "about" | "results" | "salt" | "implementation">,
  about: object,
  saved: readonly CompareResult[] | null,
  flags: BundleFlags,
  session: Session,
): Promise<number> {
  const { impl } = flags;
  const { bundle, result } = await writeAnonymousBundle({
    ...shared,
    signal: session.signal,
    results: saved,
    salt: flags.salt ?? randomBytes(32).toString("hex"),
    implementation: { spec: impl, start: starterOf(impl, flags, session) },
    about: (results) => ({
      ...about,
      trace: null,
      report: results === null ? null : compareJson(results, null),
    }),
  });
  const verdict = anonymizeVerdict(result);
  if (!session.isJson) {
    const names = { out: shared.out, implementation: impl };
    session.print(anonymizeText(result, names, session.palette));
    if (verdict === "failed") return EXIT.finding;
  }
  return tell(
    { ...bundle, verdict: verdict === "anonymized" ? "bundled" : verdict },
    shared.out,
    session,
  );
}

const VERDICT_EXITS: Readonly<Record<BundleVerdict, number>> = {
  bundled: EXIT.ok,
  failed: EXIT.finding,
  incomplete: EXIT.incomplete,
};

function tell(
  result: BundleResult & { readonly verdict: BundleVerdict },
  out: string,
  session: Session,
): number {
  if (session.isJson) session.printJson(bundleJson(result, out));
  else session.print(bundleText(result, out));
  return VERDICT_EXITS[result.verdict];
}

async function readSaved(
  file: string,
  trace: string,
  hash: string | null,
  session: Session,
): Promise<readonly CompareResult[]> {
  const source = readJsonFile(file, await readInputs([file], session.signal));
  const { results, trace: reported } = comparisonFromJson(source);
  if (hash !== null && reported !== null && hash !== reported) {
    const message = `is about another trace than ${trace}: ${reported}, not ${hash}`;
    throw new InputError("input_format", message, { file });
  }
  return results;
}

/** The runs in which any candidate differs; null where there is none: all are of interest. */
function faultyRuns(results: readonly CompareResult[]): ReadonlySet<string> | null {
  const found = results
    .flatMap(({ runs }) => runs)
    .filter(({ divergence, unstable }) => divergence !== null || unstable !== null);
  return found.length === 0 ? null : new Set(found.map(({ run }) => run));
}
