// What a request needs, and the two questions about requests: the memory clip and the admission pass.
import type { AdmitVerdict, Demand, KvArgs, KvOk, QueueEntry } from "../base/operations.js";
import { sumOf } from "./answers.js";
import { bootWorld } from "./boot.js";
import { evictable, fitsAfter } from "./credit.js";
import { lockPath } from "./locks.js";
import { longest } from "./match.js";
import { fits } from "./trial.js";
import { invalid } from "./refusal.js";
import { hasFloor } from "./rows.js";
import { labelsOf, pathTo } from "./tree.js";
import { hasOverlap, ownerOf, type Request, stateBandOf, windowsOf, type World } from "./world.js";
import { deepCopy } from "./copy.js";

interface Asked {
  readonly input: number; // tokens
  readonly maxNew: number;
  readonly matched: number; // tokens that are there, at most all but the last; of the tree whole pages
  readonly held: Request | null; // an open request, which is asked for what it does not hold yet
}

/** What a request needs when its passes compute at most `chunk` tokens. @internal */
function demandOf(world: World, asked: Asked, chunk: number): Demand {
  const { input, maxNew, matched, held } = asked;
  const { page_size: pageSize, prefix_sharing: isSharing, checkpoint } = world.config;
  const pagesTo = (tokens: number): number => Math.ceil(tokens / pageSize);
  const there = pagesTo(Math.max(held?.allocated ?? 0, matched));
  const owner = Math.max(0, pagesTo(input + maxNew) - there);
  const computed = Math.max(1, Math.min(chunk, input - matched));
  const demand: Record<string, number> = { [ownerOf(world).name]: owner };
  for (const band of windowsOf(world)) {
    if (band.window === null) {
      demand[band.name] = owner;
      continue;
    }
    const kept = isSharing === true ? Math.max(band.window, pageSize) : band.window;
    const retained = kept + (hasFloor(world) ? (checkpoint?.interval ?? 0) : 0);
    const peak = pagesTo(retained + computed - 1) + 1;
    const first = (held?.protected ?? 0) / pageSize; // before it they are the tree's
    const flags = (held?.windows[band.name] ?? []).slice(Math.ceil(first));
    const bound = flags.filter((isBound) => isBound).length;
    const own = held === null ? 0 : pagesTo(matched + computed) - there;
    demand[band.name] = Math.min(owner, Math.max(own, peak - bound));
  }
  const state = stateBandOf(world);
  if (state !== null) {
    const { main, track } = held?.slots ?? { main: [], track: [] };
    demand[state.name] =
      Math.max(0, 1 - main.length) + Math.max(0, trackingSlots(world) - track.length);
  }
  return demand;
}

function trackingSlots(world: World): number {
  const strategy = world.config.checkpoint?.strategy;
  if (strategy === "extra_buffer") return hasOverlap(world) ? 2 : 1;
  return strategy === "extra_buffer_lazy" ? 1 : 0;
}

/** Whether a request fits the empty chain, and its row. */
function fitsEmpty(world: World, asked: Asked, chunk: number): boolean {
  if (asked.input + asked.maxNew > world.config.row_tokens) return false;
  const empty = bootWorld(world.config, world.arenaBytes);
  empty.stages = world.stages;
  return fits(empty, demandOf(world, asked, chunk));
}

/** @internal */
export function askMaxNewTokens(
  world: World,
  { input, max_new: most, chunk }: KvArgs["ask.max_new_tokens"],
): KvOk["ask.max_new_tokens"] {
  const lengths = Array.from({ length: most + 1 }, (_, maxNew) => maxNew);
  const tokens = largest(lengths, (maxNew) =>
    fitsEmpty(world, { input, maxNew, matched: 0, held: null }, chunk ?? input),
  );
  return { tokens };
}

/**
 * The last of an ascending list that passes; null: none. A request with a longer output or a longer chunk needs no page
 * less, and a layout for more serves less, so whatever lies below one that passes passes too. @internal
 */
function largest(sizes: readonly number[], passes: (size: number) => boolean): number | null {
  let low = 0; // sizes before it pass
  let high = sizes.length; // sizes from it on do not
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (passes(sizes[middle]!))
      low = middle + 1; // inside the list
    else high = middle;
  }
  return sizes[low - 1] ?? null;
}

/** On what multiples of tokens from the prompt's start a chunk that is not the last ends; null: anywhere. */
function gridOf(world: World): number | null {
  const { page_size: pageSize, checkpoint } = world.config;
  const hasBoth = stateBandOf(world) !== null && windowsOf(world).length > 0;
  if (!hasBoth || !hasFloor(world)) return null;
  const interval = checkpoint?.interval ?? 1;
  let grid = pageSize;
  while (grid % interval !== 0) grid += pageSize;
  return grid;
}

