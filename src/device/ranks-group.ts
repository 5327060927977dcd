// Ranks that share a layout: the same operations go to each rank's allocator, completions reach each rank at its own
// times. Their lines must be the same; a host wait must end on all ranks in one round.
import { canonicalJson } from "../base/canonical-json.js";
import type { Effect } from "../base/effects.js";
import type { Answer, KvOperation } from "../base/operations.js";
import { CompletionSchedule } from "./ranks-schedule.js";
import { waitTogether, type WaitOutcome } from "./ranks-waiter.js";

/** One rank's allocator: answers an operation, effects and digest included. @public */
export interface RankAllocator {
  apply(operation: KvOperation): Answer;
}

/** A promise between ranks that was broken. @public */
export interface RankViolation {
  readonly check: "rank_divergence" | "deadline";
  readonly message: string; // one line
}

/** @public */
export interface RankGroupOptions {
  readonly seed: number;
  readonly ranks: readonly RankAllocator[]; // at least one
  /** The longest that anything takes, in operations and rounds. Default 12. */
  readonly ticksMost?: number;
  /** Rounds of a host wait; past anything that completes. Default 64. */
  readonly deadlineRounds?: number;
}

/** @public */
export interface RankAnswer {
  readonly answer: Answer; // rank 0's
  readonly violation: RankViolation | null;
}

/** Counts of what happened beside the answers. @public */
export interface RankCounts {
  waits: number; // stream waits, all ranks
  elided: number; // of them, those whose signal the rank saw complete already
  hostWaits: number;
  rounds: number; // of all host waits
  deadlines: number;
}

/** Several ranks in step. @public */
export class RankGroup {
  readonly counts: RankCounts = { waits: 0, elided: 0, hostWaits: 0, rounds: 0, deadlines: 0 };
  readonly #ranks: readonly RankAllocator[];
  readonly #schedules: readonly CompletionSchedule[];
  readonly #deadlineRounds: number;
  readonly #seed: number;
  #operations = 0;

  constructor(options: RankGroupOptions) {
    const { seed, ranks, ticksMost = 12, deadlineRounds = 64 } = options;
    this.#seed = seed;
    this.#ranks = ranks;
    this.#deadlineRounds = deadlineRounds;
    this.#schedules = ranks.map((_, rank) => new CompletionSchedule(seed, rank, ticksMost));
  }

  /** Applies an operation on every rank. What all ranks have to agree on first is waited for: a slow rank delays the
   * operation and never changes its answer. */
  apply(operation: KvOperation): RankAnswer {
    this.#agree(operation);
    this.#operations += 1;
    const answers = this.#ranks.map((rank) => rank.apply(operation));
    const answer = answers[0]!; // at least one rank
    const line = canonicalJson(answer);
    const other = answers.findIndex((each) => canonicalJson(each) !== line);
    if (other > 0) {
      const message = `${operation.op}: rank ${String(other)} answers otherwise than rank 0`;
      return { answer, violation: { check: "rank_divergence", message } };
    }
    this.#note(operation, answer);
    for (const effect of answer.fx ?? []) {
      const violation = this.#follow(effect);
      if (violation !== null) return { answer, violation };
    }
    const violation = answer.err?.code === "deadline" ? this.#expectDeadline(answer) : null;
    for (const schedule of this.#schedules) schedule.tick();
    return { answer, violation };
  }

  /** Completions that an operation reports are the same on all ranks: it comes after the last of them. */
  #agree(operation: KvOperation): void {
    const name = completionOf(operation);
    if (name === null) return;
    while (this.#schedules.some((each) => !each.isStalled(name) && !each.isDone(name)))
      for (const schedule of this.#schedules) schedule.tick();
  }

  /** What an operation says about completions without any effect. */
  #note(operation: KvOperation, answer: Answer): void {
    if (answer.ok === undefined) return;
    if (operation.op === "event.fire")
      this.#schedules[operation.args.rank]?.fire(operation.args.event);
    if (operation.op === "net.stall") {
      // One engine is enough.
      const rank = (this.#seed + this.#operations) % this.#schedules.length;
      this.#schedules[rank]!.stall(operation.args.transfer);
    }
  }

  #follow(effect: Effect): RankViolation | null {
    switch (effect[0]) {
      case "event":
      case "hostcopy":
      case "net":
        for (const schedule of this.#schedules) schedule.start(effect[1]);
        return null;
      case "wait":
        for (const schedule of this.#schedules) {
          this.counts.waits += 1;
          if (schedule.isDone(effect[1])) this.counts.elided += 1;
        }
        return null;
      case "hostwait":
        return this.#hostWait(effect[1]);
      default:
        return null;
    }
  }

  #hostWait(transfer: string): RankViolation | null {
    const outcomes = this.#wait([transfer]);
    this.counts.hostWaits += 1;
    this.counts.rounds += outcomes[0]!.round;
    const late = outcomes.find(({ inFlight }) => inFlight.length > 0);
    if (late !== undefined)
      return {
        check: "deadline",
        message: `the host waits ${transfer}, which is still in flight after ${String(late.round)} rounds`,
      };
    for (const schedule of this.#schedules) schedule.forget(transfer);
    return unequal(outcomes);
  }

  /** A refusal at the deadline is true: the wait would have failed on every rank, in one round, for these transfers. */
  #expectDeadline(answer: Answer): RankViolation | null {
    const transfers = answer.err?.transfers ?? [];
    const outcomes = this.#wait(transfers);
    this.counts.deadlines += 1;
    const missed = outcomes.find(({ inFlight }) => inFlight.length < transfers.length);
    if (missed === undefined) return unequal(outcomes);
    const done = transfers.filter((name) => !missed.inFlight.includes(name));
    return { check: "deadline", message: `refused for ${done.join(", ")}, which would have ended` };
  }

  #wait(transfers: readonly string[]): readonly WaitOutcome[] {
    return waitTogether(this.#schedules, transfers, this.#deadlineRounds, () => {
      for (const schedule of this.#schedules) schedule.tick();
    });
  }
}

function completionOf(operation: KvOperation): string | null {
  switch (operation.op) {
    case "forward.process":
      return operation.args.step;
    case "host.backup_done":
    case "host.load_done":
      return operation.args.copy;
    case "net.end":
      return operation.args.outcome === "ok" ? operation.args.transfer : null;
    default:
      return null;
  }
}

function unequal(outcomes: readonly WaitOutcome[]): RankViolation | null {
  const { round } = outcomes[0]!; // one a rank
  const other = outcomes.findIndex((outcome) => outcome.round !== round);
  if (other < 0) return null;
  return {
    check: "rank_divergence",
    message: `a host wait ends in round ${String(round)} on rank 0, in round ${String(outcomes[other]!.round)} on rank ${String(other)}`,
  };
}
