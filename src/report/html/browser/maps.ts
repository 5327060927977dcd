// The page maps: a block a band, the base's row above the candidate's, what differs between them marked in the middle.
import type { LaneGeometry } from "../../../tools/view/geometry.js";
import { CELL_CODES } from "../../../tools/view/view-data.js";
import { bytes, counted, grouped, visible } from "../../words.js";
import type { LaneCells } from "../shared/timeline.js";
import { Fills, type Theme } from "./colours.js";
import { make, part } from "./dom.js";
import { drawDifferences, drawLane, type LaneLook, type Row, scaleOf } from "./lane-drawing.js";
import type { Model, SideName } from "./model.js";

const ROW = 24; // pixels
const STRIP = 5;
const AXIS = 18;
const TICKS = 6;

interface Block {
  readonly lane: number;
  readonly geometry: LaneGeometry;
  readonly canvas: HTMLCanvasElement;
  readonly counts: HTMLElement;
}

export class Maps {
  readonly #model: Model;
  readonly #theme: () => Theme;
  readonly #blocks: Block[] = [];
  readonly #axis: HTMLCanvasElement;
  readonly #hint = make("div", "hint");
  readonly #rows: number;

  /** @param signal - aborted: what hangs outside the maps is taken away */
  constructor(model: Model, theme: () => Theme, signal: AbortSignal) {
    this.#model = model;
    this.#theme = theme;
    this.#rows = model.sides.length;
    const place = part("lanes", HTMLElement);
    for (const [lane, geometry] of (model.arena?.lanes ?? []).entries()) {
      const block = this.#block(lane, geometry);
      this.#blocks.push(block);
    }
    this.#axis = make("canvas", "axis");
    this.#axis.setAttribute("aria-hidden", "true");
    place.append(make("div", "lane-body", make("div", "names"), this.#axis));
    this.#hint.hidden = true;
    document.body.append(this.#hint);
    signal.addEventListener("abort", () => {
      this.#hint.remove();
    });
    part("zoom-in", HTMLElement).addEventListener("click", () => {
      model.zoom(0.5);
    });
    part("zoom-out", HTMLElement).addEventListener("click", () => {
      model.zoom(2);
    });
    part("zoom-all", HTMLElement).addEventListener("click", () => {
      model.showAll();
    });
    model.listen(() => {
      this.draw();
    });
  }

  draw(): void {
    const theme = this.#theme();
    for (const block of this.#blocks) this.#drawBlock(block, theme);
    this.#drawAxis(theme);
  }

  #block(lane: number, geometry: LaneGeometry): Block {
    const { band, kind, grow, page_bytes: size } = geometry;
    const growth = grow === "float" ? "floats" : grow === "up" ? "grows up" : "grows down";
    const kinds = { full: "tokens", window: "tokens, windowed", state: "state slots" };
    const about = `${kinds[kind]}, ${growth}, pages of ${bytes(size)}`;
    const counts = make("span", "counts");
    const canvas = make("canvas", "lane");
    canvas.setAttribute("role", "img");
    const names = make(
      "div",
      "names",
      ...this.#model.sides.map((side) => make("span", side, this.#rows === 1 ? "pages" : side)),
    );
    part("lanes", HTMLElement).append(
      make("div", "lane-head", make("b", "", band), " ", make("span", "about", about), counts),
      make("div", "lane-body", names, canvas),
    );
    this.#follow(canvas, lane, geometry);
    return { lane, geometry, canvas, counts };
  }

  #drawBlock(block: Block, theme: Theme): void {
    const height = this.#rows * ROW + (this.#rows - 1) * STRIP;
    const surface = surfaceOf(block.canvas, height);
    if (surface === null) return;
    const { context, width } = surface;
    const fills = new Fills(theme, context);
    const look: LaneLook = { model: this.#model, ...block, fills, theme };
    const sides = this.#model.sides.map((side) => this.#model.lane(side, block.lane));
    for (const [index, cells] of sides.entries()) {
      const row: Row = { context, width, top: index * (ROW + STRIP), height: ROW };
      context.fillStyle = theme.paper;
      context.fillRect(0, row.top, width, ROW);
      if (cells === null) unknown(row, theme);
      else {
        drawLane(look, cells, row);
        this.#drawChosen(look, cells, row, this.#model.sides[index] ?? "base");
      }
    }
    const [base, candidate] = sides;
    let differing: number | null = null;
    if (base !== null && base !== undefined && candidate !== null && candidate !== undefined) {
      const strip: Row = { context, width, top: ROW + 1, height: STRIP - 2 };
      differing = drawDifferences(look, base, candidate, strip);
    }
    const text = countsText(sides, differing);
    if (block.counts.textContent !== text) {
      block.counts.textContent = text;
      block.canvas.setAttribute("aria-label", `band ${block.geometry.band}: ${text}`);
    }
  }

  /** A ring around the chosen page, on either side, wherever it lies now. */
  #drawChosen(
    look: LaneLook,
    cells: LaneCells,
    { context, width, top, height }: Row,
    side: SideName,
  ): void {
    const { chosen } = this.#model;
    if (chosen?.lane !== look.lane) return;
    const page =
      chosen.virtual > 0
        ? cells.virtual.indexOf(chosen.virtual)
        : chosen.side === side
          ? chosen.page
          : -1;
    if (page < 0) return;
    const { x0, pixels } = scaleOf(look, width);
    context.strokeStyle = look.theme.ink;
    context.lineWidth = 2.5;
    const size = Math.max(3, pixels);
    context.strokeRect(x0 + page * pixels - 0.5, top + 1.25, size, height - 2.5);
  }

  #drawAxis(theme: Theme): void {
    const surface = surfaceOf(this.#axis, AXIS);
    if (surface === null) return;
    const { context, width } = surface;
    const [from, to] = this.#model.view;
    context.fillStyle = theme.faint;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "top";
    const count = width < 500 ? 3 : TICKS;
    for (let tick = 0; tick <= count; tick++) {
      const x = (tick / count) * width;
      context.textAlign = tick === 0 ? "left" : tick === count ? "right" : "center";
      const value = Math.round(from + ((to - from) * tick) / count);
      context.fillText(tick === 0 ? `byte ${grouped(value)}` : grouped(value), x, 4);
      context.fillRect(Math.min(width - 1, x), 0, 1, 3);
    }
  }

  #follow(canvas: HTMLCanvasElement, lane: number, geometry: LaneGeometry): void {
    const model = this.#model;
    let from: { x: number; moved: boolean } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from === null) {
        this.#showHint(event, canvas, lane, geometry);
        return;
      }
      const step = event.clientX - from.x;
      if (Math.abs(step) < 4 && !from.moved) return;
      from = { x: event.clientX, moved: true };
      model.pan((-step * (model.view[1] - model.view[0])) / canvas.clientWidth);
      this.#hint.hidden = true;
    });
    canvas.addEventListener("pointerup", (event) => {
      const wasMoved = from?.moved === true;
      from = null;
      if (!wasMoved) this.#choose(event, canvas, lane, geometry);
    });
    canvas.addEventListener("pointerleave", () => {
      this.#hint.hidden = true;
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) < 1) return; // the page scrolls
        event.preventDefault();
        if (event.ctrlKey) model.zoom(Math.exp(event.deltaY / 200), byteAt(event, canvas, model));
        else {
          const step = event.deltaX === 0 ? event.deltaY : event.deltaX;
          model.pan((step * (model.view[1] - model.view[0])) / canvas.clientWidth);
        }
      },
      { passive: false },
    );
    canvas.addEventListener("dblclick", (event) => {
      model.zoom(0.4, byteAt(event, canvas, model));
    });
  }

  #at(
    event: MouseEvent,
    canvas: HTMLCanvasElement,
    lane: number,
    geometry: LaneGeometry,
  ): { side: SideName; page: number; cells: LaneCells } | null {
    const y = event.clientY - canvas.getBoundingClientRect().top;
    const side = this.#model.sides[y < ROW + STRIP / 2 ? 0 : 1] ?? "base";
    const cells = this.#model.lane(side, lane);
    const page = Math.floor(byteAt(event, canvas, this.#model) / geometry.page_bytes);
    if (cells === null || page < 0 || page >= cells.code.length) return null;
    return { side, page, cells };
  }

  #choose(
    event: MouseEvent,
    canvas: HTMLCanvasElement,
    lane: number,
    geometry: LaneGeometry,
  ): void {
    const at = this.#at(event, canvas, lane, geometry);
    if (at === null || at.cells.code[at.page] === 0) this.#model.choose(null);
    else {
      const { side, page } = at;
      this.#model.choose({ side, lane, page, virtual: at.cells.virtual[page] ?? 0 });
    }
  }

  #showHint(
    event: MouseEvent,
    canvas: HTMLCanvasElement,
    lane: number,
    geometry: LaneGeometry,
  ): void {
    const at = this.#at(event, canvas, lane, geometry);
    const isThere = at !== null && at.cells.code[at.page] !== 0;
    this.#hint.hidden = !isThere;
    if (!isThere) return;
    this.#hint.textContent = pageWords(this.#model, at.cells, geometry, at.page);
    const left = Math.min(event.clientX + 14, window.innerWidth - this.#hint.offsetWidth - 8);
    this.#hint.style.left = `${left}px`;
    this.#hint.style.top = `${event.clientY + 18}px`;
  }
}

