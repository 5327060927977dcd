// Draws one lane of one side on a canvas: pages as boxes over the arena's bytes.
import type { LaneGeometry } from "../../../tools/view/geometry.js";
import type { LaneCells } from "../shared/timeline.js";
import type { Fills, Theme } from "./colours.js";
import type { Model } from "./model.js";

const CODE = { free: 1, live: 2, fixed: 3, hole: 4, pending: 5, vacated: 6, fenced: 7 } as const;
const FRAME = 24; // pixels of a row, which a frame reaches over on either side of the strip
const TEXT_FROM = 15; // pixels a page needs for its id

/** Where a row is drawn. */
export interface Row {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly top: number;
  readonly height: number;
}

export interface LaneLook {
  readonly model: Model;
  readonly lane: number;
  readonly geometry: LaneGeometry;
  readonly fills: Fills;
  readonly theme: Theme;
}

/** Pixels of a page, and where byte 0 lies. */
export function scaleOf(
  { model, geometry }: LaneLook,
  width: number,
): { x0: number; pixels: number } {
  const [from, to] = model.view;
  const perByte = width / (to - from);
  return { x0: -from * perByte, pixels: geometry.page_bytes * perByte };
}

export function drawLane(look: LaneLook, cells: LaneCells, row: Row): void {
  const { x0, pixels } = scaleOf(look, row.width);
  const from = Math.max(0, Math.floor(-x0 / pixels));
  const to = Math.min(cells.code.length, Math.ceil((row.width - x0) / pixels));
  if (pixels >= 1.5) {
    for (let page = from; page < to; page++) {
      const left = x0 + page * pixels;
      drawPage(look, cells, page, row, { left, width: pixels });
    }
    return;
  }
  // Many pages a pixel: each column shows the page in its middle.
  for (let x = 0; x < row.width; x++) {
    const page = Math.floor((x + 0.5 - x0) / pixels);
    if (page >= from && page < to) drawPage(look, cells, page, row, { left: x, width: 1 });
  }
}

interface Box {
  readonly left: number;
  readonly width: number;
}

function drawPage(look: LaneLook, cells: LaneCells, page: number, row: Row, box: Box): void {
  const code = cells.code[page] ?? 0;
  if (code < CODE.live && code !== CODE.free) return;
  const { context, top, height } = row;
  const gap = box.width >= 5 ? 1 : 0;
  const { left } = box;
  const width = Math.max(1, box.width - gap);
  switch (code) {
    case CODE.free:
      if (box.width >= 5) {
        context.fillStyle = look.theme.grid;
        context.fillRect(left, top + height - 1, width, 1);
      }
      return;
    case CODE.live:
    case CODE.fixed:
      context.fillStyle = look.fills.live(look.model, cells, look.lane, page);
      context.fillRect(left, top, width, height);
      if (code === CODE.fixed) {
        context.fillStyle = look.theme.ink;
        context.fillRect(left, top, width, 3);
        context.fillRect(left, top + height - 3, width, 3);
      }
      if (box.width >= TEXT_FROM) drawId(look, cells, page, row, box);
      return;
    case CODE.hole:
      drawHole(look, row, left, width);
      return;
    case CODE.pending:
    case CODE.vacated:
    case CODE.fenced: {
      const name = code === CODE.pending ? "pending" : code === CODE.vacated ? "vacated" : "fenced";
      context.fillStyle = look.fills.pattern(name);
      context.fillRect(left, top, width, height);
      context.strokeStyle = name === "fenced" ? look.theme.differs : look.theme.faint;
      context.lineWidth = 1;
      if (box.width >= 5) context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    }
  }
}

function drawHole(
  { theme }: LaneLook,
  { context, top, height }: Row,
  left: number,
  width: number,
): void {
  context.strokeStyle = theme.faint;
  context.lineWidth = 1;
  if (width >= 4) context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
  else {
    context.fillStyle = theme.faint;
    context.fillRect(left, top, width, 1);
    context.fillRect(left, top + height - 1, width, 1);
  }
}

function drawId({ theme }: LaneLook, cells: LaneCells, page: number, row: Row, box: Box): void {
  const virtual = cells.virtual[page] ?? 0;
  if (virtual === 0) return;
  const { context, top, height } = row;
  context.fillStyle = theme.isDark ? "#fff" : "#111";
  context.font = box.width < 20 ? "9.5px system-ui, sans-serif" : "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(String(virtual), box.left + (box.width - 1) / 2, top + height / 2 + 0.5);
}

/** Marks pages in which the two sides differ, in the strip between their rows. */
export function drawDifferences(
  look: LaneLook,
  base: LaneCells,
  candidate: LaneCells,
  row: Row,
): number {
  const { x0, pixels } = scaleOf(look, row.width);
  const { context, top, height } = row;
  context.fillStyle = look.theme.differs;
  let differing = 0;
  let drawnTo = -Infinity; // pixels
  for (let page = 0; page < base.code.length; page++) {
    if (!differsAt(base, candidate, page)) continue;
    differing += 1;
    const left = x0 + page * pixels;
    const right = left + Math.max(1.5, pixels - (pixels >= 5 ? 1 : 0));
    if (right < 0 || left > row.width || right <= drawnTo) continue;
    context.fillRect(left, top, right - left, height);
    if (pixels >= 5) frame(look.theme, row, left, right - left);
    drawnTo = right;
  }
  return differing;
}

/** A thin frame around both boxes of a page in which the sides differ. */
function frame(theme: Theme, { context, top, height }: Row, left: number, width: number): void {
  context.strokeStyle = theme.differs;
  context.lineWidth = 2;
  const reach = FRAME - 1;
  context.strokeRect(left + 1, top - reach, width - 2, height + 2 * reach);
}

export function differsAt(base: LaneCells, candidate: LaneCells, page: number): boolean {
  return (
    base.code[page] !== candidate.code[page] ||
    base.virtual[page] !== candidate.virtual[page] ||
    (base.label[page] !== candidate.label[page] && base.virtual[page] !== 0)
  );
}
