// The line that shows a divergence again, and what it depends on.
import { revisionName } from "../report/words.js";
import type { CompareResult, SideInfo } from "../tools/outcome.js";
import type { BuildFlags } from "./building.js";
import { shellWord } from "./flags.js";

interface ReproducedFlags extends BuildFlags {
  readonly keepGoing?: boolean;
  readonly timeout?: number; // seconds
  readonly skipUnsupported?: boolean;
}

/** Where the answers of one side come from. @internal */
export interface CandidateSide {
  readonly kind: "file" | "implementation";
  readonly name: string;
}

/** What a reproduction depends on, behind each command: the trace and the two revisions. @internal */
export function withProvenance(result: CompareResult, hash: string | null): CompareResult {
  const revision = (side: SideInfo | null): string =>
    side === null ? "unknown" : revisionName(side.revision, side.dirty).replace("revision ", "");
  const trace = hash === null ? "" : `; trace ${hash}`;
  const revisions = `; base ${revision(result.base)}, candidate ${revision(result.candidate)}`;
  const runs = result.runs.map((run) =>
    run.reproduce === null ? run : { ...run, reproduce: run.reproduce + trace + revisions },
  );
  return { ...result, runs };
}

/** The command that shows the divergence again; null where an input cannot be read again. @internal */
export function reproduceLine(
  base: string,
  candidate: CandidateSide,
  flags: ReproducedFlags,
  run: string,
  n: number,
): string | null {
  if ([base, candidate.name].some((spec) => /^(\w+:)?-$/.test(spec))) return null;
  const sides =
    candidate.kind === "file"
      ? [shellWord(base), shellWord(candidate.name)]
      : ["--trace", shellWord(base), "--candidate", shellWord(candidate.name)];
  const words = ["unified-trace", "compare", ...sides, "--run", shellWord(run)];
  if (flags.keepGoing === true) words.push("--keep-going");
  if (flags.timeout !== undefined) words.push("--timeout", String(flags.timeout));
  for (const command of flags.build ?? []) words.push("--build", shellWord(command));
  if (flags.skipUnsupported === true) words.push("--skip-unsupported");
  return `${words.join(" ")}   # operation ${n}`;
}
