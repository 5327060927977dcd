// The three curves of both sides over the operations, with what is marked and where the reader is.
import type uPlot from "uplot";
import type { Curves as SideCurves } from "../shared/timeline.js";
import type { Theme } from "./colours.js";
import { button, make, part } from "./dom.js";
import type { Model } from "./model.js";
import { PlotGroup, SHARES } from "./plot-group.js";

const HEIGHT = 96; // pixels
const CURVES: readonly {
  readonly key: keyof SideCurves;
  readonly title: string;
  readonly about: string;
}[] = [
  { key: "occupancy", title: "Occupancy", about: "pages in use, by usable bytes" },
  { key: "capacity", title: "Capacity", about: "bytes outside every span, by usable bytes" },
  { key: "fragmentation", title: "Fragmentation", about: "of the spans, what is not in use" },
];

interface Shown {
  readonly value: HTMLElement;
  readonly key: keyof SideCurves;
}

export class CurvePlots {
  readonly #model: Model;
  readonly #theme: () => Theme;
  readonly #shown: Shown[] = [];
  readonly #place = part("curves", HTMLElement);
  readonly #group: PlotGroup;

  constructor(model: Model, theme: () => Theme) {
    this.#model = model;
    this.#theme = theme;
    const { n } = model.data;
    this.#group = new PlotGroup({
      place: this.#place,
      first: n[0] ?? 0,
      last: n.at(-1) ?? 1,
      count: CURVES.length,
      theme,
      operation: () => model.operation,
      go: (operation) => {
        model.seekOperation(operation);
      },
    });
    this.#build();
    model.listen(() => {
      this.#group.follow();
      this.#tell();
    });
  }

  /** Draws everything anew in the colours of the theme at hand. */
  retheme(): void {
    this.#group.retheme();
  }

  /** As wide as a sheet of paper while it is printed, else as wide as the window allows. */
  fit(isPrinting: boolean): void {
    this.#group.fit(isPrinting);
  }

  /** Shows the neighbours of the operation at hand. */
  showNear(): void {
    this.#group.showNear();
  }

  #build(): void {
    const x = [...this.#model.data.n];
    const heading = make("h2", "", "Curves");
    const names = this.#model.sides.length === 1 ? [] : this.#model.sides;
    const keys = names.map((side) => make("b", side, side));
    const words = "drag to zoom, click to go there";
    const own = keys.length === 0 ? "" : "; the candidate's line is drawn only where it differs";
    const hint = make("span", "about", `${words}${own}`);
    const near = button("Around here", "the operations around this one", () => {
      this.#group.showNear();
    });
    const all = button("Whole run", "all operations", () => {
      this.#group.showAll();
    });
    this.#place.append(
      make("div", "zoom", heading, ...keys, hint, make("span", "fill"), near, all),
    );
    for (const { key, title, about } of CURVES) {
      const value = make("span", "counts");
      const holder = make("div", "curve");
      const head = make(
        "div",
        "lane-head",
        make("b", "", title),
        " ",
        make("span", "about", about),
        value,
      );
      this.#place.append(head, holder);
      const [base, candidate] = this.#model.sides.map(
        (side) => this.#model.timelines[side]?.curves[key] ?? new Float32Array(0),
      );
      const columns = [
        ...(base === undefined ? [] : [valuesOf(base)]),
        ...(base === undefined || candidate === undefined ? [] : [apart(candidate, base)]),
      ];
      const data = [x, ...columns] as uPlot.AlignedData; // as many values as operations
      this.#group.add(holder, HEIGHT, SHARES, this.#series(), data, (plot) => {
        this.#drawMarks(plot);
      });
      this.#shown.push({ value, key });
    }
  }

  #series(): uPlot.Series[] {
    const isTwo = this.#model.sides.length === 2;
    return [
      // the candidate is drawn only where it goes another way
      { stroke: () => this.#theme().base, width: 1.5, points: { show: false } },
      ...(isTwo
        ? [{ stroke: () => this.#theme().candidate, width: 1.5, points: { show: false } }]
        : []),
    ];
  }

  #drawMarks(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const theme = this.#theme();
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const ratio = window.devicePixelRatio;
    // the divergence is drawn last, over what falls on the same place
    for (const { n, kind } of [...this.#model.marks].reverse()) {
      const x = Math.round(plot.valToPos(n, "x", true));
      const isFault = kind === "divergence" || kind === "failure";
      ctx.strokeStyle = isFault ? theme.differs : theme.ink;
      ctx.lineWidth = (isFault ? 2 : 1.25) * ratio;
      ctx.setLineDash(
        isFault ? [] : kind === "cause" ? [5 * ratio, 3 * ratio] : [2 * ratio, 3 * ratio],
      );
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      if (isFault && this.#group.isFirst(plot)) {
        ctx.fillStyle = theme.differs;
        ctx.font = `${11 * ratio}px system-ui, sans-serif`;
        ctx.textBaseline = "top";
        const isLate = x > bbox.left + bbox.width * 0.8;
        ctx.textAlign = "left";
        const wide = ctx.measureText(kind).width + 8 * ratio;
        const left = isLate ? x - wide : x;
        ctx.fillRect(left, bbox.top, wide, 16 * ratio);
        ctx.fillStyle = theme.paper;
        ctx.fillText(kind, left + 4 * ratio, bbox.top + 3 * ratio);
      }
    }
    ctx.restore();
  }

  /** Puts the value of the operation at hand beside each title. */
  #tell(): void {
    const { frame, sides, timelines } = this.#model;
    for (const { value, key } of this.#shown) {
      const texts = sides.map((side) => percent(timelines[side]?.curves[key][frame]));
      value.textContent = texts.every((text) => text === texts[0])
        ? (texts[0] ?? "")
        : texts.join(" | ");
    }
  }
}

// uPlot knows gaps as null.
function valuesOf(curve: Float32Array): (number | null)[] {
  return Array.from(curve, (value) => (Number.isNaN(value) ? null : value));
}

/** The values of a curve where it differs from another, with the value on either side of each stretch. */
function apart(curve: Float32Array, other: Float32Array): (number | null)[] {
  const differs = (at: number): boolean => !Object.is(curve[at], other[at]);
  return valuesOf(curve).map((value, at) => {
    const isNear = differs(at) || (at > 0 && differs(at - 1)) || differs(at + 1);
    return isNear ? value : null;
  });
}

function percent(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? "not known" : `${(value * 100).toFixed(1)} %`;
}
