// Shrinks an input into a case file, written after every improvement, and proves that the file stands alone.
import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import { fileKind, removeFile } from "../../workload/case-files.js";
import { loadScenarios } from "../../workload/scenario.js";
import type { FoundFailure } from "../../workload/scenario.js";
import { Candidate } from "../candidate.js";
import type { StartAdapter } from "../candidate.js";
import { isSameFailure } from "../findings.js";
import type { Finding, Signature } from "../findings.js";
import { Pulse } from "../pulse.js";
import { scenarioFault } from "../run-scenario.js";
import { caseDigest, tallied } from "./case.js";
import type { Judge, Looked } from "./case.js";
import { caseName, earlierCase, mayReplace, placeInFolder, writeCase } from "./case-file.js";
import type { ShrinkInput } from "./inputs.js";
import { shrink } from "./shrink.js";
import type { FailingCase, ShrinkOptions, ShrinkResult } from "./shrink.js";

/** @public */
export interface ShrinkToFileOptions extends Pick<
  ShrinkOptions,
  "jobs" | "isTimeOver" | "signal" | "onProgress"
> {
  readonly input: ShrinkInput;
  readonly out: string; // a file, or a folder that keeps a few cases of each failure
  readonly names: { readonly base: string; readonly candidate: string }; // as the user named them
  readonly start: StartAdapter; // of the candidate
}

/** A case that was written. @public */
export interface WrittenCase {
  readonly file: string;
  readonly operations: number; // boot included
  readonly finding: Finding;
}

/** @public */
export interface ShrinkReport {
  readonly name: string;
  readonly by: ShrinkInput["by"];
  readonly note: string | null;
  readonly result: ShrinkResult;
  readonly written: WrittenCase | null; // null: nothing failed, or a folder has smaller cases of this failure
  readonly others: readonly WrittenCase[];
  /** Whether the case fails in the same way on implementations started for it alone; null: not tried. */
  readonly isAlone: boolean | null;
  /** Whether `run` on the file fails; null: not tried. */
  readonly isShownByRun: boolean | null;
  readonly looked: Looked;
}

/** @public */
export async function shrinkToFile(options: ShrinkToFileOptions): Promise<ShrinkReport> {
  const { input } = options;
  try {
    return await shrinkWith(options);
  } finally {
    await input.running.dispose();
  }
}

async function shrinkWith(options: ShrinkToFileOptions): Promise<ShrinkReport> {
  const { input, start, jobs, isTimeOver, signal, onProgress } = options;
  const { running, name, by, note } = input;
  const file = new CaseWriter(options);
  const looked = { runs: 0, operations: 0 };
  const judge = tallied(running.judge, looked);
  const first = await judge(input.case);
  const wanted = input.signature ?? (first.kind === "fails" ? first.finding.signature : null);
  const target = input.target ?? "free";
  const result = await shrink({
    ...(jobs === undefined ? {} : { jobs }),
    ...(isTimeOver === undefined ? {} : { isTimeOver }),
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress }),
    case: input.case,
    target,
    signature: wanted,
    resume: wanted === null ? null : file.earlier(wanted),
    judge,
    onBetter: (best) => file.write(best),
  });
  const base = { name, by, note, result, looked };
  if (result.kind !== "shrunk") {
    return { ...base, written: null, others: [], isAlone: null, isShownByRun: null };
  }
  const { best, stopped } = result;
  const isDone = stopped !== "interrupted";
  const isAlone = isDone ? await isStandingAlone(input, best, judge) : null;
  const isShownByRun = isDone ? await isShown(file.path, start) : null;
  const written = await file.finish(best, isDone);
  const others = isDone ? await file.writeOthers(result.others) : [];
  return { ...base, written, others, isAlone, isShownByRun };
}

async function isStandingAlone(
  { running }: ShrinkInput,
  best: FailingCase,
  judge: Judge,
): Promise<boolean> {
  await running.dispose(); // so that nothing of earlier runs is left
  const judgement = await judge(best.case);
  return (
    judgement.kind === "fails" && isSameFailure(judgement.finding.signature, best.finding.signature)
  );
}

