// Saved cases: a failing run as a scenario file, with what the harness must know to run it again.
import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import type { DirectConfig, KvOperation } from "../../base/operations.js";
import { isModelConfig } from "../../kv/build.js";
import { caseFiles, makeFolder, removeFile, writeWhole } from "../../workload/case-files.js";
import { readJsonFile } from "../../workload/json-file.js";
import { loadScenarios } from "../../workload/scenario-file.js";
import type { Finding, Signature } from "../findings.js";
import type { ExecutedOperation } from "./seed.js";

/** Cases kept of one signature: the shorter, then the older ones. */
const KEPT_OF_A_SIGNATURE = 3;
const FOLDER = "cases";

/** A failing run. @public */
export interface FoundCase {
  readonly run: string;
  readonly seed: number;
  readonly profile: string;
  readonly config: DirectConfig;
  readonly ops: readonly ExecutedOperation[];
  readonly finding: Finding;
}

/** A case as it is run again. @public */
export interface SavedCase {
  readonly file: string;
  readonly name: string;
  readonly config: DirectConfig;
  readonly ops: readonly KvOperation[];
  /** By place in `ops`: the rule that an operation breaks on purpose, null for a legal one, undefined: not known. */
  readonly rules: readonly (string | null | undefined)[];
  readonly seed: number; // of the completion schedules; 0 where the file does not say
  readonly run: string; // the seed's run that it was found in
  readonly profile: string;
  readonly signature: Signature | null; // null: any finding is the case's
}

/** The name of a case's scenario: what was found, and where. */
function nameOf({ run, finding }: FoundCase): string {
  const { check, op, component } = finding.signature;
  const parts = [check, op, component ?? "run", run];
  return parts.join("-").replaceAll(/[^A-Za-z0-9._-]+/g, "_");
}

/** A scenario file of the operations up to the finding, in the order in which they were executed. */
function documentOf(found: FoundCase): string {
  const { run, seed, profile, config, finding } = found;
  const { check, op, component } = finding.signature;
  const head = {
    name: nameOf(found),
    story: `${check} in operation ${finding.n} (${op}) of ${run}, profile ${profile}. ${finding.message}.`,
    tags: ["stress", check],
    found: {
      by: "stress",
      check,
      op,
      component,
      n: finding.n,
      message: finding.message,
      settings: { seed, run, profile },
    },
    config,
  };
  const ops = found.ops.slice(0, finding.n + 1).map(({ operation, err, rule }) =>
    JSON.stringify({
      ...operation,
      ...(err === null ? {} : { expect: { err } }),
      ...(rule === null ? {} : { x_breaks: rule }),
    }),
  );
  const opening = JSON.stringify(head, null, 2).slice(0, -2);
  return `${opening},\n  "ops": [\n    ${ops.join(",\n    ")}\n  ]\n}\n`;
}

/** Makes a folder and the one of its cases. Throws `EnvironmentError`. @internal */
export function openFolder(out: string): void {
  makeFolder(join(out, FOLDER));
}

/** Saves a case in the folder; returns its file. @internal */
export function saveCase(out: string, found: FoundCase): string {
  const path = join(out, FOLDER, `${nameOf(found)}.json`);
  writeCaseTo(path, found);
  return path;
}
/** Writes a case under a name. @internal */
export function writeCaseTo(path: string, found: FoundCase): void {
  writeWhole(path, documentOf(found));
}

/** Drops cases beyond the few kept of each signature. `cases` in the order of their runs; returns the files kept. @internal */
export function pruneCases(
  cases: readonly { readonly file: string; readonly signature: Signature; readonly n: number }[],
): ReadonlySet<string> {
  const kept = new Set<string>();
  const bySignature = new Map<string, { readonly file: string; readonly n: number }[]>();
  for (const { file, signature, n } of cases) {
    const key = JSON.stringify([signature.check, signature.op, signature.component]);
    const group = bySignature.get(key);
    if (group === undefined) bySignature.set(key, [{ file, n }]);
    else group.push({ file, n });
  }
  for (const group of bySignature.values()) {
    const shortest = [...group].sort((left, right) => left.n - right.n); // stable: older ones first
    for (const { file } of shortest.slice(0, KEPT_OF_A_SIGNATURE)) kept.add(file);
    for (const { file } of shortest.slice(KEPT_OF_A_SIGNATURE)) removeFile(file);
  }
  return kept;
}

/** The cases of a folder, in the order of their names. @internal */
export function savedCases(out: string): readonly string[] {
  return caseFiles(join(out, FOLDER), "").map(({ path }) => path);
}

/** Reads a case, or any scenario on its first configuration. Throws `InputError` with file and place. @public */
export function loadCase(file: string): SavedCase {
  const [scenario] = loadScenarios([file]);
  if (scenario === undefined) throw new InputError("scenario", "holds no scenario", { file });
  if (scenario.invalid !== null) {
    const { index, message } = scenario.invalid;
    throw new InputError("scenario", `operation ${index}: ${message}`, { file });
  }
  const config = scenario.configs[0]![1]; // a scenario has a configuration
  if (isModelConfig(config))
    throw new InputError("scenario", "a case needs a configuration of the direct form", { file });
  const { found } = scenario;
  const { value } = readJsonFile(file);
  const { ops: written } = value as CaseFile; // just read as a scenario
  const isBooted = written[0]?.op === "boot";
  const rules = written.map(
    ({ x_breaks, expect }) => x_breaks ?? (expect?.err === undefined ? null : undefined),
  );
  return {
    file,
    name: scenario.name,
    config,
    ops: scenario.ops.map(({ operation }) => operation),
    rules: isBooted ? rules : [null, ...rules],
    seed: numberOf(found?.settings?.["seed"]),
    run: textOf(found?.settings?.["run"], scenario.name),
    profile: textOf(found?.settings?.["profile"], ""),
    signature:
      found?.by === "stress"
        ? { check: found.check, op: found.op, component: found.component ?? null }
        : null,
  };
}

function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
function textOf(value: unknown, instead: string): string {
  return typeof value === "string" ? value : instead;
}

interface CaseFile {
  readonly ops: readonly {
    readonly op: string;
    readonly x_breaks?: string;
    readonly expect?: { readonly err?: unknown };
  }[];
}
