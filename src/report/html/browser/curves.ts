// The three curves of both sides over the operations, with what is marked and where the reader is.
import uPlot from "uplot";
import { grouped } from "../../words.js";
import type { Curves as SideCurves } from "../shared/timeline.js";
import type { Theme } from "./colours.js";
import { button, make, part } from "./dom.js";
import type { Model } from "./model.js";

const HEIGHT = 96; // pixels
const NEAR = 1000; // operations
const PAPER = 640; // pixels, which fit on A4 and letter
const CURVES: readonly {
  readonly key: keyof SideCurves;
  readonly title: string;
  readonly about: string;
}[] = [
  { key: "occupancy", title: "Occupancy", about: "pages in use, by usable bytes" },
  { key: "capacity", title: "Capacity", about: "bytes outside every span, by usable bytes" },
  { key: "fragmentation", title: "Fragmentation", about: "of the spans, what is not in use" },
];

interface Plot {
  readonly plot: uPlot;
  readonly here: HTMLElement; // the line of the frame at hand
  readonly value: HTMLElement;
  readonly key: keyof SideCurves;
}

export class CurvePlots {
  readonly #model: Model;
  readonly #theme: () => Theme;
  readonly #plots: Plot[] = [];
  readonly #place = part("curves", HTMLElement);
  #range: readonly [from: number, to: number] | null = null; // what all plots show, or are about to

