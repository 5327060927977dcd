// Places: physical pages by band index, as effects and answers list them.
import type { PageLists } from "../base/operations.js";
import type { ModelArena } from "./model-arena.js";
import { fail } from "./model-fault.js";
import type { BandPages } from "./model-pages.js";

/** Physical pages by band index. @internal */
export type Places = readonly (readonly number[])[];

/** Reads the lists of bound pages of an effect or answer; ids of other kinds are left out. @param what - who names them
 * @internal */
export function placesOf(arena: ModelArena, lists: PageLists, what: string): number[][] {
  const places = listedPlaces(arena, lists, what);
  for (const band of arena.bands)
    for (const page of places[band.index]!) requireBound(band, page, what); // one list a band
  return places;
}

/** The same, of pages that may get their id later. @internal */
export function listedPlaces(arena: ModelArena, lists: PageLists, what: string): number[][] {
  const places: number[][] = arena.bands.map(() => []);
  for (const [name, extents] of Object.entries(lists)) {
    if (name === "virtual" || name === "slots") continue;
    const band = arena.band(name);
    for (const [first, count] of extents) {
      for (let k = 0; k < Math.abs(count); k++) {
        const page = count > 0 ? first + k : first - k;
        if (!band.isUsable(page))
          fail("bad_effect", `${what} names ${name} page ${page}, which is not usable`, name, page);
        places[band.index]!.push(page); // one list a band
      }
    }
  }
  return places;
}

function requireBound(band: BandPages, page: number, what: string): void {
  if (band.holderOf(page) !== 0) return;
  fail(
    "bad_effect",
    `${what} names ${band.name} page ${page}, which is not bound`,
    band.name,
    page,
  );
}

/** Refuses places other than the true ones. @param what - who names them @internal */
export function comparePlaces(arena: ModelArena, own: Places, named: Places, what: string): void {
  for (const band of arena.bands) {
    const [held, said] = [own[band.index]!, named[band.index]!]; // one list a band
    for (let at = 0; at < Math.max(held.length, said.length); at++) {
      if (held[at] === said[at]) continue;
      const page = said[at] === undefined ? "nothing" : `page ${said[at]}`;
      const instead = held[at] === undefined ? "nothing belongs" : `page ${held[at]} lies`;
      const message = `${what} names ${page} as number ${at} in ${band.name}, where ${instead}`;
      fail("bad_effect", message, band.name, said[at] ?? held[at]);
    }
  }
}
