// One seed: the seeded workload under all checks, and a fixed list of operations under the same ones. Both are pure: the
// same options give the same result, in this process or another.
import { UsageError } from "../../base/errors.js";
import type { Answer, DirectConfig, KvOperation } from "../../base/operations.js";
import type { Layout } from "../../workload/layouts.js";
import { seededWorkload, WEIGHT_NAMES } from "../../workload/seeded.js";
import { CoverageCounts } from "../coverage-counts.js";
import type { Finding } from "../findings.js";
import { type StressCounts, type StressDevice, StressRun } from "./run.js";

/** Profiles that the seeds go through in turn where none is named. @internal */
export const STRESS_PROFILES = [
  "steady",
  "swarm",
  "tight",
  "transfers",
  "windows",
  "speculative",
  "stages",
] as const;
/** The word for all of them. @internal */
export const MIXED_PROFILE = "mixed";
/** Every word for a profile. @public */
export const PROFILE_WORDS: readonly string[] = [MIXED_PROFILE, ...WEIGHT_NAMES];

/** @public */
export interface StressSeedOptions {
  readonly seed: number;
  readonly ops: number; // operations of the workload, `boot` included; barriers come on top
  readonly layout: Layout;
  readonly pageSize: number; // tokens
  /** A weight profile, or `mixed` (the default): the seed says which. */
  readonly profile?: string;
  /** How many questions are asked before one is tried on a copy. Default 8. */
  readonly questionsEvery?: number;
  /** What carries the bytes. Default: model. */
  readonly device?: StressDevice;
}

/** An operation as it was executed. @public */
export interface ExecutedOperation {
  readonly operation: KvOperation;
  /** The refusal that answered it: its code, and of a broken contract the rule. Null where it was granted. */
  readonly err: { readonly code: string; readonly rule?: string } | null;
  /** The rule that it breaks on purpose, null where it is legal. */
  readonly rule: string | null;
}

/** @public */
export interface StressSeedResult {
  readonly run: string; // LAYOUT/pPS/seed-N
  readonly seed: number;
  readonly profile: string; // the one that ran
  readonly config: DirectConfig;
  readonly findings: readonly Finding[];
  readonly counts: StressCounts;
  readonly coverage: CoverageCounts;
  /** What was executed; kept only where something was found. */
  readonly ops: readonly ExecutedOperation[];
}

/** The profile that a seed runs. Throws `UsageError` for an unknown word. @internal */
export function profileOf(word: string, seed: number): string {
  if (word === MIXED_PROFILE) return STRESS_PROFILES[seed % STRESS_PROFILES.length]!; // in range
  if (WEIGHT_NAMES.includes(word)) return word;
  throw new UsageError(`unknown profile "${word}"`, PROFILE_WORDS.join(", "));
}

/** Runs one seed to its end, or a little behind its first finding. @public */
export function stressSeed(options: StressSeedOptions): StressSeedResult {
  const { seed, ops, layout, pageSize, questionsEvery } = options;
  const profile = profileOf(options.profile ?? MIXED_PROFILE, seed);
  const workload = seededWorkload({ seed, ops, layout, pageSize, weights: profile });
  const config = workload.config as DirectConfig; // seeds draw the direct form
  const run = new StressRun({
    config,
    seed,
    ...(questionsEvery === undefined ? {} : { questionsEvery }),
    device: options.device ?? "model",
  });
  const coverage = new CoverageCounts();
  const executed: ExecutedOperation[] = [];
  const apply = (operation: KvOperation, rule: string | null): Answer | null => {
    const answer = run.apply(operation, rule);
    executed.push({ operation, err: refusalOf(answer), rule });
    if (answer !== null) coverage.add(operation.op, answer);
    return answer;
  };
  let answer: Answer | null = null;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation; // of domain kv
    answer = apply(operation, workload.brokenRule);
    if (answer === null || run.isOver) break;
    const barrier = barrierBehind(operation, answer);
    if (barrier !== null && apply(barrier, null) === null) break;
  }
  run.end();
  coverage.reach(run.reached);
  const { findings, counts } = run;
  return {
    run: workload.run,
    seed,
    profile,
    config,
    findings,
    counts,
    coverage,
    ops: findings.length > 0 ? executed : [],
  };
}

/** The overlap loop applies the write-after-read barrier of each forward right behind its launch. @internal */
export function barrierBehind(operation: KvOperation, { fx }: Answer): KvOperation | null {
  if (operation.op !== "forward.record" || fx === undefined) return null;
  return { op: "forward.barrier", args: { step: operation.args.step } };
}

function refusalOf(answer: Answer | null): ExecutedOperation["err"] {
  if (answer?.err === undefined) return null;
  const { code, rule } = answer.err;
  return rule === undefined ? { code } : { code, rule };
}

/** A fixed list of operations with its configuration. @public */
export interface StressCase {
  readonly config: DirectConfig;
  readonly ops: readonly KvOperation[]; // `boot` first, or understood
}

/** @public */
export interface StressCaseOptions {
  /** Of the completion schedules; the seed that found the case. */
  readonly seed: number;
  /** As for a seed; default 1: all questions are tried. */
  readonly questionsEvery?: number;
  /** By place in `ops`: the rule that an operation breaks on purpose, null where it is legal; undefined: not known. */
  readonly rules?: readonly (string | null | undefined)[];
  /** The one check whose findings are wanted; others may be missing. Default: all. */
  readonly only?: string;
  readonly device?: StressDevice;
}

/** @public */
export interface StressCaseResult {
  readonly findings: readonly Finding[];
  /** Operations that were answered; the place of the first that an allocator broke on is one further. */
  readonly answers: readonly Answer[];
  readonly counts: StressCounts;
}

/** Applies a fixed list of operations under all checks. @public */
export function stressCase(input: StressCase, options: StressCaseOptions): StressCaseResult {
  const { seed, questionsEvery = 1, rules = [], only = null } = options;
  const isBooted = input.ops[0]?.op === "boot";
  const boot: KvOperation = { op: "boot", args: {} };
  const { device = "model" } = options;
  const run = new StressRun({ config: input.config, seed, questionsEvery, only, device });
  const answers: Answer[] = [];
  if (!isBooted) run.apply(boot);
  for (const [at, operation] of input.ops.entries()) {
    const answer = run.apply(operation, rules[at]);
    if (answer === null) break;
    answers.push(answer);
    if (run.isOver) break;
  }
  run.end();
  return { findings: run.findings, answers, counts: run.counts };
}
