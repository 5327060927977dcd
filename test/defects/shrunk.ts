// The smallest case that shows what a planted defect does.
import { isSameFailure } from "../../src/tools/findings.js";
import { shrink } from "../../src/tools/shrink/shrink.js";
import { stressJudge } from "../../src/tools/stress/minimize.js";
import { stressCase } from "../../src/tools/stress/seed.js";
import type { Defect } from "./defect.js";
import { runNumber, stressWith } from "./search.js";

/** A shrunk case. */
export interface Shrunk {
  readonly ops: number; // `boot` included
  readonly isMinimal: boolean; // no single operation can go
  readonly repeats: boolean; // run alone, it shows the same failure
  readonly kinds: readonly string[]; // its operations
}

/** Shrinks the first finding of a run; null where its operations alone do not show it. */
export async function shrinkFound(defect: Defect, run: number): Promise<Shrunk | null> {
  const { findings, ops, config } = stressWith(defect, run);
  const { seed } = runNumber(run);
  const signature = findings[0]?.signature;
  if (signature === undefined) return null;
  const undo = defect.plant();
  try {
    const result = await shrink({
      case: { config, ops: ops.map(({ operation }) => operation) },
      judge: stressJudge(seed, signature),
      signature,
      target: signature.check === "expectation" ? "unchanged" : "free",
      others: 0,
    });
    if (result.kind !== "shrunk") return null;
    const { case: smallest } = result.best;
    const again = stressCase(smallest, { seed }).findings;
    return {
      ops: smallest.ops.length,
      isMinimal: result.stopped === null,
      repeats: again.some((finding) => isSameFailure(finding.signature, signature)),
      kinds: smallest.ops.map(({ op }) => op),
    };
  } finally {
    undo();
  }
}
