// The value of a configuration key at which the outcome of a trace's operations changes: the same operations under other
// configurations, held against what they come to at the value that is good.
import { createHash } from "node:crypto";
import type { AdapterFailure } from "../../adapter/adapter.js";
import { canonicalJson } from "../../base/canonical-json.js";
import { CandidateError, UsageError } from "../../base/errors.js";
import type { Answer } from "../../base/operations.js";
import type { ReaderOptions } from "../../trace/reader.js";
import { Candidate } from "../candidate.js";
import type { StartAdapter } from "../candidate.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { runsOf } from "../trace-runs.js";
import type { TraceRun } from "../trace-runs.js";
import { configWith } from "./config-key.js";
import type { ValueLine } from "./config-key.js";
import type { KeyAnswer, KeyBisection, TestedPoint } from "./outcome.js";
import { searchLine } from "./search.js";

const BATCH = 256;
const REFUSED = "the configuration is refused";

/** @public */
export interface BisectKeyOptions extends ToolControl {
  readonly trace: string;
  readonly start: StartAdapter;
  readonly key: string; // `arena_bytes`, `sub_pools.full.unit_bytes`
  readonly values: ValueLine; // from the good one to the bad one
  readonly by: "refusals" | "answers";
  readonly run?: string;
  readonly reader?: ReaderOptions;
  readonly isTimeOver?: () => boolean;
  readonly onTested?: (tested: TestedPoint) => void;
}

/** Throws `UsageError` where the outcome is the same at both ends, or a run has no such key. @public */
export async function bisectKey(options: BisectKeyOptions): Promise<KeyBisection> {
  const runs: TraceRun[] = [];
  for await (const run of runsOf(options.trace, options.run ?? null, options.reader ?? {})) {
    runs.push(run);
  }
  const search = new KeySearch(options, runs);
  try {
    return await search.run();
  } finally {
    await search.dispose();
  }
}

interface Place {
  readonly run: TraceRun;
  readonly n: number;
}

class KeySearch {
  readonly #options: BisectKeyOptions;
  readonly #runs: readonly TraceRun[];
  readonly #candidate: Candidate;
  readonly #pulse: Pulse;
  readonly #wanted = new Map<string, readonly string[]>(); // what each operation comes to at the good value
  readonly #places = new Map<number, Place>(); // where the outcome of a value first differs
  readonly #tested: TestedPoint[] = [];

  constructor(options: BisectKeyOptions, runs: readonly TraceRun[]) {
    this.#options = options;
    this.#runs = runs;
    this.#candidate = new Candidate(options.start);
    this.#pulse = new Pulse(options);
  }

  async run(): Promise<KeyBisection> {
    const { values, key, by, isTimeOver } = this.#options;
    const [good, bad] = [values.at(0), values.at(values.count - 1)];
    for (const run of this.#runs) {
      const outcomes = await this.#outcomes(run, good, null);
      if (outcomes[0] === REFUSED) {
        throw new UsageError(`--key ${key}: the configuration is refused at ${String(good)}`);
      }
      this.#wanted.set(run.line.run, outcomes);
    }
    this.#note(good, "equal");
    if ((await this.#test(bad)) === "good") {
      throw new UsageError(
        `--key ${key}: every operation comes to the same at ${String(good)} and at ${String(bad)}, so there is nothing to find`,
      );
    }
    const end = await searchLine({
      good: 0,
      bad: values.count - 1,
      test: (point) => this.#test(values.at(point)),
      ...(isTimeOver === undefined ? {} : { isTimeOver }),
    });
    const [last, first] = [values.at(end.good), values.at(end.bad)];
    const { run, n } = this.#places.get(first)!; // it was tested, and it differs
    const { op, args } = run.ops[n] ?? run.ops[0]!; // a run has a boot
    return {
      over: "key",
      verdict: end.isOver ? (end.bad - end.good === 1 ? "found" : "several") : "incomplete",
      ...{ key, by, good, bad, last, first },
      ...{ run: run.line.run, n, op, args },
      base: await this.#answerAt(run, good, n),
      changed: await this.#answerAt(run, first, n),
      tested: this.#tested,
      runs: this.#pulse.runs,
      operations: this.#pulse.operations,
    };
  }

  async dispose(): Promise<void> {
    await this.#candidate.dispose();
  }

  async #test(value: number): Promise<"good" | "bad"> {
    for (const run of this.#runs) {
      const wanted = this.#wanted.get(run.line.run) ?? [];
      const outcomes = await this.#outcomes(run, value, wanted);
      const n = outcomes.findIndex((outcome, index) => outcome !== wanted[index]);
      if (n < 0 && outcomes.length === wanted.length) continue;
      this.#places.set(value, { run, n: n < 0 ? Math.min(outcomes.length, wanted.length) : n });
      this.#note(value, "different");
      return "bad";
    }
    this.#note(value, "equal");
    return "good";
  }

