// The chain as pricing sees it: counts and frontiers, kept until a band's epoch moves.
import type { Band } from "./band.js";
import { EndBand } from "./end-band.js";
import type { BandSnapshot } from "./pricing.js";

/** Snapshots of the bands of one chain. @internal */
export class SnapshotMemo {
  readonly #bands: readonly Band[];
  readonly #snapshots: BandSnapshot[];
  readonly #epochs: number[];

  constructor(bands: readonly Band[]) {
    this.#bands = bands;
    this.#epochs = bands.map(() => -1);
    this.#snapshots = bands.map(({ plan }) => ({
      grow: plan.grow,
      pageBytes: plan.page_bytes,
      pages: plan.pages,
      firstPage: plan.first_page,
      live: 0,
      free: 0,
      vacated: 0,
      spanFirst: 0,
      spanCount: 0,
      pinned: 0,
      kept: 0,
    }));
  }

  /** The bands as they stand; one is read again only after its epoch moved. */
  read(): readonly BandSnapshot[] {
    for (let index = 0; index < this.#bands.length; index++) {
      const band = this.#bands[index]!; // index is in range
      if (this.#epochs[index] === band.epoch) continue;
      this.#epochs[index] = band.epoch;
      const snapshot = this.#snapshots[index]!; // one a band
      snapshot.live = band.live;
      snapshot.free = band.holes.length + band.pendingPages;
      snapshot.vacated = band.vacated.length;
      snapshot.spanFirst = band.spanFirst;
      snapshot.spanCount = band.spanCount;
      snapshot.pinned = band.fixed.size === 0 ? 0 : reservedReach(band);
    }
    return this.#snapshots;
  }
}

/** `pinned` of a band whose only fixed pages are reservations. */
function reservedReach(band: Band): number {
  if (!(band instanceof EndBand)) return 1;
  let reach = 0;
  for (const page of band.fixed) reach = Math.max(reach, band.distanceOf(page) + 1);
  return reach;
}
