// The text of `stats`: a table a file, then the summary.
import type { HeapStats } from "../tools/stats-heap.js";
import type { MemoryStats } from "../tools/stats-memory.js";
import type { Counts, TraceStats } from "../tools/stats.js";
import { curvesText } from "./curve-text.js";
import type { Palette } from "./palette.js";
import { counted, grouped, visible } from "./words.js";

/** @public */
export function statsText(files: readonly TraceStats[], palette: Palette): string {
  const lines = files.flatMap((stats) => fileLines(stats, palette));
  const runs = files.reduce((total, stats) => total + stats.runs, 0);
  const operations = files.reduce((total, stats) => total + stats.operations, 0);
  const partial = files.some(({ truncated }) => truncated) ? ", truncated" : "";
  const looked = `${counted(files.length, "file")}, ${counted(runs, "run")} and ${counted(operations, "operation")} counted${partial}`;
  return [...lines, looked].join("\n");
}

function fileLines(stats: TraceStats, palette: Palette): string[] {
  const { moves, waits, retirements, memory } = stats;
  return [
    palette.bold(visible(stats.file)),
    row("runs", stats.runs),
    row("operations", stats.operations),
    ...table("by kind", stats.operationKinds),
    row("refusals", stats.refused, "broken contracts not counted"),
    ...table("by code", stats.refusals),
    ...table("steps of granted takes", stats.steps),
    row(
      "moves",
      moves.pages,
      `pages, in ${counted(moves.effects, "effect")} of ${counted(moves.operations, "operation")}`,
    ),
    row("retirements", retirements.operations, `that freed ${counted(retirements.pages, "page")}`),
    row("retractions", stats.retractions, backedUp(memory.retractionsWithBackup)),
    row("waits", waits.effects, `in ${counted(waits.operations, "operation")}`),
    ...memoryLines(memory),
    ...heapLines(stats.heap),
    row("with pending pages", stats.operationsWithPending, "operations"),
    ...table("effects", stats.effects),
    ...(stats.marks > 0 ? [row("marks", stats.marks)] : []),
    ...(stats.states > 0 ? [row("full states", stats.states)] : []),
    ...(stats.curves === null ? [] : curvesText(stats.curves, palette)),
    "",
  ];
}

function backedUp(retractions: number): string {
  return retractions === 0 ? "" : `${grouped(retractions)} with a copy on the host`;
}

function memoryLines(memory: MemoryStats): string[] {
  const transfers = transferCounts(memory);
  return [
    ...present(memoryCounts(memory)),
    ...(Object.keys(transfers).length === 0 ? [] : table("transfers by outcome", transfers)),
    ...present({ "late ends of writers": memory.transfers.late }),
  ];
}

/** The prefix tree and the host cache by name. Most traces have neither. @internal */
export function memoryCounts({ tree, host, hostWaits, transfers }: MemoryStats): Counts {
  return {
    "host waits": hostWaits,
    matches: tree.matches,
    "cache hits": tree.hits,
    "hit tokens": tree.hitTokens,
    inserts: tree.inserts,
    evictions: tree.evictions,
    "evicted nodes": tree.evictedNodes,
    checkpoints: tree.checkpoints,
    "checkpoint stalls": tree.checkpointStalls,
    "backups of nodes": host.backups,
    loads: host.loads,
    "cancelled loads": host.cancelledLoads,
    restores: host.restores,
    "failed copies": host.failedCopies,
    "host evictions": host.evictions,
    sends: transfers.sends,
    receives: transfers.receives,
  };
}

/** Transfers by outcome; nothing where a trace has none. @internal */
export function transferCounts({ transfers }: MemoryStats): Counts {
  const { sends, receives, late: _, ...outcomes } = transfers;
  return sends + receives > 0 ? outcomes : {};
}

function heapLines(heap: HeapStats | null): string[] {
  if (heap === null) return [];
  const { peakBytes } = heap;
  return [
    row("objects", heap.objects, `${grouped(heap.live)} live at the end`),
    row("failed requests", heap.failed),
    row("peak objects", heap.peakObjects),
    row("peak requested bytes", heap.peakRequestedBytes),
    ...(peakBytes === null ? [] : [row("peak bytes", peakBytes, "the farthest end of an object")]),
  ];
}

function present(counts: Counts): string[] {
  return Object.entries(counts).flatMap(([name, count]) => (count > 0 ? [row(name, count)] : []));
}

function row(name: string, count: number, rest = ""): string {
  return `  ${visible(name).padEnd(32)} ${grouped(count).padStart(12)}${rest === "" ? "" : `  ${rest}`}`;
}

function table(title: string, counts: Counts): string[] {
  const entries = Object.entries(counts);
  if (entries.length === 0) return [];
  return [`  ${title}`, ...entries.map(([name, count]) => row(`  ${name}`, count))];
}
