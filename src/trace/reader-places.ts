// Where the runs of a trace begin, found by looking at bytes alone: whoever reads on from there checks what it reads.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { TraceResume } from "./reader-equal.js";
import { openTrace } from "./reader.js";

const LINE_FEED = 10;
const CHUNK = 1 << 20;
const OPENING = Buffer.from('\n{"kind":"run",');
const NAME = /^\n\{"kind":"run","run":"([^"\\]*)"/; // an id with escapes is left to the reader
const NAME_ROOM = 4096; // bytes of a run line that hold its id, as a rule

/** The beginning of a run. @internal */
export interface RunPlace {
  readonly run: string;
  readonly offset: number; // of its first byte
}

/**
 * The runs of a plain file whose first lines begin as every writer of the format begins them; null where the file is none
 * that can be looked at so. @internal
 */
export function runPlaces(path: string): readonly RunPlace[] | null {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return null; // whoever reads it says why
  }
  try {
    return fstatSync(fd).isFile() && /\.jsonl$/.test(path) ? placesIn(fd) : null;
  } finally {
    closeSync(fd);
  }
}

function placesIn(fd: number): readonly RunPlace[] | null {
  const places: RunPlace[] = [];
  const buffer = Buffer.allocUnsafe(CHUNK + NAME_ROOM);
  for (let start = 0; ; start += CHUNK) {
    const length = readSync(fd, buffer, 0, buffer.length, start);
    if (length === 0) return places;
    const chunk = buffer.subarray(0, length);
    // between the first line and the first run nobody would look: nothing may stand there
    if (start === 0 && chunk.indexOf(LINE_FEED) !== chunk.indexOf(OPENING)) return null;
    for (let at = chunk.indexOf(OPENING); at >= 0 && at < CHUNK;) {
      const name = NAME.exec(chunk.toString("utf8", at, at + NAME_ROOM))?.[1];
      if (name === undefined) return null; // or an id longer than there is room for
      places.push({ run: name, offset: start + at + 1 });
      at = chunk.indexOf(OPENING, at + 1);
    }
  }
}

/** How a reader goes on at the `index`-th of these runs. Throws `InputError` where the first line is wrong. @internal */
export async function resumeAt(
  path: string,
  places: readonly RunPlace[],
): Promise<(index: number) => TraceResume> {
  const reader = await openTrace(path);
  try {
    await reader.readBatch(1);
    const { header } = reader;
    if (header === null) throw new TypeError("a trace without a first line");
    const names = places.map(({ run }) => run);
    return (index) => ({
      offset: places[index]!.offset,
      line: 2, // the true number is not known, and nobody is told it
      header,
      runs: names.slice(0, index),
    });
  } finally {
    await reader.close();
  }
}
