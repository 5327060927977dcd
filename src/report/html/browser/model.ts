// What the page shows at the moment: the frame, the part of the arena, what is chosen. Parts that draw listen to it.
import type { ArenaGeometry } from "../../../tools/view/geometry.js";
import type { PackedMark } from "../shared/format.js";
import { frameAt, knownFrames, type LaneCells, Timeline } from "../shared/timeline.js";
import type { Unpacked } from "../shared/unpack.js";

export type SideName = "base" | "candidate";

/** A page that the reader chose: followed by its id while it has one. */
export interface Chosen {
  readonly side: SideName;
  readonly lane: number;
  readonly page: number;
  readonly virtual: number; // 0: none
}

/** What pages of one colour share. */
export type ColourBy = "holder" | "id" | "band";

export class Model {
  readonly data: Unpacked;
  readonly timelines: Readonly<Partial<Record<SideName, Timeline>>>;
  readonly sides: readonly SideName[];
  frame = 0;
  view: readonly [from: number, to: number] = [0, 1]; // bytes of the arena
  chosen: Chosen | null = null;
  colourBy: ColourBy = "holder";
  found: readonly number[] = []; // frames
  readonly #listeners: (() => void)[] = [];
  #isDue = false;
  lastDrawMs = 0;

  constructor(data: Unpacked) {
    const { head, n, changes } = data;
    this.data = data;
    const base = new Timeline(head.geometries, changes.base, knownFrames(n, head.base.knownTo));
    const { candidate } = head;
    this.timelines =
      candidate === null
        ? { base }
        : {
            base,
            candidate: new Timeline(
              head.geometries,
              changes.candidate,
              knownFrames(n, candidate.knownTo),
            ),
          };
    this.sides = candidate === null ? ["base"] : ["base", "candidate"];
    this.showAll();
  }

  get frames(): number {
    return this.data.n.length;
  }
  get operation(): number {
    return this.data.n[this.frame] ?? 0;
  }
  /** The side that alone has the operation at hand; null: both, or there is one side. */
  get only(): SideName | null {
    return this.data.pairs?.only[this.frame] ?? null;
  }
  get marks(): readonly PackedMark[] {
    return this.data.head.marks;
  }

  /** The largest arena of the run, so that the scale stays while one is resized. */
  get arena(): ArenaGeometry | null {
    let largest: ArenaGeometry | null = null;
    for (const geometry of this.data.head.geometries)
      if (largest === null || geometry.arena_bytes > largest.arena_bytes) largest = geometry;
    return largest;
  }

  /** The cells of one lane at the frame at hand; null where the map is not known. */
  lane(side: SideName, lane: number): LaneCells | null {
    const timeline = this.timelines[side];
    if (timeline?.isKnown(this.frame) !== true) return null;
    return timeline.lanes[lane] ?? null;
  }

  seek(frame: number): void {
    this.frame = Math.max(0, Math.min(this.frames - 1, Math.round(frame)));
    this.changed();
  }
  seekOperation(n: number): void {
    this.seek(frameAt(this.data.n, n));
  }
  choose(chosen: Chosen | null): void {
    this.chosen = chosen;
    this.changed();
  }

  showAll(): void {
    this.view = [0, this.arena?.arena_bytes ?? 1];
    this.changed();
  }
  /** @param about - byte that stays where it is */
  zoom(factor: number, about: number = (this.view[0] + this.view[1]) / 2): void {
    const whole = this.arena?.arena_bytes ?? 1;
    const [from, to] = this.view;
    const size = Math.min(whole, Math.max(64, (to - from) * factor));
    const start = about - ((about - from) / (to - from)) * size;
    this.#show(start, size);
  }
  pan(bytes: number): void {
    this.#show(this.view[0] + bytes, this.view[1] - this.view[0]);
  }

  #show(start: number, size: number): void {
    const whole = this.arena?.arena_bytes ?? 1;
    const from = Math.max(0, Math.min(whole - size, start));
    this.view = [from, from + size];
    this.changed();
  }

  listen(draw: () => void): void {
    this.#listeners.push(draw);
  }

  /** Everything is drawn anew, once before the next picture. */
  changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.draw();
    });
  }

  draw(): void {
    const begin = performance.now();
    this.#isDue = false;
    for (const side of this.sides) this.timelines[side]?.seek(this.frame);
    for (const listener of this.#listeners) listener();
    this.lastDrawMs = performance.now() - begin;
  }
}
