// One side's page map at any frame: keyframes are made once from the changes, a map is the nearest one before it and the
// changes since. The curves come from the same pass.
import type { ArenaGeometry } from "../../../tools/view/geometry.js";
import { sharesOf } from "../../../tools/view/shares.js";
import type { DecodedChanges } from "./changes-code.js";

/** The cells of one lane, one entry a page of its grid. @internal */
export interface LaneCells {
  readonly code: Uint8Array; // index of CELL_CODES
  readonly label: Int32Array; // index of the labels
  readonly virtual: Int32Array; // id bound to the page, 0: none
}

/** Shares of the arena's usable bytes, by frame; NaN where the map is not known. @internal */
export interface Curves {
  readonly capacity: Float32Array; // bytes outside every span, by usable bytes
  readonly occupancy: Float32Array; // bytes of live pages, by usable bytes
  readonly fragmentation: Float32Array; // of the spans, what is not live
}

interface Keyframe {
  readonly geometry: number | null;
  readonly lanes: readonly LaneCells[];
}

const KEYFRAME_BYTES_MAX = 48e6; // one side
const KEYFRAMES_MAX = 400;
const CELL_BYTES = 9;
const FIRST_OF_SPAN = 2; // codes from `live` to `vacated` lie in a span
const LAST_OF_SPAN = 6;
const LAST_LIVE = 3; // `live`, `fixed`

/** @internal */
export class Timeline {
  readonly curves: Curves;
  readonly known: number; // frames
  readonly #geometries: readonly ArenaGeometry[];
  readonly #changes: readonly DecodedChanges[];
  readonly #keyframes: Keyframe[] = [];
  readonly #interval: number; // frames
  #at = -1; // frame whose map `lanes` is
  #geometry: number | null = null;
  #lanes: LaneCells[] = [];

  /** @param known - frames, from the first on, whose map is known */
  constructor(
    geometries: readonly ArenaGeometry[],
    changes: readonly DecodedChanges[],
    known: number,
  ) {
    this.known = known;
    this.#geometries = geometries;
    this.#changes = changes;
    const pages = Math.max(1, ...geometries.map(pagesOf));
    const affordable = Math.floor(KEYFRAME_BYTES_MAX / (pages * CELL_BYTES));
    const keyframes = Math.max(1, Math.min(KEYFRAMES_MAX, affordable));
    this.#interval = Math.max(32, Math.ceil(changes.length / keyframes));
    this.curves = this.#firstPass();
  }

  /** The arena at the frame last sought; null before `boot`. */
  get geometry(): ArenaGeometry | null {
    return this.#geometry === null ? null : (this.#geometries[this.#geometry] ?? null);
  }
  get lanes(): readonly LaneCells[] {
    return this.#lanes;
  }

  isKnown(frame: number): boolean {
    return frame < this.known;
  }

  /** Goes to the map behind the operation of a frame. */
  seek(frame: number): void {
    const isForth = frame >= this.#at && frame - this.#at <= this.#interval;
    if (!isForth || this.#at < 0) this.#load(Math.floor(frame / this.#interval));
    while (this.#at < frame) {
      this.#at += 1;
      this.#apply(this.#at, null);
    }
  }

  #firstPass(): Curves {
    const frames = this.#changes.length;
    const curves = {
      capacity: new Float32Array(frames).fill(NaN),
      occupancy: new Float32Array(frames).fill(NaN),
      fragmentation: new Float32Array(frames).fill(NaN),
    };
    const tally = new Tally();
    for (let frame = 0; frame < frames; frame++) {
      this.#at = frame;
      this.#apply(frame, tally);
      if (frame % this.#interval === 0) this.#keyframes.push(this.#copy());
      const { geometry } = this;
      if (geometry === null || !this.isKnown(frame)) continue;
      const shares = sharesOf({
        liveBytes: tally.live,
        spanBytes: tally.span,
        usableBytes: geometry.arena_bytes - geometry.sink_bytes,
      });
      curves.capacity[frame] = shares.capacity;
      curves.occupancy[frame] = shares.occupancy;
      curves.fragmentation[frame] = shares.fragmentation;
    }
    return curves;
  }

  #load(index: number): void {
    const keyframe = this.#keyframes[index];
    if (keyframe === undefined) return;
    this.#at = index * this.#interval;
    this.#geometry = keyframe.geometry;
    this.#lanes = keyframe.lanes.map(copied);
  }

