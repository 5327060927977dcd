// Requests as the serving model's scheduler sees them: what they need, how far they are, who waits and who runs.
import type { DirectConfig } from "../base/operations.js";
import type { ServingParameters } from "./configs.js";
import { sinkBytes } from "./layouts.js";
import type { BlockRun, TracedRequest } from "./request-trace.js";

/** The slots that a request's states are tracked in, in turns: a state is lost when its slot's turn comes again. @internal */
export class TrackRing {
  #states: (number | null)[] = []; // tokens of the state in each slot
  #turn = 0;

  get size(): number {
    return this.#states.length;
  }
  /** Slots are added behind the others, or all given back. */
  resize(size: number): void {
    while (this.#states.length < size) this.#states.push(null);
    this.#states.length = size;
    if (size === 0) this.#turn = 0;
  }
  /** A forward keeps the state after `tokens`. */
  keep(tokens: number): void {
    this.#states[this.#turn] = tokens;
    this.#turn = (this.#turn + 1) % this.#states.length;
  }
  has(tokens: number): boolean {
    return this.#states.includes(tokens);
  }
  /** The state went to the tree. */
  give(tokens: number): void {
    this.#states = this.#states.map((kept) => (kept === tokens ? null : kept));
  }
}

/** One request from arrival to its end, over as many tries as it takes. @internal */
export interface Job {
  readonly name: string; // the same in every try: a name may come again once it is closed
  readonly arrivalStep: number;
  readonly input: number; // tokens
  readonly output: number; // tokens to generate in all
  readonly blocks: readonly BlockRun[]; // prefix-block ids of the input, in order
  prompt: number; // tokens to prefill in this try: the input and what earlier tries generated
  generated: number; // tokens whose forward has been processed, over all tries
  attempt: number; // rises with every retraction, so that late results are told apart
  allocated: number; // tokens of the row
  computed: number; // tokens that launched forwards write
  hasRun: boolean; // a forward of this row was launched
  readonly cursors: number[]; // tokens, per window band: pages below are retired
  readonly floors: (number | null)[]; // tokens, per window band: kept from here on, as far as is known
  readonly ring: TrackRing; // slots that checkpoints are tracked in
  branch: number; // tokens: where other requests left this one's prefix, 0 where none did
  copy: string | null; // the backup that it is restored from
  hasLoaded: boolean; // its prefix was looked for on the host in this try
  tries: number; // transfers that did not bring its prompt
}

/** Why a request is not served. @internal */
export type DropReason =
  "empty_request" | "longer_than_row" | "exceeds_arena" | "outgrew_arena" | "transfer_failed";

/** A forward that was launched and whose result has not been processed. @internal */
export interface InFlight {
  readonly step: string;
  readonly isPrefill: boolean;
  readonly entries: readonly InFlightEntry[];
}

/** One job's part of a forward. @internal */
export interface InFlightEntry {
  readonly job: Job;
  readonly attempt: number;
  readonly tokens: number; // output tokens that it gives
  readonly to: number; // tokens computed after it
  readonly tracked: number | null; // tokens at which the state is kept, null where it is not
}

/** A fresh job for request number `index` of a trace. @internal */
export function newJob(
  request: TracedRequest,
  index: number,
  stepsPerSecond: number,
  windows: number,
): Job {
  return {
    name: `r${String(index + 1)}`,
    arrivalStep: Math.floor((request.arrival * stepsPerSecond) / 1000),
    input: request.input,
    output: request.output,
    blocks: request.blocks,
    prompt: request.input,
    generated: 0,
    attempt: 0,
    allocated: 0,
    computed: 0,
    hasRun: false,
    cursors: new Array<number>(windows).fill(0),
    floors: new Array<number | null>(windows).fill(null),
    ring: new TrackRing(),
    branch: 0,
    copy: null,
    hasLoaded: false,
    tries: 0,
  };
}

/** The prefill run's job for a prompt that the decode run asked for. @internal */
export function prefillCopy(job: Job): Job {
  const copy = {
    ...job,
    cursors: [...job.cursors],
    floors: [...job.floors],
    ring: new TrackRing(),
  };
  copy.attempt = 0;
  copy.copy = null;
  copy.hasLoaded = false;
  clearRow(copy);
  return copy;
}

/** Puts a job back to its beginning: what it generated is kept and becomes part of its prompt. @internal */
export function restart(job: Job): void {
  job.prompt = job.input + job.generated;
  job.attempt += 1;
  job.hasLoaded = false;
  job.copy = null;
  clearRow(job);
}

/** The job's row is closed: nothing is held any more. @internal */
export function clearRow(job: Job): void {
  job.allocated = 0;
  job.computed = 0;
  job.hasRun = false;
  job.cursors.fill(0);
  job.floors.fill(null);
  job.ring.resize(0);
  job.branch = 0;
}

/**
 * Why a request could not be served even alone, null where it could: its longest row, and the bytes of its full
 * pages, of each window at its widest (a chunk beside the window) and of its state, with a page to spare in each band
 * since grids do not align. @internal
 */
export function reasonToDrop(
  request: TracedRequest,
  config: DirectConfig,
  serving: ServingParameters,
): DropReason | null {
  if (request.input === 0 || request.output === 0) return "empty_request";
  // One forward more is launched before the last token is known.
  const tokens = request.input + request.output + 2 * serving.decode_tokens;
  if (tokens > config.row_tokens) return "longer_than_row";
  const pageSize = config.page_size;
  let bytes = sinkBytes(config.sub_pools, pageSize);
  for (const pool of config.sub_pools) {
    if (pool.kind === "state") {
      bytes += 2 * pool.unit_bytes;
      continue;
    }
    const margin = Math.max(serving.chunk, serving.retire_tokens + 2 * serving.decode_tokens);
    const held = pool.window === undefined || pool.window === null ? tokens : pool.window + margin;
    bytes += (Math.ceil(Math.min(tokens, held) / pageSize) + 2) * pageSize * pool.unit_bytes;
  }
  return bytes > config.arena_bytes ? "exceeds_arena" : null;
}
