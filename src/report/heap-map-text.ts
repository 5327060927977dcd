// The objects of a heap as text: a lane a pool over address space, before and after an operation.
import type { HeapBlock, HeapLane, HeapMap } from "../tools/view/heap-map.js";
import { laneColumns, laneText, legendText, touchedColumns } from "./lane-text.js";
import type { LaneSegment } from "./lane-text.js";
import type { MapOptions } from "./map-text.js";
import { bytes, counted, grouped, visible } from "./words.js";
import { wrapped } from "./wrapped.js";

const LANE_MIN = 10;
const LANE_MAX = 160;
const LANES_MAX = 24;
const CHANGES_MAX = 12;
const NAME_MAX = 16;

/** @public */
export function heapMapText(
  before: HeapMap | null,
  after: HeapMap,
  { palette, columns, verbose }: MapOptions,
): readonly string[] {
  const lanes = after.lanes.filter(({ peak_bytes: peak }) => peak > 0);
  const names = lanes.map(({ pool }) => poolName(pool).slice(0, NAME_MAX));
  const label = 2 + Math.max(0, ...names.map((name) => name.length)) + " before ".length;
  const width = Math.min(LANE_MAX, Math.max(LANE_MIN, columns - label - 2));
  const extent = after.arena_bytes ?? Math.max(1, ...lanes.map(({ peak_bytes: peak }) => peak));
  const lines: string[] = [];
  const changes: string[] = [];
  for (const [index, lane] of lanes.slice(0, LANES_MAX).entries()) {
    const was = before?.lanes.find(({ pool }) => pool === lane.pool);
    const found = was === undefined ? [] : blockChanges(was, lane);
    const name = `  ${names[index]!}`.padEnd(label - " before ".length); // one a lane
    if (found.length > 0 && was !== undefined)
      lines.push(`${name} before ${laneText(columnsOf(was, extent, width), palette)}`);
    const word = found.length > 0 ? " after  " : "        ";
    const head = found.length > 0 ? " ".repeat(name.length) : name;
    lines.push(`${head}${word}${laneText(columnsOf(lane, extent, width), palette)}`);
    if (found.length === 0) continue;
    const places = found.flatMap(({ block, was: old }) => (old === null ? [block] : [old, block]));
    const marks = touchedColumns(
      places.map(({ from, bytes: size }) => ({ from, to: from + size })),
      extent,
      width,
    );
    lines.push(`${" ".repeat(label + 1)}${marks.map((is) => (is ? "^" : " ")).join("")}`.trimEnd());
    changes.push(...found.map((change) => changeText(lane, change)));
  }
  if (lanes.length > LANES_MAX) lines.push(`  ${counted(lanes.length - LANES_MAX, "more pool")}`);
  const most = verbose ? Infinity : CHANGES_MAX;
  return [
    ...wrapped("heap   ", headParts(after), columns),
    ...lines,
    ...wrapped(
      "  a column shows what most of it is: ",
      legendText(["live", "free"], false),
      columns,
      4,
    ).map((line) => palette.dim(line)),
    ...lanes.slice(0, LANES_MAX).flatMap((lane) => countLines(lane, columns)),
    ...(before === null
      ? []
      : changes.length === 0
        ? ["no object changed"]
        : changes.slice(0, most)),
    ...(changes.length > most
      ? [`  ${counted(changes.length - most, "more change")} (--verbose)`]
      : []),
  ];
}

function headParts({ arena_bytes: arena, objects, live_bytes: live }: HeapMap): string[] {
  return [
    arena === null ? "an arena of any size" : `an arena of ${bytes(arena)}`,
    counted(objects, "live object"),
    `of ${bytes(live)} together`,
  ];
}

function countLines(lane: HeapLane, columns: number): string[] {
  const parts = [
    counted(lane.blocks.length, "object"),
    bytes(lane.live_bytes),
    `end at ${bytes(lane.end_bytes)} (peak ${grouped(lane.peak_bytes)})`,
    `${bytes(lane.gap_bytes)} of gaps below it`,
    `the largest ${grouped(lane.largest_gap_bytes)}`,
    ...(lane.unplaced > 0 ? [`${counted(lane.unplaced, "object")} without an address`] : []),
  ];
  return wrapped(`  ${poolName(lane.pool)}  `, parts, columns, 6);
}

function columnsOf(lane: HeapLane, extent: number, width: number): ReturnType<typeof laneColumns> {
  const segments: LaneSegment[] = [{ from: 0, to: extent, class: "free" }];
  for (const { from, bytes: size } of lane.blocks)
    segments.push({ from, to: from + size, class: "live" });
  return laneColumns(segments, extent, width);
}

interface BlockChange {
  readonly block: HeapBlock;
  readonly was: HeapBlock | null; // another place or size
  readonly isGone: boolean;
}

function blockChanges(before: HeapLane, after: HeapLane): BlockChange[] {
  const was = new Map(before.blocks.map((block) => [block.id, block]));
  const found: BlockChange[] = [];
  for (const block of after.blocks) {
    const old = was.get(block.id);
    was.delete(block.id);
    if (old === undefined) found.push({ block, was: null, isGone: false });
    else if (old.from !== block.from || old.bytes !== block.bytes)
      found.push({ block, was: old, isGone: false });
  }
  for (const block of was.values()) found.push({ block, was: null, isGone: true });
  return found;
}

function changeText(lane: HeapLane, { block, was, isGone }: BlockChange): string {
  const what = isGone ? "freed" : was === null ? "new" : `was ${placeText(was)}`;
  return `  ${poolName(lane.pool)}  object ${visible(block.id)} at ${placeText(block)}: ${what}`;
}

function placeText({ from, bytes: size }: HeapBlock): string {
  return `${grouped(from)}, ${bytes(size)}`;
}

function poolName(pool: string): string {
  return pool === "" ? "heap" : visible(pool);
}
