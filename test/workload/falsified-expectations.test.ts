// Expectations that are made false: each place of each expectation of each shipped scenario is changed, one at a time, and
// what the allocator answers must no longer do. An expectation that cannot fail proves nothing.
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import type { Answer, KvOperation } from "../../src/base/operations.js";
import type { BandState, State } from "../../src/base/state.js";
import { KVStorage } from "../../src/kv/storage.js";
import { Candidate } from "../../src/tools/candidate.js";
import { Pulse } from "../../src/tools/pulse.js";
import { scenarioFault } from "../../src/tools/run-scenario.js";
import { runScenarios } from "../../src/tools/run-scenarios.js";
import { loadScenarios, matchExpectation, scenarioWorkload } from "../../src/workload/scenario.js";
import type { Expectation, Scenario } from "../../src/workload/scenario.js";

const SCENARIOS = loadScenarios([fileURLToPath(new URL("../../scenarios/", import.meta.url))]);

type Bag = Readonly<Record<string, unknown>>;
const isBag = (value: unknown): value is Bag =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Every way to change one place of a pattern so that what it matched must not match. */
function* falsified(pattern: unknown): Generator {
  if (Array.isArray(pattern)) {
    for (const [index, item] of pattern.entries()) {
      for (const changed of falsified(item)) yield pattern.with(index, changed);
    }
    yield [...(pattern as unknown[]), "one more"];
  } else if (isBag(pattern)) {
    yield* falsifiedBag(pattern);
  } else if (typeof pattern === "number") yield pattern + 1;
  else if (typeof pattern === "string") yield `${pattern}~`;
  else if (typeof pattern === "boolean") yield !pattern;
  else yield "something";
}

function* falsifiedBag(pattern: Bag): Generator {
  const keys = Object.keys(pattern).filter((key) => !key.startsWith("x_"));
  if (keys.length === 1 && keys[0] === "not") yield pattern["not"];
  else if (keys.length === 1 && keys[0] === "any") yield { not: pattern };
  else
    for (const key of keys) {
      for (const changed of falsified(pattern[key])) yield { ...pattern, [key]: changed };
    }
}

function* falsifiedEffects(pattern: unknown, answer: Answer): Generator {
  if (!isBag(pattern)) {
    yield* falsified(pattern);
    return;
  }
  const { has, none } = pattern;
  if (Array.isArray(has)) {
    for (const [index, item] of has.entries()) {
      // another kind; places and counts of one effect may well be those of another
      if (Array.isArray(item))
        yield { has: has.with(index, [`${String(item[0])}~`, ...item.slice(1)]) };
    }
  }
  const kinds = (answer.fx ?? []).map(([kind]) => kind);
  if (Array.isArray(none) && kinds.length > 0) yield { none: [kinds.at(-1)] };
}

/** Expectations like one that holds, each false in one place. */
function* wrongExpectations(expected: Expectation | null, answer: Answer): Generator<Expectation> {
  const { ok, err, fx, state } = expected ?? {};
  if (err === undefined) yield { ...expected, ok: undefined, err: { code: "refused_ids" } };
  else yield { ...expected, err: undefined, ok: {} };
  if (ok !== undefined) for (const changed of falsified(ok)) yield { ok: changed };
  if (err !== undefined) for (const changed of falsified(err)) yield { err: changed };
  const outcome = err === undefined ? { ok } : { err };
  if (fx !== undefined)
    for (const changed of falsifiedEffects(fx, answer)) yield { ...outcome, fx: changed };
  if (state !== undefined)
    for (const changed of falsified(state)) yield { ...outcome, state: changed };
}

interface Answered {
  readonly n: number;
  readonly op: string;
  readonly expected: Expectation | null;
  readonly answer: Answer;
  readonly state: State | null;
}

/** What the allocator answers to the operations of a scenario, the drain left out. */
function answersOf(scenario: Scenario, config: string | null): Answered[] {
  const workload = scenarioWorkload(scenario, config);
  const storage = new KVStorage(workload.config, { digestDepth: null });
  const answers: Answered[] = [];
  let last: Answer | null = null;
  for (let n = 0; n < scenario.ops.length; n++) {
    const step = workload.next(last);
    if (step === null || !("operation" in step)) break;
    const operation = step.operation as KvOperation;
    last = storage.apply(operation);
    const expected = workload.expectation(n);
    const state = expected?.state === undefined ? null : storage.state();
    answers.push({ n, op: operation.op, expected, answer: last, state });
  }
  return answers;
}

