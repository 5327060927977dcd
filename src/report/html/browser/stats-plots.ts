// The plots of one run of the page of `stats`: shares on one axis, bytes, and of a heap the requests that failed.
import type uPlot from "uplot";
import type { CurveDocument } from "../../curve-json.js";
import { bytes, grouped, visible } from "../../words.js";
import type { Theme } from "./colours.js";
import { button, make, part } from "./dom.js";
import { PlotGroup, type Scale, SHARES } from "./plot-group.js";
import type { StatsModel } from "./stats-model.js";

const HEIGHT = 170; // pixels
const SIDE = 70; // pixels: as wide as `1,023 KiB`
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [9, 3, 2, 3], [1, 4]];
const [OCCUPANCY, LIVE, SPAN, USABLE, PARTS] = [1, 4, 5, 6, 7] as const; // columns of a point

interface Line {
  readonly name: string;
  readonly column: number;
  readonly factor: number; // bytes of one
  readonly text: (value: number) => string;
}
interface PlotPlan {
  readonly title: string;
  readonly scale: Scale;
  readonly lines: readonly Line[];
}

export class StatsPlots {
  readonly #model: StatsModel;
  readonly #theme: () => Theme;
  readonly #place = part("curves", HTMLElement);
  #group: PlotGroup | null = null;
  #values: { readonly line: Line; readonly value: HTMLElement }[] = [];

  constructor(model: StatsModel, theme: () => Theme) {
    this.#model = model;
    this.#theme = theme;
    model.listen({
      run: () => {
        this.#build();
      },
      point: () => {
        this.#tell();
      },
    });
    this.#build();
  }

  retheme(): void {
    this.#group?.retheme();
  }
  fit(isPrinting: boolean): void {
    this.#group?.fit(isPrinting);
  }
  zoom(factor: number): void {
    this.#group?.zoom(factor);
  }
  showAll(): void {
    this.#group?.showAll();
  }

  #build(): void {
    this.#group?.destroy();
    this.#place.replaceChildren();
    this.#values = [];
    const { model, plans } = { model: this.#model, plans: plansOf(this.#model.shown.curve) };
    const x = [...model.operations];
    const group = new PlotGroup({
      place: this.#place,
      first: x[0] ?? 0,
      last: x.at(-1) ?? 1,
      count: plans.length,
      side: SIDE,
      theme: this.#theme,
      operation: () => model.operation,
      go: (operation) => {
        model.seekOperation(operation);
      },
    });
    this.#group = group;
    this.#place.append(this.#head(group));
    for (const { title, scale, lines } of plans) {
      const holder = make("div", "curve");
      this.#place.append(this.#lineHead(title, lines), holder);
      const data = [x, ...lines.map((line) => this.#column(line))] as uPlot.AlignedData; // as many values as operations
      group.add(holder, HEIGHT, scale, lines.map(seriesOf(this.#theme)), data, (plot) => {
        this.#mark(plot);
      });
    }
    group.showAll();
    this.#tell();
  }

  #head(group: PlotGroup): HTMLElement {
    return make(
      "div",
      "zoom",
      make("h2", "", "Curves"),
      make("span", "about", "drag to zoom, click to go there"),
      make("span", "fill"),
      button("Around here", "the operations around this one", () => {
        group.showNear();
      }),
      button("Whole run", "all operations", () => {
        group.showAll();
      }),
    );
  }

  /** The title of a plot with a key of its lines and their values at the operation at hand. */
  #lineHead(title: string, lines: readonly Line[]): HTMLElement {
    const keys = lines.map((line, index) => {
      const value = make("span", "value");
      this.#values.push({ line, value });
      return make("span", `key key-${index % DASHES.length}`, make("i"), `${line.name} `, value);
    });
    return make("div", "lane-head", make("b", "", title), make("span", "line-keys", ...keys));
  }

  #column({ column, factor }: Line): (number | null)[] {
    return this.#model.column(column).map((value) => (value === null ? null : value * factor));
  }

  #tell(): void {
    for (const { line, value } of this.#values) {
      const at = this.#model.value(line.column);
      value.textContent = at === null ? "not known" : line.text(at);
    }
    this.#group?.follow();
  }

  /** A fine line at the peaks. */
  #mark(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const { peaks } = this.#model.shown.curve;
    const ratio = window.devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = this.#theme().faint;
    ctx.lineWidth = ratio;
    ctx.setLineDash([2 * ratio, 4 * ratio]);
    const x = Math.round(plot.valToPos(peaks.live_bytes.n, "x", true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }
}

function seriesOf(theme: () => Theme): (line: Line, index: number) => uPlot.Series {
  return (_line, index) => ({
    stroke: () => theme().curves[index % DASHES.length] ?? theme().ink,
    width: 1.6,
    dash: [...(DASHES[index % DASHES.length] ?? [])],
    points: { show: false },
    spanGaps: false,
  });
}

function plansOf({ domain, parts, points }: CurveDocument): PlotPlan[] {
  const has = (column: number): boolean =>
    points.some((point) => typeof point[column] === "number");
  const most = (column: number): number =>
    Math.max(1, ...points.map((point) => point[column] ?? 0));
  const shares = ["occupancy", "capacity", "fragmentation"].flatMap((name, index) => {
    const column = OCCUPANCY + index;
    return has(column) ? [{ name, column, factor: 1, text: percent }] : [];
  });
  const hasArena = has(USABLE);
  const top = most(hasArena ? USABLE : has(SPAN) ? SPAN : LIVE);
  const bands = parts.flatMap(({ name, page_bytes: size }, index) => {
    if (size === null) return [];
    const text = (pages: number): string => `${grouped(pages)} (${short(pages * size)})`;
    return [{ name: visible(name), column: PARTS + index, factor: size, text }];
  });
  const whole = [
    { name: "live", column: LIVE, factor: 1, text: bytes },
    ...(domain === "heap" && has(SPAN)
      ? [{ name: "up to the last object", column: SPAN, factor: 1, text: bytes }]
      : []),
  ];
  return [
    ...(shares.length === 0 ? [] : [{ title: titleOf(hasArena), scale: SHARES, lines: shares }]),
    domain === "kv"
      ? { title: "Live pages", scale: bytesUpTo(top), lines: bands }
      : { title: "Bytes", scale: bytesUpTo(top), lines: whole },
    ...(domain === "kv" ? [] : failedPlan(points.at(-1)?.[PARTS] ?? 0)),
  ];
}

/** Nothing where no request failed. */
function failedPlan(failed: number): PlotPlan[] {
  if (failed === 0) return [];
  const scale: Scale = { range: [0, failed], splits: [0, failed], text: grouped };
  const lines = [{ name: "so far", column: PARTS, factor: 1, text: grouped }];
  return [{ title: "Failed requests", scale, lines }];
}

function titleOf(hasArena: boolean): string {
  return hasArena ? "Shares" : "Fragmentation";
}

function bytesUpTo(most: number): Scale {
  return { range: [0, most], splits: [0, most / 2, most], text: short };
}

function short(value: number): string {
  let [scaled, unit] = [value, "B"];
  for (const next of ["KiB", "MiB", "GiB", "TiB"]) {
    if (scaled < 1024) break;
    [scaled, unit] = [scaled / 1024, next];
  }
  return `${scaled < 100 && !Number.isInteger(scaled) ? scaled.toFixed(1) : Math.round(scaled)} ${unit}`;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}
