// Loads from the host: which pages are reserved, under which ids they come to lie, what the copy fills them with. A load by
// key fills the gaps of a path of the tree, one for a stated demand goes behind a row, a restored request is a row anew.
import { append } from "../base/append.js";
import { hashName } from "../base/digest.js";
import { expand } from "../base/extents.js";
import type { KvArgs, KvOk, PageLists } from "../base/operations.js";
import type { CopiedPage } from "./model-copies.js";
import { fail } from "./model-fault.js";
import { isHeld } from "./model-give-back.js";
import { HostPage } from "./model-host.js";
import { releaseLoad, settleLoad } from "./model-load-ends.js";
import { bindPath, lackingPath } from "./model-load-paths.js";
import { type LoadedPage, type LoadedWindow, ModelLoad } from "./model-loads.js";
import { nameWindow } from "./model-naming.js";
import { ACT, type BandPages, ID, offsetOf, PAGE, stampOf, writerOf } from "./model-pages.js";
import { comparePlaces, listedPlaces, type Places } from "./model-places.js";
import { eachId, type ModelRun } from "./model-run.js";
import type { ModelRow } from "./model-rows.js";
import type { ModelUse } from "./model-uses.js";

/** Follows `host.load_reserve`. @internal */
export function reserve(
  run: ModelRun,
  args: KvArgs["host.load_reserve"],
  ok: KvOk["host.load_reserve"],
): void {
  const places = listedPlaces(run.arena, ok.pages, `load ${args.load}`);
  const { key, len = 0 } = args;
  const counts = places.map((pages) => pages.length);
  const path = key === undefined ? null : lackingPath(run, args.load, { key, len }, counts);
  for (const band of run.arena.bands) {
    const wanted = path === null ? (args.demand?.[band.name] ?? 0) : path.wanted[band.index]!;
    const given = places[band.index]!.length; // one list a band, as above
    if (given !== wanted) {
      const message = `load ${args.load} gets ${given} pages of ${band.name}, it needs ${wanted}`;
      fail("bad_effect", message, band.name);
    }
  }
  const load = takeLoad(run, args.load, ok.pages, places);
  if (path !== null) load.path = path;
  run.loads.reserved.set(args.load, load);
}

/** Binds what a load was given: full pages and states under their ids, window pages under placeholders. */
function takeLoad(run: ModelRun, name: string, lists: PageLists, places: Places): ModelLoad {
  const { arena } = run;
  const windows = arena.bands.map((band) =>
    band.isWindow
      ? places[band.index]!.map((page): LoadedWindow => {
          const id = run.loads.placeholder(arena.owner);
          return { ...bindLoaded(run, band, id, page), isNamed: false };
        })
      : [],
  );
  const pages = bindAll(run, arena.owner, expand(lists["virtual"] ?? []), places);
  const { stateBand } = arena;
  const slots =
    stateBand === null ? [] : bindAll(run, stateBand, expand(lists["slots"] ?? []), places);
  return new ModelLoad(name, pages, slots, windows, reservations(run, name, places));
}

function bindAll(
  run: ModelRun,
  band: BandPages,
  ids: readonly number[],
  places: Places,
): LoadedPage[] {
  const pages = places[band.index]!; // one list a band
  if (ids.length !== pages.length)
    fail("bad_effect", `${pages.length} ${band.name} pages under ${ids.length} ids`, band.name);
  return ids.map((id, at) => {
    if (!band.isUsable(id))
      fail("bad_effect", `id ${id} is not in ${band.firstPage} to ${band.pages - 1}`, band.name);
    return bindLoaded(run, band, id, pages[at]!); // as many
  });
}

/** A loaded page is not zeroed: whatever is there stays until the copy overwrites it. @internal */
export function bindLoaded(run: ModelRun, band: BandPages, id: number, page: number): LoadedPage {
  const { arena } = run;
  for (const [bound, what] of [
    [band.placeOf(id), "is bound again"],
    [band.holderOf(page) === 0 ? 0 : page, "is handed out while it is live"],
  ] as const)
    if (bound !== 0) fail("bad_effect", `${arena.describe(band, bound)} ${what}`, band.name, bound);
  arena.claim(band, page, ACT.reserve);
  band.bind(id, page, band.page(page)[offsetOf(page) + PAGE.content]!, arena.operation); // inside the block
  return { id, generation: band.id(id)[offsetOf(id) + ID.generation]! };
}

