// Frees: which pages, ids and slots an operation gives back, derived from the row and held against the answer.
import type {
  Extents,
  FreedOk,
  KvArgs,
  KvOk,
  PageLists,
  RetiredWindow,
} from "../base/operations.js";
import { fail } from "./model-fault.js";
import { FreedPages, giveBack, takeId, takePage, takeSlots } from "./model-give-back.js";
import type { BandPages } from "./model-pages.js";
import { eachId, type ModelRun, requireUsable } from "./model-run.js";
import type { ModelRow } from "./model-rows.js";
import { unlockAll } from "./model-locks.js";

/** @internal */
export function freeTokens(run: ModelRun, args: KvArgs["tokens.free"], ok: FreedOk): void {
  const row = run.rows.require(args.req);
  const first = run.rows.pagesOf(args.from);
  const end = Math.min(run.rows.pagesOf(args.to), row.pageCount);
  const freed = new FreedPages(run);
  const whole = args.bands === "all" || args.bands === "full";
  for (let index = first; index < end; index++) {
    if (whole) takePage(run, row, index, freed);
    else takeWindows(run, row, index, args.bands, freed);
  }
  if (args.bands === "all" && args.to === row.allocated && args.from <= args.to) {
    row.shorten(args.from, Math.min(row.pageCount, first));
    for (const { index } of run.arena.bands)
      row.retired[index] = Math.min(row.retired[index] ?? 0, first);
  }
  giveBack(run, freed, ok);
}

/**
 * Frees what a request holds beyond the tree's part, and its slots, and closes it.
 * @param freed - what the operation gave back before
 * @internal
 */
export function closeRequest(
  run: ModelRun,
  req: string,
  ok: FreedOk,
  freed: FreedPages = new FreedPages(run),
): void {
  const row = run.rows.require(req);
  run.transfers.endUnpublished(row);
  unlockAll(run, row);
  for (let index = run.rows.pagesOf(row.protected); index < row.pageCount; index++)
    takePage(run, row, index, freed);
  takeSlots(run, row.allSlots(), freed);
  giveBack(run, freed, ok);
  run.rows.close(row);
}

/** Closes a request that holds nothing. @internal */
export function closeEmpty(run: ModelRun, req: string): void {
  const row = run.rows.require(req);
  const holds = row.virtual.subarray(0, row.pageCount).some((id) => id !== 0); // the tree's too
  if (holds || row.allSlots().length > 0)
    fail("bad_effect", `row of ${req} is freed while it holds pages or slots`);
  run.rows.close(row);
}

/** @internal */
export function freeSlots(run: ModelRun, args: KvArgs["state.free"], ok: FreedOk): void {
  const freed = new FreedPages(run);
  takeSlots(run, run.rows.require(args.req).takeSlots(args.purpose), freed);
  giveBack(run, freed, ok);
}

/** Frees the window pages between the row's cursor, or the tree's part, and the answered cursor. @internal */
export function retireWindows(
  run: ModelRun,
  args: KvArgs["window.retire"],
  ok: KvOk["window.retire"],
): void {
  const row = run.rows.require(args.req);
  for (const [name, retired] of Object.entries(ok))
    retireWindow(run, row, run.arena.band(name), retired);
}

function retireWindow(run: ModelRun, row: ModelRow, band: BandPages, retired: RetiredWindow): void {
  const end = Math.floor(retired.cursor / run.config.page_size); // perhaps ahead of the row
  const freed = new FreedPages(run);
  const start = Math.max(row.retired[band.index] ?? 0, run.rows.pagesOf(row.protected));
  for (let index = start; index < Math.min(end, row.pageCount); index++) {
    const id = row.virtual[index]!; // below pageCount
    if (id !== 0) takeId(run, band, id, freed);
  }
  row.retired[band.index] = Math.max(row.retired[band.index] ?? 0, end);
  const { deferred } = retired as { readonly deferred?: Extents }; // a free may wait for transfers
  giveBack(run, freed, {
    freed: { [band.name]: retired.freed },
    ...(deferred === undefined ? {} : { deferred: { [band.name]: deferred } }),
  });
}

/** Released pages went back to a hole list: none may be live. @internal */
export function checkReleased(run: ModelRun, released: PageLists): void {
  for (const [name, extents] of Object.entries(released)) {
    const band = run.arena.band(name);
    eachId(extents, (page) => {
      requireUsable(band, page, "released");
      if (band.holderOf(page) === 0) return;
      const what = run.arena.describe(band, page);
      fail("bad_effect", `${what} is released while it is live`, band.name, page);
    });
  }
}

function takeWindows(
  run: ModelRun,
  row: ModelRow,
  index: number,
  names: readonly string[],
  freed: FreedPages,
): void {
  const id = row.virtual[index]!; // below pageCount
  for (const band of run.arena.tokenBands) {
    if (id !== 0 && band.isWindow && names.includes(band.name)) takeId(run, band, id, freed);
  }
}
