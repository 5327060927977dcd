// Whether a layout serves a demand while some pages stay where they are, found by trying every placement. It reads the
// page states themselves and shares no code with pricing, packing or relief.
import { PAGE, type Band } from "../../src/kv/alloc/band.js";
import { EndBand } from "../../src/kv/alloc/end-band.js";
import type { KvCore } from "../../src/kv/core.js";

export type Place = readonly [first: number, count: number];
const STEPS = ["no_move", "flush_ends", "relayout"] as const;
export type LayoutStep = (typeof STEPS)[number];

/** What stays where it is: reservations only, or what transfers use and receives hold as well. */
export type Attempt = "network_stays" | "network_moves";

interface Figures {
  readonly band: Band;
  readonly live: number;
  readonly reach: number; // ends: pages from the base through the farthest that stays
  readonly kept: number; // vacated pages that stay
  readonly isPinned: boolean; // floats: a page stays
  readonly span: Place; // once settled, parked and absorbed
}

/** Whether a transfer that is not over still uses the page where it is. */
export function usesPage(core: KvCore, band: Band, page: number): boolean {
  return core.chain.ledger.transfers.some((transfer) =>
    transfer.places[band.index]!.includes(page),
  );
}

function figures(core: KvCore, band: Band, attempt: Attempt): Figures {
  const held = new Set(core.chain.heldPlaces()[band.index] ?? []);
  const stays = (page: number): boolean =>
    band.fixed.has(page) ||
    (attempt === "network_stays" && (held.has(page) || usesPage(core, band, page)));
  const live: number[] = [];
  let kept = 0;
  let reach = 0;
  for (let page = 0; page < band.plan.pages; page++) {
    const isLive = band.status[page] === PAGE.live;
    if (isLive) live.push(page);
    if ((!isLive && band.status[page] !== PAGE.vacated) || !stays(page)) continue;
    if (!isLive) kept += 1;
    if (band instanceof EndBand) reach = Math.max(reach, band.distanceOf(page) + 1);
  }
  const isFloat = band.plan.grow === "float";
  const span: Place = !isFloat
    ? [band.spanFirst, band.spanCount]
    : live.length === 0
      ? [band.plan.pages, 0]
      : [live[0]!, live.at(-1)! + 1 - live[0]!];
  return {
    band,
    live: live.length,
    reach,
    kept,
    isPinned: isFloat && live.some((page) => stays(page)),
    span,
  };
}

/** Spans that a step could give one band. */
function choices(of: Figures, wanted: number, step: LayoutStep): readonly Place[] {
  const { band, live, span } = of;
  const { grow, pages, first_page: firstPage } = band.plan;
  if (grow === "float") {
    const anywhere = (count: number): Place[] =>
      Array.from({ length: Math.max(0, pages - firstPage - count + 1) }, (_, i): Place => [
        firstPage + i,
        count,
      ]);
    if (step === "relayout" && !of.isPinned) return anywhere(live + wanted);
    if (span[1] === 0) return anywhere(wanted);
    const fresh = Math.max(0, wanted - (span[1] - live));
    const count = span[1] + fresh;
    return [span[0], span[0] - fresh]
      .filter((first) => first >= firstPage && first + count <= pages)
      .map((first): Place => [first, count]);
  }
  const free = band.holes.length + band.pendingPages;
  const count =
    step === "no_move"
      ? span[1] + Math.max(0, wanted - free)
      : Math.max(live + of.kept, of.reach) + wanted;
  if (count > pages - firstPage) return [];
  return [grow === "up" ? [firstPage, count] : [pages - count, count]];
}

function exists(
  bands: readonly Figures[],
  demand: readonly number[],
  step: LayoutStep,
  index = 0,
  cursor = 0,
): boolean {
  const of = bands[index];
  if (of === undefined) return true;
  const { band, live, span } = of;
  const wanted = demand[index]!;
  const isEmpty = band.plan.grow === "float" && wanted === 0 && live === 0 && span[1] === 0;
  if (isEmpty) return exists(bands, demand, step, index + 1, cursor);
  const size = band.plan.page_bytes;
  return choices(of, wanted, step).some(
    ([first, count]) =>
      first * size >= cursor && exists(bands, demand, step, index + 1, (first + count) * size),
  );
}

/** Whether the bands as they stand, boundary holes of floats included, serve a demand without any move. Where a float
 * holds a fixed page this can be the only way: absorbed holes on one side are lost to a float that grows on the other. */
export function servesInPlace(core: KvCore, demand: readonly number[]): boolean {
  const bands = core.chain.bands.map((band): Figures => {
    const settled = figures(core, band, "network_moves");
    const free = band.holes.length + band.pendingPages;
    const span: Place = [band.spanFirst, band.spanCount];
    return band.plan.grow === "float" ? { ...settled, span, live: span[1] - free } : settled;
  });
  return hasIndexRoom(core, demand) && exists(bands, demand, "no_move");
}

function hasIndexRoom(core: KvCore, demand: readonly number[]): boolean {
  return core.chain.bands.every(
    ({ live, vacated, plan }, index) =>
      demand[index] === 0 || live + vacated.length + demand[index]! <= plan.pages - plan.first_page,
  );
}

/** The least step that serves a demand once all is settled, null where none does. @param demand - [bands] pages */
export function leastStep(
  core: KvCore,
  demand: readonly number[],
  attempt: Attempt,
): LayoutStep | null {
  const bands = core.chain.bands.map((band) => figures(core, band, attempt));
  if (!hasIndexRoom(core, demand)) return null;
  return STEPS.find((step) => exists(bands, demand, step)) ?? null;
}