  #copy(): Keyframe {
    return { geometry: this.#geometry, lanes: this.#lanes.map(copied) };
  }

  #apply(frame: number, tally: Tally | null): void {
    const { geometry, runs } = this.#changes[frame]!; // a frame of this side
    if (geometry !== null) this.#lay(geometry, tally);
    const sizes = this.geometry?.lanes;
    for (let at = 0; at < runs.length; at += 6) {
      const lane = runs[at]!; // whole runs
      const cells = this.#lanes[lane];
      if (cells === undefined) continue;
      const code = runs[at + 1]!;
      const first = runs[at + 2]!;
      const end = first + runs[at + 3]!;
      const virtual = runs[at + 5]!;
      tally?.run(cells.code, first, end, code, sizes?.[lane]?.page_bytes ?? 0);
      cells.code.fill(code, first, end);
      cells.label.fill(runs[at + 4]!, first, end);
      if (virtual === 0) cells.virtual.fill(0, first, end);
      else for (let page = first; page < end; page++) cells.virtual[page] = virtual + page - first;
    }
  }

  #lay(geometry: number, tally: Tally | null): void {
    this.#geometry = geometry;
    this.#lanes = (this.#geometries[geometry]?.lanes ?? []).map(({ pages }) => ({
      code: new Uint8Array(Math.max(0, pages)),
      label: new Int32Array(Math.max(0, pages)),
      virtual: new Int32Array(Math.max(0, pages)),
    }));
    tally?.clear();
  }
}

/** Bytes in spans and bytes that are live, kept along with the changes. */
class Tally {
  span = 0;
  live = 0;

  clear(): void {
    this.span = 0;
    this.live = 0;
  }

  run(codes: Uint8Array, first: number, end: number, code: number, pageBytes: number): void {
    const [isSpan, isLive] = [inSpan(code), isLiveCode(code)];
    for (let page = first; page < end; page++) {
      const old = codes[page] ?? 0;
      if (inSpan(old)) this.span -= pageBytes;
      if (isLiveCode(old)) this.live -= pageBytes;
      if (isSpan) this.span += pageBytes;
      if (isLive) this.live += pageBytes;
    }
  }
}

function inSpan(code: number): boolean {
  return code >= FIRST_OF_SPAN && code <= LAST_OF_SPAN;
}
function isLiveCode(code: number): boolean {
  return code >= FIRST_OF_SPAN && code <= LAST_LIVE;
}

function copied({ code, label, virtual }: LaneCells): LaneCells {
  return { code: code.slice(), label: label.slice(), virtual: virtual.slice() };
}

function pagesOf({ lanes }: ArenaGeometry): number {
  return lanes.reduce((total, { pages }) => total + Math.max(0, pages), 0);
}

/** How many frames, from the first on, a side's maps are known for. @param n - operations of the frames, ascending @internal */
export function knownFrames(n: Int32Array, knownTo: number | null): number {
  if (knownTo === null) return 0;
  let low = 0;
  let high = n.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (n[middle]! <= knownTo)
      low = middle + 1; // the index is in range
    else high = middle;
  }
  return low;
}

/** Index of the frame at operation `wanted`, or of the last before it; the first of several at one operation; 0 where there
 * is none. @internal */
export function frameAt(n: Int32Array, wanted: number): number {
  const last = Math.max(0, knownFrames(n, wanted) - 1);
  return Math.min(last, knownFrames(n, (n[last] ?? 0) - 1));
}
