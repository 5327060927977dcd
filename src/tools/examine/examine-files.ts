// The second look where both sides are recorded: their answers are read once more, as far as both do the same.
import { InputError } from "../../base/errors.js";
import type { Answer, Operation } from "../../base/operations.js";
import { canonicalJson } from "../../base/canonical-json.js";
import type { OpLine } from "../../trace/lines.js";
import type { ComparedParts } from "../answered-line.js";
import type { CompareMode } from "../equality/modes.js";
import type { DivergenceKind, Examination, RunComparison } from "../outcome.js";
import type { TraceCursor } from "../trace-cursor.js";
import { type AnswerSource, RunExamination } from "./run-examination.js";

// Where one side did something else, alignment tells what there is to tell.
const ANSWERED: ReadonlySet<DivergenceKind> = new Set(["result", "refusal", "effect", "state"]);
const STEP = 256;
const RUNS_MAX = 50; // each is looked for from the beginning of both files

/** @internal */
export interface ExamineFilesOptions {
  readonly open: (side: "base" | "candidate") => Promise<TraceCursor>; // each at its beginning
  readonly runs: readonly RunComparison[];
  readonly parts: (run: string) => ComparedParts; // what both sides tell
  readonly mode: CompareMode;
  readonly past: number;
}

/** What a second look at the divergent runs finds, by run; the first fifty of them. @internal */
export async function examineFiles(
  options: ExamineFilesOptions,
): Promise<ReadonlyMap<string, Examination>> {
  const found = new Map<string, Examination>();
  for (const { run, divergence } of options.runs) {
    if (divergence?.place !== "at" || !ANSWERED.has(divergence.kind)) continue;
    if (found.size === RUNS_MAX) break;
    const [base, candidate] = [await options.open("base"), await options.open("candidate")];
    try {
      if (!(await goTo(base, run)) || !(await goTo(candidate, run))) continue;
      const examination = new RunExamination({
        mode: options.mode,
        parts: options.parts(run),
        divergence,
        candidate: new RecordedAnswers(candidate),
        standIn: null,
        past: options.past,
      });
      while (!examination.isOver) {
        const lines = await operationsOf(base, STEP);
        if (lines.length === 0 && base.isDamaged) await examination.cut();
        if (lines.length === 0) break;
        for (const line of lines) await examination.op(line);
        examination.batch();
      }
      found.set(run, await examination.result());
    } finally {
      await base.close();
      await candidate.close();
    }
  }
  return found;
}

// What is damaged was told by the first look; here the side ends there.
async function operationsOf(cursor: TraceCursor, count: number): Promise<readonly OpLine[]> {
  try {
    return await cursor.operations(count);
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}

async function goTo(cursor: TraceCursor, run: string): Promise<boolean> {
  for (let line = await cursor.nextRun(); line !== null; line = await cursor.nextRun()) {
    if (line.run === run) return true;
  }
  return false;
}

class RecordedAnswers implements AnswerSource {
  readonly isRecorded = true;
  readonly #cursor: TraceCursor;

  constructor(cursor: TraceCursor) {
    this.#cursor = cursor;
  }

  async apply(operations: readonly Operation[]): Promise<readonly Answer[]> {
    const lines = await operationsOf(this.#cursor, operations.length);
    const other = lines.findIndex((line, index) => !isSame(line, operations[index]));
    return other < 0 ? lines : lines.slice(0, other);
  }

  async state(): Promise<null> {
    return null;
  }
}

function isSame(line: Operation, asked: Operation | undefined): boolean {
  return line.op === asked?.op && canonicalJson(line.args) === canonicalJson(asked.args);
}
