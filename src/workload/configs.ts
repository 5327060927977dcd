// `scenarios/configs.json`: fixed geometries by name, and rules that derive a geometry for a layout and a page size.
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { InputError, UsageError } from "../base/errors.js";
import { nearestWord } from "../base/nearest.js";
import type { DirectConfig, RunConfig, SubPoolConfig } from "../base/operations.js";
import { DIRECT_CONFIG, MODEL_CONFIG } from "../trace/config-spec.js";
import { COUNT, list, map, object, optional, POSITIVE } from "../trace/fields.js";
import { inspect, inspectContext } from "../trace/inspect.js";
import { below } from "../trace/messages.js";
import type { Problem } from "../trace/problem.js";
import { configProblem } from "../trace/run-words.js";
import type { ReadInputs } from "./json-file.js";
import { readJsonFile } from "./json-file.js";
import type { Layout } from "./layouts.js";
import { partsOf, sinkBytes } from "./layouts.js";
import { isObject } from "./spec-names.js";

/** The name of the file that holds configurations beside scenarios. @internal */
export const CONFIG_FILE_NAME = "configs.json";

/** The scheduler's figures of the serving model. @public */
export interface ServingParameters {
  readonly batch: number; // requests that run at once at most
  readonly chunk: number; // prefill tokens a step at most
  readonly decode_tokens: number; // tokens a forward decodes of each request
  readonly retire_tokens: number; // a window is retired once that many tokens left it, a page at least
  readonly steps_per_second: number; // logical time: steps in a second of arrivals
}
/** What a rule gives. @public */
export interface ServingConfig {
  readonly config: DirectConfig;
  readonly serving: ServingParameters;
}

/**
 * A rule of `configs.json`. The arena holds, beside the sink, `full_tokens` tokens of the full band and, for each of
 * `batch` requests, its windows rounded up to pages and its state slot. @public
 */
export interface ConfigRule extends ServingParameters {
  readonly full_tokens: number;
  readonly row_tokens: number;
  readonly move_cap: number; // pages
  readonly full_unit_bytes: number;
  readonly window_unit_bytes: number;
  readonly state_unit_bytes: number;
  readonly windows: readonly number[]; // tokens; a layout takes as many as it has, from the front
}

/** The named configurations of one file. @public */
export interface ConfigLibrary {
  readonly file: string;
  readonly names: readonly string[]; // fixed geometries, file order
  readonly ruleNames: readonly string[]; // such as `serving/tight`
  /** A fixed geometry. Throws `UsageError` with the nearest name. */
  fixed(name: string): DirectConfig;
  /** What a rule gives for a layout and a page size (tokens). Throws `UsageError` with the nearest name. */
  derived(rule: string, layout: Layout, pageSize: number): ServingConfig;
}

const RULE = object({
  full_tokens: POSITIVE,
  row_tokens: POSITIVE,
  move_cap: COUNT,
  full_unit_bytes: POSITIVE,
  window_unit_bytes: POSITIVE,
  state_unit_bytes: POSITIVE,
  windows: list(POSITIVE),
  batch: POSITIVE,
  chunk: POSITIVE,
  decode_tokens: POSITIVE,
  retire_tokens: POSITIVE,
  steps_per_second: POSITIVE,
});
const FILE = object({
  configs: map("any", DIRECT_CONFIG),
  rules: optional(map("any", RULE)),
});
interface FileContent {
  readonly configs: Readonly<Record<string, DirectConfig>>;
  readonly rules?: Readonly<Record<string, ConfigRule>>;
}

/** Reads a file of configurations; without a path the one shipped with the project. Throws `InputError`. @public */
export function loadConfigs(file?: string, inputs?: ReadInputs): ConfigLibrary {
  const path = file ?? fileURLToPath(new URL("../../scenarios/configs.json", import.meta.url));
  const json = readJsonFile(path, inputs);
  const problem = inspect(FILE, json.value, inspectContext()) ?? namedProblem(json.value);
  if (problem !== null) {
    const place = { file: path, ...json.placeOf(problem.path), path: problem.path };
    throw new InputError("config", problem.message, place);
  }
  // just checked against its spec
  const { configs, rules = {} } = json.value as FileContent;
  return {
    file: path,
    names: Object.keys(configs).filter((name) => !name.startsWith("x_")),
    ruleNames: Object.keys(rules).filter((name) => !name.startsWith("x_")),
    fixed: (name) => lookUp(configs, name, "configuration"),
    derived: (name, layout, pageSize) =>
      derive(lookUp(rules, name, "configuration rule"), layout, pageSize),
  };
}

