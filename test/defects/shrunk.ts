// The smallest case that shows what a planted defect does, kept as a file: found in a run, shrunk in place, replayed.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isSameFailure } from "../../src/tools/findings.js";
import type { ShrinkCase } from "../../src/tools/shrink/case.js";
import { loadCase, writeCaseTo } from "../../src/tools/stress/cases.js";
import { minimizeCase, stressJudge } from "../../src/tools/stress/minimize.js";
import { stressCase, stressSeed, type StressSeedResult } from "../../src/tools/stress/seed.js";
import type { Defect } from "./defect.js";
import { runNumber, stressWith } from "./search.js";

const SHORT = [60, 120]; // operations
const SHORT_RUNS = 35; // each profile on each layout

/** A shrunk case. */
export interface Shrunk {
  readonly ops: number; // `boot` included
  readonly isMinimal: boolean; // no operation, argument or setting can go; false: the time was over before that
}

/** What a kept case shows when it runs alone. */
export interface Replay {
  readonly name: string;
  readonly ops: number;
  readonly repeats: boolean; // it shows the failure of its signature
  readonly spare: readonly number[]; // operations without which it still does
}

/** Shrinks the first finding of a short run, else of the one that is named, into a file; or what the file holds, where that
 * still fails. Null: not repeated.
 * @param seconds - of this process's own time */
export async function shrinkFound(
  defect: Defect,
  run: number,
  file: string,
  seconds: number,
): Promise<Shrunk | null> {
  if (!existsSync(file) || !fails(defect, file)) {
    const found = shortRun(defect) ?? stressWith(defect, run);
    const [finding] = found.findings;
    if (finding === undefined) return null;
    writeCaseTo(file, { ...found, finding });
  }
  const begin = process.cpuUsage().user;
  const undo = defect.plant();
  try {
    const isTimeOver = (): boolean => process.cpuUsage().user - begin > seconds * 1e6;
    const end = await minimizeCase(file, { isTimeOver });
    return end === null ? null : { ops: loadCase(file).ops.length, isMinimal: end === "minimal" };
  } finally {
    undo();
  }
}

/** A short run that finds something, null where none of a few does: little is left to shrink there. */
function shortRun({ plant }: Defect): StressSeedResult | null {
  const undo = plant();
  try {
    for (const ops of SHORT)
      for (let run = 0; run < SHORT_RUNS; run++) {
        const result = stressSeed({ ...runNumber(run), ops });
        if (result.findings.length > 0) return result;
      }
    return null;
  } finally {
    undo();
  }
}

function fails({ plant }: Defect, file: string): boolean {
  const { config, ops, seed, signature } = loadCase(file);
  const undo = plant();
  try {
    const { findings } = stressCase({ config, ops }, { seed });
    return findings.some(
      (found) => signature !== null && isSameFailure(found.signature, signature),
    );
  } finally {
    undo();
  }
}

/** Runs a kept case with its defect in, then without each of its operations. */
export async function replayAlone(defect: Defect, file: string): Promise<Replay> {
  const { config, ops, seed, signature } = loadCase(file);
  const judge = stressJudge(seed, signature);
  const shows = async (value: ShrinkCase, allowed: (n: number) => boolean): Promise<boolean> => {
    const judgement = await judge(value);
    if (judgement.kind !== "fails" || signature === null) return false;
    // A contract broken only because something is missing is another failure.
    const isAllowed = judgement.illegal?.every(allowed) !== false;
    return isAllowed && isSameFailure(judgement.finding.signature, signature);
  };
  const repeats = fails(defect, file);
  const undo = defect.plant();
  try {
    const whole = await judge({ config, ops });
    const illegal = new Set(whole.kind === "fails" ? whole.illegal : []);
    const spare: number[] = [];
    for (let left = ops.length - 1; left > 0; left--) {
      const fewer = ops.filter((_, n) => n !== left);
      const allowed = (n: number): boolean => illegal.has(n < left ? n : n + 1);
      if (await shows({ config, ops: fewer }, allowed)) spare.push(left);
    }
    return { name: defect.name, ops: ops.length, repeats, spare };
  } finally {
    undo();
  }
}

/** Where the case of a defect is kept. */
export function caseFile(folder: string, { name }: Defect): string {
  return `${folder}/${name}.json`;
}

/** The folder of the kept cases, seen from the sources. */
export const CASES = fileURLToPath(new URL("cases", import.meta.url));
