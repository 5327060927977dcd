// What every reader and generator of request traces hands out.

/** Prefix-block ids in ascending order without a gap: `first`, `first + 1`, … @public */
export type BlockRun = readonly [first: number, count: number];

/** One request as a trace tells it. @public */
export interface TracedRequest {
  readonly arrival: number; // ms from the start of the trace
  readonly input: number; // tokens
  readonly output: number; // tokens
  readonly blocks: readonly BlockRun[]; // prefix-block ids in order; equal leading ids are a shared prefix
}

/** What became of the rows of a file: every row is a request or dropped under a reason. @public */
export interface RequestAccount {
  readonly rows: number; // read until the limit, if any
  readonly dropped: Readonly<Record<string, number>>; // rows left out, by reason
  readonly invented: Readonly<Record<string, string>>; // what the file does not tell: name → what stands for it
  readonly facts: Readonly<Record<string, number>>; // what else was counted
}

/** @public */
export interface RequestTrace {
  readonly name: string; // the word in front of the colon
  readonly blockTokens: number; // tokens that one block id stands for; 0 where there are no ids
  readonly requests: readonly TracedRequest[]; // arrivals ascending
  readonly seed: number | null; // of a synthetic trace
  readonly account: RequestAccount;
}

/** The account of a trace whose rows all became requests. @internal */
export function plainAccount(
  rows: number,
  more: Partial<Pick<RequestAccount, "dropped" | "invented" | "facts">> = {},
): RequestAccount {
  return { rows, dropped: {}, invented: {}, facts: {}, ...more };
}

/** Block ids as runs: each goes on as long as the next id is one more. @internal */
export function runsOf(ids: Iterable<number>): BlockRun[] {
  const runs: BlockRun[] = [];
  let first = 0;
  let count = 0;
  for (const id of ids) {
    if (count > 0 && id === first + count) {
      count += 1;
      continue;
    }
    if (count > 0) runs.push([first, count]);
    first = id;
    count = 1;
  }
  if (count > 0) runs.push([first, count]);
  return runs;
}

/** How many blocks there are in runs. @internal */
export function blockCount(runs: readonly BlockRun[]): number {
  let sum = 0;
  for (const [, count] of runs) sum += count;
  return sum;
}
