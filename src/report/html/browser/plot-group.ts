// Plots below one another over the same operations: one part of them is shown in all, as wide as the window or the paper.
import uPlot from "uplot";
import { grouped } from "../../words.js";
import type { Theme } from "./colours.js";
import { make } from "./dom.js";

const NEAR = 1000; // operations
const PAPER = 640; // pixels, which fit on A4 and letter
const AXIS = 22; // pixels
const SIDE = 52; // pixels: as wide as `100 %`

/** The vertical axis of a plot. */
export interface Scale {
  readonly range: uPlot.Range.MinMax;
  readonly splits?: number[];
  readonly text: (value: number) => string;
}

/** 0 to 100 %. */
export const SHARES: Scale = {
  range: [0, 1],
  splits: [0, 0.5, 1],
  text: (value) => `${Math.round(value * 100)} %`,
};

interface Member {
  readonly plot: uPlot;
  readonly here: HTMLElement; // the line of the operation at hand
}

export interface GroupOptions {
  readonly place: HTMLElement;
  readonly first: number; // operation
  readonly last: number;
  readonly count: number; // plots
  readonly side?: number; // pixels beside each plot, for what stands on its axis
  readonly theme: () => Theme;
  readonly operation: () => number; // at hand
  readonly go: (operation: number) => void; // where the reader clicks
}

export class PlotGroup {
  readonly #options: GroupOptions;
  readonly #members: Member[] = [];
  readonly #observer: ResizeObserver;
  #range: readonly [from: number, to: number] | null = null; // what all plots show, or are about to

  constructor(options: GroupOptions) {
    this.#options = options;
    this.#observer = new ResizeObserver(() => {
      if (document.documentElement.classList.contains("printing")) return;
      for (const { plot } of this.#members) {
        const width = this.#width();
        if (plot.width !== width) plot.setSize({ width, height: plot.height });
      }
      this.follow();
    });
    this.#observer.observe(options.place);
  }

  /** Appends a plot. @param data - operations, then one list a series */
  add(
    holder: HTMLElement,
    height: number,
    scale: Scale,
    series: readonly uPlot.Series[],
    data: uPlot.AlignedData,
    draw: (plot: uPlot) => void,
  ): void {
    const isLast = this.#members.length === this.#options.count - 1;
    const options: uPlot.Options = {
      ...this.#frame(height, isLast, scale),
      series: [{}, ...series],
      hooks: { draw: [draw], setScale: [(plot, key) => this.#scaled(plot, key)] },
    };
    const plot = new uPlot(options, data, holder);
    const here = make("div", "here");
    plot.over.append(here);
    this.#follows(plot);
    this.#members.push({ plot, here });
  }

  /** Whether a plot is the one on top. */
  isFirst(plot: uPlot): boolean {
    return plot === this.#members[0]?.plot;
  }

  /** Draws everything anew in the colours of the theme at hand. */
  retheme(): void {
    for (const { plot } of this.#members) plot.redraw(false);
  }

  /** As wide as a sheet of paper while it is printed, else as wide as the window allows. */
  fit(isPrinting: boolean): void {
    const width = isPrinting ? PAPER : this.#width();
    for (const { plot } of this.#members) plot.setSize({ width, height: plot.height });
  }

  /** Shows all operations. */
  showAll(): void {
    const { first, last } = this.#options;
    this.#scale(first, Math.max(first + 1, last));
  }

  /** Shows the neighbours of the operation at hand. */
  showNear(): void {
    this.#showAbout(Math.min(this.#options.last - this.#options.first, NEAR));
  }

  /** Shows less or more around the operation at hand. @param factor - of what is shown now */
  zoom(factor: number): void {
    const { first, last } = this.#options;
    const [from, to] = this.#range ?? [first, last];
    this.#showAbout(Math.min(last - first, Math.max(2, (to - from) * factor)));
  }

  /** Puts the line of the operation at hand where it belongs; moves the part that is shown, as wide as it is, if need be. */
  follow(): void {
    const { min, max } = this.#members[0]?.plot.scales["x"] ?? {};
    const operation = this.#options.operation();
    if (typeof min === "number" && typeof max === "number" && (operation < min || operation > max))
      this.#showAbout(max - min);
    this.#point();
  }

  destroy(): void {
    this.#observer.disconnect();
    for (const { plot } of this.#members) plot.destroy();
    this.#members.length = 0;
  }

  #showAbout(wide: number): void {
    const { first, last } = this.#options;
    const operation = this.#options.operation();
    const from = Math.max(first, Math.min(last - wide, operation - wide / 2));
    this.#scale(from, Math.max(from + 1, from + wide));
  }

  #width(): number {
    return Math.max(200, this.#options.place.clientWidth);
  }

  #frame(height: number, isLast: boolean, scale: Scale): Omit<uPlot.Options, "series"> {
    const { theme } = this.#options;
    const ink = (): string => theme().faint;
    const grid = { stroke: () => theme().grid, width: 1 };
    const ticks = { stroke: () => theme().grid, width: 1, size: 4 };
    const { splits } = scale;
    return {
      width: this.#width(),
      height: height + (isLast ? AXIS : 0),
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
        y: { range: scale.range },
      },
      axes: [
        {
          show: isLast,
          stroke: ink,
          grid,
          ticks,
          size: AXIS,
          values: (_plot, at) => at.map((v) => (Number.isInteger(v) ? grouped(v) : "")),
        },
        {
          stroke: ink,
          grid,
          ticks,
          size: this.#options.side ?? SIDE,
          ...(splits === undefined ? {} : { splits }),
          values: (_plot, at) => at.map(scale.text),
        },
      ],
    };
  }

  /** A click goes to the operation under it. */
  #follows(plot: uPlot): void {
    let down = 0;
    plot.over.addEventListener("pointerdown", (event) => (down = event.clientX));
    plot.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - down) > 3) return;
      const left = event.clientX - plot.over.getBoundingClientRect().left;
      this.#options.go(Math.round(plot.posToVal(left, "x")));
    });
  }

  #scaled(plot: uPlot, key: string): void {
    if (key !== "x" || this.#members.length < this.#options.count) return;
    const { min, max } = plot.scales["x"] ?? {};
    if (typeof min !== "number" || typeof max !== "number") return;
    // a plot tells of a scale later than it was set: that of all plots is no news
    const isNews = min !== this.#range?.[0] || max !== this.#range[1];
    if (isNews) this.#scale(min, max);
    else this.#point();
  }

  #scale(min: number, max: number): void {
    this.#range = [min, max];
    for (const { plot } of this.#members) {
      const now = plot.scales["x"];
      if (now?.min !== min || now.max !== max) plot.setScale("x", { min, max });
    }
    this.#point();
  }

  #point(): void {
    const operation = this.#options.operation();
    for (const { plot, here } of this.#members) {
      const left = plot.valToPos(operation, "x");
      here.hidden = !(left >= 0 && left <= plot.over.clientWidth);
      here.style.transform = `translateX(${Math.round(left)}px)`;
    }
  }
}
