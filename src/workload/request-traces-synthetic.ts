// A generated request trace of the same shape as the real ones: sessions whose turns repeat and extend a prefix,
// long-tailed lengths, bursts of arrivals. It is drawn with integers alone, so a seed means the same everywhere.
import { Prng } from "../base/prng.js";
import { plainAccount, runsOf } from "./request-trace.js";
import type { RequestTrace, TracedRequest } from "./request-trace.js";

const BLOCK_TOKENS = 512;
const TRACE_STREAM = 11;

/** Inclusive ranges with integer weights: a distribution with a long tail. */
type Ranges = readonly (readonly [weight: number, low: number, high: number])[];

const FIRST_INPUT: Ranges = [
  [30, 200, 1500],
  [30, 1500, 5000],
  [20, 5000, 12000],
  [12, 12000, 24000],
  [6, 24000, 48000],
  [2, 48000, 110000],
];
const TURN_INPUT: Ranges = [
  [60, 20, 400],
  [30, 400, 2000],
  [10, 2000, 6000],
];
const OUTPUT: Ranges = [
  [15, 1, 60],
  [35, 60, 300],
  [40, 300, 600],
  [10, 600, 1600],
];
const ARRIVAL_GAP: Ranges = [
  [50, 0, 120],
  [35, 120, 600],
  [14, 600, 1500],
  [1, 4000, 12000],
];
const INPUT_MAX = 120_000; // tokens
const SYSTEM_BLOCKS = 2; // blocks that the sessions of one application share

interface Session {
  readonly blocks: number[]; // whole blocks of the turns so far
  tokens: number; // tokens of the turns so far, answers included
}

/** `count` requests drawn from `seed`; a longer trace begins with a shorter one of the same seed. @internal */
export function syntheticTrace(seed: number, count: number): RequestTrace {
  const prng = new Prng(seed, TRACE_STREAM);
  const generator = new SessionGenerator(prng);
  const requests: TracedRequest[] = [];
  let arrival = 0;
  while (requests.length < count) {
    requests.push(generator.next(arrival));
    arrival += draw(ARRIVAL_GAP, prng);
  }
  const account = plainAccount(count);
  return { name: "synthetic", blockTokens: BLOCK_TOKENS, requests, seed, account };
}

class SessionGenerator {
  readonly #prng: Prng;
  readonly #sessions: Session[] = []; // those that may go on
  readonly #systemPrompts: (readonly number[])[] = []; // one an application
  #nextBlock = 0;

  constructor(prng: Prng) {
    this.#prng = prng;
    for (let i = 0; i < 4; i++) this.#systemPrompts.push(this.#freshBlocks(SYSTEM_BLOCKS));
  }

  next(arrival: number): TracedRequest {
    const prng = this.#prng;
    const output = draw(OUTPUT, prng);
    const goesOn = this.#sessions.length > 0 && prng.chance(2, 5);
    const session = goesOn ? prng.pick(this.#sessions) : this.#open();
    const added = goesOn ? draw(TURN_INPUT, prng) : Math.max(1, draw(FIRST_INPUT, prng));
    const input = Math.max(1, Math.min(INPUT_MAX, session.tokens + added));
    const blocks = [...session.blocks];
    while (blocks.length > Math.ceil(input / BLOCK_TOKENS)) blocks.pop();
    blocks.push(...this.#freshBlocks(Math.ceil(input / BLOCK_TOKENS) - blocks.length));
    // The next turn repeats this one's whole blocks; the last, partly filled one is hashed anew.
    session.blocks.length = 0;
    session.blocks.push(...blocks.slice(0, Math.floor(input / BLOCK_TOKENS)));
    session.tokens = input + output;
    if (session.tokens >= INPUT_MAX) this.#sessions.splice(this.#sessions.indexOf(session), 1);
    return { arrival, input, output, blocks: runsOf(blocks) };
  }

  #open(): Session {
    const blocks = [...this.#prng.pick(this.#systemPrompts)];
    const session = { blocks, tokens: 0 };
    this.#sessions.push(session);
    if (this.#sessions.length > 32) this.#sessions.shift();
    return session;
  }

  #freshBlocks(count: number): number[] {
    const blocks: number[] = [];
    for (let i = 0; i < count; i++) blocks.push(this.#nextBlock + i);
    this.#nextBlock += count;
    return blocks;
  }
}

function draw(ranges: Ranges, prng: Prng): number {
  const [, low, high] = ranges[prng.weighted(ranges.map(([weight]) => weight))] ?? [0, 1, 1];
  return prng.between(low, high);
}
