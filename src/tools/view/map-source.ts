// One implementation that is driven through a run for its page maps: operations in, answers and what changed out.
import type { Adapter } from "../../adapter/adapter.js";
import { CandidateError } from "../../base/errors.js";
import type { Answer, Operation } from "../../base/operations.js";
import { equalAnswers } from "../../trace/compare-values.js";
import type { OpLine, RunLine, StateLine } from "../../trace/lines.js";
import type { ComparedParts } from "../answered-line.js";
import { Candidate, type StartAdapter } from "../candidate.js";
import { isQuestion } from "../laws.js";
import { partsWith } from "../sides.js";
import { geometryOfState, GeometryTrack } from "./geometry-track.js";
import type { MapTracker } from "./map-changes.js";
import type { SideChanges } from "./view-data.js";

/** What is driven. @public */
export interface MapImplementation {
  readonly spec: string;
  readonly start: StartAdapter;
}

/** Follows one run on one implementation. After `note` is set there are no more maps. @internal */
export class MapSource {
  readonly tracker: MapTracker;
  readonly #candidate: Candidate;
  readonly #isRecorded: boolean; // has to answer as the trace does
  #adapter: Adapter | null = null;
  #parts: ComparedParts = { fx: true, digest: true };
  #track: GeometryTrack | null = null;
  #isChanged = true;
  note: string | null = null; // why there are no more maps
  knownTo: number | null = null;

  /** @param isRecorded - whether it stands in for a trace: from its first other answer on it tells nothing of that one */
  constructor(implementation: MapImplementation, tracker: MapTracker, isRecorded: boolean) {
    this.#candidate = new Candidate(implementation.start);
    this.tracker = tracker;
    this.#isRecorded = isRecorded;
  }

  /** Opens the run. An implementation that does not answer it leaves `note` behind. */
  async open(line: RunLine, state: StateLine | null): Promise<void> {
    this.#track = new GeometryTrack(line);
    try {
      const adapter = await this.#candidate.ready();
      if (!adapter.info.domains.includes(line.domain)) {
        this.note = `it does not answer domain ${line.domain}`;
        return;
      }
      this.#parts = partsWith(line.digest_depth ?? null, adapter);
      const { run, domain, config, digest_depth: depth } = line;
      const digestDepth = this.#parts.digest ? (depth ?? null) : null;
      const opening = { run, domain, config, digestDepth };
      await this.#candidate.open(state === null ? opening : { ...opening, state: state.state });
      this.#adapter = adapter;
    } catch (thrown) {
      // what stands in for a trace may be missing; what is compared may not
      if (!(thrown instanceof CandidateError) || !this.#isRecorded) throw thrown;
      this.note = thrown.message;
      return;
    }
    const geometry = state === null ? null : geometryOfState(line, state.state);
    if (geometry !== null) this.tracker.lay(geometry);
  }

  /** Answers in order; fewer where it breaks. */
  async apply(lines: readonly OpLine[]): Promise<readonly Answer[]> {
    const adapter = this.#adapter;
    if (adapter === null) return [];
    const operations = lines.map(({ op, args }) => ({ op, args }) as Operation); // as they stood on their lines
    const { answers, failure } = await adapter.apply(operations);
    for (const [index, line] of lines.entries()) {
      const answer = answers[index];
      if (answer === undefined) {
        const what = failure?.message ?? "it gave no answer";
        await this.end(`${failure?.kind ?? "protocol"} at operation ${line.n}: ${what}`);
        return answers;
      }
      if (this.#isRecorded && !equalAnswers(line.op, line, answer, this.#parts)) {
        await this.end(`it does not answer operation ${line.n} as the trace does`);
        return answers.slice(0, index);
      }
      this.#note(line, answer);
    }
    return answers;
  }

  /** What changed in the page map since the last call, up to operation `n`. */
  async changes(n: number): Promise<SideChanges | null> {
    const adapter = this.#adapter;
    if (adapter === null) return null;
    if (this.tracker.geometry === null) return null; // `boot` was refused: there are no pages
    if (!this.#isChanged) {
      this.tracker.rest();
      this.knownTo = n;
      return null;
    }
    const state = await adapter.state();
    if (state === null) {
      await this.end("it tells no states");
      return null;
    }
    this.#isChanged = false;
    this.knownTo = n;
    return this.tracker.follow(state);
  }

  /** Takes over the map of a side that is known to be in the same state. */
  follow(other: MapSource): void {
    this.tracker.adopt(other.tracker);
    this.#isChanged = false;
    this.knownTo = other.knownTo;
  }

  /** There are no more maps. */
  async end(why: string): Promise<void> {
    this.note ??= why;
    this.#adapter = null;
    await this.#candidate.dispose();
  }

  async dispose(): Promise<void> {
    await this.#candidate.dispose();
  }

  #note(line: OpLine, answer: Answer): void {
    if (answer.ok === undefined) return;
    const { n, op } = line;
    // with digests, an operation that lists none changed nothing that a state tells
    this.#isChanged ||= this.#parts.digest ? answer.digest !== undefined : !isQuestion(op);
    if (op !== "boot" && op !== "arena.resize") return;
    this.#track?.note(line, answer);
    const geometry = this.#track?.at(n) ?? null;
    if (geometry !== null) this.tracker.lay(geometry);
    this.#isChanged = true;
  }
}
