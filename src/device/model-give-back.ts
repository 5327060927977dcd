// Giving pages back: what a row, the tree or a load lets go of is held against what the answer lists, page by page, and
// then unbound. Pages that a transfer touches are listed apart and stay bound until it is over.
import type { EndedTransfers, Extents, FreedOk, PageLists } from "../base/operations.js";
import { fail } from "./model-fault.js";
import type { BandPages } from "./model-pages.js";
import { eachId, type ModelRun } from "./model-run.js";
import type { ModelRow } from "./model-rows.js";
import { revealListed } from "./model-placing.js";

/** What is given back, in the order in which an answer lists it. @internal */
export class FreedPages {
  readonly virtual: number[] = [];
  readonly slots: number[] = [];
  readonly bands: number[][]; // virtual (slot) ids by band index
  constructor(run: ModelRun) {
    this.bands = run.arena.bands.map(() => []);
  }
}

/** Whether a page is bound and was not given back in the open group, nor waits for a transfer. @internal */
export function isHeld(run: ModelRun, band: BandPages, id: number): boolean {
  if (band.placeOf(id) === 0 && !(band.isState && run.unplaced.has(id))) return false;
  if (run.group?.bands[band.index]!.has(id) === true) return false; // one set a band
  return !run.deferred.has(band, id);
}

/** Takes the page at `index` out of a row, in every band. @internal */
export function takePage(run: ModelRun, row: ModelRow, index: number, freed: FreedPages): void {
  const id = row.virtual[index]!; // below pageCount
  if (id === 0) return;
  row.put(index, 0);
  takeVirtual(run, id, freed);
}

/** @internal */
export function takeVirtual(run: ModelRun, id: number, freed: FreedPages): void {
  freed.virtual.push(id);
  for (const band of run.arena.tokenBands) takeId(run, band, id, freed);
}

/** @internal */
export function takeSlots(run: ModelRun, slots: readonly number[], freed: FreedPages): void {
  const band = run.arena.stateBand;
  for (const slot of slots) {
    freed.slots.push(slot);
    if (band !== null) takeId(run, band, slot, freed);
  }
}

/** @internal */
export function takeId(run: ModelRun, band: BandPages, id: number, freed: FreedPages): void {
  if (isHeld(run, band, id)) freed.bands[band.index]!.push(id); // one list a band
}

/** Holds what is given back against an answer and unbinds it; in an open group it waits for the group's end. @internal */
export function giveBack(run: ModelRun, freed: FreedPages, ok: FreedOk): void {
  const { group } = run;
  if (group !== null) {
    requireEmpty(ok.freed);
    requireEmpty(ok.deferred ?? {});
    for (const id of freed.virtual) group.virtual.add(id);
    for (const id of freed.slots) group.slots.add(id);
    for (const [index, ids] of freed.bands.entries())
      for (const id of ids) group.bands[index]!.add(id); // one set a band
    return;
  }
  giveBackNow(run, freed, ok);
}

function giveBackNow(run: ModelRun, freed: FreedPages, ok: FreedOk): void {
  const deferred = ok.deferred ?? {};
  for (const lists of [ok.freed, deferred]) {
    for (const name of Object.keys(lists))
      if (name !== "virtual" && name !== "slots") run.arena.band(name);
    revealListed(run, lists);
  }
  for (const [index, ids] of freed.bands.entries()) {
    const band = run.arena.bands[index]!; // one list a band
    giveBackPages(run, band, ids, ok.freed[band.name] ?? [], deferred[band.name] ?? []);
  }
  const waits = (id: number): boolean =>
    run.arena.tokenBands.some((band) => run.deferred.has(band, id));
  giveBackIds("virtual", freed.virtual, waits, run.deferred.virtual, ok);
  const { stateBand } = run.arena;
  const slotWaits = (id: number): boolean => stateBand !== null && run.deferred.has(stateBand, id);
  giveBackIds("slots", freed.slots, slotWaits, run.deferred.slots, ok);
}

