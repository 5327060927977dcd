// A host wait for transfers on several ranks that share a layout. Each rank judges its own engine; the judgements are
// MIN-reduced, so that a transfer counts as done only once every rank sees it done. A rank acts on the reduced judgement
// alone and counts the same rounds, therefore all return in the same round, and all meet the deadline in the same round.

/** How a wait ended on one rank. @public */
export interface WaitOutcome {
  readonly round: number; // from 1
  /** Transfers still in flight at the deadline, in the order of the wait; empty where the wait returned. */
  readonly inFlight: readonly string[];
}

/** What a rank can see for itself. @public */
export interface RankJudge {
  isDone(transfer: string): boolean;
}

type Judgements = readonly (0 | 1)[]; // one a transfer that is left

/** One rank's side: gives its judgements of a round, gets the reduced ones. @internal */
export function* rankWait(
  judge: RankJudge,
  transfers: readonly string[],
  deadlineRounds: number,
): Generator<Judgements, WaitOutcome, Judgements> {
  let left = transfers;
  for (let round = 1; ; round++) {
    const reduced = yield left.map((name) => (judge.isDone(name) ? 1 : 0));
    left = left.filter((_, index) => reduced[index] === 0);
    if (left.length === 0 || round >= deadlineRounds) return { round, inFlight: left };
  }
}

/** The least judgement of all ranks, transfer by transfer. @internal */
export function minReduce(judgements: readonly Judgements[]): Judgements {
  const first = judgements[0] ?? [];
  return first.map((_, index) => (judgements.every((own) => own[index] === 1) ? 1 : 0));
}

/**
 * Waits on every rank for all `transfers`.
 *
 * @param onRound - called after each round: time passes
 * @returns [ranks] how the wait ended there
 * @public
 */
export function waitTogether(
  judges: readonly RankJudge[],
  transfers: readonly string[],
  deadlineRounds: number,
  onRound: () => void,
): readonly WaitOutcome[] {
  const waits = judges.map((judge) => rankWait(judge, transfers, deadlineRounds));
  let steps = waits.map((wait) => wait.next());
  while (true) {
    const outcomes: WaitOutcome[] = [];
    const judgements: Judgements[] = [];
    for (const step of steps) {
      if (step.done === true) outcomes.push(step.value);
      else judgements.push(step.value);
    }
    if (judgements.length === 0) return outcomes;
    const reduced = minReduce(judgements);
    onRound();
    steps = waits.map((wait) => wait.next(reduced));
  }
}
