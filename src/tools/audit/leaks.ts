// Leaks by identity: live pages that no row, no tree, no load and no wait holds, with the operation that took them.
import type { BandBook } from "./band-book.js";
import type { Books } from "./books.js";
import { PURPOSES } from "./row-book.js";

/** Reports every live page without a holder, once. @internal */
export function reportLeaks(books: Books, told: Set<string>): void {
  if (books.hidesEvictions) return; // what the tree let go of is listed at the group's end
  for (const band of books.bands) {
    const held = heldIn(books, band);
    for (const [id, page] of band.places) {
      if (held.has(id) || band.given.has(id)) continue;
      const { takenAt } = band.record(page);
      const name = `${band.name} ${id} ${takenAt}`;
      if (told.has(name)) continue;
      told.add(name);
      const kind = band.isState ? "slot" : "virtual";
      books.report(
        "leak",
        `${band.name} page ${page} (${kind} ${id}) is live and nobody holds it: taken by operation ${takenAt}`,
        { band, page },
      );
    }
  }
}

function heldIn(books: Books, band: BandBook): ReadonlySet<number> {
  const held = new Set<number>();
  for (const row of books.rows.values()) {
    if (band.isState)
      for (const purpose of PURPOSES) for (const slot of row.slots[purpose]) held.add(slot);
    else for (const id of row.ids) held.add(id);
  }
  for (const id of (band.isState ? books.tree.stateOf : books.tree.pageOf).keys()) held.add(id);
  if (band.isState) for (const slot of books.group?.doubtful.keys() ?? []) held.add(slot);
  const open = [...books.copies.open.values()].flatMap(({ load }) => (load === null ? [] : [load]));
  for (const load of [...books.loads.values(), ...open]) {
    for (const id of band.isState ? load.slots : load.ids) held.add(id);
    for (const window of load.windows) if (window.band === band) held.add(window.id);
  }
  if (band.isState) for (const id of band.places.keys()) if (id < 0) held.add(id); // some slot without a known place
  return held;
}
