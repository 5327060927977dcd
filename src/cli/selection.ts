// Which workloads a command runs: seeds, scenarios, or the serving model over a request trace.
import { Option } from "commander";
import type { Command } from "commander";
import { InputError, UsageError } from "../base/errors.js";
import type { DirectConfig } from "../base/operations.js";
import { deriveConfig, isModelConfig } from "../kv/build.js";
import { loadConfigs } from "../workload/configs.js";
import { LAYOUTS } from "../workload/layouts.js";
import type { Layout } from "../workload/layouts.js";
import type { ReadInputs } from "../workload/json-file.js";
import { readInputs } from "../workload/read-inputs.js";
import { openRequestTrace } from "../workload/request-traces.js";
import { loadScenarios, scenarioWorkload } from "../workload/scenario.js";
import { seededWorkload, WEIGHT_NAMES } from "../workload/seeded.js";
import { servingWorkload } from "../workload/serving.js";
import type { ServingOptions } from "../workload/serving.js";
import type { Workload } from "../workload/workload.js";
import { bareName, configurationNamed } from "./configuration.js";
import { numberList, oneOf, seedRange, wholeNumber, wordList } from "./flags.js";
import type { SeedRange } from "./flags.js";
import { inPackage } from "./place.js";

const PAGE_SIZE_MAX = 65_536; // tokens
const DEFAULT_SERVING = "serving/tight";

/** @internal */
export interface ServingFlags {
  readonly workload?: string;
  readonly limit?: number;
  readonly config?: string;
  readonly pageSizes: readonly number[];
  readonly layouts: readonly Layout[];
}

/** @internal */
export interface SelectionFlags extends ServingFlags {
  readonly seeds: SeedRange;
  readonly ops: number;
  readonly weights: string;
  readonly scenario?: readonly string[];
}

/** Adds the flags that choose seeds, scenarios or a workload. @internal */
export function addSelectionFlags(command: Command): Command {
  command
    .addOption(
      new Option("--seeds <from:to>", "seeds, TO not included")
        .argParser(seedRange("--seeds"))
        .default({ from: 0, to: 10 }, "0:10"),
    )
    .option("--ops <n>", "operations of a seeded run", wholeNumber("--ops", 1, 100_000_000), 200)
    .option(
      "--weights <name>",
      `which operations are how likely: ${WEIGHT_NAMES.join(", ")}`,
      oneOf("--weights", WEIGHT_NAMES),
      "default",
    )
    .option(
      "--scenario <file|all>",
      "a scenario file or folder; all: those of this package",
      collect,
    );
  return addServingFlags(command);
}

/** Adds the flags of a serving workload. @internal */
export function addServingFlags(command: Command): Command {
  return command
    .addOption(
      new Option("--page-sizes <list>", "tokens of a page, such as 1,16,64")
        .argParser(numberList("--page-sizes", 1, PAGE_SIZE_MAX))
        .default([16], "16"),
    )
    .addOption(
      new Option("--layouts <list>", `which memories share the arena: ${LAYOUTS.join(", ")}`)
        .argParser(layoutList)
        .default(["full+window", "full+state"], "full+window,full+state"),
    )
    .option(
      "--workload <name:file>",
      "request trace for the serving model: mooncake:FILE, or synthetic[:SEED]",
    )
    .option("--limit <n>", "requests of the workload at most", wholeNumber("--limit", 1))
    .option(
      "--config <file|name>",
      `a file in either form, a name or a preset (default: ${DEFAULT_SERVING})`,
    );
}

/** The workloads that the flags choose, made one by one as they are recorded. @internal */
export async function selectWorkloads(
  flags: SelectionFlags,
  command: Command,
  signal: AbortSignal,
): Promise<Iterable<Workload>> {
  refuseMixture(command);
  if (flags.workload !== undefined) return servingWorkloads(flags, signal);
  if (flags.scenario !== undefined) {
    return scenarioWorkloads(
      flags.scenario,
      flags.config,
      await readInputs(flags.scenario, signal),
    );
  }
  return seeded(flags);
}

