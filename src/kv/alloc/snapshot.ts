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
    this.#snapshots = bands.map(emptySnapshot);
  }

  /** The bands as they stand; one is read again only after its epoch moved. */
  read(): readonly BandSnapshot[] {
    for (let index = 0; index < this.#bands.length; index++) {
      const band = this.#bands[index]!; // index is in range
      if (this.#epochs[index] === band.epoch) continue;
      this.#epochs[index] = band.epoch;
      readInto(this.#snapshots[index]!, band); // one a band
    }
    return this.#snapshots;
  }

  /** Bands that changed without their epoch: pricing would go on with what they were. None in a sound chain. */
  stale(): readonly Band[] {
    return this.#bands.filter((band, index) => {
      if (this.#epochs[index] !== band.epoch) return false;
      const kept = this.#snapshots[index]!; // one a band
      const fresh = emptySnapshot(band);
      readInto(fresh, band);
      return READ_FIELDS.some((field) => kept[field] !== fresh[field]);
    });
  }
}

const READ_FIELDS = ["live", "free", "vacated", "spanFirst", "spanCount", "pinned"] as const;

function emptySnapshot({ plan }: Band): BandSnapshot {
  return {
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
  };
}

function readInto(snapshot: BandSnapshot, band: Band): void {
  snapshot.live = band.live;
  snapshot.free = band.holes.length + band.pendingPages;
  snapshot.vacated = band.vacated.length;
  snapshot.spanFirst = band.spanFirst;
  snapshot.spanCount = band.spanCount;
  snapshot.pinned = band.fixed.size === 0 ? 0 : reservedReach(band);
}

/** `pinned` of a band whose only fixed pages are reservations. */
function reservedReach(band: Band): number {
  if (!(band instanceof EndBand)) return 1;
  let reach = 0;
  for (const page of band.fixed) reach = Math.max(reach, band.distanceOf(page) + 1);
  return reach;
}