/** @internal */
export function admitPass(world: World, args: KvArgs["admit.pass"]): KvOk["admit.pass"] {
  const { queue, chunk, reserve } = args;
  const grid = gridOf(world);
  if (grid !== null && chunk !== undefined && chunk < grid) invalid("chunk_below_grid");
  const pass: Pass = { world: deepCopy(world), taken: reserve ?? {}, rows: 0, admitted: 0 };
  pass.world.group = null; // what a group still holds back is priced as if it were given
  const verdicts: Record<string, AdmitVerdict> = {};
  let mustWait = false;
  for (const entry of queue) {
    const verdict = mustWait ? WAIT : judge(world, pass, entry, chunk, grid);
    if (verdict.verdict === "wait") mustWait = true;
    verdicts[entry.req] = verdict;
    if (world.stages === null) continue;
    const isYes = verdict.verdict === "admit" || verdict.verdict === "chunk";
    world.asked.push({ kind: "admit", amounts: [verdict.tokens], isYes });
  }
  return verdicts;
}

// What the pass has given away so far. Prefixes that it counts on are locked in its copy of the world.
interface Pass {
  readonly world: World;
  taken: Demand;
  rows: number;
  admitted: number;
}

const WAIT: AdmitVerdict = { verdict: "wait", tokens: 0, reason: null };

function judge(
  world: World,
  pass: Pass,
  entry: QueueEntry,
  chunk: number | undefined,
  grid: number | null,
): AdmitVerdict {
  const { page_size: pageSize } = world.config;
  const labels = labelsOf(world, entry.key ?? []);
  const open = world.requests.get(entry.req);
  const hasBegun = open !== undefined && open.allocated > 0;
  const there = hasBegun ? open.allocated : longest(world, labels).len;
  const found = Math.min(there, Math.max(0, entry.input - 1));
  const matched = hasBegun ? found : Math.floor(found / pageSize) * pageSize;
  const asked = { input: entry.input, maxNew: entry.max_new, matched, held: open ?? null };
  const whole = entry.input - matched;
  const trial = deepCopy(pass.world);
  const path = hasBegun ? null : pathTo(trial, labels, matched);
  if (path !== null) lockPath(trial, path, entry.req, "named");
  const credits = evictable(trial);
  const isOpen = open !== undefined;
  const lacksRow = !isOpen && world.freeRows.length - pass.rows < 1;
  const fitsNow = (tokens: number): boolean =>
    fitsAfter(trial, sumOf(pass.taken, demandOf(world, asked, tokens)), credits);
  const given = cut(matched, whole, chunk ?? whole, grid ?? pageSize);
  const admit = (tokens: number, limit: number): AdmitVerdict => {
    Object.assign(pass.world, trial);
    pass.taken = sumOf(pass.taken, demandOf(world, asked, limit));
    pass.admitted += 1;
    if (!isOpen) pass.rows += 1;
    return { verdict: tokens < whole ? "chunk" : "admit", tokens, reason: null };
  };
  // The price is that of the chunk asked for, also where it is cut to a page end.
  const limit = Math.min(chunk ?? whole, whole);
  if (!lacksRow && fitsRow(world, asked) && fitsNow(limit)) return admit(given, limit);
  const sizes = smallerChunks(matched, given, grid ?? pageSize);
  const anew = { ...asked, matched: 0, held: null };
  if (!fitsEmpty(world, anew, grid ?? pageSize))
    return { verdict: "abort", tokens: 0, reason: "never_fits" };
  if (lacksRow || givesBack(world, pass, entry.req)) return WAIT;
  const smaller = largest(sizes, fitsNow);
  if (smaller !== null) return admit(smaller, smaller);
  return { verdict: "abort", tokens: 0, reason: "unschedulable" };
}

function fitsRow(world: World, { input, maxNew }: Asked): boolean {
  return input + maxNew <= world.config.row_tokens;
}

// A chunk that is not the prompt's last ends on a multiple of `unit`, unless it ends before the first one.
function cut(matched: number, whole: number, chunk: number, unit: number): number {
  if (chunk >= whole) return whole;
  const end = Math.floor((matched + chunk) / unit) * unit;
  return end > matched ? end - matched : chunk;
}

// Chunks below a length that end on multiples of `unit`, ascending.
function smallerChunks(matched: number, below: number, unit: number): number[] {
  const sizes: number[] = [];
  for (let end = (Math.floor(matched / unit) + 1) * unit; end < matched + below; end += unit)
    sizes.push(end - matched);
  return sizes;
}

// Whether something will give memory back: earlier work of the pass, a forward, a copy, another request.
function givesBack(world: World, pass: Pass, req: string): boolean {
  return (
    pass.admitted > 0 ||
    world.forwards.length > 0 ||
    world.copies.length > 0 ||
    [...world.requests.keys()].some((name) => name !== req)
  );
}
