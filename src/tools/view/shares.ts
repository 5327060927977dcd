// Occupancy, capacity and fragmentation: one definition for page maps, for the report page and for the curves of `stats`.

/** Bytes of an arena at one moment. @public */
export interface ArenaUse {
  readonly liveBytes: number; // in use
  readonly spanBytes: number; // from the first to the last byte that each band takes up, all bands together
  readonly usableBytes: number; // the arena without what is reserved
}

/** 0 to 1 each. @public */
export interface ArenaShares {
  readonly occupancy: number; // live by usable
  readonly capacity: number; // usable bytes outside every span, by usable
  readonly fragmentation: number; // of the spans, what is not live
}

/** @public */
export function sharesOf({ liveBytes, spanBytes, usableBytes }: ArenaUse): ArenaShares {
  return {
    occupancy: share(liveBytes, usableBytes),
    capacity: share(usableBytes - spanBytes, usableBytes),
    fragmentation: share(spanBytes - liveBytes, spanBytes),
  };
}

/** A part of a whole; 0 of a whole that is empty. @internal */
export function share(part: number, whole: number): number {
  return whole <= 0 ? 0 : part / whole;
}
