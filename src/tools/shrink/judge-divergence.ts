// Judges a case by the first difference of two implementations. Shortened operations have no recorded answers, so both
// sides answer them.
import type { Adapter, AdapterFailure } from "../../adapter/adapter.js";
import { CandidateError } from "../../base/errors.js";
import type { Answer, DigestDepth } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import { Candidate, givesDepth } from "../candidate.js";
import type { StartAdapter } from "../candidate.js";
import { RunComparer } from "../compare-run.js";
import type { ComparedParts } from "../answered-line.js";
import type { Finding } from "../findings.js";
import type { Divergence } from "../outcome.js";
import type { Judgement, ShrinkCase } from "./case.js";
import { outcomeOf, tellingExpectation } from "./judge.js";
import type { Expected, RunningJudge } from "./judge.js";
import { Pool } from "./pool.js";
import type { FailingCase } from "./shrink.js";

const RUN = "case";
const WINDOW = 64; // operations given to a side at once

/** @internal */
export interface DivergenceOptions {
  readonly base: StartAdapter;
  readonly candidate: StartAdapter;
  readonly digestDepth: DigestDepth;
  readonly signal?: AbortSignal;
}

interface Pair {
  readonly base: Candidate;
  readonly candidate: Candidate;
}

/** A side that stopped answering. */
interface Broken {
  readonly answers: readonly Answer[];
  readonly failure: AdapterFailure | null;
}

/** @internal */
export class DivergenceJudge implements RunningJudge {
  readonly #options: DivergenceOptions;
  readonly #pool: Pool<Pair>;