// Flags of one way of choosing say nothing under another: a mistyped request must not look as if it had been heard.
function refuseMixture(command: Command): void {
  const given = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  const refuse = (flag: string, reason: string): never => {
    throw new UsageError(`${flag} ${reason}`);
  };
  if (given("workload") && given("scenario"))
    refuse("--workload", "and --scenario exclude each other");
  const isSeeded = !given("workload") && !given("scenario");
  for (const name of ["seeds", "ops", "weights"]) {
    if (given(name) && !isSeeded) refuse(`--${name}`, "goes with seeded runs only");
  }
  if (given("limit") && !given("workload")) refuse("--limit", "goes with --workload");
  if (given("config") && isSeeded) refuse("--config", "goes with --workload or --scenario");
  if (given("scenario") && given("pageSizes"))
    refuse("--page-sizes", "is what a scenario's configuration says");
  if (given("scenario") && given("layouts"))
    refuse("--layouts", "is what a scenario's configuration says");
}

function* seeded(flags: SelectionFlags): Generator<Workload> {
  const { seeds, ops, weights } = flags;
  for (const layout of flags.layouts) {
    for (const pageSize of flags.pageSizes) {
      for (let seed = seeds.from; seed < seeds.to; seed++) {
        yield seededWorkload({ seed, ops, layout, pageSize, weights });
      }
    }
  }
}

function scenarioWorkloads(
  paths: readonly string[],
  config: string | undefined,
  inputs: ReadInputs,
): Workload[] {
  const files = paths.map((path) => (path === "all" ? inPackage("scenarios") : path));
  const workloads: Workload[] = [];
  for (const scenario of loadScenarios(files, inputs)) {
    if (scenario.invalid !== null) {
      const { index, message } = scenario.invalid;
      throw new InputError("scenario", `operation ${index}: ${message}`, { file: scenario.file });
    }
    for (const [name] of scenario.configs) {
      if (config === undefined || name === config) workloads.push(scenarioWorkload(scenario, name));
    }
  }
  if (workloads.length === 0) {
    throw new UsageError(
      `--config ${config ?? ""}: none of the scenarios names this configuration`,
    );
  }
  return workloads;
}

/** The serving model over a request trace, for every layout and page size. @internal */
export async function servingWorkloads(
  flags: ServingFlags,
  signal: AbortSignal,
): Promise<Iterable<Workload>> {
  const inputs = await readInputs([flags.config ?? DEFAULT_SERVING], signal);
  const trace = await openRequestTrace(flags.workload ?? "synthetic", flags.limit, signal);
  return configurations(flags, inputs).map((chosen) =>
    servingWorkload({
      trace,
      ...chosen,
      ...(flags.limit === undefined ? {} : { limit: flags.limit }),
    }),
  );
}

type Chosen = Pick<
  ServingOptions,
  "config" | "form" | "configName" | "layout" | "pageSize" | "serving"
>;

function configurations(flags: ServingFlags, inputs: ReadInputs): Chosen[] {
  const name = flags.config ?? DEFAULT_SERVING;
  const library = loadConfigs();
  if (library.ruleNames.includes(name)) {
    return flags.layouts.flatMap((layout) =>
      flags.pageSizes.map((pageSize) => ({
        ...library.derived(name, layout, pageSize),
        ...{ configName: name, layout, pageSize },
      })),
    );
  }
  const form = configurationNamed(name, "--config", library, inputs);
  const configName = bareName(name);
  if (!isModelConfig(form))
    return [{ config: form, configName, layout: layoutOf(form), pageSize: form.page_size }];
  const derived = deriveConfig(form);
  if ("refusal" in derived) {
    const { code, message } = derived.refusal;
    const rule = "rule" in derived.refusal ? `${code} (${derived.refusal.rule})` : code;
    throw new InputError("config", `--config ${name}: ${rule}: ${message}`);
  }
  const config = derived.derived;
  return [{ config, form, configName, layout: layoutOf(config), pageSize: config.page_size }];
}

function layoutOf(config: DirectConfig): string {
  const windows = config.sub_pools.filter(({ window }) => window !== undefined).length;
  const hasState = config.sub_pools.some(({ kind }) => kind === "state");
  const window = windows === 0 ? "" : `+${windows === 1 ? "" : String(windows)}window`;
  return `full${window}${hasState ? "+state" : ""}`;
}

function layoutList(text: string): readonly Layout[] {
  return wordList("--layouts")(text).map(oneOf("--layouts", LAYOUTS));
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
