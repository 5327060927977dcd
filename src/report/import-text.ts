// The text of `import`: what became of the events, and whether the books agree.
import type { ImportResult } from "../tools/import-log.js";
import type { Palette } from "./palette.js";
import { bytes, counted, grouped, visible } from "./words.js";

/** The last line is the summary. @public */
export function importText(
  result: ImportResult,
  out: string,
  size: number,
  palette: Palette,
): string {
  const { counts, format, file } = result;
  const row = (count: number, what: string): string => `${grouped(count).padStart(10)}  ${what}`;
  const lines = [
    row(
      counts.events,
      `${counts.events === 1 ? "event" : "events"} of ${visible(file)} (${format})`,
    ),
    row(counts.operations, "are an operation"),
    row(counts.joined, "belong to an operation that another event tells"),
    row(counts.marks, "stay as marks"),
    ...Object.entries(counts.dropped).map(([reason, count]) =>
      row(count, `left out: ${visible(reason)}`),
    ),
    ...Object.entries(counts.facts).map(([fact, count]) => row(count, fact.replaceAll("_", " "))),
    `every free meets an allocation: ${counted(counts.allocations, "object")} allocated, ` +
      `${grouped(counts.frees)} freed, ${grouped(counts.live)} alive at the end`,
  ];
  const name = out === "-" ? "standard output" : visible(out);
  const numbers = `${counted(result.runs, "run")}, ${counted(counts.operations, "operation")}, ${bytes(size)}`;
  if (counts.unknown === 0) lines.push(palette.good(`imported ${name}: ${numbers}`));
  else {
    const unknown = counted(counts.unknown, "event");
    lines.push(
      palette.warn(`incomplete: ${unknown} of unknown kinds left out; ${name}: ${numbers}`),
    );
  }
  return lines.join("\n");
}

/** The document of `import`. @public */
export function importJson(result: ImportResult, out: string): unknown {
  const { counts } = result;
  return {
    command: "import",
    verdict: counts.unknown === 0 ? "imported" : "incomplete",
    format: result.format,
    file: result.file,
    out,
    runs: result.runs,
    operations: counts.operations,
    events: counts.events,
    joined: counts.joined,
    marks: counts.marks,
    dropped: counts.dropped,
    unknown: counts.unknown,
    facts: counts.facts,
    objects: { allocated: counts.allocations, freed: counts.frees, live: counts.live },
  };
}
