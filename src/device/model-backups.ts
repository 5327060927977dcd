// Copies to the host: of tree nodes, and of requests that are retracted. Which host page is for which device page follows
// from the order in which both are listed.
import { append } from "../base/append.js";
import type { Effect } from "../base/effects.js";
import { expand } from "../base/extents.js";
import type { KvArgs, KvOk, PageLists } from "../base/operations.js";
import type { CopiedPage } from "./model-copies.js";
import { fail } from "./model-fault.js";
import { closeRequest } from "./model-frees.js";
import { isHeld } from "./model-give-back.js";
import { withoutDoubtful } from "./model-groups.js";
import { type HostPage, hostLists } from "./model-host.js";
import type { BandPages } from "./model-pages.js";
import { comparePlaces, type Places } from "./model-places.js";
import { reveal } from "./model-placing.js";
import type { ModelRun } from "./model-run.js";
import type { ModelRow } from "./model-rows.js";
import { Tokens } from "./model-tokens.js";
import type { ModelNode } from "./model-tree.js";

/** A page of the path that a backup names. */
interface PathPage {
  readonly node: ModelNode;
  readonly page: number; // from the root
  readonly id: number; // virtual page or slot
}

/** Learns where the states of a path lie, if that is not known. @internal */
export function beforeBackup(
  run: ModelRun,
  { key, len }: KvArgs["host.backup"],
  _ok: KvOk["host.backup"],
  effects: readonly Effect[],
): void {
  const band = run.arena.stateBand;
  if (band === null || run.unplaced.size === 0) return;
  const copy = effects.find((effect) => effect[0] === "hostcopy");
  const places = expand(copy?.[3][band.name] ?? []);
  const lacking = pathPages(run, key, len, band).filter(isLacking(band));
  if (lacking.length !== places.length) return; // told when the copy is followed
  for (const [at, { id }] of lacking.entries()) reveal(run, band, id, places[at]!); // as many
}

/** Follows `host.backup`: pages of a path that have no host copy yet, parents first. @internal */
export function backUp(run: ModelRun, args: KvArgs["host.backup"], ok: KvOk["host.backup"]): void {
  const { arena } = run;
  const started = run.copies.takeStartedAs(args.copy, "out");
  const pages = hostLists(arena.bands, ok.host);
  const copied: CopiedPage[] = [];
  let last = 0; // pages of the path that are copied or lead there
  for (const band of arena.bands) {
    const path = pathPages(run, args.key, args.len, band);
    const places = started?.places[band.index] ?? []; // one list a band
    const named = new Set(places);
    const listed = path.filter(({ id }) => named.has(band.placeOf(id)));
    const missing = path.filter(isLacking(band)).find(({ id }) => !named.has(band.placeOf(id)));
    if (missing !== undefined && !run.hidesEvictions) {
      const what = arena.describe(band, band.placeOf(missing.id));
      fail("bad_effect", `${args.copy} leaves out ${what}, which has no host copy`, band.name);
    }
    comparePlaces(arena, only(run, band, listed), only(run, band, places), `copy ${args.copy}`);
    append(copied, takeHost(run, band, listed, pages[band.index]!)); // one list a band
    last = Math.max(last, (listed.at(-1)?.page ?? -1) + 1);
  }
  const end = run.tree.nodeAt(Tokens.of(args.key), last);
  if (end === null)
    fail("bad_effect", `${args.copy} copies ${args.len} tokens that are not cached`);
  const lock = run.tree.lock(end, args.copy, arena.operation);
  run.backups.set(args.copy, { pages: copied, lock });
  if (started !== null) run.copies.open(started, copied);
}

/** Pages of one band along a path that are cached on the device. */
function pathPages(
  run: ModelRun,
  key: KvArgs["host.backup"]["key"],
  len: number,
  band: BandPages,
): readonly PathPage[] {
  const { path, pages: end } = run.tree.walk(Tokens.of(key), len / run.config.page_size);
  const pages: PathPage[] = [];
  for (const node of path) {
    for (let page = node.firstPage; page < Math.min(node.endPage, end); page++) {
      const virtual = node.virtual[page - node.firstPage]!; // within the node
      const id = band.isState ? (page + 1 === node.endPage ? node.state : 0) : virtual;
      if (id !== 0 && isHeld(run, band, id) && !run.loads.isUnpublished(band, id))
        pages.push({ node, page, id });
    }
  }
  return pages;
}

function isLacking(band: BandPages): (page: PathPage) => boolean {
  return ({ node, page }) => node.hostAt(band, page) === undefined;
}

/** Places of one band alone. */
function only(
  run: ModelRun,
  band: BandPages,
  pages: readonly PathPage[] | readonly number[],
): Places {
  return run.arena.bands.map((other) =>
    other === band
      ? pages.map((page) => (typeof page === "number" ? page : band.placeOf(page.id)))
      : [],
  );
}

