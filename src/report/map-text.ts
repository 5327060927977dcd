// Page maps as text: a lane a band, before and after an operation, what changed, and the counts of each band.
import { mapChanges, type PageChange, type PageUse } from "../tools/view/changes.js";
import type { Holder } from "../tools/view/holders.js";
import { bytesOf, type Cell, cellAt, type Lane, type PageMap } from "../tools/view/page-map.js";
import {
  type LaneClass,
  laneColumns,
  type LaneColumns,
  laneText,
  legendText,
  touchedColumns,
} from "./lane-text.js";
import type { Palette } from "./palette.js";
import { bytes, counted, grouped, visible } from "./words.js";
import { wrapped } from "./wrapped.js";

/** How wide and how coloured. @public */
export interface MapOptions {
  readonly palette: Palette;
  readonly columns: number; // of the terminal
  readonly verbose: boolean; // every change is told
}

const LANE_MIN = 10;
const LANE_MAX = 160;
const CHANGES_MAX = 12;
const NAME_MAX = 16;
const INDENT = 2;

/** The map after an operation, beside the one before it where that is known. @public */
export function mapText(
  before: PageMap | null,
  after: PageMap,
  options: MapOptions,
): readonly string[] {
  const { palette, columns } = options;
  const changes = before === null ? {} : mapChanges(before, after);
  const names = after.lanes.map(({ band }) => visible(band).slice(0, NAME_MAX));
  const room = Math.max(0, ...names.map((name) => name.length));
  const label = INDENT + room + " before ".length;
  const width = Math.min(LANE_MAX, Math.max(LANE_MIN, columns - label - 2));
  const shown = new Set<LaneClass | null>();
  const lines: string[] = [];
  for (const [index, lane] of after.lanes.entries()) {
    const was = before?.lanes.find(({ band }) => band === lane.band);
    const isChanged = changes[lane.band] !== undefined;
    const name = " ".repeat(INDENT) + names[index]!.padEnd(room); // one a lane
    const sinkBefore = before === null ? 0 : before.sink_bytes / before.arena_bytes;
    if (was !== undefined && isChanged) {
      const cells = columnsOf(was, before?.arena_bytes ?? after.arena_bytes, width, shown);
      lines.push(`${name} before ${laneText(cells, palette, sinkBefore)}`);
    }
    const cells = columnsOf(lane, after.arena_bytes, width, shown);
    const text = laneText(cells, palette, after.sink_bytes / after.arena_bytes);
    const word = isChanged ? " after  " : "        ";
    lines.push(`${isChanged ? " ".repeat(name.length) : name}${word}${text}`);
    if (isChanged) lines.push(markLine(lane, changes[lane.band] ?? [], after, label, width));
  }
  const hasSink = after.sink_bytes / after.arena_bytes > 1 / width;
  return [
    ...arenaLines(before, after, columns),
    ...rulerLine(after.arena_bytes, label, width),
    ...lines,
    ...wrapped("  a column shows what most of it is: ", legendText(shown, hasSink), columns, 4).map(
      (line) => palette.dim(line),
    ),
    ...after.lanes.flatMap((lane) =>
      laneCounts(
        lane,
        before?.lanes.find(({ band }) => band === lane.band),
        columns,
      ),
    ),
    ...changeLines(before, after, changes, options),
  ];
}

function columnsOf(
  lane: Lane,
  arena: number,
  width: number,
  shown: Set<LaneClass | null>,
): LaneColumns {
  const segments = lane.cells.map((cell) => {
    const [from, to] = bytesOf(lane, cell);
    return { from, to, class: cell.class };
  });
  const columns = laneColumns(segments, arena, width);
  for (const name of columns) shown.add(name);
  return columns;
}

function markLine(
  lane: Lane,
  changes: readonly PageChange[],
  map: PageMap,
  label: number,
  width: number,
): string {
  const ranges = changes.map((change) => {
    const [from, to] = bytesOf(lane, change);
    return { from, to };
  });
  const marks = touchedColumns(ranges, map.arena_bytes, width).map((is) => (is ? "^" : " "));
  return `${" ".repeat(label + 1)}${marks.join("")}`.trimEnd();
}

function rulerLine(arena: number, label: number, width: number): string[] {
  const right = shortBytes(arena);
  const gap = width + 2 - 1 - right.length;
  return gap < 2 ? [] : [`${" ".repeat(label)}0${" ".repeat(gap)}${right}`];
}

function arenaLines(before: PageMap | null, after: PageMap, columns: number): string[] {
  const parts = [
    bytes(after.arena_bytes),
    `${shortBytes(after.sink_bytes)} of it reserved`,
    `${percent(after.occupancy)} live${changeOf(before?.occupancy, after.occupancy, percent)}`,
    `${percent(after.fragmentation)} of the spans idle${changeOf(before?.fragmentation, after.fragmentation, percent)}`,
    `${counted(after.move_epoch, "move effect")} so far`,
  ];
  const fenced = after.fences.map(
    ({ from, to, signals }) =>
      `bytes ${grouped(from)}..${grouped(to - 1)} for ${signals.map(visible).join(" ")}`,
  );
  return [
    ...wrapped("arena  ", parts, columns),
    ...(fenced.length === 0 ? [] : wrapped("fenced ", limited(fenced), columns)),
  ];
}

const GROWTH = { up: "grows up", down: "grows down", float: "floats" } as const;

