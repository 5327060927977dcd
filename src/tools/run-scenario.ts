// Runs one scenario on one configuration against what it expects and what must hold at its end.
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
import type { Finding } from "./findings.js";
import { LawChecker } from "./laws.js";
import { Pulse } from "./pulse.js";
import type { RunVerdict, ScenarioResult } from "./outcome.js";

const DEPTH: DigestDepth = "layout"; // shows that a refusal or a question changed something

/** Why an operation or the end of a scenario is at fault. @internal */
export interface Fault {
  readonly verdict: RunVerdict;
  readonly n: number | null;
  readonly op: string | null;
  readonly message: string;
  /** `expectation`, `law`, a rule of the audit, `finally`, `drain`, or how the implementation broke. */
  readonly check: string;
  readonly component: string | null;
  readonly mismatch: Mismatch | null; // where an answer or a state is not as expected
}

/** Looks on while a scenario runs. @internal */
export interface ScenarioWatch {
  /** Whether what operation `n` answers is held against its expectation; default: always. */
  readonly expects?: (n: number) => boolean;
  readonly answered?: (n: number, answer: Answer, operation: Operation) => void;
  /** Called once the run is closed; not for an implementation that broke. */
  readonly closed?: (adapter: Adapter) => void;
}

/** One scenario on one configuration, with its verdict. @internal */
export async function runScenario(
  scenario: Scenario,
  config: string | null,
  candidate: Candidate,
  pulse: Pulse,
  watch: ScenarioWatch = {},
): Promise<ScenarioResult> {
  const before = pulse.operations;
  const { name, file, invalid } = scenario;
  const shown = { name, config, file };
  if (invalid !== null) {
    const op = scenario.ops[invalid.index]?.operation.op ?? null;
    return fromFault(shown, 0, fault("invalid", invalid.index, op, invalid.message));
  }
  const found = await scenarioFault(scenario, config, candidate, pulse, watch);
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
    watch.closed?.(adapter);
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
      this.#watch.answered?.(n, answer, operation);
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
  const { check = verdict, mismatch = null } = more;
  return { verdict, n, op, message, check, component, mismatch };
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
