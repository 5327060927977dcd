// The text of `validate`: a line a file, then the summary. The mistakes themselves go to standard error.
import type { FileVerdict } from "./json.js";
import type { Palette } from "./palette.js";
import { counted, visible } from "./words.js";

/** @public */
export function validateText(files: readonly FileVerdict[], palette: Palette): string {
  const wrong = files.filter(({ error }) => error !== null);
  const lines = files.map(({ file: path, kind, runs, operations, isPartial, error }) => {
    const file = visible(path);
    if (error !== null) return `${palette.bad("invalid   ")}  ${file}`;
    if (kind === "configurations") {
      return `${palette.good("valid     ")}  ${file}: ${counted(runs, "configuration")}`;
    }
    const what = kind === "scenario" ? "scenario" : counted(runs, "run");
    const verdict = isPartial ? palette.warn("incomplete") : palette.good("valid     ");
    return `${verdict}  ${file}: ${what}, ${counted(operations, "operation")}`;
  });
  let runs = 0;
  let operations = 0;
  for (const file of files) {
    if (file.kind !== "configurations") runs += file.runs;
    operations += file.operations;
  }
  const looked = `${counted(files.length, "file")}, ${counted(runs, "run")} and ${counted(operations, "operation")} read`;
  const isPartial = files.some((file) => file.isPartial);
  const summary =
    wrong.length > 0
      ? palette.bad(`invalid: ${counted(wrong.length, "file")} of ${looked}`)
      : isPartial
        ? palette.warn(`incomplete: ${looked}; something was left out on request`)
        : palette.good(`valid: ${looked}`);
  return [...lines, summary].join("\n");
}
