// The serving workloads that a command's flags choose: request trace, configuration, what is switched on.
import { Option } from "commander";
import type { Command } from "commander";
import { InputError, UsageError } from "../base/errors.js";
import type { CheckpointConfig, DirectConfig } from "../base/operations.js";
import { deriveConfig, isModelConfig } from "../kv/build.js";
import { loadConfigs } from "../workload/configs.js";
import type { ReadInputs } from "../workload/json-file.js";
import { LAYOUTS } from "../workload/layouts.js";
import type { Layout } from "../workload/layouts.js";
import { readInputs } from "../workload/read-inputs.js";
import { openRequestTrace, REQUEST_FORMATS } from "../workload/request-traces.js";
import type { RequestTrace } from "../workload/request-traces.js";
import {
  checkpointGrid,
  CHECKPOINT_STRATEGIES,
  withModelSwitches,
  withSwitches,
} from "../workload/serving-features.js";
import type { ServingSwitches } from "../workload/serving-features.js";
import { servingPair } from "../workload/serving-pair.js";
import { SERVING_DEFAULTS, servingWorkload } from "../workload/serving.js";
import type { ServingOptions } from "../workload/serving.js";
import type { Workload, WorkloadGroup } from "../workload/workload.js";
import { counted, grouped, visible } from "../report/words.js";
import { bareName, configurationNamed } from "./configuration.js";
import type { Session } from "./session.js";
import { numberList, oneOf, wholeNumber, wordList } from "./flags.js";

const PAGE_SIZE_MAX = 65_536; // tokens
const HOST_PAGES_MAX = 1_000_000_000;
const FORMATS = REQUEST_FORMATS.map(({ name }) => name).join(", ");
const DEFAULT_SERVING = "serving/tight";

/** @internal */
export interface ServingFlags {
  readonly workload?: string;
  readonly columns?: string;
  readonly limit?: number;
  readonly requests?: number; // another word for the limit
  readonly config?: string;
  readonly pageSizes: readonly number[];
  readonly layouts: readonly Layout[];
  readonly prefixSharing?: boolean;
  readonly hostCache?: true | number; // pages of every band
  readonly checkpoint?: CheckpointConfig;
  readonly pair?: boolean;
}

/** Flags that say nothing without a workload, by the names under which they are read. @internal */
export const WORKLOAD_FLAGS = [
  ["columns", "--columns"],
  ["limit", "--limit"],
  ["requests", "--requests"],
  ["prefixSharing", "--prefix-sharing"],
  ["hostCache", "--host-cache"],
  ["checkpoint", "--checkpoint"],
  ["pair", "--pair"],
] as const;

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
      `requests for the serving model, as FORMAT:FILE (${FORMATS}) or synthetic[:SEED]`,
    )
    .option(
      "--columns <map>",
      "columns of csv:FILE: arrival=COLUMN:s|ms|us|ns, input=COLUMN, output=COLUMN and, where there are ids, blocks=COLUMN:TOKENS",
    )
    .option("--limit <n>", "requests of the workload at most", wholeNumber("--limit", 1))
    .option("--requests <n>", "the same as --limit", wholeNumber("--requests", 1))
    .option(
      "--config <file|name>",
      `a file in either form, a name or a preset (default: ${DEFAULT_SERVING})`,
    )
    .option("--prefix-sharing", "requests of a workload share prefixes through the tree")
    .option(
      "--host-cache [pages]",
      "a host cache of so many pages a band (default: twice the band's even share of the arena)",
      wholeNumber("--host-cache", 1, HOST_PAGES_MAX),
    )
    .option(
      "--checkpoint <strategy>",
      `how the tree keeps state: ${CHECKPOINT_STRATEGIES.join(", ")}; :TOKENS behind it sets the grid`,
      checkpointPolicy,
    )
    .option(
      "--pair",
      "two runs: one computes prompts and sends them, the other receives and decodes",
    );
}

/** The serving model over a request trace, for every layout and page size. @internal */
export async function servingWorkloads(
  flags: ServingFlags,
  session: Session,
): Promise<Iterable<Workload | WorkloadGroup>> {
  const { signal } = session;
  const limit = limitOf(flags);
  const switches = switchesOf(flags);
  const inputs = await readInputs([flags.config ?? DEFAULT_SERVING], signal);
  const trace = await openRequestTrace(flags.workload ?? "synthetic", limit, signal, flags.columns);
  for (const note of accountNotes(trace)) session.note(note);
  const chosen = configurations(flags, inputs).map((choice) => switched(choice, switches));
  if (flags.checkpoint !== undefined && !chosen.some(({ config }) => hasState(config)))
    throw new UsageError("--checkpoint: none of the layouts has state");
  const workload = flags.pair === true ? servingPair : servingWorkload;
  return chosen.map((choice) =>
    workload({
      trace,
      ...choice,
      ...(limit === undefined ? {} : { limit }),
      sharesPrefixes: switches.sharesPrefixes,
      usesHost: switches.host !== null,
    }),
  );
}