/** Whether the file fails as a scenario on the candidate. */
async function isShown(path: string, start: StartAdapter): Promise<boolean> {
  const candidate = new Candidate(start);
  try {
    const [scenario] = loadScenarios([path]);
    if (scenario === undefined || scenario.invalid !== null) return false;
    const fault = await scenarioFault(scenario, null, candidate, new Pulse({}));
    return fault?.verdict === "failed";
  } catch (thrown) {
    if (thrown instanceof InputError) return false;
    throw thrown;
  } finally {
    await candidate.dispose();
  }
}

/** Where the cases of one shrink go. */
class CaseWriter {
  readonly #options: ShrinkToFileOptions;
  readonly #isFolder: boolean;
  #earlier: string | null = null; // digest of the case that stands there already
  path: string;

  constructor(options: ShrinkToFileOptions) {
    this.#options = options;
    this.#isFolder = fileKind(options.out) === "folder";
    this.path = options.out;
  }

  /** What an earlier shrink of this failure left. */
  earlier(signature: Signature): FailingCase["case"] | null {
    const { check, op, component } = signature;
    const stem = [check, op, component ?? "whole"].join("-");
    if (this.#isFolder) this.path = join(this.#options.out, `${caseName(stem)}.shrinking.json`);
    const earlier = earlierCase(this.path, signature);
    this.#earlier = earlier === null ? null : caseDigest(earlier);
    return earlier;
  }

  /** Writes the case, unless it stands there already: a second shrink changes nothing. */
  async write(best: FailingCase): Promise<void> {
    if (caseDigest(best.case) === this.#earlier) return;
    this.#earlier = null;
    await this.#writeTo(this.path, best);
  }

  /** In a folder the finished case gets its own name, or goes where smaller ones are kept already. */
  async finish(best: FailingCase, isDone: boolean): Promise<WrittenCase | null> {
    if (!this.#isFolder || !isDone) return writtenAs(this.path, best);
    const shrinking = this.path;
    const place = placeInFolder(this.#options.out, best.finding.signature, best.case);
    if (place !== null) await this.#writeTo(place, best);
    removeFile(shrinking);
    return place === null ? null : writtenAs(place, best);
  }

  async writeOthers(others: readonly FailingCase[]): Promise<WrittenCase[]> {
    const written: WrittenCase[] = [];
    for (const [index, other] of others.entries()) {
      const { signature } = other.finding;
      const place = this.#isFolder
        ? placeInFolder(this.#options.out, signature, other.case)
        : this.#placeBeside(index + 1, signature);
      if (place === null) continue;
      await this.#writeTo(place, other);
      written.push(writtenAs(place, other));
    }
    return written;
  }

  /** The first name from a number on under which nothing stands that is not of this failure. */
  #placeBeside(number: number, signature: Signature): string {
    for (let at = number; ; at++) {
      const path = `${this.path.replace(/\.json$/, "")}.second-${String(at)}.json`;
      if (mayReplace(path, signature)) return path;
    }
  }

  async #writeTo(path: string, failing: FailingCase): Promise<void> {
    const { input, names } = this.#options;
    const { finding } = failing;
    const found: FoundFailure = {
      by: input.by,
      ...finding.signature,
      n: finding.n,
      message: finding.message,
      ...names,
    };
    const from = `Shrunk from ${input.name}, ${String(input.case.ops.length)} operations.`;
    const what = `${found.check} at operation ${String(found.n)} (${found.op}): ${names.candidate}, beside ${names.base}.`;
    const expected = await input.running.expected(failing);
    const story = `${from} ${what}`;
    writeCase(path, { ...expected, name: caseName(path), story, case: failing.case, found });
  }
}

function writtenAs(file: string, { case: value, finding }: FailingCase): WrittenCase {
  return { file, operations: value.ops.length, finding };
}