/** What one band holds. `was` gives the differences. */
function laneCounts(lane: Lane, was: Lane | undefined, columns: number): string[] {
  const [first, count] = lane.span;
  const span = count === 0 ? "span empty" : `span ${runText(first, count)}`;
  const number = (key: "live" | "fixed" | "holes" | "pending" | "vacated" | "capacity"): string =>
    `${grouped(lane[key])}${changeOf(was?.[key], lane[key], grouped)}`;
  const ids =
    lane.free_ids === null
      ? []
      : [`free ids ${grouped(lane.free_ids)}${changeOf(was?.free_ids, lane.free_ids, grouped)}`];
  const parts = [
    `live ${number("live")}`,
    ...(lane.fixed > 0 || (was?.fixed ?? 0) > 0 ? [`fixed ${number("fixed")}`] : []),
    ...(["holes", "pending", "vacated"] as const).map((key) => `${key} ${number(key)}`),
    span,
    ...ids,
    `at most ${number("capacity")}`,
    `${percent(lane.occupancy)} of the arena`,
    `${percent(lane.fragmentation)} of the span idle`,
  ];
  const what = lane.kind === "state" ? "slots" : "pages";
  const grid = `${what} ${runText(lane.first_page, lane.pages - lane.first_page)} of ${shortBytes(lane.page_bytes)}`;
  const head = [visible(lane.band), `${GROWTH[lane.grow]}, ${grid}`].join("  ");
  return [...wrapped("  ", [head], columns), ...wrapped("      ", parts, columns)];
}

function changeLines(
  before: PageMap | null,
  after: PageMap,
  changes: Readonly<Record<string, readonly PageChange[]>>,
  options: MapOptions,
): string[] {
  if (before === null) return [];
  if (Object.keys(changes).length === 0) return ["no page changed"];
  const head = options.palette.bold("pages that changed");
  return [head, ...pageLines(before, after, changes, { first: "", second: "→" }, options)];
}

/** Pages that are other ones on two sides. @public */
export function differenceText(
  base: PageMap,
  candidate: PageMap,
  options: MapOptions,
): readonly string[] {
  const changes = mapChanges(base, candidate);
  if (Object.keys(changes).length === 0) return ["every page is the same on both sides"];
  const words = { first: "base ", second: "| candidate" };
  const head = options.palette.bold("pages that differ between the sides after it");
  return [head, ...pageLines(base, candidate, changes, words, options)];
}

/** A line a run of pages; the words stand in front of its two uses. */
function pageLines(
  before: PageMap,
  after: PageMap,
  changes: Readonly<Record<string, readonly PageChange[]>>,
  words: { readonly first: string; readonly second: string },
  { columns, verbose }: MapOptions,
): string[] {
  const lines: string[] = [];
  for (const [band, list] of Object.entries(changes)) {
    const lane = after.lanes.find((each) => each.band === band);
    const was = before.lanes.find((each) => each.band === band);
    if (lane === undefined || was === undefined) continue;
    const most = verbose ? Infinity : CHANGES_MAX;
    for (const change of list.slice(0, most)) {
      const [from, to] = [useText(change, change.before, was), useText(change, change.after, lane)];
      const place = `  ${visible(band)} ${runText(change.first, change.count)}: `;
      lines.push(...wrapped(place, [`${words.first}${from} ${words.second} ${to}`], columns, 4));
    }
    if (list.length > most)
      lines.push(
        `  ${visible(band)}: ${counted(list.length - most, "more run")} of pages (--verbose)`,
      );
  }
  return lines;
}

function useText(
  { first, count }: PageChange,
  { class: name, virtual }: PageUse,
  lane: Lane,
): string {
  if (virtual === null) {
    const cell = cellAt(lane, first);
    const waits = cell === null || cell.waits.length === 0 ? "" : ` for ${waitsText(cell)}`;
    return `${name}${waits}`;
  }
  const what = lane.kind === "state" ? "slot" : "id";
  const cell = cellAt(lane, first);
  const holders =
    cell === null || cell.holders.length === 0 ? "" : ` of ${holdersText(cell.holders)}`;
  return `${name}, ${what} ${runText(virtual, count)}${holders}`;
}

function waitsText({ waits }: Cell): string {
  return waits.map(visible).join(" ");
}

const HOLDERS_MAX = 3;

/** `r3`, `tree node 4`, `load l1`. @public */
export function holdersText(holders: readonly Holder[]): string {
  const names = holders.slice(0, HOLDERS_MAX).map(({ kind, name, purpose }) => {
    if (kind === "group") return "the open group";
    const words =
      kind === "request" ? name : kind === "node" ? `tree node ${name}` : `${kind} ${name}`;
    return visible(purpose === undefined || purpose === "main" ? words : `${words} (${purpose})`);
  });
  const more = holders.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${grouped(more)} more` : names.join(", ");
}

const LISTED_MAX = 8;

function limited(parts: readonly string[]): readonly string[] {
  const more = parts.length - LISTED_MAX;
  return more > 0 ? [...parts.slice(0, LISTED_MAX), `${grouped(more)} more`] : parts;
}

/** `7..9`, or `7`. */
function runText(first: number, count: number): string {
  if (count <= 0) return "none";
  return count === 1 ? grouped(first) : `${grouped(first)}..${grouped(first + count - 1)}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function changeOf(
  was: number | null | undefined,
  is: number,
  text: (value: number) => string,
): string {
  if (was === null || was === undefined || text(was) === text(is)) return "";
  return ` (before ${text(was)})`;
}

/** `8 KiB` where it is whole, else bytes. */
function shortBytes(value: number): string {
  return /\((.*)\)/.exec(bytes(value))?.[1] ?? bytes(value);
}
