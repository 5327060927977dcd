// One implementation twice, asked the same under two sets of names. That its answers are the same but for the names is
// the proof that the new names change nothing; what its digests differ by is what names do to digests.
import type { Adapter, RunOpening } from "../../adapter/adapter.js";
import { CandidateError } from "../../base/errors.js";
import type { Answer, Operation } from "../../base/operations.js";
import { equalAnswers } from "../../trace/compare-values.js";
import type { OpLine } from "../../trace/lines.js";
import { Candidate } from "../candidate.js";
import type { StartAdapter } from "../candidate.js";
import type { AnonymousLines } from "./anonymous-lines.js";

/** Both answers to one operation. @internal */
export interface TwinAnswers {
  readonly original: Answer;
  readonly renamed: Answer;
}

/** @internal */
export class Twins {
  readonly #spec: string;
  readonly #lines: AnonymousLines;
  readonly #original: Candidate;
  readonly #renamed: Candidate;
  #run = "";

  constructor(spec: string, start: StartAdapter, lines: AnonymousLines) {
    this.#spec = spec;
    this.#lines = lines;
    this.#original = new Candidate(start);
    this.#renamed = new Candidate(start);
  }

  /** What the implementation says of itself. Throws `CandidateError` where it cannot be started. */
  async info(): Promise<Adapter["info"]> {
    return (await this.#original.ready()).info;
  }

  async open(original: RunOpening, renamed: RunOpening): Promise<void> {
    this.#run = original.run;
    await this.#original.open(original);
    await this.#renamed.open(renamed);
  }

  /**
   * Asks both; answers up to the first that differ by more than names, which is then missing. Throws `CandidateError` where
   * an answer does not come.
   */
  async apply(lines: readonly OpLine[]): Promise<readonly TwinAnswers[]> {
    const asked = lines.map(({ op, args }) => ({ op, args }) as Operation); // they stood on one line
    const renamedAsked = asked.map((operation) => this.#lines.operation(operation));
    const originals = await this.#answers(this.#original, asked, lines);
    const others = await this.#answers(this.#renamed, renamedAsked, lines);
    const found: TwinAnswers[] = [];
    for (const [index, { op }] of lines.entries()) {
      const [original, renamed] = [originals[index]!, others[index]!]; // one answer a line
      const expected = this.#lines.answer(op, original);
      if (!equalAnswers(op, expected, this.#lines.withoutSentences(op, renamed), { digest: false }))
        break;
      found.push({ original, renamed });
    }
    return found;
  }

  /** Ends the run; its folded digests are of no use beside the recorded one. */
  async leave(): Promise<void> {
    await this.#original.leave();
    await this.#renamed.leave();
  }

  async dispose(): Promise<void> {
    await this.#original.dispose();
    await this.#renamed.dispose();
  }

  async #answers(
    candidate: Candidate,
    operations: readonly Operation[],
    lines: readonly OpLine[],
  ): Promise<readonly Answer[]> {
    const { answers, failure } = await (await candidate.ready()).apply(operations);
    const line = lines[answers.length];
    if (line !== undefined) {
      const why = failure?.message ?? "gave fewer answers than asked for";
      throw this.#broken(line, why);
    }
    const refused = answers.findIndex(({ err }) => err?.code === "unsupported");
    if (refused >= 0) throw this.#broken(lines[refused]!, "does not answer it");
    return answers;
  }

  #broken({ n, op }: OpLine, why: string): CandidateError {
    const where = `operation ${n} (${op}) of run ${this.#run}`;
    return new CandidateError("candidate_handshake", `${this.#spec}, ${where}: ${why}`);
  }
}
