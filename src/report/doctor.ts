// What `doctor` found, as text and JSON.
import type { Palette } from "./palette.js";
import type { SelfTestResult } from "../device/self-test/self-test.js";
import { counted } from "./words.js";

/** One thing that a machine has or lacks. @public */
export interface Finding {
  readonly what: string;
  readonly state: "there" | "missing" | "wrong"; // missing: optional; wrong: nothing works without it
  readonly text: string;
  readonly advice: string | null; // what to do, null where nothing is
}

/** @public */
export function doctorText(findings: readonly Finding[], palette: Palette): string {
  const paint = { there: palette.good, missing: palette.warn, wrong: palette.bad };
  const lines = findings.flatMap(({ what, state, text, advice }) => [
    `${paint[state](state.padEnd(8))} ${what.padEnd(16)} ${text}`,
    ...(advice === null ? [] : [palette.dim(`${" ".repeat(26)}${advice}`)]),
  ]);
  const wrong = findings.filter(({ state }) => state === "wrong").length;
  const missing = findings.filter(({ state }) => state === "missing").length;
  const verdict =
    wrong > 0
      ? palette.bad(`wrong: ${counted(wrong, "thing")} that everything needs`)
      : palette.good("ready: record, replay and compare work here");
  const optional = missing > 0 ? `; ${counted(missing, "optional thing")} missing` : "";
  return [...lines, `${verdict}${optional}; ${counted(findings.length, "thing")} examined`].join(
    "\n",
  );
}

/** @public */
export function doctorJson(findings: readonly Finding[]): unknown {
  const isWrong = findings.some(({ state }) => state === "wrong");
  return { command: "doctor", verdict: isWrong ? "wrong" : "ready", findings };
}

/** @public */
export function selfTestText(result: SelfTestResult, palette: Palette): string {
  const paint = { passed: palette.good, failed: palette.bad, skipped: palette.warn };
  const lines = result.checks.map(({ name, verdict, message }) => {
    const why = message === null ? "" : `: ${message}`;
    return `${paint[verdict](verdict.padEnd(8))} ${name}${why}`;
  });
  const count = (verdict: string): number =>
    result.checks.filter((check) => check.verdict === verdict).length;
  const skipped = count("skipped") === 0 ? "" : `, ${count("skipped")} skipped`;
  const counts = `${count("passed")} passed, ${count("failed")} failed${skipped}`;
  const verdict = result.verdict === "passed" ? palette.good("passed") : palette.bad("failed");
  return [...lines, `${verdict}: device ${result.device}: ${counts}`].join("\n");
}

/** @public */
export function selfTestJson(result: SelfTestResult): unknown {
  return { command: "doctor", verdict: result.verdict, findings: [], self_test: result };
}
