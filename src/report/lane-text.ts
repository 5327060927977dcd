// A lane of a map as one line of characters over the bytes of an arena, scaled to a width.
import type { Paint, Palette } from "./palette.js";

/** What a column of a lane can show, the rarest first: it wins over what it shares a column with. */
const CLASSES = ["fenced", "vacated", "fixed", "pending", "hole", "live", "free"] as const;
/** @public */
export type LaneClass = (typeof CLASSES)[number];

const GLYPHS: Readonly<Record<LaneClass, string>> = {
  fenced: "x",
  vacated: "v",
  fixed: "F",
  pending: "p",
  hole: "o",
  live: "#",
  free: ".",
};
const SINK = "=";
const WORDS: Readonly<Record<LaneClass, string>> = {
  fenced: "bytes that somebody may still use",
  vacated: "left by a move, still read",
  fixed: "live, fixed by a load",
  pending: "freed, waits for a forward",
  hole: "hole",
  live: "live",
  free: "free",
};

/** Bytes `[from, to)` of one class. @public */
export interface LaneSegment {
  readonly from: number;
  readonly to: number;
  readonly class: LaneClass;
}

/** The columns, one class each; null: nothing of the lane, blank. @public */
export type LaneColumns = readonly (LaneClass | null)[];

/**
 * The class of each of `width` columns over `bytes` bytes. A column shows what takes most of its bytes; what is free only
 * where nothing else is. @public
 */
export function laneColumns(
  segments: Iterable<LaneSegment>,
  bytes: number,
  width: number,
): LaneColumns {
  const shares = new Map(CLASSES.map((name) => [name, new Float64Array(width)]));
  for (const { from, to, class: name } of segments) {
    const share = shares.get(name);
    if (share !== undefined) spread(share, from / bytes, to / bytes);
  }
  return Array.from({ length: width }, (_, column) => {
    let best: LaneClass | null = null;
    let most = 0;
    for (const name of CLASSES) {
      const part = shares.get(name)![column]!; // one a class, one a column
      const isBetter = name === "free" ? best === null && part > 0 : part > most;
      if (isBetter) [best, most] = [name, part];
    }
    return best;
  });
}

/** Columns that any of the byte ranges touches. @public */
export function touchedColumns(
  ranges: Iterable<{ readonly from: number; readonly to: number }>,
  bytes: number,
  width: number,
): readonly boolean[] {
  const share = new Float64Array(width);
  for (const { from, to } of ranges) spread(share, from / bytes, to / bytes);
  return Array.from(share, (part) => part > 0);
}

/** Adds the part of each column that `[from, to)`, as shares of the whole, covers. */
function spread(columns: Float64Array, from: number, to: number): void {
  const width = columns.length;
  const [start, end] = [Math.max(0, from * width), Math.min(width, to * width)];
  for (let column = Math.floor(start); column < end; column++) {
    const part = Math.min(end, column + 1) - Math.max(start, column);
    columns[column]! += part; // in range: below end, which is at most the width
  }
}

/** One lane between bars. @param sink - share of the arena, 0 to 1, that is reserved at its low end @public */
export function laneText(columns: LaneColumns, palette: Palette, sink = 0): string {
  const paints = paintsOf(palette);
  const parts = columns.map((name, column) => {
    if (name !== null) return { text: GLYPHS[name], paint: paints[name] };
    const isSink = (column + 1) / columns.length <= sink;
    return { text: isSink ? SINK : " ", paint: palette.dim };
  });
  return `|${painted(parts)}|`;
}

/** Runs of one paint are painted once: short output, and equal output without colour. */
function painted(parts: readonly { readonly text: string; readonly paint: Paint }[]): string {
  let line = "";
  for (let first = 0; first < parts.length;) {
    const { paint } = parts[first]!; // in range
    let next = first;
    let text = "";
    while (next < parts.length && parts[next]!.paint === paint) text += parts[next++]!.text; // in range
    line += text.trim() === "" ? text : paint(text);
    first = next;
  }
  return line;
}

/** The classes that stand in lanes, each with its character and what it means. @public */
export function legendText(shown: Iterable<LaneClass | null>, hasSink: boolean): string[] {
  const there = new Set(shown);
  const entries = CLASSES.toReversed().flatMap((name) =>
    there.has(name) ? [`${GLYPHS[name]} ${WORDS[name]}`] : [],
  );
  return hasSink ? [...entries, `${SINK} reserved`] : entries;
}

function paintsOf(palette: Palette): Readonly<Record<LaneClass, Paint>> {
  return {
    fenced: palette.bad,
    vacated: palette.bad,
    fixed: palette.base,
    pending: palette.candidate,
    hole: palette.warn,
    live: palette.good,
    free: palette.dim,
  };
}
