// How loads end: the tree or a row keeps what was loaded, or everything that a load took goes back.
import type { FreedOk } from "../base/operations.js";
import {
  FreedPages,
  giveBack,
  isHeld,
  takeId,
  takePage,
  takeSlots,
  takeVirtual,
} from "./model-give-back.js";
import { eachPathPage } from "./model-load-paths.js";
import type { LoadedPage, LoadedPath, LoadedRow, LoadedWindow, ModelLoad } from "./model-loads.js";
import type { BandPages } from "./model-pages.js";
import { eachId, type ModelRun } from "./model-run.js";

/** The copy is done: a load by key gives its pages to the tree, others are their row's already. @internal */
export function settleLoad(run: ModelRun, load: ModelLoad, ok: FreedOk): void {
  const freed = new FreedPages(run);
  if (load.path !== null) publish(run, load, load.path, freed, ok);
  giveBack(run, freed, ok);
  endPath(run, load);
  if (load.kept === null) return;
  for (const host of load.kept.row.host.flat()) run.host.release(host);
  run.kept.delete(load.kept.name);
}

/** Gives the tree what it still lacks; what it got from somebody else meanwhile goes back. */
function publish(
  run: ModelRun,
  load: ModelLoad,
  path: LoadedPath,
  freed: FreedPages,
  ok: FreedOk,
): void {
  const windows = run.arena.tokenBands.filter((band) => band.isWindow);
  const listed = new Map(windows.map((band) => [band, listedPages(ok, band)]));
  eachPathPage(run, load, path, (id, windowIn, at, isOwn) => {
    const isTaken = isOwn && at.node.virtual[at.page - at.node.firstPage] === 0;
    if (isTaken) run.tree.fill(at, id);
    for (const band of windows) {
      const window = windowIn(band);
      if (window === undefined) continue;
      if (!window.isNamed)
        freed.bands[band.index]!.push(window.id); // one list a band
      else {
        run.loads.setUnpublished(band, id, false);
        const isRefused = !isOwn && listed.get(band)!.has(band.placeOf(id)); // one a window
        if (isRefused) takeId(run, band, id, freed);
      }
    }
    if (isOwn && !isTaken) takeVirtual(run, id, freed);
  });
  const end = run.tree.nodeAt(path.tokens, path.pages);
  for (const { id } of load.slots) {
    if (end === null || end.state !== 0) takeSlots(run, [id], freed);
    else run.tree.setState(end, id);
  }
}

function listedPages(ok: FreedOk, band: BandPages): ReadonlySet<number> {
  const pages = new Set<number>();
  for (const lists of [ok.freed, ok.deferred ?? {}])
    eachId(lists[band.name] ?? [], (page) => pages.add(page));
  return pages;
}

/**
 * Gives everything back that a load took: reservations, bound or not, and what of it still stands in its row, which is
 * shortened where the load is its tail. What went into the tree stays there.
 * @internal
 */
export function releaseLoad(run: ModelRun, load: ModelLoad, ok: FreedOk): void {
  const freed = new FreedPages(run);
  const own = new Set(
    load.pages.filter((page) => isOwn(run, run.arena.owner, page)).map(({ id }) => id),
  );
  for (const band of run.arena.tokenBands) {
    for (const window of load.windows[band.index]!)
      // one list a band
      releaseWindow(run, load, band, window, own, freed);
  }
  const last = releasePages(run, load, own, freed);
  releaseSlots(run, load, freed);
  giveBack(run, freed, ok);
  if (load.row !== null) shorten(run, load.row, last);
  endPath(run, load);
}

/** Whether an id still is what the load was given, and no part of the tree by now. */
function isOwn(run: ModelRun, band: BandPages, { id, generation }: LoadedPage): boolean {
  if (!band.isBinding(id, generation) || !isHeld(run, band, id)) return false;
  return band.isState ? run.tree.nodeOfState(id) === undefined : run.tree.pageOf(id) === undefined;
}

/** One that lies under a placeholder, or alone under an id of the tree; others go with their id. */
function releaseWindow(
  run: ModelRun,
  load: ModelLoad,
  band: BandPages,
  window: LoadedWindow,
  own: ReadonlySet<number>,
  freed: FreedPages,
): void {
  if (window.isNamed) {
    if (load.path === null) return; // under a row's id, which somebody else may have by now
    run.loads.setUnpublished(band, window.id, false);
    if (own.has(window.id)) return;
  }
  takeId(run, band, window.id, freed);
}

/** Returns the last page of the row that goes, below 0 for none. */
function releasePages(
  run: ModelRun,
  load: ModelLoad,
  own: ReadonlySet<number>,
  freed: FreedPages,
): number {
  let last = -1;
  for (const [at, { id }] of load.pages.entries()) {
    if (!own.has(id)) continue;
    if (load.row === null) takeVirtual(run, id, freed);
    else {
      const position = load.row.positions[at]!; // one an id
      if (load.row.row.virtual[position] !== id) continue;
      takePage(run, load.row.row, position, freed);
      last = position;
    }
  }
  return last;
}

function releaseSlots(run: ModelRun, load: ModelLoad, freed: FreedPages): void {
  const band = run.arena.stateBand;
  if (band === null) return;
  for (const slot of load.slots) {
    if (!isOwn(run, band, slot)) continue;
    load.row?.row.removeSlot(slot.id);
    takeSlots(run, [slot.id], freed);
  }
}

/** Shortens a row whose last page went with its load to what it had before, but not below what the tree owns. */
function shorten(run: ModelRun, loaded: LoadedRow, last: number): void {
  const { row, from, cursors, setCursors } = loaded;
  if (run.rows.open.get(row.req) !== row) return; // closed meanwhile
  const size = run.config.page_size;
  const isTail = last >= 0 && run.rows.pagesOf(row.allocated) === last + 1;
  const left = isTail ? Math.max(from, row.protected) : row.allocated;
  const rowEnd = run.rows.pagesOf(left);
  for (const { index, isWindow } of run.arena.bands) {
    if (!isWindow) continue;
    const [before, now] = [cursors[index] ?? 0, row.retired[index] ?? 0];
    if (now === (setCursors[index] ?? 0))
      row.retired[index] = Math.max(before, Math.ceil(row.protected / size));
    else if (now > rowEnd) row.retired[index] = Math.max(rowEnd, before);
  }
  if (isTail) row.shorten(left, run.rows.pagesOf(left));
}

/** What a load held is free for others: its placeholders, its path, what it read on the host. */
function endPath(run: ModelRun, { path, windows }: ModelLoad): void {
  for (const band of run.arena.bands)
    for (const { id, isNamed } of windows[band.index]!)
      // one list a band
      if (!isNamed && band.placeOf(id) === 0) run.loads.recycle(id);
  if (path === null) return;
  run.tree.unlock(path.lock);
  for (const host of path.sources.flat()) host.locks -= 1;
}
