// What the page of `stats` shows at the moment: a run, and one of its points.
import { frameAt } from "../shared/timeline.js";
import type { StatsPageData, StatsPageRun } from "../shared/stats-data.js";

export class StatsModel {
  readonly runs: readonly StatsPageRun[];
  run = 0; // index
  point = 0; // index
  readonly #listeners: { readonly run: () => void; readonly point: () => void }[] = [];
  #numbers = new Int32Array(0);

  /** @param data - at least one run, at least one point each */
  constructor({ runs }: StatsPageData) {
    this.runs = runs;
    this.#take(0);
  }

  get shown(): StatsPageRun {
    return this.runs[this.run]!; // an index of the list
  }
  get points(): number {
    return this.shown.curve.points.length;
  }
  get operation(): number {
    return this.#numbers[this.point] ?? 0;
  }
  get operations(): readonly number[] {
    return Array.from(this.#numbers);
  }
  /** The values of one column along the points. */
  column(index: number): (number | null)[] {
    return this.shown.curve.points.map((point) => point[index] ?? null);
  }
  /** The value of a column at the point at hand. */
  value(index: number): number | null {
    return this.shown.curve.points[this.point]?.[index] ?? null;
  }

  listen(listener: { readonly run: () => void; readonly point: () => void }): void {
    this.#listeners.push(listener);
  }
  choose(run: number): void {
    if (run < 0 || run >= this.runs.length || run === this.run) return;
    this.#take(run);
    for (const listener of this.#listeners) listener.run();
    this.#told();
  }
  seek(point: number): void {
    this.point = Math.max(0, Math.min(this.points - 1, Math.round(point)));
    this.#told();
  }
  /** Goes to the point at or before an operation. */
  seekOperation(operation: number): void {
    this.seek(frameAt(this.#numbers, operation));
  }

  #told(): void {
    for (const listener of this.#listeners) listener.point();
  }

  /** A run begins at its most live bytes. */
  #take(run: number): void {
    this.run = run;
    const { points, peaks } = this.shown.curve;
    this.#numbers = Int32Array.from(points, (point) => point[0] ?? 0);
    this.point = frameAt(this.#numbers, peaks.live_bytes.n);
  }
}
