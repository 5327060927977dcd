// Which workloads a command runs: seeds, scenarios, or the serving model over a request trace.
import { Option } from "commander";
import type { Command } from "commander";
import { InputError, UsageError } from "../base/errors.js";
import type { ReadInputs } from "../workload/json-file.js";
import { readInputs } from "../workload/read-inputs.js";
import { loadScenarios, scenarioWorkload } from "../workload/scenario.js";
import { seededWorkload, WEIGHT_NAMES } from "../workload/seeded.js";
import type { Workload, WorkloadGroup } from "../workload/workload.js";
import { mayRepeat, oneOf, seedRange, wholeNumber } from "./flags.js";
import type { SeedRange } from "./flags.js";
import { inPackage } from "./place.js";
import type { Session } from "./session.js";
import { addServingFlags, servingWorkloads, WORKLOAD_FLAGS } from "./serving-selection.js";
import type { ServingFlags } from "./serving-selection.js";

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
    .addOption(
      mayRepeat(
        new Option(
          "--scenario <file|all>",
          "a scenario file or folder, several times if need be; all: those of this package",
        ).argParser(collect),
      ),
    );
  return addServingFlags(command);
}

/** The workloads that the flags choose, made one by one as they are recorded. @internal */
export async function selectWorkloads(
  flags: SelectionFlags,
  command: Command,
  session: Session,
): Promise<Iterable<Workload | WorkloadGroup>> {
  refuseMixture(command);
  if (flags.workload !== undefined) return servingWorkloads(flags, session);
  if (flags.scenario !== undefined) {
    return scenarioWorkloads(
      flags.scenario,
      flags.config,
      await readInputs(flags.scenario, session.signal),
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
  for (const [name, flag] of WORKLOAD_FLAGS)
    if (given(name) && !given("workload")) refuse(flag, "goes with --workload");
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

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