/** Until its copy is submitted nobody reads, writes or moves a reserved page. With stages ids alone keep full pages. */
function reservations(run: ModelRun, name: string, places: Places): (ModelUse | null)[] {
  return run.arena.bands.map((band) => {
    if (run.staged && !band.isWindow) return null;
    return reserved(run, name, band, places[band.index]!); // one list a band
  });
}

function reserved(
  run: ModelRun,
  name: string,
  band: BandPages,
  pages: readonly number[],
): ModelUse | null {
  if (pages.length === 0) return null;
  const places = run.arena.bands.map((other) => (other === band ? pages : []));
  const use: ModelUse = { name, kind: "reservation", writes: true, places, isOver: false };
  run.arena.uses.open(use);
  return use;
}

/** Follows `host.load_bind`. @internal */
export function bindLoad(
  run: ModelRun,
  { load: name, req, from }: KvArgs["host.load_bind"],
  ok: KvOk["host.load_bind"],
): void {
  const load = run.loads.require(name);
  const bound =
    load.path === null ? bindBehind(run, load, req, from) : bindPath(run, load, load.path);
  for (const band of run.arena.bands) if (band.isWindow) endReservation(run, load, band);
  compareBound(run, bound, ok.bound);
}

/** Named window pages are free to move; those without a name stay reserved. */
function endReservation(run: ModelRun, load: ModelLoad, band: BandPages): void {
  const use = load.reservations[band.index] ?? null; // one a band, as below
  if (use === null) return;
  run.arena.uses.close(use);
  const left = load.windows[band.index]!.filter((window) => !window.isNamed);
  const places = left.map(({ id }) => band.placeOf(id));
  load.reservations[band.index] = reserved(run, load.name, band, places);
}

/** The row takes the load's ids behind its last page; window pages go to its last positions. */
function bindBehind(
  run: ModelRun,
  load: ModelLoad,
  req: string | undefined,
  from: number | undefined,
): Map<string, number[]> {
  const row = run.rows.require(
    req ?? fail("bad_effect", `load ${load.name} is bound to no request`),
  );
  if (from !== row.allocated)
    fail("bad_effect", `${row.req} takes a load at ${from}, its row ends at ${row.allocated}`);
  const first = row.pageCount;
  enterRow(
    load,
    row,
    load.pages.map((_, at) => first + at),
  );
  for (const { id } of load.pages) row.push(id);
  if (load.pages.length > 0) row.allocated = row.pageCount * run.config.page_size;
  const most = Math.max(0, ...load.windows.map((windows) => windows.length));
  const bound = new Map([
    ["virtual", Array.from(row.virtual.subarray(row.pageCount - most, row.pageCount))],
  ]);
  for (const band of run.arena.tokenBands) {
    if (!band.isWindow) continue;
    const windows = load.windows[band.index]!; // one list a band
    const start = row.pageCount - windows.length;
    for (const [at, window] of windows.entries())
      nameWindow(run, band, window, row.virtual[start + at]!); // as many pages
    const pages = windows.map(({ id }) => band.placeOf(id));
    if (windows.length > 0)
      bound.set(band.name, [...new Array<number>(most - windows.length).fill(0), ...pages]);
    if (windows.length < load.pages.length) setCursor(load, band, start);
  }
  return bound;
}

/** Notes which row a load's ids and states join, and what it was before. @internal */
export function enterRow(load: ModelLoad, row: ModelRow, positions: readonly number[]): void {
  append(
    row.slots.main,
    load.slots.map(({ id }) => id),
  );
  const cursors = [...row.retired];
  load.row = { row, positions, from: row.allocated, cursors, setCursors: cursors };
}

function setCursor({ row }: ModelLoad, band: BandPages, page: number): void {
  if (row === null) return;
  row.row.retired[band.index] = page;
  row.setCursors = [...row.row.retired];
}

