// What a pass of admission must answer, worked out from the rules of the format for requests that wait without a row.
import { expect } from "vitest";
import type { AdmitVerdict, DirectConfig, QueueEntry } from "../../src/base/operations.js";
import type { Truth } from "./truth.js";

/** A pass and what it is judged by. */
export interface Pass {
  readonly config: DirectConfig;
  readonly queue: readonly QueueEntry[];
  readonly chunk: number | null;
  readonly reserve: readonly number[]; // [bands] pages
  readonly freeRows: number;
  readonly willGiveBack: boolean; // an open row or a forward in flight
  readonly now: Truth;
  readonly empty: Truth; // the state after boot
}

/** The name of a verdict with its reason, for counting. */
export function kindOf({ verdict, reason }: AdmitVerdict): string {
  return reason ?? verdict;
}

/** Tokens on whose multiples every chunk but a prompt's last ends. */
function gridOf(config: DirectConfig): number {
  const hasWindow = config.sub_pools.some(({ window }) => window !== undefined);
  const interval = intervalOf(config);
  return hasWindow && interval > 0 ? lcm(config.page_size, interval) : config.page_size;
}

/** The checkpoint interval where a floor keeps window pages, else 0. */
function intervalOf({ sub_pools, prefix_sharing, checkpoint }: DirectConfig): number {
  const hasState = sub_pools.some((pool) => pool.kind === "state");
  const isKept = prefix_sharing === true && hasState && checkpoint?.strategy === "extra_buffer";
  return isKept ? (checkpoint.interval ?? 0) : 0;
}

/** [bands] pages by the format's "Demand of a request", nothing matched. */
function demandOf(config: DirectConfig, { input, max_new }: QueueEntry, chunk: number): number[] {
  const size = config.page_size;
  const owner = Math.ceil((input + max_new) / size);
  const interval = intervalOf(config);
  return config.sub_pools.map(({ kind, window }) => {
    if (kind === "state") {
      if (config.checkpoint?.strategy !== "extra_buffer") return 1;
      return config.overlap === true ? 3 : 2;
    }
    if (typeof window !== "number") return owner;
    const kept = config.prefix_sharing === true ? Math.max(window, size) : window;
    const n = kept + interval + Math.max(1, Math.min(chunk, input));
    return Math.min(owner, Math.ceil((n - 1) / size) + 1);
  });
}

/** Checks every verdict of a pass. Returns how often each kind came. */
export function checkPass(
  pass: Pass,
  verdicts: Readonly<Record<string, AdmitVerdict>>,
): Record<string, number> {
  const counts: Record<string, number> = {};
  const { config, queue, now, empty } = pass;
  const grid = gridOf(config);
  let taken = [...pass.reserve];
  let rows = pass.freeRows;
  let admitted = 0;
  let isWaiting = false;
  for (const entry of queue) {
    const said = verdicts[entry.req]!;
    const kind = kindOf(said);
    counts[kind] = (counts[kind] ?? 0) + 1;
    const isTooLong = entry.input + entry.max_new > config.row_tokens;
    const plus = (chunk: number): number[] =>
      demandOf(config, entry, chunk).map((pages, index) => pages + taken[index]!);
    const fits = (chunk: number): boolean => !isTooLong && now.packs(plus(chunk));
    const limit = Math.min(pass.chunk ?? entry.input, entry.input);
    const fitsEmpty = !isTooLong && empty.packs(demandOf(config, entry, grid));
    const givesBack = pass.willGiveBack || admitted > 0;
    const expected = ((): string => {
      if (isWaiting) return "wait";
      if (rows > 0 && fits(limit)) return "granted";
      if (!fitsEmpty) return "never_fits";
      if (rows === 0 || givesBack) return "wait";
      for (let chunk = grid; chunk < limit; chunk += grid) if (fits(chunk)) return "granted";
      return "unschedulable";
    })();
    const granted = kind === "admit" || kind === "chunk";
    const where = JSON.stringify({ entry, said, chunk: pass.chunk, reserve: pass.reserve });
    if ((granted ? "granted" : kind) !== expected) expect(where).toBe(expected);
    isWaiting ||= kind === "wait";
    if (!granted) {
      if (said.tokens !== 0) expect.fail(`tokens of what is not admitted: ${where}`);
      continue;
    }
    checkTokens(said, entry.input, { limit, grid, fits }, where);
    taken = plus(said.tokens);
    rows -= 1;
    admitted += 1;
    if (!now.copy.chain.fits(taken)) expect.fail(`the copy refuses ${where}`);
  }
  // What the whole pass admitted is taken at once.
  if (admitted > 0) expect(now.take(taken)).not.toBeNull();
  return counts;
}

interface Bounds {
  readonly limit: number; // tokens
  readonly grid: number; // tokens
  readonly fits: (chunk: number) => boolean;
}

/** A prompt's last chunk ends anywhere, others on the grid; a smaller chunk than the limit is the largest that fits. */
function checkTokens(said: AdmitVerdict, input: number, bounds: Bounds, where: string): void {
  const { limit, grid, fits } = bounds;
  const { verdict, tokens } = said;
  const onGrid = Math.floor(limit / grid) * grid;
  const whole = limit === input ? input : onGrid > 0 ? onGrid : limit;
  const isRight =
    (verdict === "admit") === (tokens === input) &&
    (fits(limit)
      ? tokens === whole
      : tokens % grid === 0 && fits(tokens) && (tokens + grid >= limit || !fits(tokens + grid)));
  if (!isRight) expect.fail(`tokens: ${where}`);
}

function lcm(left: number, right: number): number {
  let [a, b] = [left, right];
  while (b !== 0) [a, b] = [b, a % b];
  return (left / a) * right;
}
