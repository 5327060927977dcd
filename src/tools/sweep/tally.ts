// What is counted while the operations are replayed at one value.
import type { Answer, Domain, KvOperation, Operation, RunConfig } from "../../base/operations.js";
import type { RefusalCount, SweepPoint } from "./outcome.js";
import { BandUse, HeapUse } from "./use.js";

/** @internal */
export class PointTally {
  readonly #value: number;
  readonly #bands = new BandUse();
  readonly #heap = new HeapUse();
  readonly #refusals = new Map<string, { -readonly [K in keyof RefusalCount]: RefusalCount[K] }>();
  readonly #domains = new Set<Domain>();
  #run = "";
  #domain: Domain = "kv";
  #tellsEffects = true;
  #granted = 0;
  #refused = 0;
  #invalid = 0;
  #left = 0;
  #moves = 0;
  #outcome: SweepPoint["outcome"] = "swept";
  #message: string | null = null;

  constructor(value: number) {
    this.#value = value;
  }

  open(run: string, domain: Domain, config: RunConfig, tellsEffects: boolean): void {
    this.#run = run;
    this.#domain = domain;
    this.#domains.add(domain);
    this.#tellsEffects &&= tellsEffects;
    if (domain === "heap") this.#heap.open();
    else this.#bands.open(config);
  }

  /** Whether an operation is left out; counts it if so. */
  leaves(operation: Operation): boolean {
    if (this.#domain !== "heap" || !this.#heap.isLeft(operation)) return false;
    this.#left += 1;
    return true;
  }

  /** Counts an answer; false where the run cannot go on, as nothing was booted. */
  follow(n: number, operation: Operation, answer: Answer): boolean {
    const { err } = answer;
    if (err === undefined) this.#granted += 1;
    else if (err.code === "invalid") this.#invalid += 1;
    else this.#refuse(n, operation.op, err.code);
    for (const effect of answer.fx ?? []) if (effect[0] === "move") this.#moves += effect[2].length;
    if (this.#domain === "heap") this.#heap.follow(operation, answer);
    else this.#bands.follow(n, operation as KvOperation, answer); // of a run of domain kv
    if (operation.op !== "boot" || err === undefined) return true;
    this.end("refused", `run ${this.#run}: boot is refused: ${err.code}`);
    return false;
  }

  /** Notes why a run did not come to its end; what is worse stays. */
  end(outcome: "refused" | "broken", message: string): void {
    if (this.#outcome === "broken" || this.#outcome === outcome) return;
    this.#outcome = outcome;
    this.#message = message;
  }

  get point(): SweepPoint {
    const tellsBands = this.#domains.has("kv") && this.#tellsEffects;
    return {
      value: this.#value,
      outcome: this.#outcome,
      message: this.#message,
      operations: this.#granted + this.#refused + this.#invalid,
      granted: this.#granted,
      refused: this.#refused,
      invalid: this.#invalid,
      left: this.#left,
      refusals: [...this.#refusals.values()],
      moves: this.#tellsEffects ? this.#moves : null,
      bands: tellsBands ? this.#bands.peaks : null,
      heap: this.#domains.has("heap") ? this.#heap.peak : null,
    };
  }

  #refuse(n: number, op: string, code: string): void {
    this.#refused += 1;
    const name = `${op} ${code}`;
    const known = this.#refusals.get(name);
    if (known === undefined) this.#refusals.set(name, { op, code, count: 1, run: this.#run, n });
    else known.count += 1;
  }
}
