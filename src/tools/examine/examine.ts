// The second pass over a trace: every divergent run once more, all in one reading.
import type { Adapter } from "../../adapter/adapter.js";
import { CandidateError, InputError } from "../../base/errors.js";
import type { Operation } from "../../base/operations.js";
import type { RunLine, TraceLine } from "../../trace/lines.js";
import type { ComparedParts } from "../answered-line.js";
import { Candidate, type StartAdapter } from "../candidate.js";
import type { CompareMode } from "../equality/modes.js";
import type { Examination, RunComparison } from "../outcome.js";
import { Pulse, type ToolControl } from "../pulse.js";
import { partsWith } from "../sides.js";
import type { LineSource } from "./line-source.js";
import { type AnswerSource, RunExamination, type StandIn } from "./run-examination.js";

const BATCH_LINES = 256;

/** @internal */
export interface ExamineOptions extends ToolControl {
  readonly lines: () => Promise<LineSource>; // called once there is a run to look at
  readonly runs: readonly RunComparison[];
  readonly mode: CompareMode;
  readonly candidate: StartAdapter;
  readonly base: { readonly spec: string; readonly start: StartAdapter } | null; // may answer as the trace does
  readonly past: number; // operations looked at behind each divergence
}

/** What a second look at the divergent runs finds, by run. @internal */
export async function examineRuns(
  options: ExamineOptions,
): Promise<ReadonlyMap<string, Examination>> {
  const wanted = new Map(
    options.runs.filter(isExaminable).map((comparison) => [comparison.run, comparison]),
  );
  const found = new Map<string, Examination>();
  if (wanted.size === 0) return found;
  const examiner = new Examiner(options);
  const source = await options.lines();
  try {
    let examination: RunExamination | null = null;
    let run = "";
    while (found.size < wanted.size) {
      const lines = await linesOf(source);
      if (lines === null) await examination?.cut();
      if (lines === null || lines.length === 0) break;
      examination?.batch();
      for (const line of lines) {
        if (line.kind === "run") {
          const comparison = wanted.get(line.run);
          run = line.run;
          examination = comparison === undefined ? null : await examiner.open(line, comparison);
        } else if (examination === null) continue;
        else if (line.kind === "op") await examination.op(line);
        else if (line.kind === "state") await examination.state(line.n, line.state);
        if (examination !== null && (line.kind === "end" || examination.isOver)) {
          found.set(run, await examination.result());
          examination = null;
        }
      }
      await examiner.breathe(lines.length);
    }
    // the last run of a truncated or damaged trace
    if (examination !== null) found.set(run, await examination.result());
  } finally {
    await examiner.dispose();
    await source.close();
  }
  return found;
}

// Null where the trace is damaged: the first look tells of that, as far as it reads, and it hides no divergence before it.
async function linesOf(source: LineSource): Promise<readonly TraceLine[] | null> {
  try {
    return (await source.readBatch(BATCH_LINES)).lines;
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

// A hang would be waited for once more, and a run that was refused at its start has nothing to look at.
function isExaminable({ divergence, skipped }: RunComparison): boolean {
  if (divergence === null || skipped > 0) return false;
  return divergence.place !== "before" && divergence.kind !== "hang";
}

class Examiner {
  readonly #options: ExamineOptions;
  readonly #pulse: Pulse;
  readonly #candidate: Candidate;
  readonly #base: Candidate | null;

  constructor(options: ExamineOptions) {
    this.#options = options;
    this.#pulse = new Pulse(options);
    this.#candidate = new Candidate(options.candidate);
    this.#base = options.base === null ? null : new Candidate(options.base.start);
  }

  async open(line: RunLine, { divergence }: RunComparison): Promise<RunExamination | null> {
    if (divergence === null || (line.starts_at ?? 0) > 0) return null;
    const adapter = await this.#candidate.ready();
    const parts = partsWith(line.digest_depth ?? null, adapter);
    await this.#candidate.open(openingOf(line, parts));
    const { mode, past } = this.#options;
    const candidate = sourceOf(adapter, this.#candidate);
    const standIn = await this.#standIn(line, parts);
    return new RunExamination({ mode, parts, divergence, candidate, standIn, past });
  }

  async #standIn(line: RunLine, parts: ComparedParts): Promise<StandIn | null> {
    const { base } = this.#options;
    if (base === null || this.#base === null) return null;
    try {
      const adapter = await this.#base.ready();
      if (!adapter.info.domains.includes(line.domain)) return null;
      await this.#base.open(openingOf(line, parts));
      return { spec: base.spec, source: sourceOf(adapter, this.#base) };
    } catch (thrown) {
      if (thrown instanceof CandidateError) return null; // then it cannot stand in for the base
      throw thrown;
    }
  }

  async breathe(count: number): Promise<void> {
    if (this.#pulse.count(count)) await this.#pulse.breathe();
  }

  async dispose(): Promise<void> {
    await this.#candidate.dispose();
    await this.#base?.dispose();
  }
}

function openingOf(line: RunLine, parts: ComparedParts): Parameters<Adapter["open"]>[0] {
  return {
    run: line.run,
    domain: line.domain,
    config: line.config,
    digestDepth: parts.digest ? (line.digest_depth ?? null) : null,
  };
}

function sourceOf(adapter: Adapter, holder: Candidate): AnswerSource {
  return {
    async apply(operations: readonly Operation[]) {
      const { answers, failure } = await adapter.apply(operations);
      if (failure !== null) await holder.dispose();
      return answers;
    },
    state: () => adapter.state(),
  };
}
