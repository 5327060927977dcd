// Runs scenarios against what they expect and what must hold at their end: the entry of a CI.
import type { Adapter, AdapterFailure } from "../adapter/adapter.js";
import { CandidateError } from "../base/errors.js";
import type {
  Answer,
  BootOk,
  DigestDepth,
  DirectConfig,
  KvOperation,
  Operation,
  RunConfig,
} from "../base/operations.js";
import type { State } from "../base/state.js";
import {
  checkFinally,
  differenceFromBoot,
  matchExpectation,
  scenarioWorkload,
} from "../workload/scenario.js";
import type { Mismatch, Scenario, ScenarioWorkload } from "../workload/scenario.js";
import { RunAuditor } from "./audit/auditor.js";
import { Candidate, givesDepth } from "./candidate.js";
import type { StartAdapter } from "./candidate.js";
import type { Finding } from "./findings.js";
import { LawChecker } from "./laws.js";
import { Pulse } from "./pulse.js";
import type { ToolControl } from "./pulse.js";
import type { RunResult, RunVerdict, ScenarioResult } from "./outcome.js";
import { dearestFirst, ofShard } from "./shards.js";
import type { ShardPart, ShardPiece } from "./shards.js";

/** The folder of failing cases that were saved. @internal */
export const SAVED_FOLDER = "cases";
const DEPTH: DigestDepth = "layout"; // shows that a refusal or a question changed something

/** @public */
export interface RunScenariosOptions extends ToolControl {
  readonly scenarios: readonly Scenario[];
  readonly start: StartAdapter;
  /** Only this configuration; null: every one that a scenario names. */
  readonly config?: string | null;
  readonly shard?: ShardPart; // only the runs of this part
  readonly isTimeOver?: () => boolean; // asked before each run: what is left then is left out
}

/** Why an operation or the end of a scenario is at fault. @internal */
export interface Fault {
  readonly verdict: RunVerdict;
  readonly n: number | null;
  readonly op: string | null;
  readonly message: string;
  /** `expectation`, `law`, a rule of the audit, `finally`, `drain`, or how the implementation broke. */
  readonly check: string;
  readonly component: string | null;
}

/** Looks on while a scenario runs. @internal */
export interface ScenarioWatch {
  /** Whether what operation `n` answers is held against its expectation; default: always. */
  readonly expects?: (n: number) => boolean;
  readonly answered?: (n: number, answer: Answer) => void;
}

/** Runs every scenario on every configuration it names. @public */
export async function runScenarios(options: RunScenariosOptions): Promise<RunResult> {
  const candidate = new Candidate(options.start);
  const pulse = new Pulse(options);
  const all = piecesOf(options);
  const own = options.shard === undefined ? all : ofShard(all, options.shard);
  const results = new Map<number, ScenarioResult>(); // by place in the list
  try {
    await candidate.ready();
    for (const { place, scenario, config } of inOrder(own)) {
      if (options.isTimeOver?.() === true) break;
      results.set(place, await runOne(scenario, config, candidate, pulse));
      pulse.runs += 1;
    }
  } finally {
    await candidate.dispose();
  }
  // told in the order in which they were named, whatever came first
  const scenarios = all.flatMap(({ place }) => results.get(place) ?? []);
  const leftOut = all.length - scenarios.length;
  const verdict = overall(scenarios);
  return {
    verdict: verdict === "passed" && leftOut > 0 ? "incomplete" : verdict,
    scenarios,
    operations: pulse.operations,
    counters: {},
    leftOut,
  };
}

/** A scenario on one of its configurations. */
interface Piece extends ShardPiece {
  readonly place: number; // in the list of all
  readonly scenario: Scenario;
  readonly config: string | null;
}

const START_COST = 8; // of a run, in operations: it is set up, booted, drained and looked at

function piecesOf({ scenarios, config: only }: RunScenariosOptions): Piece[] {
  const pieces: Piece[] = [];
  for (const scenario of scenarios) {
    const cost = START_COST + scenario.ops.length;
    for (const [config] of scenario.configs) {
      if ((only ?? config) !== config) continue;
      const name = config === null ? scenario.name : `${scenario.name}@${config}`;
      pieces.push({ place: pieces.length, name, cost, scenario, config });
    }
  }
  return pieces;
}

/** Saved failures first, as they were named; then the slowest, so that the last ones to begin are short. */
function inOrder(pieces: readonly Piece[]): Piece[] {
  const isSaved = ({ scenario }: Piece): boolean =>
    scenario.file.split(/[/\\]/).at(-2) === SAVED_FOLDER;
  const saved = pieces.filter(isSaved).sort((left, right) => left.place - right.place);
  return [...saved, ...dearestFirst(pieces.filter((piece) => !isSaved(piece)))];
}