function compareBound(
  run: ModelRun,
  own: ReadonlyMap<string, number[]>,
  answered: PageLists,
): void {
  for (const name of Object.keys(answered)) if (name !== "virtual") run.arena.band(name);
  for (const name of ["virtual", ...run.arena.bands.map((band) => band.name)]) {
    const held = own.get(name) ?? [];
    let at = 0;
    eachId(answered[name] ?? [], (id) => {
      if (held[at++] !== id)
        fail("bad_effect", `the answer binds ${name} ${id}, not ${held[at - 1] ?? "so many"}`);
    });
    if (at < held.length) fail("bad_effect", `the answer binds ${at} of ${held.length} in ${name}`);
  }
}

/** Ends the reservations of a load before its copy is submitted. @internal */
export function beforeSubmit(run: ModelRun, { load: name }: KvArgs["host.load_submit"]): void {
  for (const use of run.loads.require(name).reservations)
    if (use !== null) run.arena.uses.close(use);
}

/** Follows `host.load_submit`. @internal */
export function submit(
  run: ModelRun,
  { load: name, copy }: KvArgs["host.load_submit"],
  ok: KvOk["host.load_submit"],
): void {
  const load = run.loads.require(name);
  run.loads.reserved.delete(name);
  run.loads.submitted.set(copy, load);
  const places = startLoad(run, load, copy);
  const named = listedPlaces(run.arena, ok.pages, `the answer for ${name}`);
  comparePlaces(run.arena, places, named, `the answer for ${name}`);
}

/** Opens the copy of a load over where its pages lie now; what it will fill them with counts from now on. @internal */
export function startLoad(run: ModelRun, load: ModelLoad, copy: string): Places {
  const { arena } = run;
  const started = run.copies.takeStartedAs(copy, "in");
  const copied: CopiedPage[] = [];
  const places = arena.bands.map((): number[] => []);
  for (const band of arena.bands) {
    for (const [at, { id }] of pagesOf(load, band, arena.owner).entries()) {
      if (band.placeOf(id) === 0 || !isHeld(run, band, id)) continue; // freed since it was bound
      const place = band.placeOf(id);
      const sources = load.path?.sources ?? load.kept?.row.host;
      const host = sources?.[band.index]![at] ?? madeUp(band, copy, at);
      places[band.index]!.push(place); // one list a band
      copied.push({ band, place, host });
    }
  }
  const named = started?.places ?? arena.bands.map(() => []);
  comparePlaces(arena, places, named, `copy ${copy}`);
  if (started !== null) run.copies.open(started, copied);
  return places;
}

/** A load's pages of one band. @internal */
export function pagesOf(
  load: ModelLoad,
  band: BandPages,
  owner: BandPages,
): readonly (LoadedPage | LoadedWindow)[] {
  if (band === owner) return load.pages;
  return band.isState ? load.slots : load.windows[band.index]!; // one list a band
}

/** What a load for a stated demand brings: nobody said what it is, so its stamps are its own. */
function madeUp(band: BandPages, copy: string, at: number): HostPage {
  const writer = writerOf(hashName(copy), hashName(band.name));
  const stamps = Int32Array.from({ length: band.units }, (_, unit) =>
    stampOf(writer, at * band.units + unit),
  );
  const content = band.contentOfStamps(stamps);
  const page = new HostPage(band, at, content, copy);
  page.physical = content.a;
  page.isMadeUp = true;
  return page;
}

/** Follows `host.load_cancel`. @internal */
export function cancel(
  run: ModelRun,
  { load: name }: KvArgs["host.load_cancel"],
  ok: KvOk["host.load_cancel"],
): void {
  const load = run.loads.require(name);
  run.loads.reserved.delete(name);
  for (const use of load.reservations) if (use !== null) run.arena.uses.close(use);
  releaseLoad(run, load, ok);
}

/** The host has seen the end of a copy. @internal */
export function beforeDone(run: ModelRun, { copy }: KvArgs["host.load_done"]): void {
  run.copies.finish(copy);
}

/** Follows `host.load_done`. @internal */
export function done(
  run: ModelRun,
  { copy, outcome }: KvArgs["host.load_done"],
  ok: KvOk["host.load_done"],
): void {
  const load = run.loads.submitted.get(copy);
  if (load === undefined) fail("bad_effect", `${copy} is done and loaded nothing`);
  run.loads.submitted.delete(copy);
  if (outcome === "ok") settleLoad(run, load, ok);
  else releaseLoad(run, load, ok);
}
