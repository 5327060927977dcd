// What a page leaves out of a run that is long or large, and how two runs stand side by side, in sentences.
import type { ViewData } from "../../tools/view/view-data.js";
import { counted, grouped } from "../words.js";
import type { Packed } from "./pack.js";

/** Empty where nothing is to be said. @internal */
export function sampleNotes(data: ViewData, { details }: Packed): string[] {
  const notes: string[] = [];
  const { frames, stride, near, operations } = data;
  if (stride > 1) {
    notes.push(
      `The run is too long to show every operation: ${grouped(frames.length)} of ${grouped(operations)} are shown, all within ${grouped(near)} operations of what is marked, and every ${grouped(stride)}th elsewhere.`,
    );
  }
  const { base = 0, candidate = 0 } = data.alone ?? {};
  if (base + candidate > 0) {
    notes.push(
      `By the alignment of both runs ${counted(base, "operation")} of the base and ${grouped(candidate)} of the candidate stand alone; all others go in pairs. Curves and marks have the base's numbers: what only the candidate has stands at the operation of the base before which it comes.`,
    );
  }
  const [from, to] = details;
  if (to - from < frames.length) {
    const first = frames[from]?.n ?? 0;
    const last = frames[to - 1]?.n ?? 0;
    notes.push(
      `Arguments and answers are in the page for operations ${grouped(first)} to ${grouped(last)} only, so that it stays small. Maps and curves show all.`,
    );
  }
  return notes;
}
