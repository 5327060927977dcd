// The memory of a run of domain `kv` along its operations: live pages of each band and the bytes of the spans.
import type { State } from "../../base/state.js";
import type { BandCounts } from "../../kv/storage.js";
import type { OpLine, RunLine } from "../../trace/lines.js";
import { BandFollower, type BandReading } from "../band-follower.js";
import { type ArenaGeometry, directConfigOf, geometryOfConfig } from "../view/geometry.js";
import { geometryAfter, geometryOfState } from "../view/geometry-track.js";
import { useOfState } from "../view/page-map.js";
import type { CurvePart, CurvePoint, RunCurve } from "./curve.js";
import { CurveSampler } from "./sampler.js";

/** @internal */
export class KvCurve {
  readonly #run: RunLine;
  readonly #bands: BandFollower;
  readonly #sampler = new CurveSampler();
  #geometry: ArenaGeometry | null;
  #parts: readonly CurvePart[] | null = null;
  #open: CurvePoint | null = null; // of the last operation: a full state behind it may tell more
  #operations = 0;

  /** @param isAudited - keep books of what is live from the beginning, for a run that this checkout answers otherwise */
  constructor(run: RunLine, isAudited: boolean) {
    this.#run = run;
    this.#bands = new BandFollower(run, isAudited);
    const config = directConfigOf(run);
    this.#geometry = config && geometryOfConfig(config);
  }

  /** First operation that this checkout answers otherwise; null: it follows. */
  get parted(): number | null {
    return this.#bands.parted;
  }

  operation(line: OpLine): void {
    this.#operations += 1;
    this.#geometry = geometryAfter(this.#run, this.#geometry, line, line);
    this.#close();
    this.#open = this.#pointOf(line.n, this.#bands.after(line));
  }

  state(n: number, state: State): void {
    if (this.#operations === 0) this.#geometry = geometryOfState(this.#run, state);
    const reading = this.#bands.at(n, state);
    if (this.#operations === 0 || reading !== null || this.#geometry === null) return;
    const { lanes } = this.#geometry;
    this.#parts ??= lanes.map(({ band, page_bytes: bytes }) => partOf(band, bytes));
    const live = this.#parts.map(({ name }) => liveOf(state, name));
    this.#open = { n, ...useOfState(state, this.#geometry), parts: live };
  }

  /** Null where nothing was told of any band. */
  result(): RunCurve | null {
    this.#close();
    const sampled = this.#sampler.result();
    if (sampled === null || this.#parts === null) return null;
    const { run, domain } = this.#run;
    const operations = this.#operations;
    return { run, domain, operations, parts: this.#parts, parted: this.parted, ...sampled };
  }

  #close(): void {
    if (this.#open !== null) this.#sampler.add(this.#open);
    this.#open = null;
  }

  #pointOf(n: number, reading: BandReading | null): CurvePoint | null {
    if (reading === null || this.#geometry === null) return null;
    return reading.kind === "whole" ? this.#whole(n, reading.bands) : this.#live(n, reading.live);
  }

  #whole(n: number, bands: readonly BandCounts[]): CurvePoint | null {
    if (bands.length === 0) return null;
    this.#parts ??= bands.map(({ name, pageBytes }) => partOf(name, pageBytes));
    let [liveBytes, spanBytes] = [0, 0];
    for (const { live, spanPages, pageBytes } of bands) {
      liveBytes += live * pageBytes;
      spanBytes += spanPages * pageBytes;
    }
    const usableBytes = this.#usableBytes;
    return { n, liveBytes, spanBytes, usableBytes, parts: bands.map(({ live }) => live) };
  }

  #live(n: number, live: ReadonlyMap<string, number>): CurvePoint {
    const lanes = new Map(this.#geometry?.lanes.map(({ band, page_bytes }) => [band, page_bytes]));
    this.#parts ??= Array.from(live.keys(), (name) => partOf(name, lanes.get(name) ?? 0));
    let liveBytes = 0;
    const parts = this.#parts.map(({ name, pageBytes }) => {
      const pages = live.get(name) ?? 0;
      liveBytes += pages * (pageBytes ?? 0);
      return pages;
    });
    return { n, liveBytes, spanBytes: null, usableBytes: this.#usableBytes, parts };
  }

  get #usableBytes(): number | null {
    const geometry = this.#geometry;
    return geometry && Math.max(0, geometry.arena_bytes - geometry.sink_bytes);
  }
}

function partOf(name: string, pageBytes: number): CurvePart {
  return { name, unit: "pages", pageBytes };
}

/** Live pages of a band in a state of the trace, which may be another implementation's. */
function liveOf(state: State, band: string): number {
  const { live } = (state[band] ?? {}) as { readonly live?: unknown };
  return typeof live === "number" ? live : 0;
}