async function runOne(
  scenario: Scenario,
  config: string | null,
  candidate: Candidate,
  pulse: Pulse,
): Promise<ScenarioResult> {
  const before = pulse.operations;
  const { name, file, invalid } = scenario;
  const shown = { name, config, file };
  if (invalid !== null) {
    const op = scenario.ops[invalid.index]?.operation.op ?? null;
    return fromFault(shown, 0, fault("invalid", invalid.index, op, invalid.message));
  }
  const found = await scenarioFault(scenario, config, candidate, pulse);
  return fromFault(shown, pulse.operations - before, found);
}

/** Runs one scenario on one configuration; null: nothing is at fault. @internal */
export async function scenarioFault(
  scenario: Scenario,
  config: string | null,
  candidate: Candidate,
  pulse: Pulse,
  watch: ScenarioWatch = {},
): Promise<Fault | null> {
  const workload = scenarioWorkload(scenario, config);
  pulse.run = workload.run;
  try {
    const adapter = await candidate.ready();
    const run = new ScenarioRun(scenario, workload, adapter, pulse, watch);
    await candidate.open(run.opening);
    const found = (await run.operations()) ?? (await run.atEnd());
    if (run.isBroken) {
      await candidate.dispose();
      return found;
    }
    const { failure } = await candidate.close();
    return found ?? (failure === null ? null : broken(run.last, failure));
  } catch (thrown) {
    pulse.throwIfInterrupted();
    if (!(thrown instanceof CandidateError)) throw thrown;
    // It lacks an operation or refuses the configuration: nothing is proved, nothing is wrong.
    await candidate.dispose();
    return fault("incomplete", null, null, thrown.message);
  }
}

/** One scenario on one configuration. */
class ScenarioRun {
  readonly #scenario: Scenario;
  readonly #workload: ScenarioWorkload;
  readonly #adapter: Adapter;
  readonly #pulse: Pulse;
  readonly #watch: ScenarioWatch;
  readonly #laws = new LawChecker();
  #auditor: RunAuditor | null = null; // null: before the boot, or of a model form, whose direct form is not told
  #boot: State | null = null;
  #isDraining = false;
  isBroken = false;
  last: { readonly n: number; readonly op: string } = { n: 0, op: "boot" };

  constructor(
    scenario: Scenario,
    workload: ScenarioWorkload,
    adapter: Adapter,
    pulse: Pulse,
    watch: ScenarioWatch,
  ) {
    this.#watch = watch;
    this.#scenario = scenario;
    this.#workload = workload;
    this.#adapter = adapter;
    this.#pulse = pulse;
  }

