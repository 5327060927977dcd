// Learning where a state slot lies whose hand-out did not tell. What was written over its bytes meanwhile shows then.
import type { PageLists } from "../base/operations.js";
import { fail } from "./model-fault.js";
import { type BandPages, ID, offsetOf, PAGE } from "./model-pages.js";
import { eachId, type ModelRun } from "./model-run.js";
import { SOME_SLOT } from "./model-unplaced.js";

/** Hands out a slot whose place is not told. @internal */
export function bindUnplaced(run: ModelRun, band: BandPages, slot: number): void {
  if (!band.isUsable(slot))
    fail("bad_effect", `slot ${slot} is not in ${band.firstPage} to ${band.pages - 1}`, band.name);
  if (band.placeOf(slot) !== 0 || run.unplaced.has(slot))
    fail("bad_effect", `slot ${slot} is handed out while it is held`, band.name);
  band.isWatched = true;
  band.touch(band.firstPage);
  band.touch(band.pages - 1);
  band.bindNowhere(slot, run.arena.operation);
  run.unplaced.add(slot, run.arena.operation);
}

/** Says where an unplaced slot lies; its bytes must be its own since it was handed out. @internal */
export function reveal(run: ModelRun, band: BandPages, slot: number, page: number): void {
  const unplaced = run.unplaced.take(slot);
  if (unplaced === undefined) return;
  if (!band.isUsable(page))
    fail(
      "bad_effect",
      `slot ${slot} lies at ${band.name} page ${page}, which is not usable`,
      band.name,
    );
  const holder = band.holderOf(page);
  if (holder > 0) {
    const held = run.arena.describe(band, page);
    fail("bad_effect", `slot ${slot} lies at ${held}, which is live`, band.name, page);
  }
  if (holder !== SOME_SLOT) requireUntouched(band, page, unplaced.operation, `slot ${slot}`);
  const ids = band.id(slot);
  const at = offsetOf(slot);
  const block = band.page(page);
  const p = offsetOf(page);
  if (ids[at + ID.sumA] === 0) ids[at + ID.expected] = block[p + PAGE.content]!; // never written
  band.touch(page);
  band.place(slot, page);
  band.tap?.revealed(band, slot, page);
  block[p + PAGE.content] = ids[at + ID.expected]!; // inside the block, as below
  block[p + PAGE.reader] = Math.max(block[p + PAGE.reader]!, unplaced.writer);
  block[p + PAGE.writer] = Math.max(block[p + PAGE.writer]!, unplaced.writer);
}

/** Refuses a page that somebody wrote since `operation`. */
function requireUntouched(band: BandPages, page: number, operation: number, who: string): void {
  const wrote = band.page(page)[offsetOf(page) + PAGE.byOperation]!; // inside the block
  if (wrote <= operation) return;
  const message = `${who}, handed out in operation ${operation}, lies at ${band.name} page ${page}, whose bytes operation ${wrote} wrote`;
  fail("lost_write", message, band.name, page);
}

/** Takes a page that is moved or copied as one of an unplaced slot, if it may be one. @internal */
export function assumeUnplaced(run: ModelRun, band: BandPages, page: number): void {
  if (!band.isState || run.unplaced.size === 0 || band.holderOf(page) !== 0) return;
  requireUntouched(band, page, run.unplaced.newest, "a slot that changed owners");
  band.page(page)[offsetOf(page) + PAGE.holder] = SOME_SLOT;
}

/** Learns places from a list of freed slots and the list of their pages: both stand in the same order. @internal */
export function revealListed(run: ModelRun, lists: PageLists): void {
  const band = run.arena.stateBand;
  if (band === null || run.unplaced.size === 0) return;
  const slots: number[] = [];
  eachId(lists["slots"] ?? [], (slot) => {
    if (run.unplaced.has(slot)) slots.push(slot);
  });
  eachId(lists[band.name] ?? [], (page) => {
    if (band.isUsable(page) && band.holderOf(page) <= 0) {
      const slot = slots.shift();
      if (slot !== undefined) reveal(run, band, slot, page);
    }
  });
}
