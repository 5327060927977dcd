// What `anonymize` prints.
import type { AnonymizeResult } from "../tools/anonymize/anonymize.js";
import type { Palette } from "./palette.js";
import { counted, grouped, visible } from "./words.js";

/** @public */
export type AnonymizeVerdict = "anonymized" | "incomplete" | "failed";

/** What an implementation's answers and the lost parts come to. @public */
export function anonymizeVerdict(result: AnonymizeResult): AnonymizeVerdict {
  if (result.broken !== null) return "failed";
  const isWhole = result.undigested === 0 && result.lostStates === 0 && !result.isPartial;
  return isWhole ? "anonymized" : "incomplete";
}

/** The last line is the summary. @public */
export function anonymizeText(
  result: AnonymizeResult,
  names: { readonly out: string; readonly implementation: string | null },
  palette: Palette,
): string {
  const { runs, operations, hashes, broken } = result;
  const asked = visible(names.implementation ?? "");
  if (broken !== null) {
    const where = `operation ${grouped(broken.n)} (${visible(broken.op)}) of run ${visible(broken.run)}`;
    return palette.bad(
      `failed: an answer of ${asked} depends on a name: ${where}; nothing was written`,
    );
  }
  const unproved = runs - result.proved;
  const lines = [
    ...(result.proved === 0
      ? []
      : [
          `${counted(result.proved, "run")} replayed on ${asked} under both sets of names: the same answers, names aside`,
        ]),
    ...(unproved === 0
      ? []
      : [
          `${counted(unproved, "run")} not replayed: ${asked === "" ? "--no-replay" : `${asked} does not answer the domain`}`,
        ]),
    ...(result.differing === 0
      ? []
      : [
          `${counted(result.differing, "operation")} recorded with another answer than that of ${asked}, which stays so`,
        ]),
    ...(result.undigested === 0
      ? []
      : [
          palette.warn(
            `${counted(result.undigested, "run")} without digests: they hash names, and nothing tells what they would be`,
          ),
        ]),
    ...(result.lostStates === 0
      ? []
      : [
          palette.warn(
            `${counted(result.lostStates, "state")} left out: of another form than this project's`,
          ),
        ]),
    ...(result.isPartial ? [palette.warn("part of the trace was not read")] : []),
  ];
  const numbers = `${counted(runs, "run")}, ${counted(operations, "operation")}, ${counted(hashes, "hash of keys", "hashes of keys")}`;
  const out = names.out === "-" ? "standard output" : visible(names.out);
  const verdict = anonymizeVerdict(result);
  lines.push(
    verdict === "anonymized"
      ? palette.good(`anonymized ${out}: ${numbers}`)
      : palette.warn(`incomplete: ${out}: ${numbers}`),
  );
  return lines.join("\n");
}

/** The document of `anonymize`. @public */
export function anonymizeJson(result: AnonymizeResult, out: string): unknown {
  const { runs, operations, hashes, proved, differing, undigested, lostStates, broken } = result;
  return {
    command: "anonymize",
    verdict: anonymizeVerdict(result),
    out: broken === null ? out : null,
    ...{ runs, operations, hashes, proved, differing, undigested },
    lost_states: lostStates,
    partial: result.isPartial,
    broken,
  };
}
