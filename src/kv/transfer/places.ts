// Where a transfer's rows lie now. Rows hold virtual ids, so places are read each time anew: a page may have moved.
import { append } from "../../base/append.js";
import { toExtents } from "../../base/extents.js";
import type { PageLists } from "../../base/operations.js";
import type { Band } from "../alloc/band.js";
import type { ChainAllocator } from "../alloc/chain.js";
import type { ChainConfig } from "../config.js";
import type { RequestTable } from "../requests.js";
import type { Transfer, Transfers } from "./transfers.js";

/** What a transfer covers: pages of a row and slots. @internal */
export type Coverage = Pick<Transfer, "direction" | "req" | "first" | "end" | "virtual" | "slots">;

/** What finding places needs of a run. @internal */
export interface RowsAndBands {
  readonly config: ChainConfig;
  readonly chain: ChainAllocator;
  readonly requests: RequestTable;
  readonly tokenBands: readonly Band[];
  readonly net: Transfers;
  pagesOf(tokens: number): number;
  isWindowBound(band: Band, virtual: number): boolean;
}

/** Physical pages by band index. @internal */
export type Places = readonly (readonly number[])[];

/** Page indices of a row that the tokens `[from, to)` touch. @internal */
export function pagesTouched(
  core: RowsAndBands,
  from: number,
  to: number,
): { readonly first: number; readonly end: number } {
  const first = Math.floor(from / core.config.pageSize);
  return { first, end: from === to ? first : core.pagesOf(to) };
}

/** Where the pages and slots lie now: full pages, the window pages bound there, slots. What the row no longer names is
 * left out. @internal */
export function placesOf(core: RowsAndBands, covered: Coverage): number[][] {
  const { chain } = core;
  const places: number[][] = chain.bands.map(() => []);
  const request = core.requests.find(covered.req);
  for (let index = covered.first; index < covered.end; index++) {
    const virtual = request?.pages[index] ?? 0;
    if (virtual === 0 || isReplaced(covered, index, virtual)) continue;
    for (const band of core.tokenBands) {
      if (band.plan.isWindow && !core.isWindowBound(band, virtual)) continue;
      places[band.index]!.push(band.v2p[virtual]!); // one list a band
    }
  }
  const { stateBand } = chain;
  if (stateBand === null || request === undefined) return places;
  const owned = Object.values(request.slots).flat();
  for (const slot of covered.slots) {
    if (owned.includes(slot)) places[stateBand.index]!.push(stateBand.v2p[slot]!); // bound
  }
  return places;
}

/** Whether the row took another page since in place of the received one: a peer must not write that. */
function isReplaced(covered: Coverage, index: number, virtual: number): boolean {
  return covered.direction === "receive" && covered.virtual[index - covered.first] !== virtual;
}

/** Places as page lists, bands in chain order, empty ones left out. @internal */
export function placeLists(bands: readonly Band[], places: Places): PageLists {
  const lists: Record<string, PageLists[string]> = {};
  for (const [index, pages] of places.entries()) {
    if (pages.length > 0) lists[bands[index]!.plan.name] = toExtents(pages); // places by band
  }
  return lists;
}

const NONE: Places = [];

/** Places by band index of what receives hold until they are published; empty where none is held. @internal */
export function heldPlaces(core: RowsAndBands): Places {
  let held: number[][] | null = null;
  for (const transfer of core.net.held) {
    if (transfer.direction !== "receive") continue;
    const places = placesOf(core, transfer);
    if (held === null) held = places;
    else for (const [index, pages] of places.entries()) append(held[index]!, pages);
  }
  return held ?? NONE;
}
