// Shrinks a saved case in its place: a smaller list of operations that shows the same failure under the same checks.
import { InputError } from "../../base/errors.js";
import { isSameFailure, type Signature } from "../findings.js";
import type { Judge, ShrinkCase } from "../shrink/case.js";
import type { StopReason } from "../shrink/search.js";
import { type FailingCase, shrink } from "../shrink/shrink.js";
import { loadCase, writeCaseTo } from "./cases.js";
import type { StressDevice } from "./run.js";
import { stressCase } from "./seed.js";

/** @public */
export interface MinimizeControl {
  readonly device?: StressDevice; // default model
  readonly isTimeOver?: () => boolean;
  readonly signal?: AbortSignal;
}

/** What judges a case: the check of a failure, or all of them, with the completion schedules of one seed. @public */
export function stressJudge(
  seed: number,
  wanted: Signature | null,
  device: StressDevice = "model",
): Judge {
  return async (candidate: ShrinkCase) => {
    let result;
    try {
      result = stressCase(candidate, {
        ...{ seed, device },
        ...(wanted === null ? {} : { only: wanted.check }),
      });
    } catch (error) {
      if (error instanceof InputError) return { kind: "invalid", n: 0 }; // no run on this configuration
      throw error;
    }
    const { findings, answers } = result;
    const own = findings.find(
      ({ signature }) => wanted === null || isSameFailure(signature, wanted),
    );
    const finding = own ?? findings[0];
    if (finding === undefined) return { kind: "passes" };
    const illegal = answers.flatMap(({ err }, n) =>
      err?.code === "invalid" && n <= finding.n ? [n] : [],
    );
    return { kind: "fails", finding, illegal };
  };
}

/** Shrinks the case of a file; every improvement is written at once.
 * @returns how it ended; null for a case that no longer fails, which stays as it is
 * @public */
export async function minimizeCase(
  file: string,
  control: MinimizeControl,
): Promise<"minimal" | StopReason | null> {
  const { config, ops, seed, run, profile, signature } = loadCase(file);
  const { device = "model" } = control;
  const write = async ({ case: smaller, finding }: FailingCase): Promise<void> => {
    const { answers } = stressCase(smaller, { seed, device });
    const executed = smaller.ops.map((operation, n) => {
      const err = answers[n]?.err;
      if (err === undefined) return { operation, err: null, rule: null };
      const { code, rule } = err;
      return { operation, err: rule === undefined ? { code } : { code, rule }, rule: null };
    });
    writeCaseTo(file, {
      run,
      seed,
      profile,
      config: smaller.config,
      ops: executed,
      finding,
    });
  };
  const result = await shrink({
    ...control,
    case: { config, ops },
    judge: stressJudge(seed, signature, device),
    signature,
    target: signature?.check === "expectation" ? "unchanged" : "free",
    others: 0,
    onBetter: write,
  });
  return result.kind === "shrunk" ? (result.stopped ?? "minimal") : null;
}
