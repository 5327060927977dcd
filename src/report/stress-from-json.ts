// A saved document of `stress` back to what was found, so that it can be printed later in any form.
import { InputError } from "../base/errors.js";
import type { Signature } from "../tools/findings.js";
import { noStressCounts } from "../tools/stress/run.js";
import type { StressFinding, StressResult } from "../tools/stress/stress.js";
import { STRESS_REPORT } from "../trace/report-specs.js";
import type { JsonFile } from "../workload/json-file.js";
import { coverageTablesFromJson } from "./coverage-json.js";
import type { CoverageTableDocument } from "./coverage-json.js";
import { checked } from "./from-json.js";
import type { Reproduce } from "./stress-text.js";

/** A saved stress run. @public */
export interface SavedStress {
  readonly result: StressResult;
  readonly reproduce: Reproduce;
}

interface FindingDocument extends Signature {
  readonly n: number;
  readonly message: string;
  readonly actors: readonly string[];
  readonly bytes: readonly [number, number] | null;
  readonly band: string | null;
  readonly run: string;
  readonly profile: string | null;
  readonly seed: number;
  readonly case: string | null;
  readonly reproduce: string | null;
}

interface StressDocument {
  readonly verdict: StressResult["verdict"] | "not_repeated";
  readonly runs: number;
  readonly operations: number;
  readonly resumed: number;
  readonly cases: number;
  readonly scenarios: number;
  readonly left_out: number;
  readonly findings: readonly FindingDocument[];
  readonly counts: Readonly<Record<string, number>>;
  readonly coverage: readonly CoverageTableDocument[];
}

/**
 * The document of `stress --json`. Throws `InputError` that names file, line, path and what was expected; the error itself
 * where the document is that of a command that failed. @public
 */
export function stressFromJson(source: JsonFile): SavedStress {
  const document = checked<StressDocument>(source, "stress", STRESS_REPORT);
  const { verdict, runs, operations, resumed, cases, scenarios, left_out: leftOut } = document;
  if (verdict === "not_repeated") {
    const message = "tells of one case that no longer fails: there is nothing to print";
    const place = { ...source.placeOf("/verdict"), path: "/verdict" };
    throw new InputError("input_format", message, { file: source.file, ...place });
  }
  const reproduced = new Map<StressFinding, string | null>();
  for (const found of document.findings) reproduced.set(findingOf(found), found.reproduce);
  const result: StressResult = {
    ...{ verdict, runs, resumed, cases, scenarios, leftOut },
    findings: [...reproduced.keys()],
    counts: { ...noStressCounts(), ...document.counts, operations },
    coverage: coverageTablesFromJson(document.coverage),
  };
  return { result, reproduce: (finding) => reproduced.get(finding) ?? null };
}

function findingOf(found: FindingDocument): StressFinding {
  const { check, op, component, n, message, actors, bytes, band } = found;
  return {
    ...{ signature: { check, op, component }, n, message },
    ...(actors.length === 0 ? {} : { actors }),
    ...(bytes === null ? {} : { bytes }),
    ...(band === null ? {} : { band }),
    ...{ run: found.run, profile: found.profile, seed: found.seed, case: found.case },
  };
}