describe.each(SCENARIOS)("$name", (scenario) => {
  test("no expectation holds once a place of it is changed", () => {
    let changes = 0;
    const held: string[] = [];
    for (const [config] of scenario.configs) {
      for (const { n, op, expected, answer, state } of answersOf(scenario, config)) {
        expect(matchExpectation(expected, answer, state)).toBeNull();
        for (const wrong of wrongExpectations(expected, answer)) {
          changes += 1;
          if (matchExpectation(wrong, answer, state) === null)
            held.push(`operation ${n} (${op}): ${JSON.stringify(wrong)}`);
        }
      }
    }
    expect(held).toEqual([]);
    expect(changes).toBeGreaterThanOrEqual(scenario.ops.length);
  });
});

test("run says which operation it was, for the last one of every scenario", async () => {
  const changed = SCENARIOS.map((scenario): Scenario => {
    const last = scenario.ops.length - 1;
    const { operation, expect: expected } = scenario.ops[last]!;
    const wrong: Expectation =
      expected?.err === undefined ? { err: { code: "refused_ids" } } : { ok: {} };
    return { ...scenario, ops: scenario.ops.with(last, { operation, expect: wrong }) };
  });
  const start = async (): Promise<InProcessAdapter> => new InProcessAdapter({ device: "none" });
  const { verdict, scenarios } = await runScenarios({ scenarios: changed, start });
  expect(verdict).toBe("failed");
  const wrong = scenarios.filter(({ name, verdict: each, n }) => {
    const { ops } = SCENARIOS.find((one) => one.name === name)!;
    return each !== "failed" || n !== ops.length - 1;
  });
  expect(wrong).toEqual([]);
}, 60_000);

/** What a promise of `finally` must not overlook, put into a state that keeps it. */
const BROKEN: Readonly<Record<"quiescent" | "ledger" | "drain", (state: State) => State>> = {
  quiescent: (state) => ({ ...state, forwards: { ...state.forwards, unprocessed: ["f-late"] } }),
  ledger: (state) => {
    const record = { use: "move_read", band: "full", pages: [[0, 1]], signal: "f-late" } as const;
    return { ...state, ledger: [...state.ledger, record] };
  },
  drain: (state) => {
    const band = Object.keys(state).find(
      (name) => isBag(state[name]) && "bindings" in state[name],
    )!;
    const left = state[band] as BandState; // it has bindings
    return { ...state, [band]: { ...left, live: left.live + 1 } };
  },
};

/** Tells the state after the boot as it is, and every later one as somebody would who left something behind. */
class Leaving extends InProcessAdapter {
  readonly #leave: (state: State) => State;
  #isBooted = false;

  constructor(leave: (state: State) => State) {
    super({ device: "none" });
    this.#leave = leave;
  }
  override async open(opening: Parameters<InProcessAdapter["open"]>[0]): Promise<void> {
    this.#isBooted = false;
    await super.open(opening);
  }
  override async state(): Promise<State | null> {
    const state = await super.state();
    if (state === null) return null;
    if (this.#isBooted) return this.#leave(state);
    this.#isBooted = true;
    return state;
  }
}

test.each(["quiescent", "ledger", "drain"] as const)(
  "finally: %s fails wherever it stands once something is left",
  async (promise) => {
    const made = SCENARIOS.filter((scenario) => scenario.finally[promise] !== undefined);
    expect(made.length).toBeGreaterThan(0);
    const wrong: string[] = [];
    for (const scenario of made) {
      const only = { ...scenario, finally: { [promise]: scenario.finally[promise] } };
      for (const [config] of scenario.configs) {
        const faultWith = async (leave: (state: State) => State): Promise<string | null> => {
          const candidate = new Candidate(async () => new Leaving(leave));
          // the states that operations expect are not looked at: only the end is
          const watch = { expects: () => false };
          const fault = await scenarioFault(only, config, candidate, new Pulse({}), watch);
          await candidate.dispose();
          return fault?.check ?? null;
        };
        const found = [await faultWith((state) => state), await faultWith(BROKEN[promise])];
        const expected = [null, promise === "drain" ? "drain" : "finally"];
        if (JSON.stringify(found) !== JSON.stringify(expected))
          wrong.push(`${scenario.name} ${String(config)}: ${JSON.stringify(found)}`);
      }
    }
    expect(wrong).toEqual([]);
  },
  60_000,
);
