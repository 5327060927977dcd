// Judges a case by a scenario's failing expectation, or by what must hold of every run. A second implementation that
// meets the expectation keeps it honest: where the shortened case is such that it fails there too, the expectation is
// no longer right and the case proves nothing.
import type { Answer, DirectConfig, OperationName } from "../../base/operations.js";
import type { Expectation, Scenario, ScenarioEnd } from "../../workload/scenario.js";
import { Candidate } from "../candidate.js";
import type { StartAdapter } from "../candidate.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { scenarioFault } from "../run-scenario.js";
import type { Fault } from "../run-scenario.js";
import type { Judgement, ShrinkCase } from "./case.js";
import { outcomeOf } from "./judge.js";
import type { Expected, RunningJudge } from "./judge.js";
import { Pool } from "./pool.js";
import type { FailingCase, ShrinkOptions } from "./shrink.js";

/** @internal */
export interface ScenarioJudgeOptions {
  readonly scenario: Scenario;
  readonly config: DirectConfig;
  readonly candidate: StartAdapter;
  readonly base: StartAdapter | null; // null: no second implementation
  readonly control: Pick<ToolControl, "signal">;
}

interface Pair {
  readonly base: Candidate | null;
  readonly candidate: Candidate;
}

/** A scenario on one implementation. */
interface Outcome {
  readonly fault: Fault | null;
  readonly answers: readonly Answer[];
}

// Checks at the end belong to no operation of the scenario; the drain ends with this one.
const AT_END: OperationName = "check.idle";

/** What of the scenario is judged. */
interface Aim {
  readonly expectation: Expectation | null;
  readonly isExpectation: boolean; // of the last operation
  readonly finally: ScenarioEnd;
  readonly hasOracle: boolean; // the base meets what the candidate does not
  readonly outcome: string; // of the failing operation
}

/** @internal */
export class ScenarioJudge implements RunningJudge {
  readonly #options: ScenarioJudgeOptions;
  readonly #pool: Pool<Pair>;
  #aim: Aim = {
    ...{ expectation: null, isExpectation: false, finally: {}, hasOracle: false },
    outcome: "",
  };

  constructor(options: ScenarioJudgeOptions) {
    this.#options = options;
    this.#pool = new Pool(() => ({
      base: options.base === null ? null : new Candidate(options.base),
      candidate: new Candidate(options.candidate),
    }));
  }

  /** Whether a second implementation meets the expectation. */
  get hasOracle(): boolean {
    return this.#aim.hasOracle;
  }

  /** Runs the scenario as it is; null where nothing fails. Else the case to shrink. */
  begin(): Promise<Pick<ShrinkOptions, "case" | "target"> | null> {
    const { scenario, config } = this.#options;
    const ops = scenario.ops.map(({ operation }) => operation);
    return this.#pool.use(async ({ base, candidate }) => {
      const { fault, answers } = await this.#run(scenario, candidate);
      if (fault?.verdict !== "failed") return null;
      const right = base === null ? null : await this.#run(scenario, base);
      const hasOracle = right?.fault === null;
      const n = fault.n ?? 0;
      const isExpectation = fault.check === "expectation" && n < ops.length;
      const isAtEnd = fault.check === "finally" || fault.check === "drain" || n >= ops.length;
      this.#aim = {
        expectation: isExpectation ? (scenario.ops[n]?.expect ?? null) : null,
        isExpectation,
        finally: isAtEnd ? scenario.finally : {},
        hasOracle: hasOracle && (isExpectation || isAtEnd),
        outcome: outcomeText(answers[n]),
      };
      return {
        case: { config, ops: isAtEnd ? ops : ops.slice(0, n + 1) },
        target: isExpectation ? (hasOracle ? "kept" : "unchanged") : "free",
      };
    });
  }

  readonly judge = (value: ShrinkCase): Promise<Judgement> =>
    this.#pool.use(async ({ base, candidate }) => {
      const scenario = this.#scenario(value);
      const given = await this.#run(scenario, candidate, value.ops.length);
      const { fault } = given;
      if (fault === null) return { kind: "passes" };
      const n = fault.n ?? 0;
      if (fault.verdict !== "failed" || !this.#isMeant(given.answers, n)) {
        return { kind: "invalid", n };
      }
      const right =
        base === null || !this.#aim.hasOracle
          ? null
          : await this.#run(scenario, base, value.ops.length);
      if (right !== null && right.fault !== null) return { kind: "invalid", n };
      const { answers } = right ?? given;
      const illegal = [...answers.keys()].filter((i) => answers[i]?.err?.code === "invalid");
      const isAtEnd = fault.op === null || n >= value.ops.length;
      const op = isAtEnd ? AT_END : (value.ops[n]?.op ?? AT_END);
      const signature = { check: fault.check, op, component: fault.component };
      const finding = { signature, n, message: fault.message };
      return { kind: "fails", finding, illegal: illegal.filter((index) => index <= n) };
    });

  /** After a refused boot nothing means anything, and another wrong answer is another failure. */
  #isMeant(answers: readonly Answer[], n: number): boolean {
    if (n > 0 && answers[0]?.err !== undefined) return false;
    const { isExpectation, hasOracle, outcome } = this.#aim;
    return !isExpectation || hasOracle || outcomeText(answers[n]) === outcome;
  }

  /** The scenario's own expectation; of the operations before, what they answered. */
  expected({ case: value }: FailingCase): Promise<Expected> {
    return this.#pool.use(async ({ base, candidate }) => {
      const side = this.#aim.hasOracle && base !== null ? base : candidate;
      const { answers } = await this.#run(this.#scenario(value), side, value.ops.length);
      const expects = value.ops.map((_, n) => {
        const answer = answers[n];
        return answer === undefined ? null : outcomeOf(answer);
      });
      if (this.#aim.isExpectation) expects[value.ops.length - 1] = this.#aim.expectation;
      return { expects, finally: this.#aim.finally };
    });
  }

  async dispose(): Promise<void> {
    await this.#pool.dispose(async ({ base, candidate }) => {
      await base?.dispose();
      await candidate.dispose();
    });
  }

  #scenario({ config, ops }: ShrinkCase): Scenario {
    const last = ops.length - 1;
    const { expectation, isExpectation, finally: end } = this.#aim;
    return {
      ...this.#options.scenario,
      configs: [[null, config]],
      ops: ops.map((operation, n) => {
        return { operation, expect: isExpectation && n === last ? expectation : null };
      }),
      finally: end,
      invalid: null,
    };
  }

  // Without `length` every expectation is looked at, else that of the last operation and those of the drain.
  async #run(scenario: Scenario, side: Candidate, length?: number): Promise<Outcome> {
    const answers: Answer[] = [];
    const [config] = scenario.configs[0] ?? [null];
    const isLast = (n: number): boolean => this.#aim.isExpectation && n === (length ?? 0) - 1;
    const fault = await scenarioFault(scenario, config, side, new Pulse(this.#options.control), {
      expects: (n) => length === undefined || n >= length || isLast(n),
      answered: (_n, answer) => answers.push(answer),
    });
    return { fault, answers };
  }
}

function outcomeText(answer: Answer | undefined): string {
  return answer === undefined ? "none" : JSON.stringify(outcomeOf(answer));
}
