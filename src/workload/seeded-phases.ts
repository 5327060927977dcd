// The phases of a run and what each of them prefers: it fills, mixes, empties, and fills again.
import type { KvOperationName } from "../base/operations.js";
import type { Prng } from "../base/prng.js";

type Phase = "fill" | "mix" | "empty";
type Factors = Readonly<Partial<Record<KvOperationName, number>>>;

const PHASE_LENGTHS: Readonly<Record<Phase, readonly [number, number]>> = {
  fill: [10, 30],
  mix: [30, 90],
  empty: [15, 40],
};

// Where hardly anything is free, takes would only be refused; frees make holes for the next ones.
const PRESSURE_FACTORS: Factors = {
  "tokens.extend": 1,
  "tokens.decode": 1,
  "state.alloc": 1,
  "chain.relieve": 1,
  "tokens.free": 6,
  "window.retire": 4,
  "state.free": 5,
  "request.finish": 4,
  "tree.evict": 5,
  "net.receive": 1,
  "host.load_reserve": 1,
};

// Halves: 2 is the profile's own weight.
const PHASE_FACTORS: Readonly<Record<Phase, Factors>> = {
  fill: {
    "row.alloc": 5,
    "tokens.extend": 4,
    "state.alloc": 3,
    "request.finish": 1,
    "request.retract": 1,
    "tree.match": 3,
    "net.receive": 3,
  },
  mix: {},
  empty: {
    "row.alloc": 0,
    "tokens.extend": 0,
    "tokens.decode": 1,
    "state.alloc": 0,
    "request.finish": 8,
    "forward.launch": 1,
    "forward.process": 6,
    "chain.flush": 4,
    "net.send": 1,
    "net.receive": 0,
    "net.end": 6,
    "host.load_reserve": 0,
    "host.load_done": 4,
    "request.restore": 1,
    "tree.evict": 5,
    "tree.unlock": 6,
  },
};

/** Follows the phase of a run. @internal */
export class SeededPhases {
  #phase: Phase = "fill";
  #left = 0; // operations

  /** One operation goes by. */
  advance(prng: Prng, openRequests: number): void {
    this.#left -= 1;
    const isEmptied = this.#phase === "empty" && openRequests === 0;
    if (this.#left > 0 && !isEmptied) return;
    if (this.#phase === "fill" || isEmptied) this.#phase = isEmptied ? "fill" : "mix";
    else this.#phase = prng.chance(1, 4) ? "empty" : prng.chance(1, 4) ? "fill" : "mix";
    this.#left = prng.between(...PHASE_LENGTHS[this.#phase]);
  }

  /** What a kind's weight is multiplied by. */
  factor(kind: KvOperationName, isPressed: boolean): number {
    const pressure = isPressed ? (PRESSURE_FACTORS[kind] ?? 2) : 2;
    return (PHASE_FACTORS[this.#phase][kind] ?? 2) * pressure;
  }
}