  constructor(model: Model, theme: () => Theme) {
    this.#model = model;
    this.#theme = theme;
    this.#build();
    model.listen(() => {
      this.#keepInSight(model.operation);
      this.#follow();
    });
    new ResizeObserver(() => {
      if (document.documentElement.classList.contains("printing")) return;
      for (const { plot } of this.#plots) {
        const width = this.#width();
        if (plot.width !== width) plot.setSize({ width, height: plot.height });
      }
      this.#follow();
    }).observe(this.#place);
  }

  /** Draws everything anew in the colours of the theme at hand. */
  retheme(): void {
    for (const { plot } of this.#plots) plot.redraw(false);
  }

  /** As wide as a sheet of paper while it is printed, else as wide as the window allows. */
  fit(isPrinting: boolean): void {
    const width = isPrinting ? PAPER : this.#width();
    for (const { plot } of this.#plots) plot.setSize({ width, height: plot.height });
  }

  /** Shows all operations. */
  showAll(): void {
    const { n } = this.#model.data;
    this.#scale(n[0] ?? 0, Math.max(1, n.at(-1) ?? 1));
  }

  /** Shows the neighbours of the operation at hand. */
  showNear(): void {
    const { data, operation } = this.#model;
    const last = data.n.at(-1) ?? 1;
    const wide = Math.min(last, NEAR);
    const from = Math.max(0, Math.min(last - wide, operation - wide / 2));
    this.#scale(from, Math.max(1, from + wide));
  }

  #width(): number {
    return Math.max(200, this.#place.clientWidth);
  }

  #build(): void {
    const x = [...this.#model.data.n];
    const heading = make("h2", "", "Curves");
    const names = this.#model.sides.length === 1 ? [] : this.#model.sides;
    const keys = names.map((side) => make("b", side, side));
    const words = "drag to zoom, click to go there";
    const own = keys.length === 0 ? "" : "; the candidate's line is drawn only where it differs";
    const hint = make("span", "about", `${words}${own}`);
    const near = button("Around here", `the ${NEAR} operations around this one`, () => {
      this.showNear();
    });
    const all = button("Whole run", "all operations", () => {
      this.showAll();
    });
    this.#place.append(
      make("div", "zoom", heading, ...keys, hint, make("span", "fill"), near, all),
    );
    for (const [index, { key, title, about }] of CURVES.entries()) {
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
      const isLast = index === CURVES.length - 1;
      const plot = new uPlot(this.#options(isLast), [x, ...columns] as uPlot.AlignedData, holder);
      const here = make("div", "here");
      plot.over.append(here);
      this.#follows(plot);
      this.#plots.push({ plot, here, value, key });
    }
  }

  #options(isLast: boolean): uPlot.Options {
    const ink = (): string => this.#theme().faint;
    const grid = { stroke: () => this.#theme().grid, width: 1 };
    const ticks = { stroke: () => this.#theme().grid, width: 1, size: 4 };
    const isTwo = this.#model.sides.length === 2;
    return {
      width: this.#width(),
      height: HEIGHT + (isLast ? 22 : 0),
      padding: [6, 10, isLast ? 0 : 4, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false },
        sync: { key: "n" },
      },
      scales: {
        x: { time: false, range: (_plot, from, to) => [from, to] },
        y: { range: [0, 1] },
      },
      axes: [
        {
          show: isLast,
          stroke: ink,
          grid,
          ticks,
          size: 22,
          values: (_plot, at) => at.map((v) => (Number.isInteger(v) ? grouped(v) : "")),
        },
        {
          stroke: ink,
          grid,
          ticks,
          size: 52,
          splits: [0, 0.5, 1],
          values: (_plot, at) => at.map((v) => `${Math.round(v * 100)} %`),
        },
      ],
      series: [
        {},
        // the candidate is drawn only where it goes another way
        { stroke: () => this.#theme().base, width: 1.5, points: { show: false } },
        ...(isTwo
          ? [{ stroke: () => this.#theme().candidate, width: 1.5, points: { show: false } }]
          : []),
      ],
      hooks: {
        draw: [(plot) => this.#drawMarks(plot)],
        setScale: [(plot, key) => this.#scaled(plot, key)],
      },
    };
  }

  /** A click goes to the operation under it. */
  #follows(plot: uPlot): void {
    let down = 0;
    plot.over.addEventListener("pointerdown", (event) => (down = event.clientX));
    plot.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - down) > 3) return;
      const left = event.clientX - plot.over.getBoundingClientRect().left;
      this.#model.seekOperation(Math.round(plot.posToVal(left, "x")));
    });
  }

  #scaled(plot: uPlot, key: string): void {
    if (key !== "x" || this.#plots.length < CURVES.length) return;
    const { min, max } = plot.scales["x"] ?? {};
    if (typeof min !== "number" || typeof max !== "number") return;
    // a plot tells of a scale later than it was set: that of all plots is no news
    const isNews = min !== this.#range?.[0] || max !== this.#range[1];
    if (isNews) this.#scale(min, max);
    else this.#point();
  }

  #scale(min: number, max: number): void {
    this.#range = [min, max];
    for (const { plot } of this.#plots) {
      const now = plot.scales["x"];
      if (now?.min !== min || now.max !== max) plot.setScale("x", { min, max });
    }
    this.#point();
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
      if (isFault && plot === this.#plots[0]?.plot) {
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

  /** Moves the part that is shown, as wide as it is, to where the reader went. */
  #keepInSight(operation: number): void {
    const { min, max } = this.#plots[0]?.plot.scales["x"] ?? {};
    if (typeof min !== "number" || typeof max !== "number") return;
    if (operation >= min && operation <= max) return;
    const last = Math.max(1, this.#model.data.n.at(-1) ?? 1);
    const wide = max - min;
    const from = Math.max(0, Math.min(last - wide, operation - wide / 2));
    this.#scale(from, from + wide);
  }

  #follow(): void {
    this.#keepInSight(this.#model.operation);
    this.#point();
  }

  /** Puts the line of the operation at hand where it belongs on each plot, and its value beside the title. */
  #point(): void {
    const { operation, frame, sides, timelines } = this.#model;
    for (const { plot, here, value, key } of this.#plots) {
      const left = plot.valToPos(operation, "x");
      here.hidden = !(left >= 0 && left <= plot.over.clientWidth);
      here.style.transform = `translateX(${Math.round(left)}px)`;
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
