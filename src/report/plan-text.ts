// The plan of a configuration as text and JSON: who shares the arena, how it is cut, what the budget came to.
import type { PlanReport, PlanReportBand } from "../kv/build-report.js";
import type { BuildRefusal } from "../kv/plan/refusals.js";
import type { Palette } from "./palette.js";
import { bytes, counted, grouped } from "./words.js";

/** What `planReport` gives. @public */
export type Planned = { readonly report: PlanReport } | { readonly refusal: BuildRefusal };

const GROWTH = { up: "grows up", down: "grows down", float: "floats" } as const;

/** The document of `show --plan`. @public */
export function planJson(config: string, planned: Planned): unknown {
  return "refusal" in planned
    ? { command: "show", config, verdict: "refused", refusal: planned.refusal, plan: null }
    : {
        command: "show",
        config,
        verdict: "planned",
        refusal: null,
        plan: snakeKeys(planned.report),
      };
}

/** Keys as all documents have them, `page_tokens`; names of bands and targets are so already. */
function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    snakeKeys(inner),
  ]);
  return Object.fromEntries(entries) as unknown;
}

/** @public */
export function planText(config: string, planned: Planned, palette: Palette): string {
  if ("refusal" in planned) return refusalText(config, planned.refusal, palette);
  const { report } = planned;
  return [
    palette.bold(report.model ?? config),
    ...(report.source === null ? [] : [row("shape from", report.source)]),
    row("page", `${counted(report.pageTokens, "token")}${ranks(report.contextRanks)}`),
    row("arena", bytes(report.arenaBytes)),
    ...(report.layout === null ? [] : [row("backing", bytes(report.layout.backingBytes))]),
    row("sink", bytes(report.sinkBytes)),
    row("requests", `${grouped(report.rows)} of up to ${counted(report.rowTokens, "token")}`),
    row("tree slots", report.treeSlots.join(", ")),
    ...hostLines(report),
    "",
    ...report.bands.flatMap((band) => bandLines(band, palette)),
    ...table("targets", report.targets, palette),
    ...table("boot floor, bytes", report.floor, palette),
    ...report.notices.map((notice) => row("notice", notice)),
    palette.good(`planned: ${counted(report.bands.length, "band")}, low to high in the arena`),
  ].join("\n");
}

function refusalText(config: string, refusal: BuildRefusal, palette: Palette): string {
  const rule = refusal.code === "refused_plan" ? `${refusal.code} ${refusal.rule}` : refusal.code;
  const terms = refusal.code === "refused_floor" ? refusal.terms : {};
  return [
    palette.bold(config),
    ...table("boot floor, bytes", terms, palette),
    palette.bad(`refused: ${rule}: ${refusal.message}`),
  ].join("\n");
}

function bandLines(band: PlanReportBand, palette: Palette): string[] {
  const window = band.kind === "state" ? "" : windowWords(band);
  const unit = band.kind === "state" ? "slot" : "token";
  return [
    palette.bold(`  ${band.name}`) + ` (${band.kind}${window}, ${GROWTH[band.grow]})`,
    row(`  a ${unit}`, bytes(band.unitBytes)),
    row("  a page", bytes(band.pageBytes)),
    row(
      "  pages",
      `${grouped(band.pages)} on the grid, ${grouped(band.usablePages)} usable from ${grouped(band.firstPage)} on`,
    ),
    ...(band.topBytes > 0 ? [row("  above the grid", bytes(band.topBytes))] : []),
    ...layerLines(band),
  ];
}

function windowWords({ window, name }: PlanReportBand): string {
  if (window !== null) return `, window of ${counted(window, "token")}`;
  return name === "window" ? ", window of unknown length" : "";
}

function layerLines({ layers, layerBytes }: PlanReportBand): string[] {
  if (layers === null) return [];
  const { target, draft } = layers;
  const each = layerBytes === null ? "" : `, ${bytes(layerBytes)} each`;
  return [
    row("  layers", `${grouped(target.length)}${each}: ${ranges(target)}`),
    ...(draft.length > 0 ? [row("  draft layers", ranges(draft))] : []),
  ];
}

function hostLines({ host }: PlanReport): string[] {
  if (host === null) return [];
  const switched = host.isSwitched ? " (another than was asked for)" : "";
  return [row("host layout", `${host.layout} with ${host.ioBackend} copies${switched}`)];
}

function table(
  title: string,
  entries: Readonly<Record<string, number>>,
  palette: Palette,
): string[] {
  const lines = Object.entries(entries).map(([name, value]) => row(`  ${name}`, grouped(value)));
  return lines.length === 0 ? [] : [palette.bold(`  ${title}`), ...lines];
}

/** `0-3, 5, 7-9`. */
function ranges(layers: readonly number[]): string {
  const words: string[] = [];
  for (let index = 0; index < layers.length;) {
    const first = layers[index] ?? 0;
    let count = 1;
    while (layers[index + count] === first + count) count += 1;
    words.push(count === 1 ? String(first) : `${String(first)}-${String(first + count - 1)}`);
    index += count;
  }
  return words.join(", ");
}

function ranks(contextRanks: number): string {
  return contextRanks === 1 ? "" : ` over ${counted(contextRanks, "rank")}`;
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(24)} ${text}`;
}