function giveBackPages(
  run: ModelRun,
  band: BandPages,
  ids: readonly number[],
  listed: Extents,
  deferred: Extents,
): void {
  const now: number[] = [];
  const later: number[] = [];
  for (const id of ids) {
    const touched = run.arena.uses.transfersAt(band, band.placeOf(id)).length > 0;
    (touched ? later : now).push(id);
  }
  const place = (id: number): number => band.placeOf(id);
  compare(`frees ${band.name}`, now.map(place), listed);
  compare(`defers ${band.name}`, later.map(place), deferred);
  for (const id of now) endBinding(run, band, id);
  for (const id of later) defer(run, band, id);
}

/** Notes that a page, given back, stays until the transfers at its place are over. @internal */
export function defer(run: ModelRun, band: BandPages, id: number): void {
  const transfers = run.arena.uses.transfersAt(band, band.placeOf(id));
  run.deferred.add({ band, id, transfers });
  run.tap?.letGo(band, id);
}

function giveBackIds(
  what: "virtual" | "slots",
  ids: readonly number[],
  waits: (id: number) => boolean,
  waiting: Set<number>,
  ok: FreedOk,
): void {
  const later = ids.filter(waits);
  const now = later.length === 0 ? ids : ids.filter((id) => !waits(id));
  compare(`frees ${what}`, now, ok.freed[what] ?? []);
  compare(`defers ${what}`, later, ok.deferred?.[what] ?? []);
  for (const id of later) waiting.add(id);
}

/** Frees what no transfer holds back any more, as `listed`. @internal */
export function releaseReady(run: ModelRun, listed: PageLists): void {
  const ready = run.deferred.takeReady();
  const freed = new FreedPages(run);
  const ids = new Set<number>();
  for (const { band, id } of ready) {
    freed.bands[band.index]!.push(id); // one list a band
    if (!band.isState) ids.add(id);
    else if (run.deferred.slots.delete(id)) freed.slots.push(id);
  }
  for (const id of ids.size > 0 ? run.deferred.virtual : []) {
    if (!ids.has(id)) continue;
    if (!run.arena.tokenBands.some((other) => run.deferred.has(other, id))) freed.virtual.push(id);
  }
  for (const id of freed.virtual) run.deferred.virtual.delete(id);
  // Pages go back in the order of their frees, ids in the order in which they were let go of. A group that is open
  // meanwhile has nothing to do with these frees.
  giveBackNow(run, freed, { freed: listed });
}

/** Holds the transfers that an operation ended by itself against its answer. @internal */
export function settleEnded(run: ModelRun, ended: EndedTransfers | undefined): void {
  const own = run.transfers.takeEnded();
  const listed = ended?.transfers ?? [];
  if (own.length !== listed.length || own.some((name, index) => name !== listed[index])) {
    const said = listed.length === 0 ? "none" : listed.join(", ");
    fail(
      "bad_effect",
      `the operation ends ${own.join(", ") || "no transfer"}, the answer says ${said}`,
    );
  }
  if (ended !== undefined) releaseReady(run, ended.freed);
}

/** A page is verified once more before its last holder lets go of it. @internal */
export function endBinding(run: ModelRun, band: BandPages, id: number): void {
  run.arena.verify(band, id);
  band.unbind(id);
}

/** @param does - what the answer does with the listed ones: `frees full` */
function compare(does: string, places: readonly number[], answered: Extents): void {
  let index = 0;
  eachId(answered, (id) => {
    const own = places[index++];
    if (own === id) return;
    const held = own === 0 ? "a slot without a known place" : `${own}`;
    const instead = own === undefined ? "nothing more is held" : `${held} is held`;
    fail("bad_effect", `the answer ${does} ${id} where ${instead}`);
  });
  if (index === places.length) return;
  const [verb, what] = does.split(" ");
  const left = `${places[index]!} is left out`; // fewer are answered
  fail("bad_effect", `the answer ${verb!} ${index} of ${places.length} in ${what!}: ${left}`);
}

/** @internal */
export function requireEmpty(answered: PageLists): void {
  for (const [name, extents] of Object.entries(answered))
    if (extents.length > 0) fail("bad_effect", `${name} pages are freed inside an open group`);
}
