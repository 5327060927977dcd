// The parts of the page of `stats` that are plain HTML: peaks, counts, legend. Every text goes through `escaped`.
import type { CurvePeak, RunCurve } from "../../tools/curves/curve.js";
import type { Counts, TraceStats } from "../../tools/stats.js";
import { memoryCounts, transferCounts } from "../stats-text.js";
import { counted, grouped } from "../words.js";
import { escaped } from "./escape.js";

/** A row a run: its peaks and the operations that have them. @internal */
export function peaksHtml(files: readonly TraceStats[]): string {
  const rows = files.flatMap(({ file, curves }) =>
    (curves?.curves ?? []).map((curve) => peakRow(files.length > 1 ? `${file}: ` : "", curve)),
  );
  if (rows.length === 0) return "";
  const head = ["run", "operations", "most live bytes", "occupancy", "least capacity"]
    .concat("most fragmentation", "most pages of a band, failed requests")
    .map((name) => `<th scope="col">${name}</th>`);
  const left = files.reduce((sum, { curves }) => sum + (curves?.leftOut ?? 0), 0);
  const note =
    left === 0
      ? ""
      : `<p class="remark">${counted(left, "run")} with fewer live bytes ${left === 1 ? "has" : "have"} no curve here: stats --run names one.</p>`;
  return `<section id="peaks" class="card" aria-label="Peaks"><h2>Peaks</h2><div class="wide-table"><table class="figures"><thead><tr>${head.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>${note}</section>`;
}

function peakRow(file: string, { run, operations, peaks, parts }: RunCurve): string {
  const cells = [
    grouped(operations),
    peakCell(peaks.liveBytes, grouped),
    peakCell(peaks.occupancy, percent),
    peakCell(peaks.capacity, percent),
    peakCell(peaks.fragmentation, percent),
    parts
      .map(({ name }, index) => {
        const peak = peaks.parts[index];
        return peak === undefined ? "" : `${escaped(name)} ${grouped(peak.value)}`;
      })
      .join(", "),
  ];
  const text = cells.map((cell) => `<td>${cell}</td>`).join("");
  return `<tr><th scope="row">${escaped(`${file}${run}`)}</th>${text}</tr>`;
}

function peakCell(peak: CurvePeak | null, text: (value: number) => string): string {
  if (peak === null) return "not known";
  return `${text(peak.value)} <small>at ${grouped(peak.n)}</small>`;
}

/** What was counted, a section a file. @internal */
export function countsHtml(files: readonly TraceStats[]): string {
  const sections = files.map((stats) => {
    const cards = tablesOf(stats).map(([title, counts]) => card(title, counts));
    const about = `${counted(stats.runs, "run")}, ${counted(stats.operations, "operation")}${stats.truncated ? ", truncated" : ""}`;
    return `<section aria-label="Counts"><h2>${escaped(stats.file)}</h2><p class="about">${about}</p><div class="counts-of">${cards.join("")}</div></section>`;
  });
  return sections.join("");
}

function tablesOf(stats: TraceStats): readonly (readonly [title: string, counts: Counts])[] {
  const { moves, waits, retirements, memory, heap } = stats;
  const tables: readonly (readonly [string, Counts])[] = [
    ["Operations by kind", stats.operationKinds],
    ["Refusals by code", stats.refusals],
    ["Steps of granted takes", stats.steps],
    [
      "Moves, waits, retirements",
      {
        "operations that moved pages": moves.operations,
        "pages moved": moves.pages,
        "operations that waited": waits.operations,
        waits: waits.effects,
        "retirements that freed pages": retirements.operations,
        "pages retired": retirements.pages,
        retractions: stats.retractions,
        "retractions with a copy on the host": memory.retractionsWithBackup,
        "operations with pending pages": stats.operationsWithPending,
      },
    ],
    ["Prefix tree and host", memoryCounts(memory)],
    ["Transfers by outcome", transferCounts(memory)],
    [
      "Heap",
      heap === null
        ? {}
        : {
            objects: heap.objects,
            "failed requests": heap.failed,
            "live at the end": heap.live,
            "peak objects": heap.peakObjects,
            "peak requested bytes": heap.peakRequestedBytes,
            ...(heap.peakBytes === null ? {} : { "peak bytes": heap.peakBytes }),
          },
    ],
    ["Effects", stats.effects],
    ["Further lines", { marks: stats.marks, "full states": stats.states }],
  ];
  return tables.filter(([, counts]) => Object.values(counts).some((count) => count > 0));
}

function card(title: string, counts: Counts): string {
  const rows = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(
      ([name, count]) => `<tr><th scope="row">${escaped(name)}</th><td>${grouped(count)}</td></tr>`,
    );
  return `<article class="card"><h3>${escaped(title)}</h3><table class="figures"><tbody>${rows.join("")}</tbody></table></article>`;
}

/** What the words and curves mean. @internal */
export function statsLegendHtml(files: readonly TraceStats[]): string {
  const curves = files.flatMap((stats) => stats.curves?.curves ?? []);
  if (curves.length === 0) return "";
  const has = (domain: RunCurve["domain"]): boolean =>
    curves.some((curve) => curve.domain === domain);
  const words = [
    ...(has("kv")
      ? [
          "<b>Band</b>: the pages of one kind of memory; its <b>span</b> is the part of the arena that it takes up, from its first to its last page. <b>Live</b> pages are in use.",
          "<b>Occupancy</b>: bytes of live pages. <b>Capacity</b>: bytes outside every span, which any band may grow into. Both by the arena's usable bytes. <b>Fragmentation</b>: the part of the spans that is not live.",
        ]
      : []),
    ...(has("heap")
      ? [
          "Of a heap <b>live bytes</b> are what its live objects asked for, and its span reaches from the first byte to the end of the last live object of each pool. <b>Occupancy</b>: live bytes by the arena's. <b>Capacity</b>: bytes behind the span, by the arena's. <b>Fragmentation</b>: the part of the span in no object. Where no answer tells an address there is no span, without an arena no occupancy.",
        ]
      : []),
    "A curve has at most a few hundred points: of each stretch of the run the moments with the most live bytes, the least capacity, the most fragmentation and the most of every band, so that no peak is lost.",
    ...(curves.some(({ parted }) => parted !== null)
      ? [
          "Where this checkout answers a run otherwise than recorded, live pages follow from the lines alone, and spans are known at full states only.",
        ]
      : []),
  ];
  return `<section id="legend" aria-label="Legend"><h2>How to read the curves</h2>${words.map((word) => `<p>${word}</p>`).join("")}</section>`;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}