  #note(value: number, outcome: "equal" | "different"): void {
    this.#tested.push({ value, outcome });
    this.#options.onTested?.({ value, outcome });
  }

  /** What the operations come to; where `wanted` is given only as far as they come to the same. */
  async #outcomes(
    run: TraceRun,
    value: number,
    wanted: readonly string[] | null,
  ): Promise<string[]> {
    const outcomes: string[] = [];
    const isBy = this.#options.by;
    await this.#replay(run, value, (answer, n) => {
      const outcome = isBy === "refusals" || n === 0 ? kindOf(answer) : hashOf(answer);
      outcomes.push(outcome);
      return wanted === null || wanted[n] === outcome;
    });
    return outcomes;
  }

  async #answerAt(run: TraceRun, value: number, at: number): Promise<KeyAnswer> {
    let found: KeyAnswer = { outcome: "nothing", answer: null };
    await this.#replay(run, value, (answer, n) => {
      if (n === at) found = { outcome: kindOf(answer), answer: "ended" in answer ? null : answer };
      return n < at;
    });
    return found;
  }

  /** Replays until `take` has seen enough. A run that is refused or broken has that for its next answer. */
  async #replay(
    run: TraceRun,
    value: number,
    take: (answer: Answer | Ended, n: number) => boolean,
  ): Promise<void> {
    const { run: name, domain } = run.line;
    const config = configWith(run.line.config, this.#options.key, value, name);
    this.#pulse.run = name;
    this.#pulse.runs += 1;
    try {
      await this.#candidate.open({ run: name, domain, config, digestDepth: null });
    } catch (thrown) {
      if (!isRefusedConfig(thrown)) throw thrown;
      await this.#candidate.dispose();
      take({ ended: REFUSED }, 0);
      return;
    }
    const adapter = await this.#candidate.ready();
    for (let from = 0; from < run.ops.length; from += BATCH) {
      const { answers, failure } = await adapter.apply(run.ops.slice(from, from + BATCH));
      this.#pulse.throwIfInterrupted();
      if (this.#pulse.count(answers.length)) await this.#pulse.breathe();
      for (const [index, answer] of answers.entries()) if (!take(answer, from + index)) return;
      if (failure === null) continue;
      await this.#candidate.dispose();
      take({ ended: wordsOf(failure) }, from + answers.length);
      return;
    }
  }
}

/** How a run ended in place of an answer. */
interface Ended {
  readonly ended: string;
}

function kindOf(answer: Answer | Ended): string {
  if ("ended" in answer) return answer.ended;
  const { err } = answer;
  if (err === undefined) return "granted";
  return err.code === "invalid" && err.rule !== undefined ? `invalid (${err.rule})` : err.code;
}

// A run may have millions of answers: their hashes are kept.
function hashOf(answer: Answer | Ended): string {
  if ("ended" in answer) return answer.ended;
  const { ok = null, err = null, fx = [] } = answer;
  return createHash("sha256").update(canonicalJson({ ok, err, fx })).digest("base64").slice(0, 24);
}

function wordsOf({ kind, message }: AdapterFailure): string {
  return `${kind}: ${message}`;
}

// The first start has to work; after it an implementation says what it does not take.
function isRefusedConfig(thrown: unknown): thrown is CandidateError {
  return thrown instanceof CandidateError && thrown.code === "candidate_handshake";
}