  get opening(): Parameters<Adapter["open"]>[0] {
    const { run, config } = this.#workload;
    const digestDepth = givesDepth(this.#adapter.info.digest, DEPTH) ? DEPTH : null;
    return { run, domain: "kv", config, digestDepth };
  }

  /** Runs all operations, the drain included. */
  async operations(): Promise<Fault | null> {
    let answer: Answer | null = null;
    for (let n = 0; ;) {
      const step = this.#workload.next(answer);
      if (step === null) return this.#isDraining ? null : this.#finally();
      answer = null;
      if ("mark" in step) continue;
      if (this.#workload.drainsFrom !== null && !this.#isDraining) {
        const early = await this.#finally();
        if (early !== null) return early;
        this.#isDraining = true;
      }
      const { operation } = step;
      this.last = { n, op: operation.op };
      const { answers, failure } = await this.#adapter.apply([operation]);
      this.#pulse.count(1);
      answer = answers[0] ?? null;
      if (answer === null || failure !== null) {
        this.#pulse.throwIfInterrupted();
        this.isBroken = true;
        return broken(this.last, failure ?? { kind: "protocol", message: "gave no answer" });
      }
      this.#watch.answered?.(n, answer);
      const wrong = await this.#judge(n, operation, answer);
      if (wrong !== null) return wrong;
      if (n === 0) this.#boot = await this.#adapter.state();
      n += 1;
    }
  }

  /** Checks the state after the drain. */
  async atEnd(): Promise<Fault | null> {
    await this.#pulse.breathe();
    const [leak] = this.#auditor?.end() ?? [];
    if (leak !== undefined) return auditFault(leak);
    if (!this.#isDraining || this.#boot === null) return null;
    const drained = await this.#adapter.state();
    if (drained === null) return null;
    const mismatch = differenceFromBoot(this.#boot, drained);
    if (mismatch === null) return null;
    return fault(
      "failed",
      this.last.n,
      null,
      `the drain did not end in the boot state: ${text(mismatch)}`,
      { check: "drain", mismatch },
    );
  }

  async #judge(n: number, operation: Operation, answer: Answer): Promise<Fault | null> {
    const { op } = operation;
    if (answer.err?.code === "unsupported") {
      return fault("incomplete", n, op, `the implementation does not answer ${op}`);
    }
    const isExpected = this.#watch.expects?.(n) ?? true;
    const expectation = isExpected ? this.#workload.expectation(n) : null;
    const needsState = expectation?.state !== undefined;
    const state = needsState ? await this.#adapter.state() : null;
    if (needsState && state === null) {
      return fault("incomplete", n, op, "a state is expected, but the implementation gives none");
    }
    const mismatch = isExpected ? matchExpectation(expectation, answer, state) : null;
    if (mismatch !== null) {
      return fault("failed", n, op, text(mismatch), { check: "expectation", mismatch });
    }
    const law = this.#laws.check(operation, answer);
    if (law !== null) return fault("failed", n, op, law.message, { check: "law" });
    return this.#audit(n, operation, answer);
  }

  #audit(n: number, operation: Operation, answer: Answer): Fault | null {
    if (operation.op === "boot" && answer.ok !== undefined)
      this.#auditor = auditorOf(this.#workload.config, answer.ok as BootOk); // of a boot
    const [found] = this.#auditor?.line(n, operation as KvOperation, answer) ?? []; // scenarios are of domain kv
    return found === undefined ? null : auditFault(found);
  }

  // `quiescent` and `ledger` hold as the operations left it, before the drain.
  async #finally(): Promise<Fault | null> {
    const { quiescent, ledger } = this.#scenario.finally;
    if (quiescent !== true && ledger === undefined) return null;
    const state = await this.#adapter.state();
    const { n } = this.last;
    if (state === null) {
      const open = this.#workload.unsettled();
      if (quiescent === true && open.length > 0) {
        const message = `at the end: still open: ${open.join(", ")}`;
        return fault("failed", n, null, message, { check: "finally" });
      }
      if (ledger === undefined) return null;
      return fault(
        "incomplete",
        n,
        null,
        "ledger needs a state, but the implementation gives none",
      );
    }
    const mismatch = checkFinally(this.#scenario, state);
    if (mismatch === null) return null;
    const message = `at the end: ${text(mismatch)}`;
    return fault("failed", n, null, message, { check: "finally", mismatch });
  }
}

function auditorOf(config: RunConfig, boot: BootOk): RunAuditor | null {
  return isDirect(config) ? new RunAuditor(config, boot) : null;
}

function isDirect(config: RunConfig): config is DirectConfig {
  return "sub_pools" in config;
}

function auditFault({ n, signature, message }: Finding): Fault {
  return fault("failed", n, signature.op, `audit ${signature.check}: ${message}`, {
    check: signature.check,
  });
}

function text({ path, expected, got }: Mismatch): string {
  return `${path}: expected ${shown(expected)}, got ${shown(got)}`;
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}

function fault(
  verdict: RunVerdict,
  n: number | null,
  op: string | null,
  message: string,
  more: { readonly check?: string; readonly mismatch?: Mismatch } = {},
): Fault {
  const component = /^\/state\/([^/]+)/.exec(more.mismatch?.path ?? "")?.[1] ?? null;
  return { verdict, n, op, message, check: more.check ?? verdict, component };
}

function broken(last: { readonly n: number; readonly op: string }, failure: AdapterFailure): Fault {
  const message = `${failure.kind}: ${failure.message}`;
  return fault("failed", last.n, last.op, message, { check: failure.kind });
}

function fromFault(
  scenario: Pick<ScenarioResult, "name" | "config" | "file">,
  operations: number,
  found: Fault | null,
): ScenarioResult {
  const { verdict, n, op, message } = found ?? {
    verdict: "passed" as const,
    n: null,
    op: null,
    message: null,
  };
  return { ...scenario, verdict, n, op, message, operations };
}

function overall(results: readonly ScenarioResult[]): RunVerdict {
  const order: readonly RunVerdict[] = ["failed", "invalid", "incomplete"];
  return order.find((verdict) => results.some((one) => one.verdict === verdict)) ?? "passed";
}
