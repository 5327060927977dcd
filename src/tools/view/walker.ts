// Walks one run back and forth, on one side or two, and on to the next breakpoint.
import { equalAnswers } from "../../trace/compare-values.js";
import type { OpLine } from "../../trace/lines.js";
import { answerOf } from "../answered-line.js";
import type { ReaderOptions } from "../../trace/reader.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { type Breakpoint, type BreakScope, looksAtStates, matches, passes } from "./breakpoints.js";
import { GeometryTrack } from "./geometry-track.js";
import type { Look, NamedStart, SideLook } from "./look.js";
import { readRunLines, type RunLines } from "./run-lines.js";
import { SideStates } from "./side-states.js";

const FOLLOWED = 256; // operations that the candidate is asked for at once

/** @public */
export interface WalkOptions extends ToolControl {
  readonly trace: string;
  readonly run?: string;
  readonly base: NamedStart;
  readonly isBaseAsked?: boolean; // the base answers in place of the trace
  readonly candidate?: NamedStart;
  readonly reader?: ReaderOptions;
}

/** Where a walk stopped, and why. @public */
export interface Stop {
  readonly n: number;
  readonly on: Breakpoint | null; // null: the end of the run
}

/** @public */
export class Walker {
  readonly #run: RunLines;
  readonly #base: SideStates;
  readonly #candidate: SideStates | null;
  readonly #pulse: Pulse;
  readonly #isBaseAsked: boolean;
  readonly scope: BreakScope;

  /** Reads the run. Throws as `readRunLines` does. The caller disposes of it. */
  static async open(options: WalkOptions): Promise<Walker> {
    return new Walker(await readRunLines(options.trace, options.run, options), options);
  }

  private constructor(run: RunLines, options: WalkOptions) {
    const { base, candidate, isBaseAsked } = options;
    this.#run = run;
    this.#pulse = new Pulse(options);
    this.#isBaseAsked = isBaseAsked === true;
    this.#base = new SideStates(run, base, this.#pulse, !this.#isBaseAsked);
    this.#candidate =
      candidate === undefined ? null : new SideStates(run, candidate, this.#pulse, false);
    const geometry = new GeometryTrack(run.line);
    if (run.line.domain === "kv") for (const line of run.ops.slice(0, 1)) geometry.note(line, line);
    this.scope = {
      domain: run.line.domain,
      bands: geometry.at(run.first)?.lanes.map(({ band }) => band) ?? [],
      hasCandidate: candidate !== undefined,
    };
  }

  get run(): string {
    return this.#run.line.run;
  }
  get first(): number {
    return this.#run.first;
  }
  get last(): number {
    return this.#run.first + this.#run.ops.length - 1;
  }
  get isPartial(): boolean {
    return this.#run.isPartial;
  }
  /** Whether the implementation that stands in for the trace did something else. */
  get hasParted(): boolean {
    return !this.#isBaseAsked && this.#base.parting !== null;
  }

  /** @param n - from `first` to `last` */
  line(n: number): OpLine {
    return this.#run.ops[n - this.#run.first]!; // the caller keeps to the range
  }

  /** Everything about operation `n`. */
  async look(n: number): Promise<Look> {
    const line = this.line(n);
    const base = await this.#sideLook(this.#base, line, !this.#isBaseAsked);
    const candidate =
      this.#candidate === null ? null : await this.#sideLook(this.#candidate, line, false);
    const { parting } = this.#base;
    return {
      run: this.#run.line,
      line,
      base,
      candidate,
      parting: this.#isBaseAsked ? null : parting,
      operations: this.#run.ops.length,
      replayed: 0,
      isPartial: this.#run.isPartial,
    };
  }

  /** The next operation behind `n` at which one of the breakpoints stops, or the end of the run. */
  async next(n: number, points: readonly Breakpoint[]): Promise<Stop> {
    const needsStates = points.some(looksAtStates);
    for (let at = n + 1; at <= this.last; at++) {
      const isDue = (at - n) % FOLLOWED === 1;
      if (isDue) await this.#candidate?.follow(Math.min(this.last, at + FOLLOWED - 1));
      for (const point of points) if (await this.#stops(point, at)) return { n: at, on: point };
      if (this.#pulse.count(needsStates ? 8 : 1)) await this.#pulse.breathe();
    }
    return { n: this.last, on: null };
  }

  async dispose(): Promise<void> {
    await this.#base.dispose();
    await this.#candidate?.dispose();
  }

  async #stops(point: Breakpoint, n: number): Promise<boolean> {
    const line = this.line(n);
    if (point.on === "differs") return this.#differs(line);
    if (point.on !== "state") {
      if (matches(point, line, answerOf(line))) return true;
      const own = await this.#candidate?.answer(n);
      return own !== undefined && own !== null && matches(point, line, own);
    }
    for (const side of [this.#base, this.#candidate])
      if (side !== null && passes(point, await side.at(n - 1), await side.at(n))) return true;
    return false;
  }

  /** At an answer that differs, and where the states part. */
  async #differs(line: OpLine): Promise<boolean> {
    const side = this.#candidate;
    if (side === null) return false;
    const own = await side.answer(line.n);
    if (own === null) return side.parting?.n === line.n;
    const parts = { fx: line.fx === undefined || own.fx !== undefined, digest: false };
    return side.parting?.n === line.n || !equalAnswers(line.op, answerOf(line), own, parts);
  }

  async #sideLook(side: SideStates, line: OpLine, isRecord: boolean): Promise<SideLook> {
    const { n } = line;
    const [before, after] = [await side.at(n - 1), await side.at(n)];
    const answer = isRecord ? answerOf(line) : await side.answer(n);
    const why = this.#whyNot(side, isRecord);
    return {
      spec: isRecord ? null : side.spec,
      answer,
      failure: isRecord || answer !== null ? null : side.failure,
      before,
      after,
      source: after === null ? { from: "nowhere", why } : { from: "trace" },
    };
  }

  #whyNot({ spec, parting, failure }: SideStates, isRecord: boolean): string {
    if (parting !== null && (isRecord || failure !== null)) {
      const how = parting.what === "failure" ? "breaks at" : "parts from the record at";
      return `${spec} ${how} operation ${String(parting.n)} (${parting.op})`;
    }
    return this.#run.line.domain === "heap"
      ? "no answer tells an address"
      : `${spec} tells no state`;
  }
}
