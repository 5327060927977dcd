// One side of a run as it is walked forwards: answers, and the arena after the operation applied last. Over the domains:
// for `kv` an implementation tells states, for `heap` the answers tell everything.
import type { AdapterFailure } from "../../adapter/adapter.js";
import type { Answer } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import type { OpLine, RunLine, StateLine } from "../../trace/lines.js";
import type { Pulse } from "../pulse.js";
import { Follower } from "./follower.js";
import { GeometryTrack } from "./geometry-track.js";
import { HeapTrack } from "./heap-map.js";
import type { NamedStart, Snapshot, StateSource } from "./look.js";
import { pageMap } from "./page-map.js";

/** @internal */
export class SideFollower {
  readonly follower: Follower;
  readonly #run: RunLine;
  #geometry: GeometryTrack;
  #heap: HeapTrack;
  #answer: Answer | null = null;

  constructor(run: RunLine, { spec, start }: NamedStart, pulse: Pulse) {
    this.#run = run;
    this.follower = new Follower(spec, start, pulse);
    this.#geometry = new GeometryTrack(run);
    this.#heap = heapTrackOf(run);
    this.follower.onAnswer = (line, answer) => {
      this.#answer = answer;
      if (run.domain === "heap") this.#heap.note(line, answer);
      else this.#geometry.note(line, answer);
    };
  }

  /** Opens the run anew, at its beginning or behind a state. */
  async open(from: StateLine | null): Promise<void> {
    this.#answer = null;
    this.#heap = heapTrackOf(this.#run); // geometries stay known: what was answered once is answered again
    await this.follower.open(this.#run, from);
  }

  /** A geometry that the record tells, of operations in front of the state where this side began. */
  noteRecorded(line: OpLine): void {
    this.#geometry.note(line, line);
  }

  async follow(lines: readonly OpLine[]): Promise<void> {
    await this.follower.follow(lines);
  }

  /** The answer given last; null where it gave none. */
  get answer(): Answer | null {
    return this.failure === null ? this.#answer : null;
  }
  get failure(): AdapterFailure | null {
    return this.follower.failure;
  }

  /** The arena as it is now; null where this side does not tell it. */
  async snapshot(): Promise<Snapshot | null> {
    if (!this.follower.isOpen) return null;
    if (this.#run.domain === "heap")
      return this.#heap.tellsAddresses ? { kind: "heap", map: this.#heap.map() } : null;
    const state = await this.follower.state();
    return state === null ? null : this.of(state, this.follower.n);
  }

  /** A state after operation `n`, with its map. */
  of(state: State, n: number): Snapshot {
    return snapshotOf(state, this.#geometry, n);
  }

  /** How the states that it tells came about. */
  source(): StateSource {
    const { follower } = this;
    return {
      from: "replay",
      spec: follower.spec,
      after: follower.startedAfter,
      operations: follower.n - follower.startedAfter,
      isChecked: follower.comparesDigests,
      parting: follower.parting,
    };
  }

  async dispose(): Promise<void> {
    await this.follower.dispose();
  }
}

/** @internal */
export function snapshotOf(state: State, geometries: GeometryTrack, n: number): Snapshot {
  const geometry = geometries.at(n);
  return { kind: "kv", state, map: geometry === null ? null : pageMap(state, geometry) };
}

/** @internal */
export function heapTrackOf({ config }: RunLine): HeapTrack {
  return new HeapTrack(config as unknown as Readonly<Record<string, unknown>>); // open in domain heap
}
