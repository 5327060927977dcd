// Scenario files: read, checked against the format and the operation table, their configurations found. Whatever is
// wrong is named with file, line and the nearest known word before anything runs.
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { byCodeUnit } from "../base/canonical-json.js";
import { InputError } from "../base/errors.js";
import type { KvOperation, OperationName, RunConfig } from "../base/operations.js";
import { unreadable } from "../trace/reader-input.js";
import { inspect, inspectContext } from "../trace/inspect.js";
import { suggestion } from "../trace/messages.js";
import { findOperation, operationNames } from "../trace/operation-table.js";
import { FOUND } from "../trace/scenario-spec.js";
import type { OperationSpec } from "../trace/operation-spec.js";
import { runWords } from "../trace/run-words.js";
import type { RunWords } from "../trace/run-words.js";
import type { ConfigLibrary } from "./configs.js";
import { CONFIG_FILE_NAME, configFormProblem, loadConfigs } from "./configs.js";
import type { JsonFile, ReadInputs } from "./json-file.js";
import { readJsonFile } from "./json-file.js";
import { expectationProblem } from "./scenario-expect.js";
import type { Expectation } from "./scenario-match.js";
import { firstUnopenedName } from "./scenario-names.js";
import { isObject } from "./spec-names.js";

/** @public */
export interface ScenarioOperation {
  readonly operation: KvOperation;
  readonly expect: Expectation | null; // null: the operation must be `ok`
}
/** A scenario with everything it names found. @public */
export interface Scenario {
  readonly file: string;
  readonly name: string;
  readonly story: string;
  readonly tags: readonly string[];
  readonly configs: readonly (readonly [name: string | null, config: RunConfig])[]; // name null: its own
  readonly ops: readonly ScenarioOperation[]; // boot first
  readonly finally: ScenarioEnd;
  /** Why the scenario is *invalid* (a name nothing opens), null where it is not; `index` into `ops`. */
  readonly invalid: { readonly index: number; readonly message: string } | null;
  readonly found: FoundFailure | null; // of a shrunk case
}
/** The failure that a shrunk case shows. @public */
export interface FoundFailure {
  readonly by: string; // what judges it: `divergence`, `scenario`, `stress`
  readonly check: string;
  readonly op: OperationName;
  readonly component?: string | null;
  readonly n: number; // operation, boot is 0
  readonly message: string;
  readonly base?: string; // the implementation that answers right
  readonly candidate?: string;
  readonly settings?: Readonly<Record<string, unknown>>; // further ones of the judge
}
/** What holds after the operations. @public */
export interface ScenarioEnd {
  readonly quiescent?: boolean; // true: nothing pending, in flight or open
  readonly ledger?: "empty";
  readonly drain?: boolean; // true: end and free everything, find the boot state
}

const KEYS = ["name", "story", "tags", "config", "configs", "ops", "finally", "found"] as const;

/**
 * Files and folders (their `*.json` but `configs.json`, in name order). Named configurations are those of the
 * `configs.json` beside the file, else the project's. Throws `InputError` with file and place for what is wrong, for
 * an empty folder and for a name used twice. `inputs`: what was read ahead of pipes and devices. @public
 */
export function loadScenarios(paths: readonly string[], inputs?: ReadInputs): readonly Scenario[] {
  const libraries = new Map<string, ConfigLibrary>();
  const scenarios: Scenario[] = [];
  const files = new Map<string, string>(); // scenario name → file
  for (const file of paths.flatMap(scenarioFiles)) {
    const scenario = loadScenario(file, libraries, inputs);
    const other = files.get(scenario.name);
    if (other !== undefined && other !== file) {
      throw new InputError("scenario", `the name "${scenario.name}" is also that of ${other}`, {
        file,
      });
    }
    if (other === file) continue;
    files.set(scenario.name, file);
    scenarios.push(scenario);
  }
  if (scenarios.length === 0)
    throw new InputError("scenario", "no scenario selected: give a file or a folder");
  return scenarios;
}