  constructor(options: DivergenceOptions) {
    this.#options = options;
    this.#pool = new Pool(() => ({
      base: new Candidate(options.base),
      candidate: new Candidate(options.candidate),
    }));
  }

  readonly judge = (value: ShrinkCase): Promise<Judgement> =>
    this.#pool.use(async (pair) => {
      const parts = await this.#open(pair, value);
      if (parts === null) return { kind: "invalid", n: 0 };
      return this.#compare(pair, value, parts);
    });

  /** The base's answers; of the last operation all that tells it from the candidate's. */
  expected({ case: value, finding }: FailingCase): Promise<Expected> {
    return this.#pool.use(async (pair) => {
      const parts = await this.#open(pair, value);
      if (parts === null) return { expects: [], finally: {} };
      const right = await this.#answers(pair.base, value, finding.n);
      const wrong = await this.#answers(pair.candidate, value, finding.n);
      const expects = right.answers.map(outcomeOf);
      const last = right.answers[finding.n];
      if (last !== undefined) {
        expects[finding.n] = tellingExpectation(value, {
          right: last,
          wrong: wrong.answers[finding.n] ?? null,
          hasEffects: parts.fx,
          state: finding.signature.check === "state" ? right.state : null,
          component: finding.signature.component,
        });
      }
      return { expects, finally: {} };
    });
  }

  async dispose(): Promise<void> {
    await this.#pool.dispose(async ({ base, candidate }) => {
      await base.dispose();
      await candidate.dispose();
    });
  }

  /** Opens the run on both sides; null where one of them refuses the configuration. */
  async #open(pair: Pair, { config }: ShrinkCase): Promise<ComparedParts | null> {
    const sides = [await pair.base.ready(), await pair.candidate.ready()];
    const { digestDepth: wanted } = this.#options;
    const digest = sides.every(({ info }) => givesDepth(info.digest, wanted));
    const opening = {
      run: RUN,
      domain: "kv",
      config,
      digestDepth: digest ? wanted : null,
    } as const;
    try {
      await pair.base.open(opening);
      await pair.candidate.open(opening);
    } catch (thrown) {
      this.#options.signal?.throwIfAborted();
      if (!(thrown instanceof CandidateError)) throw thrown;
      await pair.base.dispose();
      await pair.candidate.dispose();
      return null;
    }
    return { fx: sides.every(({ info }) => info.fx), digest };
  }

  async #compare(pair: Pair, value: ShrinkCase, parts: ComparedParts): Promise<Judgement> {
    const comparer = new RunComparer(RUN, parts, 1);
    comparer.followsNames = false; // of what is missing, shrinking takes care
    const illegal: number[] = [];
    for (let from = 0; from < value.ops.length; from += WINDOW) {
      const ops = value.ops.slice(from, from + WINDOW);
      const base = await this.#apply(pair.base, ops);
      const candidate = await this.#apply(pair.candidate, ops);
      if (base === null || candidate === null) return { kind: "invalid", n: from };
      for (const [index, operation] of ops.entries()) {
        const n = from + index;
        const right = base.answers[index];
        if (right?.err?.code === "invalid") illegal.push(n);
        const outcome = step(comparer, { n, ...operation }, right, candidate, index);
        if (outcome === "invalid") return { kind: "invalid", n };
        if (comparer.invalid !== null) return { kind: "invalid", n };
        if (comparer.divergence !== null) return failing(comparer.divergence, illegal);
      }
    }
    return this.#atEnd(pair, comparer, value, illegal);
  }

  /** What shows when the run is closed: a crash, a lost write, another state. */
  async #atEnd(
    pair: Pair,
    comparer: RunComparer,
    value: ShrinkCase,
    illegal: readonly number[],
  ): Promise<Judgement> {
    const n = value.ops.length - 1;
    const op = value.ops[n]?.op ?? "boot";
    const right = await pair.base.close();
    const given = await pair.candidate.close();
    this.#options.signal?.throwIfAborted();
    if (right.failure !== null) return { kind: "invalid", n };
    if (given.failure !== null) comparer.breakAfter(n, op, given.failure);
    else if (comparer.parts.digest && right.digest !== given.digest) {
      const fields = [{ path: "/end/digest", base: right.digest, candidate: given.digest }];
      comparer.differInState(n, op, fields);
    }
    const { divergence } = comparer;
    return divergence === null ? { kind: "passes" } : failing(divergence, illegal);
  }

  /** Null where an operation is not supported. */
  async #apply(side: Candidate, ops: ShrinkCase["ops"]): Promise<Broken | null> {
    try {
      const adapter: Adapter = await side.ready();
      const result = await adapter.apply(ops);
      if (result.failure === null) return result;
      this.#options.signal?.throwIfAborted();
      await side.dispose();
      return result;
    } catch (thrown) {
      this.#options.signal?.throwIfAborted();
      if (!(thrown instanceof CandidateError)) throw thrown;
      await side.dispose();
      return null;
    }
  }

  async #answers(
    side: Candidate,
    { ops }: ShrinkCase,
    to: number,
  ): Promise<Broken & { readonly state: State | null }> {
    const result = await this.#apply(side, ops.slice(0, to + 1));
    if (result?.failure !== null) {
      return { answers: result?.answers ?? [], failure: null, state: null };
    }
    return { ...result, state: await (await side.ready()).state() };
  }
}

/** Compares one operation; "invalid" where the base does not answer it. */
function step(
  comparer: RunComparer,
  operation: { readonly n: number } & ShrinkCase["ops"][number],
  right: Answer | undefined,
  candidate: Broken,
  index: number,
): "invalid" | undefined {
  const given = candidate.answers[index];
  const isUnsupported = [right, given].some((answer) => answer?.err?.code === "unsupported");
  if (isUnsupported || right === undefined) return "invalid";
  const line = { ...operation, ...right };
  if (given !== undefined) comparer.compare(line, given);
  else {
    const failure = candidate.failure ?? { kind: "protocol", message: "gave too few answers" };
    comparer.break(line, failure);
  }
  return undefined;
}

function failing(divergence: Divergence, illegal: readonly number[]): Judgement {
  return { kind: "fails", finding: findingOf(divergence), illegal };
}

function findingOf(divergence: Divergence): Finding {
  const { n, kind, components, fields, failure } = divergence;
  const field = fields[0];
  const shown = (side: unknown): string => (side === undefined ? "nothing" : JSON.stringify(side));
  const component = components[0]?.component ?? null;
  const message =
    failure !== null
      ? failure.message
      : field !== undefined
        ? `${field.path}: base ${shown(field.base)}, candidate ${shown(field.candidate)}`
        : `the answers agree, the state of ${component ?? "a component"} differs`;
  const op = divergence.op as Finding["signature"]["op"]; // of an operation that was compared
  return { signature: { check: kind, op, component }, n, message };
}
