// Takes: which pages and slots an answer hands out, and binding them after the operation's last effect.
import { expand } from "../base/extents.js";
import type { Extents, KvArgs, KvOk, PageLists, StatePurpose } from "../base/operations.js";
import { fail } from "./model-fault.js";
import { ACT, type BandPages, offsetOf, PAGE } from "./model-pages.js";
import { eachId, type ModelRun, requireUsable } from "./model-run.js";
import type { ModelRow } from "./model-rows.js";

/** Token positions by which a take lengthens a row. @internal */
export interface Growth {
  readonly req: string;
  readonly from: number; // tokens
  readonly to: number; // tokens
  readonly tail?: number; // tokens whose window pages are wanted
}

/** Notes the pages that an answer hands out, before its effects run: only those may be zeroed. @internal */
export function markHandedOut(run: ModelRun, pages: KvOk["tokens.extend"]["pages"]): void {
  for (const lists of Object.values(pages)) markLists(run, lists);
}

/** The same for one answer's lists. @internal */
export function markLists(run: ModelRun, lists: PageLists): void {
  for (const [name, extents] of Object.entries(lists)) {
    if (name === "virtual" || name === "slots") continue;
    const band = run.arena.band(name);
    if (!band.isState) markPages(run, band, extents);
  }
}

function markPages(run: ModelRun, band: BandPages, extents: Extents): void {
  const { operation } = run.arena;
  eachId(extents, (page) => {
    if (page === 0) return;
    requireUsable(band, page, "the answer");
    const block = band.page(page);
    const at = offsetOf(page) + PAGE.handed;
    if (block[at] === operation)
      fail("bad_effect", `${band.name} page ${page} is handed out twice`, band.name, page);
    block[at] = operation;
  });
}

/** Binds the pages of `tokens.extend` and `tokens.decode`. @internal */
export function bindTokens(
  run: ModelRun,
  growths: readonly Growth[],
  pages: KvOk["tokens.extend"]["pages"],
): void {
  for (const { req, from, to, tail } of growths) {
    const row = run.rows.require(req);
    if (tail !== undefined) skipWindows(run, row, from, to - tail);
    if (from !== row.allocated)
      fail("bad_effect", `${req} grows from ${from}, its row ends at ${row.allocated}`);
    row.allocated = to;
  }
  for (const [req, lists] of Object.entries(pages)) bindRow(run, run.rows.require(req), lists);
  for (const { req } of growths) {
    const row = run.rows.require(req);
    const needed = run.rows.pagesOf(row.allocated);
    if (row.pageCount !== needed)
      fail("bad_effect", `${req} has ${row.pageCount} pages for ${needed} pages of tokens`);
  }
}

/** Sets the windows' cursors to the page that holds `tail` tokens from the end, or to the first new page. */
function skipWindows(run: ModelRun, row: ModelRow, from: number, tailStart: number): void {
  const first = Math.floor(Math.max(tailStart, 0) / run.config.page_size);
  const cursor = Math.max(run.rows.pagesOf(from), first);
  for (const band of run.arena.tokenBands) if (band.isWindow) row.retired[band.index] = cursor;
}

function bindRow(run: ModelRun, row: ModelRow, lists: PageLists): void {
  const { arena } = run;
  const { owner } = arena;
  const virtual = expand(lists["virtual"] ?? []);
  for (const id of virtual) {
    if (!owner.isUsable(id))
      fail(
        "bad_effect",
        `virtual ${id} of ${row.req} is not in ${owner.firstPage} to ${owner.pages - 1}`,
      );
    row.push(id);
  }
  for (const band of arena.tokenBands) {
    let index = 0;
    eachId(lists[band.name] ?? [], (page) => {
      const id = virtual[index++];
      if (page === 0 && band.isWindow) return; // a window page that the tail left out
      if (id !== undefined) bindPage(run, band, id, page);
    });
    if (index !== virtual.length)
      fail(
        "bad_effect",
        `${row.req} got ${index} ${band.name} pages under ${virtual.length} ids`,
        band.name,
      );
  }
}

/** Binds the slots of `state.alloc`. @internal */
export function bindSlots(
  run: ModelRun,
  args: KvArgs["state.alloc"],
  ok: KvOk["state.alloc"],
): void {
  const lists = { slots: ok["slots"], [stateBand(run).name]: ok[stateBand(run).name] };
  const given = lists as PageLists; // what an answer says under these names
  bindSlotPages(run, run.rows.require(args.req), args.purpose, args.count, given);
}

/** Binds listed slots to listed pages of the state band and gives them to a row. @internal */
export function bindSlotPages(
  run: ModelRun,
  row: ModelRow,
  purpose: StatePurpose,
  count: number,
  lists: PageLists,
): readonly number[] {
  const slots = expand(lists["slots"] ?? []);
  if (count === 0 && slots.length === 0) return slots;
  const band = stateBand(run);
  const places = expand(lists[band.name] ?? []);
  if (slots.length !== count || places.length !== count) {
    const given = `${slots.length} ids and ${places.length} pages`;
    fail("bad_effect", `${row.req} asked for ${count} slots and got ${given}`, band.name);
  }
  for (const [index, slot] of slots.entries()) {
    if (!band.isUsable(slot))
      fail(
        "bad_effect",
        `slot ${slot} is not in ${band.firstPage} to ${band.pages - 1}`,
        band.name,
      );
    requireUsable(band, places[index]!, "the answer"); // as many places as slots
    row.slots[purpose].push(slot);
    bindPage(run, band, slot, places[index]!);
  }
  return slots;
}

/** The state band; an answer that speaks of slots without one is a violation. @internal */
export function stateBand(run: ModelRun): BandPages {
  return run.arena.stateBand ?? fail("bad_effect", "there is no state band");
}

function bindPage(run: ModelRun, band: BandPages, id: number, page: number): void {
  const { arena } = run;
  const bound = band.placeOf(id);
  if (bound !== 0)
    fail(
      "bad_effect",
      `${arena.describe(band, bound)} is bound again, to page ${page}`,
      band.name,
      page,
    );
  if (band.holderOf(page) !== 0)
    fail(
      "bad_effect",
      `${arena.describe(band, page)} is handed out while it is live`,
      band.name,
      page,
    );
  const block = band.page(page);
  const p = offsetOf(page);
  if (band.isState) {
    arena.claim(band, page, ACT.handOut);
    // A state slot is not cleared at hand-out: whatever is there stays until the first write.
    band.bind(id, page, block[p + PAGE.content]!, arena.operation);
    return;
  }
  if (block[p + PAGE.handed] !== -arena.operation)
    fail("bad_effect", `${band.name} page ${page} is handed out without zeroing`, band.name, page);
  band.bind(id, page, 0, arena.operation);
  if (block[p + PAGE.content] !== 0) arena.failLost(band, id);
}