function scenarioFiles(path: string): string[] {
  let listed: readonly string[];
  try {
    if (!statSync(path).isDirectory()) return [path];
    listed = readdirSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  const names = listed
    .filter((name) => name.endsWith(".json") && name !== CONFIG_FILE_NAME)
    .sort(byCodeUnit);
  if (names.length === 0)
    throw new InputError("scenario", "the folder holds no scenario (*.json)", { file: path });
  return names.map((name) => join(path, name));
}

function libraryFor(file: string, libraries: Map<string, ConfigLibrary>): ConfigLibrary {
  const beside = join(dirname(file), CONFIG_FILE_NAME);
  const known = libraries.get(beside);
  if (known !== undefined) return known;
  const library = loadConfigs(isThere(beside) ? beside : undefined);
  libraries.set(beside, library);
  return library;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function loadScenario(
  file: string,
  libraries: Map<string, ConfigLibrary>,
  inputs: ReadInputs | undefined,
): Scenario {
  const json = readJsonFile(file, inputs);
  const fail = failWith(json);
  const { value } = json;
  if (!isObject(value)) return fail("", "a scenario is a JSON object");
  checkKeys(value, KEYS, "", fail);
  const name = text(value["name"], "/name", fail);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
    fail("/name", "a name is letters, digits, dot, dash and underscore");
  const story = text(value["story"], "/story", fail);
  const tags = value["tags"] === undefined ? [] : texts(value["tags"], "/tags", fail);
  const configs = readConfigs(value, fail, () => libraryFor(file, libraries));
  const ops = readOperations(value["ops"], configs, fail);
  const end = readEnd(value["finally"], fail);
  const found = readFound(value["found"], fail);
  const invalid = firstUnopenedName(ops);
  return { file, name, story, tags, configs, ops, finally: end, invalid, found };
}

type Fail = (pointer: string, message: string) => never;

function failWith(json: JsonFile): Fail {
  return (pointer, message) => {
    const place = { file: json.file, ...json.placeOf(pointer), path: pointer };
    throw new InputError("scenario", message, place);
  };
}

function checkKeys(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  pointer: string,
  fail: Fail,
): void {
  for (const key of Object.keys(value)) {
    if (key.startsWith("x_") || known.includes(key)) continue;
    const message = `unknown key "${key}"${suggestion(key, known)} (known here: ${known.join(", ")})`;
    fail(`${pointer}/${key}`, message);
  }
}

function text(value: unknown, pointer: string, fail: Fail): string {
  return typeof value === "string" && value !== ""
    ? value
    : fail(pointer, `${pointer.slice(1)} must be a text`);
}

function texts(value: unknown, pointer: string, fail: Fail): string[] {
  if (!Array.isArray(value)) return fail(pointer, `${pointer.slice(1)} must be a list of texts`);
  return value.map((item, index) => text(item, `${pointer}/${String(index)}`, fail));
}

function readConfigs(
  value: Readonly<Record<string, unknown>>,
  fail: Fail,
  library: () => ConfigLibrary,
): (readonly [string | null, RunConfig])[] {
  const { config: own, configs: named } = value;
  if (own !== undefined && named !== undefined)
    fail("/configs", 'a scenario has "config" or "configs", not both');
  if (own !== undefined) {
    const problem = configFormProblem(own, "/config");
    if (problem !== null) fail(problem.path, problem.message);
    const config = own as RunConfig; // just checked against its spec
    return [[null, config]];
  }
  const names = named === undefined ? [] : texts(named, "/configs", fail);
  if (names.length === 0)
    fail("/configs", 'applies to no configuration: give "config" or "configs"');
  return names.map((name, index) => {
    const { names: known } = library();
    if (known.includes(name)) return [name, library().fixed(name)] as const;
    const message = `unknown configuration "${name}"${suggestion(name, known)} (known: ${known.join(", ")})`;
    return fail(`/configs/${String(index)}`, message);
  });
}

function readOperations(
  value: unknown,
  configs: Scenario["configs"],
  fail: Fail,
): ScenarioOperation[] {
  if (!Array.isArray(value) || value.length === 0)
    return fail("/ops", "ops must be a list of operations, not empty");
  const list = value.map((item, index) =>
    readOperation(item, `/ops/${String(index)}`, configs, fail),
  );
  for (const [index, { operation }] of list.entries()) {
    if (operation.op === "boot" && index > 0)
      fail(`/ops/${String(index)}`, "boot is the first operation of a run");
  }
  if (list[0]?.operation.op === "boot") return list;
  return [{ operation: { op: "boot", args: {} }, expect: null }, ...list];
}

function readOperation(
  value: unknown,
  pointer: string,
  configs: Scenario["configs"],
  fail: Fail,
): ScenarioOperation {
  if (!isObject(value)) return fail(pointer, "an operation is an object with op and args");
  checkKeys(value, ["op", "args", "expect"], pointer, fail);
  const { op, args, expect } = value;
  const spec = typeof op === "string" ? findOperation(op) : undefined;
  if (spec?.domain !== "kv") {
    const hint = typeof op === "string" ? suggestion(op, operationNames("kv")) : "";
    return fail(`${pointer}/op`, `unknown operation ${JSON.stringify(op)}${hint}`);
  }
  for (const [, config] of configs) {
    const context = inspectContext(runWords("kv", config));
    const problem = inspect(spec.args, args ?? {}, context, `${pointer}/args`);
    if (problem !== null) fail(problem.path, `${spec.name}: ${problem.message}`);
  }
  const expectation =
    expect === undefined
      ? null
      : readExpectation(expect, `${pointer}/expect`, spec, allWords(configs), fail);
  // name and arguments were checked against the table
  return { operation: { op: spec.name, args: args ?? {} } as KvOperation, expect: expectation };
}

function readExpectation(
  value: unknown,
  pointer: string,
  spec: OperationSpec,
  words: RunWords | null,
  fail: Fail,
): Expectation {
  if (!isObject(value)) return fail(pointer, "expect is an object with ok, err, fx or state");
  checkKeys(value, ["ok", "err", "fx", "state"], pointer, fail);
  const { ok, err } = value;
  if (ok !== undefined && err !== undefined) fail(pointer, 'expect has "ok" or "err", not both');
  const problem = expectationProblem(spec, value, words, pointer);
  if (problem !== null) fail(problem.path, `${spec.name}: ${problem.message}`);
  return value;
}

/** The words of all configurations together; null where one does not tell its bands. */
function allWords(configs: Scenario["configs"]): RunWords | null {
  const all = configs.map(([, config]) => runWords("kv", config));
  const joined = (pick: (words: RunWords) => ReadonlySet<string>): ReadonlySet<string> =>
    new Set(all.flatMap((words) => (words === null ? [] : [...pick(words)])));
  if (all.includes(null)) return null;
  return {
    bands: joined(({ bands }) => bands),
    pages: joined(({ pages }) => pages),
    components: joined(({ components }) => components),
    limits: joined(({ limits }) => limits),
  };
}

function readEnd(value: unknown, fail: Fail): ScenarioEnd {
  if (value === undefined) return {};
  if (!isObject(value))
    return fail("/finally", "finally is an object with quiescent, ledger or drain");
  checkKeys(value, ["quiescent", "ledger", "drain"], "/finally", fail);
  for (const key of ["quiescent", "drain"]) {
    if (value[key] !== undefined && typeof value[key] !== "boolean")
      fail(`/finally/${key}`, `${key} is true or false`);
  }
  if (value["ledger"] !== undefined && value["ledger"] !== "empty")
    fail("/finally/ledger", 'ledger can only be "empty"');
  // the three keys were checked
  return value;
}

function readFound(value: unknown, fail: Fail): FoundFailure | null {
  if (value === undefined) return null;
  const problem = inspect(FOUND, value, inspectContext(), "/found");
  if (problem !== null) fail(problem.path, problem.message);
  return value as FoundFailure; // just checked against its spec
}
