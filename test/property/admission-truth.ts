// What a pass of admission must answer, worked out from the rules of the format and the state alone, for requests that
// wait without a row and for open ones whose prompt goes on; and that what it admits can really be taken.
import { expect } from "vitest";
import { countOf, expand } from "../../src/base/extents.js";
import type { AdmitVerdict, DirectConfig, Extents, QueueEntry } from "../../src/base/operations.js";
import type { BandState, State } from "../../src/base/state.js";
import { KVStorage } from "../../src/kv/storage.js";
import type { Truth } from "./truth.js";

/** A pass and what it is judged by. */
export interface Pass {
  readonly config: DirectConfig;
  readonly state: State;
  readonly queue: readonly QueueEntry[];
  readonly chunk: number | null;
  readonly reserve: readonly number[]; // [bands] pages
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

/** Slots that tracking takes beside the main one. */
function trackingOf({ checkpoint, overlap }: DirectConfig): number {
  if (checkpoint?.strategy === "extra_buffer") return overlap === true ? 2 : 1;
  return checkpoint?.strategy === "extra_buffer_lazy" ? 1 : 0;
}

/** The checkpoint interval where a floor keeps window pages, else 0. */
function intervalOf({ sub_pools, prefix_sharing, checkpoint }: DirectConfig): number {
  const hasState = sub_pools.some((pool) => pool.kind === "state");
  const isKept = prefix_sharing === true && hasState && checkpoint?.strategy !== "no_buffer";
  return isKept ? (checkpoint?.interval ?? 0) : 0;
}

/** The most pages of a window that a request holds at once, `chunk` tokens being computed a time. */
function peakOf(config: DirectConfig, window: number, chunk: number): number {
  const size = config.page_size;
  const kept = config.prefix_sharing === true ? Math.max(window, size) : window;
  return Math.ceil((kept + intervalOf(config) + Math.max(1, chunk) - 1) / size) + 1;
}

/** [bands] pages by the format's "Demand of a request", nothing matched. */
function demandOf(config: DirectConfig, { input, max_new }: QueueEntry, chunk: number): number[] {
  const owner = Math.ceil((input + max_new) / config.page_size);
  return config.sub_pools.map(({ kind, window }) => {
    if (kind === "state") return 1 + trackingOf(config);
    if (typeof window !== "number") return owner;
    return Math.min(owner, peakOf(config, window, Math.min(chunk, input)));
  });
}

/** What an open request has, read from the state. */
interface Row {
  readonly allocated: number; // tokens
  readonly pages: number;
  readonly bound: readonly number[]; // [bands] pages of its row bound in each band
  readonly main: number;
  readonly track: number;
}

interface OpenGroup {
  readonly bands: readonly Extents[];
}

function rowOf(config: DirectConfig, state: State, req: string): Row | null {
  const row = state.rows[req];
  if (row === undefined) return null;
  const { group } = state.forwards["x_more"] as { readonly group: OpenGroup | null };
  const pages = expand(row["x_pages"] as Extents);
  const bound = config.sub_pools.map(({ name }, index) => {
    const freed = new Set(expand(group?.bands[index] ?? []));
    const virtual = new Set<number>();
    for (const [first, , count] of (state[name] as BandState).bindings)
      for (let i = 0; i < count; i++) if (!freed.has(first + i)) virtual.add(first + i);
    return pages.filter((page) => virtual.has(page)).length;
  });
  const { main = [], track = [] } = row.slots;
  return {
    allocated: row.allocated,
    pages: pages.length,
    bound,
    main: countOf(main),
    track: countOf(track),
  };
}

/**
 * [bands] what an open request needs beside what it has: its row's further pages; of a window what its peak exceeds the
 * bound pages by, but all that the chunk takes, and no more than the row's further pages; missing slots.
 */
function restOf(
  config: DirectConfig,
  { input, max_new }: QueueEntry,
  row: Row,
  chunk: number,
): number[] {
  const size = config.page_size;
  const pagesTo = (tokens: number): number => Math.max(0, Math.ceil(tokens / size) - row.pages);
  const owner = pagesTo(input + max_new);
  const whole = Math.floor(Math.min(row.allocated, input - 1) / size) * size;
  return config.sub_pools.map(({ kind, window }, index) => {
    if (kind === "state")
      return Math.max(0, 1 - row.main) + Math.max(0, trackingOf(config) - row.track);
    if (typeof window !== "number") return owner;
    const beyond = peakOf(config, window, Math.min(chunk, input - whole)) - row.bound[index]!;
    return Math.min(owner, Math.max(beyond, pagesTo(row.allocated + chunk)));
  });
}

/** Checks every verdict of a pass. Returns how often each kind came, those of open requests also as `open_KIND`. */
export function checkPass(
  pass: Pass,
  verdicts: Readonly<Record<string, AdmitVerdict>>,
): Record<string, number> {
  const counts: Record<string, number> = {};
  const { config, state, queue, now, empty } = pass;
  const grid = gridOf(config);
  const openRows = Object.keys(state.rows).length;
  const isInFlight = isAnythingInFlight(state);
  let taken = [...pass.reserve];
  let freeRows = config.rows - openRows;
  const granted: Granted[] = [];
  let isWaiting = false;
  for (const entry of queue) {
    const said = verdicts[entry.req]!;
    const kind = kindOf(said);
    const row = rowOf(config, state, entry.req);
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (row !== null) counts[`open_${kind}`] = (counts[`open_${kind}`] ?? 0) + 1;
    const isTooLong = entry.input + entry.max_new > config.row_tokens;
    const plus = (chunk: number): number[] => {
      const own = row === null ? demandOf(config, entry, chunk) : restOf(config, entry, row, chunk);
      return own.map((pages, index) => pages + taken[index]!);
    };
    const fits = (chunk: number): boolean => !isTooLong && now.packs(plus(chunk));
    const done = Math.min(row?.allocated ?? 0, entry.input);
    const rest = entry.input - done;
    const limit = Math.min(pass.chunk ?? rest, rest);
    const fitsEmpty = !isTooLong && empty.packs(demandOf(config, entry, grid));
    const givesBack = granted.length > 0 || isInFlight || openRows > (row === null ? 0 : 1);
    const expected = ((): string => {
      if (isWaiting) return "wait";
      const hasRow = row !== null || freeRows > 0;
      if (hasRow && fits(limit)) return "granted";
      if (!fitsEmpty) return "never_fits";
      if (!hasRow || givesBack) return "wait";
      for (let end = nextOn(grid, done); end < done + limit; end += grid)
        if (fits(end - done)) return "granted";
      return "unschedulable";
    })();
    const isGranted = kind === "admit" || kind === "chunk";
    const where = JSON.stringify({ entry, row, said, chunk: pass.chunk, reserve: pass.reserve });
    if ((isGranted ? "granted" : kind) !== expected) expect(where).toBe(expected);
    isWaiting ||= kind === "wait";
    if (!isGranted) {
      if (said.tokens !== 0) expect.fail(`tokens of what is not admitted: ${where}`);
      continue;
    }
    checkTokens(said, { done, rest, limit, grid, fits }, where);
    taken = plus(said.tokens);
    if (row === null) freeRows -= 1;
    granted.push({ entry, row, from: row?.allocated ?? 0, tokens: said.tokens });
    if (!now.copy.chain.fits(taken)) expect.fail(`the copy refuses ${where}`);
  }
  if (granted.length === 0) return counts;
  takeChunks(config, state, granted);
  // What the whole pass admitted is taken at once.
  expect(now.take(taken)).not.toBeNull();
  return counts;
}

function isAnythingInFlight(state: State): boolean {
  const { unprocessed, open } = state.forwards;
  const { unrecorded } = state.forwards["x_more"] as { readonly unrecorded: readonly object[] };
  const { copies = [] } = state.host as { readonly copies?: readonly object[] };
  return unprocessed.length > 0 || open !== null || unrecorded.length > 0 || copies.length > 0;
}

interface Granted {
  readonly entry: QueueEntry;
  readonly row: Row | null;
  readonly from: number; // tokens
  readonly tokens: number;
}

/** On a copy: opens what has no row, then takes the slots and the chunk of each, in the order of the pass. */
function takeChunks(config: DirectConfig, state: State, granted: readonly Granted[]): void {
  const copy = new KVStorage(config, { digestDepth: null });
  copy.load(state);
  const hasState = config.sub_pools.some((pool) => pool.kind === "state");
  const apply = (operation: Parameters<KVStorage["apply"]>[0]): void => {
    const { err } = copy.apply(operation);
    if (err !== undefined) expect.fail(`${JSON.stringify({ operation, granted })}: ${err.code}`);
  };
  for (const { entry, row, from, tokens } of granted) {
    const { req } = entry;
    if (row === null) apply({ op: "row.alloc", args: { reqs: [req] } });
    const needs = { main: 1 - (row?.main ?? 0), track: trackingOf(config) - (row?.track ?? 0) };
    for (const purpose of ["main", "track"] as const) {
      const count = needs[purpose];
      if (hasState && count > 0) apply({ op: "state.alloc", args: { req, count, purpose } });
    }
    if (tokens > 0)
      apply({ op: "tokens.extend", args: { batch: [{ req, from, to: from + tokens }] } });
  }
}

/** The first multiple of the grid beyond a position. */
function nextOn(grid: number, done: number): number {
  return (Math.floor(done / grid) + 1) * grid;
}

interface Bounds {
  readonly done: number; // tokens of the prompt that need no computing
  readonly rest: number; // tokens of the prompt after those
  readonly limit: number; // tokens
  readonly grid: number; // tokens
  readonly fits: (chunk: number) => boolean;
}

/** A prompt's last chunk ends anywhere, others on the grid; a smaller chunk than the limit is the largest that fits. */
function checkTokens(said: AdmitVerdict, bounds: Bounds, where: string): void {
  const { done, rest, limit, grid, fits } = bounds;
  const { verdict, tokens } = said;
  const onGrid = Math.floor((done + limit) / grid) * grid - done;
  const whole = limit === rest ? rest : onGrid > 0 ? onGrid : limit;
  const isRight =
    (verdict === "admit") === (tokens === rest) &&
    (fits(limit)
      ? tokens === whole
      : (done + tokens) % grid === 0 &&
        tokens > 0 &&
        fits(tokens) &&
        (tokens + grid >= limit || !fits(tokens + grid)));
  if (!isRight) expect.fail(`tokens: ${where}`);
}

function lcm(left: number, right: number): number {
  let [a, b] = [left, right];
  while (b !== 0) [a, b] = [b, a % b];
  return (left / a) * right;
}