/** What the rows of a file became, and what is made up. */
function accountNotes({ name, requests, account, seed }: RequestTrace): string[] {
  if (seed !== null) return [];
  const row = (count: number, what: string): string => `${grouped(count)} ${what}`;
  const { rows, dropped, facts, invented } = account;
  const parts = [
    `${counted(rows, "row")}: ${counted(requests.length, "request")}`,
    ...Object.entries(dropped).map(([reason, count]) => row(count, `dropped (${spaced(reason)})`)),
    ...Object.entries(facts).map(([fact, count]) => row(count, spaced(fact))),
  ];
  return [
    `unified-trace: ${name}: ${visible(parts.join(", "))}`,
    ...Object.values(invented).map((what) => `unified-trace: ${name}: made up: ${what}`),
  ];
}

function spaced(name: string): string {
  return name.replaceAll("_", " ");
}

function limitOf({ limit, requests }: ServingFlags): number | undefined {
  if (limit !== undefined && requests !== undefined)
    throw new UsageError("--limit and --requests are the same: give one of them");
  return limit ?? requests;
}

function switchesOf({ prefixSharing, hostCache, checkpoint }: ServingFlags): ServingSwitches {
  if (checkpoint !== undefined && prefixSharing !== true)
    throw new UsageError("--checkpoint goes with --prefix-sharing");
  const host = hostCache === true ? "default" : (hostCache ?? null);
  return { sharesPrefixes: prefixSharing === true, checkpoint: checkpoint ?? null, host };
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
  const config = derivedConfig(form, configName);
  return [{ config, form, configName, layout: layoutOf(config), pageSize: config.page_size }];
}

/** A choice with what the flags switch on. */
function switched(chosen: Chosen, switches: ServingSwitches): Chosen {
  if (!switches.sharesPrefixes && switches.host === null) return chosen;
  const { form } = chosen;
  let changed: Chosen;
  if (form !== undefined && isModelConfig(form)) {
    const model = withModelSwitches(form, chosen.config, switches);
    changed = { ...chosen, form: model, config: derivedConfig(model, chosen.configName) };
  } else changed = { ...chosen, config: withSwitches(chosen.config, switches) };
  const grid = switches.sharesPrefixes ? checkpointGrid(changed.config) : 1;
  const chunk = { ...SERVING_DEFAULTS, ...changed.serving }.chunk;
  if (grid <= chunk) return changed;
  throw new UsageError(
    `--checkpoint: chunks of ${chunk} tokens are below the grid of ${grid} tokens (pages of ${changed.pageSize})`,
  );
}

function derivedConfig(form: Parameters<typeof deriveConfig>[0], name: string): DirectConfig {
  const derived = deriveConfig(form);
  if (!("refusal" in derived)) return derived.derived;
  const { code, message } = derived.refusal;
  const rule = "rule" in derived.refusal ? `${code} (${derived.refusal.rule})` : code;
  throw new InputError("config", `--config ${name}: ${rule}: ${message}`);
}

function hasState(config: DirectConfig): boolean {
  return config.sub_pools.some(({ kind }) => kind === "state");
}

function layoutOf(config: DirectConfig): string {
  const windows = config.sub_pools.filter(({ window }) => window !== undefined).length;
  const window = windows === 0 ? "" : `+${windows === 1 ? "" : String(windows)}window`;
  return `full${window}${hasState(config) ? "+state" : ""}`;
}

function layoutList(text: string): readonly Layout[] {
  return wordList("--layouts")(text).map(oneOf("--layouts", LAYOUTS));
}

/** `STRATEGY` or `STRATEGY:TOKENS`. */
function checkpointPolicy(text: string): CheckpointConfig {
  const colon = text.indexOf(":");
  const word = colon < 0 ? text : text.slice(0, colon);
  const strategy = oneOf("--checkpoint", CHECKPOINT_STRATEGIES)(word);
  if (colon < 0) return { strategy };
  if (strategy === "no_buffer") throw new UsageError("--checkpoint no_buffer has no grid");
  return { strategy, interval: wholeNumber("--checkpoint", 1)(text.slice(colon + 1)) };
}
