// Colours and patterns of pages. A colour follows from a name alone, so that it is the same on both sides and at any time.
import type { LaneCells } from "../shared/timeline.js";
import type { ColourBy, Model } from "./model.js";

/** Colours of the theme at hand, read from the style sheet. */
export interface Theme {
  readonly isDark: boolean;
  readonly ink: string;
  readonly faint: string;
  readonly line: string;
  readonly paper: string;
  readonly base: string;
  readonly candidate: string;
  readonly differs: string;
  readonly grid: string;
  readonly curves: readonly string[]; // of lines in one plot
}

export function themeOfPage(): Theme {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    isDark: value("dark") === "1",
    ink: value("ink"),
    faint: value("faint"),
    line: value("line"),
    paper: value("paper"),
    base: value("base"),
    candidate: value("candidate"),
    differs: value("differs"),
    grid: value("grid"),
    curves: [0, 1, 2, 3, 4].map((index) => value(`curve-${index}`)),
  };
}

const GOLDEN = 0.618033988749895;

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  // mixed once more, since names that follow one another differ in their last sign only
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (value ^ (value >>> 13)) >>> 0;
}

/** Fills of a map, by what pages of one colour share. */
export class Fills {
  readonly #theme: Theme;
  readonly #context: CanvasRenderingContext2D;
  readonly #known = new Map<string, string>();
  readonly #patterns = new Map<string, CanvasPattern | string>();

  constructor(theme: Theme, context: CanvasRenderingContext2D) {
    this.#theme = theme;
    this.#context = context;
  }

  /** Of a page in use. */
  live(model: Model, cells: LaneCells, lane: number, page: number): string {
    const by: ColourBy = model.colourBy;
    if (by === "band") return this.#of(`band ${lane}`, (lane * GOLDEN + 0.58) % 1);
    if (by === "id") {
      const virtual = cells.virtual[page] ?? 0;
      return this.#of(`id ${virtual}`, (virtual * GOLDEN) % 1);
    }
    const owner = model.data.head.labels[cells.label[page] ?? 0]?.[1] ?? "";
    if (owner === "") return this.#theme.isDark ? "#6d7684" : "#9aa4b2";
    if (owner === "tree") return this.#theme.isDark ? "#8a93a3" : "#76808f";
    return this.#of(owner, hash(owner) / 2 ** 32);
  }

  /** Stripes for a class of pages that are not in use. */
  pattern(name: "pending" | "vacated" | "fenced"): CanvasPattern | string {
    let found = this.#patterns.get(name);
    if (found === undefined) {
      found = this.#pattern(name);
      this.#patterns.set(name, found);
    }
    return found;
  }

  #of(key: string, turn: number): string {
    let found = this.#known.get(key);
    if (found === undefined) {
      const hue = Math.floor(turn * 360);
      // three steps of lightness tell neighbours on the circle apart
      const step = hash(key) % 3;
      found = this.#theme.isDark
        ? `hsl(${hue} 46% ${44 + 7 * step}%)`
        : `hsl(${hue} 58% ${58 + 7 * step}%)`;
      this.#known.set(key, found);
    }
    return found;
  }

  #pattern(name: "pending" | "vacated" | "fenced"): CanvasPattern | string {
    const size = 8;
    const tile = document.createElement("canvas");
    tile.width = size;
    tile.height = size;
    const context = tile.getContext("2d");
    const colour = name === "fenced" ? this.#theme.differs : this.#theme.faint;
    if (context === null) return colour;
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.lineWidth = 2;
    if (name === "vacated") {
      context.fillRect(1, 1, 2.4, 2.4);
      context.fillRect(5, 5, 2.4, 2.4);
    } else {
      const isUp = name === "pending";
      for (const shift of [-size, 0, size]) {
        context.beginPath();
        context.moveTo(shift, isUp ? size : 0);
        context.lineTo(shift + size, isUp ? 0 : size);
        context.stroke();
      }
    }
    return this.#context.createPattern(tile, "repeat") ?? colour;
  }
}
