// The first commit that diverges from a trace: commits are built and compared by halves, as git bisect walks a history.
// Commits that cannot be built, or do not understand the trace, are passed over.
import type { CommitInfo, History } from "../../adapter/checkout-history.js";
import { CandidateError, UsageError } from "../../base/errors.js";
import type { StartAdapter } from "../candidate.js";
import { compareTrace } from "../compare-trace.js";
import type { CompareTraceOptions } from "../compare-options.js";
import type { CompareResult } from "../outcome.js";
import type { CommitBisection, CommitDivergence, TestedCommit } from "./outcome.js";
import { choiceAfter } from "./search.js";

/** A commit and the words that name it. @public */
export interface NamedCommit {
  readonly ref: string;
  readonly commit: string; // full hash
}

/** What is asked about the commits. @public */
export type CommitHistory = Pick<History, "between" | "inOrder" | "mergeBases" | "describe">;

/** @public */
export interface BisectCommitsOptions extends Omit<CompareTraceOptions, "candidate" | "start"> {
  readonly history: CommitHistory;
  readonly good: NamedCommit;
  readonly bad: NamedCommit;
  readonly start: (commit: string) => StartAdapter;
  readonly isTimeOver?: () => boolean;
  /** Told of every commit that was tested, and how many may still be the first one. */
  readonly onTested?: (tested: TestedCommit, left: number | null) => void;
}

/**
 * Throws `UsageError` where `good` is not equal or `bad` not divergent, `CandidateError` where one of them cannot be
 * judged. @public
 */
export function bisectCommits(options: BisectCommitsOptions): Promise<CommitBisection> {
  return new CommitSearch(options).run();
}

class CommitSearch {
  readonly #options: BisectCommitsOptions;
  readonly #tested = new Map<string, TestedCommit>();
  #runs = 0;
  #operations = 0;

  constructor(options: BisectCommitsOptions) {
    this.#options = options;
  }

  async run(): Promise<CommitBisection> {
    const { good, bad, history, isTimeOver } = this.#options;
    if (good.commit === bad.commit) {
      throw new UsageError(`--good ${good.ref} and --bad ${bad.ref} are the same commit`);
    }
    const base = await this.#end("good", good);
    let first = await this.#end("bad", bad);
    const goods = [good.commit, ...(await this.#meetings())];
    const skipped = new Set<string>();
    const ends = { good: base, bad: first };
    for (let skips = 0; ;) {
      const left = await history.between(first.commit, goods);
      const open = left.filter((commit) => commit !== first.commit && !skipped.has(commit));
      if (open.length === 0) return this.#result(ends, first, goods);
      if (isTimeOver?.() === true) return this.#result(ends, first, goods, true);
      const next = open[choiceAfter(skips, open.length)] ?? first.commit; // below its length
      const tested = await this.#test(next, open.length);
      skips = tested.outcome === "skipped" ? skips + 1 : 0;
      if (tested.outcome === "divergent") first = tested;
      else if (tested.outcome === "equal") goods.push(next);
      else skipped.add(next);
    }
  }

  /** One of the two ends: a wrong one makes all that follows worthless. */
  async #end(side: "good" | "bad", { ref, commit }: NamedCommit): Promise<TestedCommit> {
    const tested = await this.#test(commit, null);
    const { outcome, reason, divergence } = tested;
    const wanted = side === "good" ? "equal" : "divergent";
    if (outcome === wanted) return tested;
    const named = `--${side} ${ref}`;
    if (outcome === "skipped") {
      throw new CandidateError("candidate_start", `${named} cannot be judged: ${reason ?? ""}`);
    }
    if (divergence === null) {
      throw new UsageError(`${named} is equal to the trace, so there is nothing to find`);
    }
    const { run, n, op } = divergence;
    throw new UsageError(
      `${named} diverges already, at operation ${String(n)} (${op}) of run ${run}: expected a commit that is equal`,
    );
  }

  /** Where `good` is on another line: what the two lines have in common has to be equal, or the search means nothing. */
  async #meetings(): Promise<string[]> {
    const { good, bad, history } = this.#options;
    const bases = await history.mergeBases(good.commit, bad.commit);
    if (bases.includes(good.commit)) return [];
    if (bases.includes(bad.commit)) {
      throw new UsageError(
        `--good ${good.ref} comes after --bad ${bad.ref}: expected a divergence that was brought in, not one that was put right`,
      );
    }
    const equal: string[] = [];
    for (const base of bases) {
      const { outcome } = await this.#test(base, null);
      if (outcome === "equal") equal.push(base);
      if (outcome !== "divergent") continue;
      throw new UsageError(
        `commit ${base.slice(0, 12)}, where the lines of --good ${good.ref} and --bad ${bad.ref} meet, diverges already: it was put right on the way to --good`,
      );
    }
    return equal;
  }

  async #test(commit: string, left: number | null): Promise<TestedCommit> {
    const info = await this.#options.history.describe(commit);
    const tested = { ...info, ...(await this.#judge(commit)) };
    this.#tested.set(commit, tested);
    this.#operations += tested.operations;
    this.#options.onTested?.(tested, left);
    return tested;
  }

  async #judge(commit: string): Promise<Omit<TestedCommit, keyof CommitInfo>> {
    const { start, signal } = this.#options;
    let result: CompareResult;
    try {
      const candidate = `ref:${commit}`;
      result = await compareTrace({
        ...this.#options,
        isBrief: true,
        candidate,
        start: start(commit),
      });
    } catch (thrown) {
      signal?.throwIfAborted();
      if (!(thrown instanceof CandidateError)) throw thrown;
      return { outcome: "skipped", reason: thrown.message, divergence: null, operations: 0 };
    }
    const { operations, error, verdict } = result;
    this.#runs += result.runs.length;
    const divergence = earliest(result);
    if (divergence !== null) return { outcome: "divergent", reason: null, divergence, operations };
    if (error !== null && !(error instanceof CandidateError)) throw error; // the trace, not the commit
    const isJudged = error === null && verdict !== "invalid";
    return {
      outcome: isJudged ? "equal" : "skipped",
      reason: isJudged ? null : (error?.message ?? noteOf(result)),
      divergence: null,
      operations,
    };
  }

  async #result(
    ends: { readonly good: TestedCommit; readonly bad: TestedCommit },
    first: TestedCommit,
    goods: readonly string[],
    isTimeOver = false,
  ): Promise<CommitBisection> {
    const candidates: CommitInfo[] = [];
    for (const commit of await this.#options.history.inOrder(first.commit, goods)) {
      candidates.push(this.#tested.get(commit) ?? (await this.#options.history.describe(commit)));
    }
    return {
      over: "commits",
      verdict: isTimeOver ? "incomplete" : candidates.length === 1 ? "found" : "several",
      ...ends,
      first,
      candidates: candidates.map(({ commit, subject, author, date }) => ({
        ...{ commit, subject, author, date },
      })),
      tested: [...this.#tested.values()],
      runs: this.#runs,
      operations: this.#operations,
    };
  }
}

function earliest({ first, runs }: CompareResult): CommitDivergence | null {
  if (first === null) return null;
  const divergence = runs.find(({ run }) => run === first.run)?.divergence ?? null;
  if (divergence === null) return null;
  const { n, op, place, kind, components } = divergence;
  return { run: first.run, n, op, place, kind, component: components[0]?.component ?? null };
}

function noteOf({ runs }: CompareResult): string {
  const run = runs.find(({ note }) => note !== null);
  return run === undefined ? "the trace is invalid for it" : `run ${run.run}: ${run.note ?? ""}`;
}