/** One page in words: place, class, holder, id. */
export function pageWords(
  model: Model,
  cells: LaneCells,
  { band, page_bytes: size }: LaneGeometry,
  page: number,
): string {
  const name = CELL_CODES[cells.code[page] ?? 0] ?? "elsewhere";
  const label = model.data.head.labels[cells.label[page] ?? 0]?.[0] ?? "";
  const virtual = cells.virtual[page] ?? 0;
  const words = [
    `${band} page ${grouped(page)}`,
    `bytes ${grouped(page * size)}–${grouped((page + 1) * size - 1)}`,
    name === "elsewhere" ? "in another band's span" : name,
    ...(label === "" ? [] : [visible(label)]),
    ...(virtual === 0 ? [] : [`id ${grouped(virtual)}`]),
  ];
  return words.join(" · ");
}

function countsText(sides: readonly (LaneCells | null)[], differing: number | null): string {
  const texts = sides.map((cells) => (cells === null ? "not known" : laneCounts(cells)));
  const isSame = texts.every((text) => text === texts[0]);
  const told = isSame ? (texts[0] ?? "") : texts.join(" | ");
  if (differing === null || differing === 0) return told;
  return `${told} — ${counted(differing, "page")} ${differing === 1 ? "differs" : "differ"}`;
}

