// The pages of every band after each operation. The allocator of this checkout follows the run, and while it answers as
// recorded its counts are those of whoever recorded it. From where it does not, what is live follows from the lines alone:
// the auditor keeps books of that, at several times the cost, so only of runs that are known to part.
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../base/operations.js";
import type { BandState, State } from "../../base/state.js";
import { countOf } from "../../base/extents.js";
import { UnifiedTraceError } from "../../base/errors.js";
import { KVStorage } from "../../kv/storage.js";
import type { BandCounts } from "../../kv/storage.js";
import { equalAnswers } from "../../trace/compare-values.js";
import type { OpLine, RunLine } from "../../trace/lines.js";
import { RunAuditor } from "../audit/auditor.js";

/** Counters by band. @internal */
export type BandValues = ReadonlyMap<string, Readonly<Record<string, number>>>;

const NOTHING: BandValues = new Map();

/** Follows the bands of one run of domain `kv`. @internal */
export class BandFollower {
  readonly #line: RunLine;
  readonly #isAudited: boolean;
  #storage: KVStorage | null;
  #auditor: RunAuditor | null = null;
  #isWaiting: boolean; // the run goes on from a state that has not come
  /** First operation that this checkout answers otherwise, or where it cannot follow; null: it follows. */
  parted: number | null = null;

  /** `isAudited`: keep books of what is live from the beginning. */
  constructor(line: RunLine, isAudited: boolean) {
    this.#line = line;
    this.#isAudited = isAudited;
    this.#storage = storageOf(line);
    this.#isWaiting = (line.starts_at ?? 0) > 0;
    if (this.#storage === null) this.parted = line.starts_at ?? 0;
  }

  /** The counters after an operation. */
  after(line: OpLine): BandValues {
    // name, arguments and answer stood on one line, and the run is of domain kv
    const { op, args } = line;
    const operation = { op, args } as KvOperation;
    const answer: Answer = line;
    if (this.#isAudited) this.#audit(line.n, operation, answer);
    const storage = this.#follow(line.n, operation, answer);
    if (storage !== null) return countsOf(storage.bandCounts());
    if (this.#auditor === null) return NOTHING;
    return new Map(
      Array.from(this.#auditor.livePages(), ([name, live]) => [name, { live }] as const),
    );
  }

  /** The counters that a full state tells. */
  at(n: number, state: State): BandValues {
    if (this.#isWaiting) this.#start(n, state);
    if (this.#storage !== null) return countsOf(this.#storage.bandCounts());
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

  #start(n: number, state: State): void {
    this.#isWaiting = false;
    try {
      this.#storage?.load(state);
    } catch {
      this.#part(n); // a state of another form than this project's
    }
  }

  #follow(n: number, operation: KvOperation, answer: Answer): KVStorage | null {
    const storage = this.#storage;
    if (storage === null) return null;
    try {
      const own = storage.apply(operation);
      if (equalAnswers(operation.op, answer, own, { digest: false })) return storage;
    } catch {
      // what breaks here broke nothing where it was recorded
    }
    this.#part(n);
    return null;
  }

  #part(n: number): void {
    this.#storage = null;
    this.parted = n;
  }

  #audit(n: number, operation: KvOperation, answer: Answer): void {
    if (this.#auditor === null) {
      if (operation.op !== "boot" || answer.ok === undefined) return;
      const config = (this.#line.derived ?? this.#line.config) as DirectConfig; // one of the two is direct
      if (!("sub_pools" in config)) return; // a model form without its derived one
      this.#auditor = new RunAuditor(config, answer.ok as BootOk); // of a boot
    }
    this.#auditor.line(n, operation, answer);
  }
}

function storageOf({ config }: RunLine): KVStorage | null {
  try {
    return new KVStorage(config, { digestDepth: null });
  } catch (error) {
    if (error instanceof UnifiedTraceError) return null; // what this checkout cannot hold
    throw error;
  }
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