/** What is wrong with the bands of a named configuration; the shape of the file is right. */
function namedProblem(value: unknown): Problem | null {
  const { configs } = value as FileContent;
  for (const [name, config] of Object.entries(configs)) {
    if (name.startsWith("x_")) continue;
    const problem = configProblem(config, below("/configs", name));
    if (problem !== null) return problem;
  }
  return null;
}

/** Reads a file that holds one configuration in either form. Throws `InputError` with file and place. @public */
export function loadConfigFile(file: string, inputs?: ReadInputs): RunConfig {
  const json = readJsonFile(file, inputs);
  const problem = configFormProblem(json.value);
  if (problem !== null) {
    const place = { file, ...json.placeOf(problem.path), path: problem.path };
    throw new InputError("config", problem.message, place);
  }
  return json.value as RunConfig; // just checked against its spec
}

const CONFIG_KEYS = [
  "model",
  "budget_bytes",
  "sub_pools",
  "arena_bytes",
  "page_size",
  "row_tokens",
];

/**
 * What a JSON file is by its keys: a scenario, named configurations, or one configuration; by its name where the keys
 * do not tell. Throws `InputError` for what is not JSON. @internal
 */
export function jsonFileKind(
  file: string,
  inputs?: ReadInputs,
): "scenario" | "configurations" | "configuration" {
  const { value } = readJsonFile(file, inputs);
  const has = (key: string): boolean => isObject(value) && value[key] !== undefined;
  if (["ops", "story", "name", "finally"].some(has)) return "scenario";
  if (isObject(value) && isObject(value["configs"])) return "configurations";
  if (CONFIG_KEYS.some(has)) return "configuration";
  return basename(file) === CONFIG_FILE_NAME ? "configurations" : "scenario";
}

/** What is wrong with a configuration, in the form that its keys say: one with a `model` is a model form. @internal */
export function configFormProblem(value: unknown, path = ""): Problem | null {
  const isModel = typeof value === "object" && value !== null && "model" in value;
  // the bands are looked at once the shape is right
  return (
    inspect(isModel ? MODEL_CONFIG : DIRECT_CONFIG, value, inspectContext(), path) ??
    configProblem(value as RunConfig, path)
  );
}

function lookUp<T>(entries: Readonly<Record<string, T>>, name: string, what: string): T {
  const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
  if (entry !== undefined) return entry;
  const known = Object.keys(entries);
  const nearest = nearestWord(name, known);
  const hint = nearest === null ? `known: ${known.join(", ")}` : `did you mean "${nearest}"?`;
  throw new UsageError(`unknown ${what} "${name}"; ${hint}`);
}

/** The geometry that a rule gives for a layout and a page size. @internal */
export function derive(rule: ConfigRule, layout: Layout, pageSize: number): ServingConfig {
  const { windows, hasState } = partsOf(layout);
  const { batch, chunk, decode_tokens, retire_tokens, steps_per_second } = rule;
  const pools: SubPoolConfig[] = [];
  let bytes = rule.full_tokens * rule.full_unit_bytes;
  if (hasState) {
    pools.push({ name: "mamba", kind: "state", unit_bytes: rule.state_unit_bytes });
    bytes += batch * rule.state_unit_bytes;
  }
  const lengths = rule.windows.slice(0, windows).sort((left, right) => right - left);
  for (const window of lengths) {
    pools.push({
      name: `window_${String(window)}`,
      kind: "mha",
      window,
      unit_bytes: rule.window_unit_bytes,
    });
    bytes += batch * Math.ceil(window / pageSize) * pageSize * rule.window_unit_bytes;
  }
  pools.push({ name: "full", kind: "mha", unit_bytes: rule.full_unit_bytes });
  const config: DirectConfig = {
    page_size: pageSize,
    arena_bytes: sinkBytes(pools, pageSize) + bytes,
    sub_pools: pools,
    rows: batch,
    row_tokens: rule.row_tokens,
    overlap: true,
    move_cap: rule.move_cap,
  };
  return { config, serving: { batch, chunk, decode_tokens, retire_tokens, steps_per_second } };
}
