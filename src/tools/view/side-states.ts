// The arena of one side at any operation of a run, in any order. What was looked at is remembered for a while; else the side is
// followed from the nearest state before, or from the beginning.
import type { Answer } from "../../base/operations.js";
import type { Pulse } from "../pulse.js";
import { GeometryTrack } from "./geometry-track.js";
import type { HeapTrack } from "./heap-map.js";
import type { Parting } from "./follower.js";
import type { NamedStart, Snapshot } from "./look.js";
import type { RunLines } from "./run-lines.js";
import { heapTrackOf, SideFollower, snapshotOf } from "./side-follower.js";

const REMEMBERED = 64; // snapshots

/** @internal */
export class SideStates {
  readonly spec: string;
  readonly #run: RunLines;
  readonly #side: SideFollower;
  readonly #isRecord: boolean;
  readonly #remembered = new Map<number, Snapshot>();
  readonly #answers: (Answer | undefined)[] = []; // by operation, from the first
  readonly #geometry: GeometryTrack;
  #heap: { readonly track: HeapTrack; readonly n: number } | null = null; // of the record
  /** Where the side first did something else than the record. */
  parting: Parting | null = null;
  /** How the side broke, at its parting or behind it. */
  failure: SideFollower["failure"] = null;

  /** @param isRecord - it stands in for the trace: state lines are its own, and it ends where it parts from the record */
  constructor(run: RunLines, named: NamedStart, pulse: Pulse, isRecord: boolean) {
    this.spec = named.spec;
    this.#run = run;
    this.#isRecord = isRecord;
    this.#side = new SideFollower(run.line, named, pulse);
    this.#geometry = new GeometryTrack(run.line);
    if (isRecord) {
      for (const line of run.ops) {
        if (run.line.domain !== "kv") break;
        this.#side.noteRecorded(line);
        this.#geometry.note(line, line);
      }
    }
    const { onAnswer } = this.#side.follower;
    this.#side.follower.onAnswer = (line, answer) => {
      this.#answers[line.n - run.first] = answer;
      onAnswer(line, answer);
    };
  }

  /** The arena after operation `n`; null where it is not known, and in front of the first operation. */
  async at(n: number): Promise<Snapshot | null> {
    const { states, first, line } = this.#run;
    if (n < first && this.#run.beginning === null) return null;
    const known = this.#remembered.get(n);
    if (known !== undefined) return known;
    const recorded = states.get(n);
    if (recorded !== undefined && (this.#isRecord || n < first))
      return this.#remember(n, snapshotOf(recorded, this.#geometry, n));
    if (n < first) return null;
    if (this.#isRecord && line.domain === "heap") return this.#heapAt(n);
    if (!(await this.#reach(n))) return null;
    const found = await this.#side.snapshot();
    return found === null ? null : this.#remember(n, found);
  }

  /** The answer to operation `n`; null where it gave none. */
  async answer(n: number): Promise<Answer | null> {
    if (this.#answers[n - this.#run.first] === undefined) await this.#reach(n);
    return this.#answers[n - this.#run.first] ?? null;
  }

  /** Answers up to operation `n`, so that `answer` of them waits for nothing. */
  async follow(n: number): Promise<void> {
    if (this.#answers[n - this.#run.first] === undefined) await this.#reach(n);
  }

  async dispose(): Promise<void> {
    await this.#side.dispose();
  }

  /** Brings the follower to operation `n`; false where it does not get there. */
  async #reach(n: number): Promise<boolean> {
    const { follower } = this.#side;
    const end = this.parting !== null && (this.#isRecord || this.parting.what === "failure");
    if (end && this.parting !== null && n >= this.parting.n) return false;
    if (!follower.isOpen || follower.n > n) await this.#reopen(n);
    else if (this.#isRecord && (await this.#nearest(n)) > follower.n) await this.#reopen(n);
    const { ops, first } = this.#run;
    await this.#side.follow(ops.slice(follower.n + 1 - first, n + 1 - first));
    this.parting ??= follower.parting;
    this.failure ??= follower.failure;
    if (this.#isRecord && follower.parting !== null) return false;
    return follower.n === n && follower.failure === null;
  }

  async #reopen(n: number): Promise<void> {
    const near = await this.#nearest(n);
    const { states, beginning } = this.#run;
    const kept = this.#remembered.get(near);
    const state = kept?.kind === "kv" ? kept.state : this.#isRecord ? states.get(near) : undefined;
    await this.#side.open(state === undefined ? beginning : { kind: "state", n: near, state });
  }

  /** The newest operation up to `n` behind which the side can begin. */
  async #nearest(n: number): Promise<number> {
    const { states, first, line } = this.#run;
    if (line.domain === "heap" || !(await this.#side.follower.startsFromStates())) return first - 1;
    let near = first - 1;
    for (const known of this.#remembered.keys()) if (known <= n && known > near) near = known;
    if (this.#isRecord)
      for (const known of states.keys()) if (known <= n && known > near) near = known;
    return near;
  }

  #heapAt(n: number): Snapshot | null {
    const { ops, first, line } = this.#run;
    if (this.#heap === null || this.#heap.n > n)
      this.#heap = { track: heapTrackOf(line), n: first - 1 };
    const { track } = this.#heap;
    for (const each of ops.slice(this.#heap.n + 1 - first, n + 1 - first)) track.note(each, each);
    this.#heap = { track, n };
    return track.tellsAddresses ? this.#remember(n, { kind: "heap", map: track.map() }) : null;
  }

  #remember(n: number, snapshot: Snapshot): Snapshot {
    this.#remembered.set(n, snapshot);
    const oldest = this.#remembered.keys().next().value;
    if (this.#remembered.size > REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
    return snapshot;
  }
}
