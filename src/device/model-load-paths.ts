// Loads by key: what a path of the tree lacks on the device, in which order it comes, where the host has it.
import type { Key } from "../base/operations.js";
import { fail } from "./model-fault.js";
import { isHeld } from "./model-give-back.js";
import { evictState, inferEvicted } from "./model-groups.js";
import type { HostPage } from "./model-host.js";
import type { LoadedPath, LoadedWindow, ModelLoad } from "./model-loads.js";
import { nameWindow } from "./model-naming.js";
import type { BandPages } from "./model-pages.js";
import type { ModelRun } from "./model-run.js";
import { Tokens } from "./model-tokens.js";
import type { ModelNode, TreePage } from "./model-tree.js";

/** A path with how many pages it lacks, by band index. @internal */
export interface LackingPath extends LoadedPath {
  readonly wanted: readonly number[];
}

/**
 * What the path to `len` lacks: full pages, each window over its last tokens, the state at the end.
 * @param given - pages by band index that the answer gives: they tell what an eviction inside the open group took
 * @internal
 */
export function lackingPath(
  run: ModelRun,
  load: string,
  { key, len }: { readonly key: Key; readonly len: number },
  given: readonly number[],
): LackingPath {
  const size = run.config.page_size;
  const { arena, tree } = run;
  const tokens = Tokens.of(key);
  const pages = len / size;
  const end = tree.nodeAt(tokens, pages);
  if (end === null) fail("bad_effect", `load ${load} reads ${len} tokens that are not cached`);
  if (run.hidesEvictions) inferEvicted(run, tokens, pages, pages - given[arena.owner.index]!); // one a band
  const { path } = tree.walk(tokens, pages);
  const positions = arena.bands.map((band) => {
    const wanted = given[band.index]!; // as above
    if (band.isState) {
      if (run.hidesEvictions && wanted > 0 && end.state !== 0) evictState(run, end.state);
      const isThere = end.state !== 0 && isHeld(run, band, end.state);
      return pages > 0 && !isThere ? [pages - 1] : [];
    }
    const first = band.isWindow ? Math.max(0, Math.floor((len - band.window) / size)) : 0;
    const lacking = path.flatMap((node) => lackingIn(run, band, node, first));
    return run.hidesEvictions && band.isWindow
      ? withHidden(path, band, lacking, first, wanted)
      : lacking;
  });
  const sources = arena.bands.map(
    (band) => positions[band.index]!.map((page) => sourceAt(path, band, page, load)), // one list a band
  );
  for (const host of sources.flat()) host.locks += 1;
  return {
    tokens,
    pages,
    full: positions[arena.owner.index]!, // as above
    windows: positions,
    sources,
    lock: tree.lock(end, load, arena.operation),
    wanted: positions.map((list) => list.length),
  };
}

/** Adds positions whose window an eviction inside the open group may have taken, until there are as many as are given. */
function withHidden(
  path: readonly ModelNode[],
  band: BandPages,
  lacking: readonly number[],
  first: number,
  wanted: number,
): number[] {
  const positions = new Set(lacking);
  for (const node of path) {
    for (let page = Math.max(node.firstPage, first); page < node.endPage; page++)
      if (positions.size < wanted && node.hostAt(band, page)?.isReady === true) positions.add(page);
  }
  return [...positions].sort((left, right) => left - right);
}

function lackingIn(run: ModelRun, band: BandPages, node: ModelNode, first: number): number[] {
  const pages: number[] = [];
  for (let page = Math.max(node.firstPage, first); page < node.endPage; page++) {
    const id = node.virtual[page - node.firstPage]!; // within the node
    if (id === 0 || !isHeld(run, band, id) || run.loads.isUnpublished(band, id)) pages.push(page);
  }
  return pages;
}

function sourceAt(
  path: readonly ModelNode[],
  band: BandPages,
  page: number,
  load: string,
): HostPage {
  const node = path.find(({ endPage }) => endPage > page);
  const host = node?.hostAt(band, page);
  if (host?.isReady === true) return host;
  const what = `page ${page} of ${band.name}`;
  return fail("bad_effect", `load ${load} reads ${what}, of which the host has no copy`, band.name);
}

/**
 * Names the window pages of a load by the ids of their positions; where a window is bound there by now they keep their
 * placeholder. Returns what the answer lists.
 * @internal
 */
export function bindPath(run: ModelRun, load: ModelLoad, path: LoadedPath): Map<string, number[]> {
  const windows = run.arena.tokenBands.filter((band) => load.windows[band.index]!.length > 0);
  const bound = new Map<string, number[]>(windows.map((band) => [band.name, []]));
  const virtual: number[] = [];
  eachPathPage(run, load, path, (id, windowIn) => {
    const named = windows.map((band) => nameOne(run, band, windowIn(band), id));
    if (named.every((place) => place === 0)) return;
    virtual.push(id);
    for (const [at, band] of windows.entries()) bound.get(band.name)!.push(named[at]!); // set above
  });
  return bound.set("virtual", virtual);
}

/** Binds one window page, if the load has one for this position; where it lies, else 0. */
function nameOne(
  run: ModelRun,
  band: BandPages,
  window: LoadedWindow | undefined,
  id: number,
): number {
  if (window === undefined || band.placeOf(id) !== 0) return 0;
  nameWindow(run, band, window, id);
  run.loads.setUnpublished(band, id, true);
  return band.placeOf(id);
}

/** What a load has for a position of its path, by band. @internal */
export type WindowIn = (band: BandPages) => LoadedWindow | undefined;

/** Visits the positions of a path in order. `id` is the load's own there, else the tree's. @internal */
export function eachPathPage(
  run: ModelRun,
  load: ModelLoad,
  path: LoadedPath,
  visit: (id: number, windowIn: WindowIn, at: TreePage, isOwn: boolean) => void,
): void {
  const own = new Map(path.full.map((page, at) => [page, load.pages[at]!.id])); // one a position
  const windows = path.windows.map(
    (pages, band) => new Map(pages.map((page, at) => [page, load.windows[band]![at]])),
  );
  for (const node of run.tree.walk(path.tokens, path.pages).path) {
    for (let page = node.firstPage; page < Math.min(node.endPage, path.pages); page++) {
      const id = own.get(page) ?? node.virtual[page - node.firstPage]!; // within the node
      visit(id, (band) => windows[band.index]!.get(page), { node, page }, own.has(page));
    }
  }
}
