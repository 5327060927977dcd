// A second look at one divergent run: the same operations again on a candidate that starts afresh, up to the
// divergence and some way past it.
import type { Answer, Operation } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import type { OpLine } from "../../trace/lines.js";
import { equalAnswers } from "../../trace/compare-values.js";
import type { AnsweredLine, ComparedParts } from "../answered-line.js";
import { DigestPair } from "../digests.js";
import type { Equality } from "../equality/equality.js";
import { equalityOf } from "../equality/equality-of.js";
import { type CompareMode, weakerModes } from "../equality/modes.js";
import type { Divergence, Examination, StateComparison, Unstable } from "../outcome.js";
import { stateDifferences } from "../state-differences.js";
import { Origins } from "./origins.js";
import { WeakerModes } from "./weaker.js";

const BATCH = 256;

/** Where one side's answers come from. @internal */
export interface AnswerSource {
  /** Set where answers end because the side did something else, which is no failure. */
  readonly isRecorded?: true;
  /** Answers in order; fewer where the side broke or did something else. */
  apply(operations: readonly Operation[]): Promise<readonly Answer[]>;
  /** The full state after the last operation, null where there is none. */
  state(): Promise<State | null>;
}

/** The base's own state, from an implementation that is held against the trace. @internal */
export interface StandIn {
  readonly spec: string;
  readonly source: AnswerSource;
}

/** @internal */
export interface RunExaminationOptions {
  readonly mode: CompareMode;
  readonly parts: ComparedParts;
  readonly divergence: Divergence;
  readonly candidate: AnswerSource;
  readonly standIn: StandIn | null;
  readonly past: number; // operations looked at behind the divergence
}

/** Fed with the lines of one run, in order. @internal */
export class RunExamination {
  parts: ComparedParts; // read by the equalities
  readonly #options: RunExaminationOptions;
  readonly #main: Equality;
  readonly #weaker: WeakerModes;
  readonly #digests = new DigestPair();
  readonly #origins: Origins;
  #isFaithful: boolean; // the stand-in has answered as the trace does
  #pending: OpLine[] = [];
  #upTo = -1;
  #differing = 0;
  #recovers: number | null = null;
  #states: StateComparison | null = null;
  #unstable: Unstable | null = null;
  #isBroken = false; // the candidate gives no more answers
  #isCut = false;

  constructor(options: RunExaminationOptions) {
    this.parts = options.parts;
    this.#options = options;
    this.#main = equalityOf(options.mode, this);
    this.#weaker = new WeakerModes(weakerModes(options.mode).map((mode) => equalityOf(mode, this)));
    this.#origins = new Origins(options.divergence);
    this.#isFaithful = options.standIn !== null;
  }

  /** True once nothing more is looked at. */
  get isOver(): boolean {
    return this.#isBroken || this.#isCut || this.#unstable !== null;
  }

  async op(line: OpLine): Promise<void> {
    if (this.isOver) return;
    // recorded without digests, whatever its first line says
    if (line.n === 0 && line.digest === undefined) this.parts = { ...this.parts, digest: false };
    const { n } = this.#options.divergence;
    if (line.n - n > this.#options.past) {
      await this.#flush();
      this.#isCut = true;
      return;
    }
    // everything before it first: it names ids, and the candidate has its own
    if (line.op === "ask.translate" && this.#main.asked !== undefined) await this.#flush();
    this.#pending.push(line);
    // states are taken right behind the divergence
    if (line.n === n || this.#pending.length >= BATCH) await this.#flush();
  }

  /** There is more of the run, which cannot be read. */
  async cut(): Promise<void> {
    await this.#flush();
    this.#isCut = true;
  }

  /** A batch of lines was read. */
  batch(): void {
    this.#weaker.batch();
  }

  /** A full state that the trace holds. */
  async state(n: number, state: State): Promise<void> {
    if (n !== this.#options.divergence.n || this.isOver) return;
    await this.#flush();
    const own = await this.#options.candidate.state();
    if (own !== null) this.#states = { base: "trace", fields: stateDifferences(state, own) };
  }

  async result(): Promise<Examination> {
    await this.#flush();
    return {
      upTo: this.#upTo,
      isWhole: !this.#isCut && !this.#isBroken && this.#unstable === null,
      holds: this.#isBroken ? [] : this.#weaker.holding(),
      differing: this.#differing,
      recovers: this.#recovers,
      origins: this.#origins.list(),
      states: this.#states,
      unstable: this.#unstable,
    };
  }

  async #flush(): Promise<void> {
    const lines = this.#pending;
    if (lines.length === 0 || this.isOver) return;
    this.#pending = [];
    const operations = lines.map(({ op, args }) => ({ op, args }) as Operation); // as they stood
    const { divergence, candidate, standIn } = this.#options;
    const asked = operations.map((operation) => this.#main.asked?.(operation) ?? operation);
    const answers = await candidate.apply(asked);
    if (standIn !== null && this.#isFaithful) await this.#shadow(standIn, lines, operations);
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index]!; // below the length
      const answer = answers[index];
      if (answer === undefined) {
        this.#break(line);
        return;
      }
      this.#compare(line, answer);
      if (this.#unstable !== null) return;
    }
    if (lines.at(-1)?.n === divergence.n) await this.#takeStates();
  }

  async #shadow(
    { source }: StandIn,
    lines: readonly OpLine[],
    operations: readonly Operation[],
  ): Promise<void> {
    const answers = await source.apply(operations);
    this.#isFaithful = lines.every((line, index) => {
      const answer = answers[index];
      return answer !== undefined && equalAnswers(line.op, line, answer, this.parts);
    });
    if (lines.at(-1)!.n > this.#options.divergence.n) this.#isFaithful = false; // not needed any more
  }

  // A candidate that broke in the first look has to break at the same place again.
  #break(line: OpLine): void {
    const { n, failure } = this.#options.divergence;
    if (this.#options.candidate.isRecorded === true) {
      this.#isCut = true;
      return;
    }
    this.#isBroken = true;
    const isSame = failure !== null && line.n === n;
    if (!isSame && line.n <= n) this.#unstable = { n: line.n, op: line.op, fields: [] };
  }

  #compare(line: AnsweredLine, answer: Answer): void {
    const { divergence, mode } = this.#options;
    const { n, op } = line;
    const fields = this.#main.differences(line, answer);
    this.#digests.agree(line.digest, answer.digest);
    const isStateSame = mode !== "exact" || !this.parts.digest || this.#digests.areSame();
    const isSame = fields.length === 0 && isStateSame;
    if (n < divergence.n && !isSame) this.#unstable = { n, op, fields };
    else if (n === divergence.n && divergence.place === "at" && isSame) {
      this.#unstable = { n, op, fields: [] };
    }
    if (this.#unstable !== null) return;
    this.#upTo = n;
    if (n < divergence.n) this.#origins.note(line);
    if (n >= divergence.n) {
      if (fields.length > 0 || n === divergence.n) this.#differing += 1;
      if (!isSame) this.#recovers = null;
      else if (n > divergence.n) this.#recovers ??= n;
    }
    const isAnswerSame = mode === "exact" && fields.length === 0;
    this.#weaker.meet(line, answer, { isAnswerSame, isStateSame });
  }

  async #takeStates(): Promise<void> {
    const { standIn, candidate } = this.#options;
    if (standIn === null || !this.#isFaithful) return;
    const [base, own] = [await standIn.source.state(), await candidate.state()];
    if (base === null || own === null) return;
    this.#states = { base: standIn.spec, fields: stateDifferences(base, own) };
  }
}