function laneCounts({ code }: LaneCells): string {
  const counts = new Array<number>(CELL_CODES.length).fill(0);
  for (const one of code) counts[one]! += 1; // a code of the list
  const words = (["live", "fixed", "hole", "pending", "vacated", "fenced"] as const).flatMap(
    (name) => {
      const count = counts[CELL_CODES.indexOf(name)] ?? 0;
      return count === 0 ? [] : [`${grouped(count)} ${name}`];
    },
  );
  return words.length === 0 ? "empty" : words.join(", ");
}

function byteAt(event: MouseEvent, canvas: HTMLCanvasElement, model: Model): number {
  const box = canvas.getBoundingClientRect();
  const [from, to] = model.view;
  return from + ((event.clientX - box.left) / Math.max(1, box.width)) * (to - from);
}

function unknown({ context, width, top, height }: Row, theme: Theme): void {
  context.fillStyle = theme.faint;
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText("not known at this operation", width / 2, top + height / 2);
}

/** A canvas as large as it is shown, cleared; null while it is not. */
function surfaceOf(
  canvas: HTMLCanvasElement,
  height: number,
): { context: CanvasRenderingContext2D; width: number } | null {
  const width = canvas.clientWidth;
  const context = canvas.getContext("2d");
  if (width === 0 || context === null) return null;
  const ratio = Math.max(1, window.devicePixelRatio);
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.height = `${height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width };
}
