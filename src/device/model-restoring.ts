// A retracted request comes back: its row stands as it was, on pages of its own, filled from the host.
import { expand } from "../base/extents.js";
import type { KvArgs, KvOk, PageLists } from "../base/operations.js";
import { fail } from "./model-fault.js";
import { bindLoaded, enterRow, startLoad } from "./model-loading.js";
import { type KeptRow, type LoadedWindow, ModelLoad } from "./model-loads.js";
import type { BandPages } from "./model-pages.js";
import { requireUsable, type ModelRun } from "./model-run.js";

/** Follows `request.restore`. @internal */
export function restore(
  run: ModelRun,
  { req, copy }: KvArgs["request.restore"],
  ok: KvOk["request.restore"],
): void {
  const kept = run.kept.get(copy);
  if (kept === undefined)
    fail("bad_effect", `${req} comes back from ${copy}, which keeps no request`);
  if (kept.host.flat().some((host) => !host.isReady))
    fail("bad_effect", `${req} comes back from ${copy}, which is not done`);
  const number = ok.rows[req] ?? fail("bad_effect", `the answer gives ${req} no row`);
  run.rows.add(req, number);
  const row = run.rows.require(req);
  run.rows.clearMark(row);
  const load = takeKept(run, copy, kept, ok.pages);
  row.resize(run.rows.pagesOf(kept.allocated));
  for (const [at, position] of kept.positions.entries()) row.put(position, load.pages[at]!.id); // as many
  enterRow(load, row, kept.positions);
  row.allocated = kept.allocated;
  for (const [index, cursor] of kept.retired.entries()) row.retired[index] = cursor ?? 0;
  if (load.row !== null) load.row.setCursors = [...row.retired];
  load.kept = { name: copy, row: kept };
  run.loads.submitted.set(copy, load);
  startLoad(run, load, copy);
}

/** Binds the listed pages; window lists are aligned with the full ones. */
function takeKept(run: ModelRun, copy: string, kept: KeptRow, lists: PageLists): ModelLoad {
  const { bands, owner, stateBand } = run.arena;
  const virtual = expand(lists["virtual"] ?? []);
  requireCount("ids", virtual.length, kept.positions.length, copy);
  const bindAll = (band: BandPages, ids: readonly number[]) => {
    const pages = expand(lists[band.name] ?? []);
    requireCount(`${band.name} pages`, pages.length, ids.length, copy);
    return ids.map((id, at) => bindOne(run, band, id, pages[at]!)); // as many
  };
  const pages = bindAll(owner, virtual);
  const slots = stateBand === null ? [] : bindAll(stateBand, expand(lists["slots"] ?? []));
  requireCount("slots", slots.length, kept.slots, copy);
  const windows = bands.map((band): LoadedWindow[] => {
    if (!band.isWindow) return [];
    const listed = expand(lists[band.name] ?? []);
    const wanted = new Set(kept.windows[band.index]); // one list a band
    return virtual.flatMap((id, at): LoadedWindow[] => {
      const page = listed[at] ?? 0;
      if ((page !== 0) !== wanted.has(at)) {
        const what = page === 0 ? "misses" : "has a page too many for";
        fail("bad_effect", `${copy} ${what} page ${at} of ${band.name}`, band.name);
      }
      return page === 0 ? [] : [{ ...bindOne(run, band, id, page), isNamed: true }];
    });
  });
  return new ModelLoad(copy, pages, slots, windows, []);
}

function bindOne(run: ModelRun, band: BandPages, id: number, page: number) {
  if (!band.isWindow && !band.isUsable(id))
    fail("bad_effect", `id ${id} is not in ${band.firstPage} to ${band.pages - 1}`, band.name);
  requireUsable(band, page, "the answer");
  return bindLoaded(run, band, id, page);
}

function requireCount(what: string, given: number, wanted: number, copy: string): void {
  if (given === wanted) return;
  fail("bad_effect", `${copy} brings ${wanted} ${what} back, the answer has ${given}`);
}
