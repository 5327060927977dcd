// The counters of every band in the Perfetto viewer.
import type { BandState, State } from "../../base/state.js";
import { countOf } from "../../base/extents.js";
import type { BandCounts } from "../../kv/storage.js";
import type { BandReading } from "../band-follower.js";

/** Counters by band. @internal */
export type BandValues = ReadonlyMap<string, Readonly<Record<string, number>>>;

/** The counters of what is known after an operation. @internal */
export function valuesOf(reading: BandReading | null): BandValues {
  if (reading === null) return new Map();
  if (reading.kind === "whole") return countsOf(reading.bands);
  return new Map(Array.from(reading.live, ([name, live]) => [name, { live }] as const));
}

/** The counters that a full state tells. @internal */
export function valuesOfState(state: State): BandValues {
  const values = new Map<string, Readonly<Record<string, number>>>();
  for (const name of Object.keys(state)) {
    const band = state[name] as Partial<BandState> | null; // of a band, if it has a span
    if (band?.span === undefined || typeof band.live !== "number") continue;
    values.set(name, {
      live: band.live,
      holes: countOf(band.holes ?? []),
      pending: sum(band.pending ?? []),
      vacated: sum(band.vacated ?? []),
    });
  }
  return values;
}

function sum(parts: readonly { readonly pages: BandState["holes"] }[]): number {
  return parts.reduce((total, { pages }) => total + countOf(pages), 0);
}

/** Beside the four kinds of page of a span: pages that the band could grow into where it stands. */
function countsOf(bands: readonly BandCounts[]): BandValues {
  const values = new Map<string, Readonly<Record<string, number>>>();
  for (const [index, band] of bands.entries()) {
    const { name, live, holes, pending, vacated } = band;
    values.set(name, { live, holes, pending, vacated, free: freePages(bands, index) });
  }
  return values;
}

/** Whole pages of a band's grid in the gaps beside it, into which it may grow with nothing moved. @internal */
export function freePages(bands: readonly BandCounts[], index: number): number {
  const band = bands[index]!; // the caller counts them
  const { grow, pageBytes, pages, firstPage, spanFirst, spanPages } = band;
  const below = bands.slice(0, index).findLast((other) => other.spanPages > 0);
  const above = bands.slice(index + 1).find((other) => other.spanPages > 0);
  const low = below === undefined ? 0 : (below.spanFirst + below.spanPages) * below.pageBytes;
  const high = above === undefined ? Infinity : above.spanFirst * above.pageBytes;
  const lowest = Math.max(firstPage, Math.ceil(low / pageBytes));
  const highest = Math.min(pages, Math.floor(high / pageBytes)); // exclusive
  if (spanPages === 0) return Math.max(0, highest - lowest);
  const down = grow === "up" ? 0 : Math.max(0, spanFirst - lowest);
  const up = grow === "down" ? 0 : Math.max(0, highest - (spanFirst + spanPages));
  return down + up;
}
