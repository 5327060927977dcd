// A shrunk case as a scenario file: what each operation must answer, and in `found` the failure and who judges it.
import { basename, join } from "node:path";
import { UsageError } from "../../base/errors.js";
import type { KvOperation } from "../../base/operations.js";
import { openSink } from "../../trace/writer-sink.js";
import { caseFiles, fileKind } from "../../workload/case-files.js";
import type { CasePath } from "../../workload/case-files.js";
import { loadScenarios } from "../../workload/scenario.js";
import type { FoundFailure, Scenario } from "../../workload/scenario.js";
import { isSameFailure } from "../findings.js";
import type { Signature } from "../findings.js";
import { caseDigest, compareCases } from "./case.js";
import type { ShrinkCase } from "./case.js";
import type { Expected } from "./judge.js";

/** @public */
export interface CaseFile extends Expected {
  readonly name: string;
  readonly story: string;
  readonly case: ShrinkCase;
  readonly found: FoundFailure;
}

const KEPT = 3; // cases of one signature in a folder

/** The file's text: one operation a line. @public */
export function caseText(file: CaseFile): string {
  const { name, story, found, expects } = file;
  const ops = file.case.ops.map((operation, n) => withExpectation(operation, expects[n] ?? null));
  // every run begins with boot, said or not
  const shown = (expects[0] ?? null) === null && ops.length > 1 ? ops.slice(1) : ops;
  const members = [
    ["name", name],
    ["story", story],
    ["tags", ["shrunk"]],
    ["config", file.case.config],
  ].map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  members.push(`  "ops": [\n${shown.map((op) => `    ${JSON.stringify(op)}`).join(",\n")}\n  ]`);
  if (Object.keys(file.finally).length > 0) {
    members.push(`  "finally": ${JSON.stringify(file.finally)}`);
  }
  members.push(`  "found": ${JSON.stringify(found)}`);
  return `{\n${members.join(",\n")}\n}\n`;
}

function withExpectation(operation: KvOperation, expect: unknown): object {
  const { op, args } = operation;
  return { op, args, ...(expect === null ? {} : { expect }) };
}

/** Writes a case beside its name and renames it. Throws `EnvironmentError`. @public */
export function writeCase(path: string, file: CaseFile): void {
  const sink = openSink(path, 1);
  sink.write(Buffer.from(caseText(file)));
  sink.commit();
}

/** The name of a scenario in a file of this path. @internal */
export function caseName(path: string): string {
  const bare = basename(path).replace(/\.json$/, "");
  const name = bare.replaceAll(/[^A-Za-z0-9._-]/g, "_").replace(/^[^A-Za-z0-9]+/, "");
  return name === "" ? "case" : name;
}

/** The case that a scenario is, on its only configuration of the direct form; null where it has none. @internal */
export function caseOfScenario(scenario: Scenario): ShrinkCase | null {
  const [only, more] = scenario.configs;
  if (only === undefined || more !== undefined || "model" in only[1]) return null;
  return { config: only[1], ops: scenario.ops.map(({ operation }) => operation) };
}

/**
 * The case that an earlier shrink left under this name; null where there is none. Throws `UsageError` for anything else
 * there: no case of another failure and no file of somebody's own is replaced. @public
 */
export function earlierCase(path: string, signature: Signature): ShrinkCase | null {
  if (fileKind(path) === null) return null;
  const stands = `--out ${path}: there is a file of this name that`;
  const scenario = readCase(path);
  const value = scenario === null ? null : caseOfScenario(scenario);
  if (scenario === null || value === null) {
    throw new UsageError(`${stands} is no shrunk case; name another file`);
  }
  const { found } = scenario;
  if (found === null || !isSameFailure(signatureOf(found), signature)) {
    throw new UsageError(`${stands} holds another failure; name another file`);
  }
  return value;
}

/** Whether a case of this failure may take the name: nothing stands there, or such a case. @internal */
export function mayReplace(path: string, signature: Signature): boolean {
  try {
    earlierCase(path, signature);
    return true;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return false;
  }
}

/** The shrunk case in a file, null where it is none. */
function readCase(path: string): Scenario | null {
  try {
    const [scenario] = loadScenarios([path]);
    return (scenario?.found ?? null) === null ? null : (scenario ?? null);
  } catch {
    return null;
  }
}

/** @internal */
export function signatureOf({ check, op, component }: FoundFailure): Signature {
  return { check, op, component: component ?? null };
}

/**
 * The file for a case in a folder: a few for each signature, the smaller and then the older first. Null where those
 * that are there are no worse. @public
 */
export function placeInFolder(
  folder: string,
  signature: Signature,
  value: ShrinkCase,
): string | null {
  const { check, op, component } = signature;
  const stem = caseName([check, op, ...(component === null ? [] : [component])].join("-"));
  const own = join(folder, `${stem}-${caseDigest(value).slice(0, 8)}.json`);
  if (fileKind(own) !== null) return own;
  const known = caseFiles(folder, `${stem}-`).flatMap((file) => knownCase(file, signature));
  if (known.length < KEPT) return own;
  const worse = known
    .filter((other) => compareCases(value, other.case) < 0)
    .sort((left, right) => compareCases(right.case, left.case) || right.at - left.at);
  return worse[0]?.path ?? null;
}

function knownCase(
  { path, at }: CasePath,
  signature: Signature,
): (CasePath & { readonly case: ShrinkCase })[] {
  const scenario = readCase(path);
  if (scenario === null || scenario.found === null) return [];
  const value = caseOfScenario(scenario);
  const isSame = isSameFailure(signatureOf(scenario.found), signature);
  return value !== null && isSame ? [{ path, at, case: value }] : [];
}