/** Takes a host page for each listed page; one that the tree still counted as copied lost its copy before. */
function takeHost(
  run: ModelRun,
  band: BandPages,
  listed: readonly PathPage[],
  pages: readonly number[],
): readonly CopiedPage[] {
  requireAsMany(band, listed.length, pages.length);
  return listed.map(({ node, page, id }, at) => {
    const before = node.hostAt(band, page);
    if (before !== undefined) run.host.release(before);
    const host = run.host.take(band, pages[at]!, band.contentOf(id), null); // as many
    node.setHost(page, host);
    return { band, place: band.placeOf(id), host };
  });
}

function requireAsMany(band: BandPages, places: number, pages: number): void {
  if (places === pages) return;
  fail("bad_effect", `${pages} host pages for ${places} pages of ${band.name}`, band.name);
}

/** Follows `host.backup_done`. @internal */
export function backupDone(run: ModelRun, { copy, outcome }: KvArgs["host.backup_done"]): void {
  run.copies.finish(copy); // the host has seen its end
  const isDone = outcome === "ok";
  const backup = run.backups.get(copy);
  if (backup !== undefined) {
    run.backups.delete(copy);
    run.tree.unlock(backup.lock);
    for (const { host } of backup.pages) settle(run, host, isDone);
    return;
  }
  const kept = run.kept.get(copy);
  if (kept === undefined) fail("bad_effect", `${copy} is done and copied nothing to the host`);
  for (const host of kept.host.flat()) settle(run, host, isDone);
  if (!isDone) run.kept.delete(copy);
}

function settle(run: ModelRun, host: HostPage, isDone: boolean): void {
  if (isDone) host.isReady = true;
  else run.host.release(host);
}

/** Follows `request.retract`, with or without a copy of the row. @internal */
export function retract(
  run: ModelRun,
  { req, backup }: KvArgs["request.retract"],
  ok: KvOk["request.retract"],
): void {
  if (backup !== undefined) keepRow(run, run.rows.require(req), backup, ok.host ?? {});
  closeRequest(run, req, ok);
}

function keepRow(run: ModelRun, row: ModelRow, copy: string, lists: PageLists): void {
  const { arena } = run;
  const started = run.copies.takeStartedAs(copy, "out");
  const places = placesOfRow(run, row);
  const named = started?.places ?? arena.bands.map(() => []);
  const sure = withoutDoubtful(run, places, named);
  comparePlaces(arena, sure, named, `copy ${copy}`);
  const pages = hostLists(arena.bands, lists);
  const host: HostPage[][] = [];
  const copied: CopiedPage[] = [];
  for (const band of arena.bands) {
    const own = sure[band.index]!; // one list a band, as below
    requireAsMany(band, own.length, pages[band.index]!.length);
    const taken = own.map((place, at) => {
      const content = band.contentOf(band.holderOf(place));
      const page = run.host.take(band, pages[band.index]![at]!, content, copy); // as many
      copied.push({ band, place, host: page });
      return page;
    });
    host.push(taken);
  }
  run.kept.set(copy, { ...shapeOf(run, row, sure), host });
  if (started !== null) run.copies.open(started, copied);
}

/** What of a row goes to the host: full pages, window pages still held, main states. */
function placesOfRow(run: ModelRun, row: ModelRow): Places {
  return run.arena.bands.map((band) => {
    const ids = band.isState ? row.slots.main : Array.from(row.virtual.subarray(0, row.pageCount));
    return ids.filter((id) => id !== 0 && isHeld(run, band, id)).map((id) => band.placeOf(id));
  });
}

function shapeOf(
  run: ModelRun,
  row: ModelRow,
  places: Places,
): Omit<Parameters<ModelRun["kept"]["set"]>[1], "host"> {
  const positions: number[] = [];
  for (let page = 0; page < row.pageCount; page++)
    if (row.virtual[page] !== 0) positions.push(page);
  const windows = run.arena.bands.map((band) => {
    const held = new Set(places[band.index]); // one list a band
    const isThere = (at: number): boolean => held.has(band.placeOf(row.virtual[positions[at]!]!)); // a page of the row
    return band.isWindow ? [...positions.keys()].filter(isThere) : [];
  });
  const { allocated, retired } = row;
  return { positions, windows, slots: row.slots.main.length, allocated, retired: [...retired] };
}

/** Follows `host.evict`: what goes must be held and idle. @internal */
export function evictHost(run: ModelRun, ok: KvOk["host.evict"]): void {
  const pages = hostLists(run.arena.bands, ok.freed);
  const evicted = run.arena.bands.flatMap(
    (band) => pages[band.index]!.map((page) => run.host.evict(band, page)), // one list a band
  );
  // What lay behind an evicted copy went before it, if not by this operation then unseen by an earlier one.
  for (const host of foremost(evicted)) run.host.releaseBehind(host);
}

/** Of each node the page nearest the root: what lies behind it lies behind the others too. */
function foremost(pages: readonly HostPage[]): Iterable<HostPage> {
  const found = new Map<HostPage["home"], HostPage>();
  for (const page of pages) {
    const before = found.get(page.home);
    if (before === undefined || page.position < before.position) found.set(page.home, page);
  }
  return found.values();
}
