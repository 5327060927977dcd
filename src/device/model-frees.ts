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
import type { BandPages } from "./model-pages.js";
import { eachId, type ModelRun, requireUsable } from "./model-run.js";
import type { ModelRow } from "./model-rows.js";

/** What a row gives back, in the order in which an answer lists it. */
class FreedPages {
  readonly virtual: number[] = [];
  readonly slots: number[] = [];
  readonly bands: number[][]; // virtual (slot) ids by band index
  constructor(run: ModelRun) {
    this.bands = run.arena.bands.map(() => []);
  }
}

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
    row.pageCount = Math.min(row.pageCount, first);
    row.allocated = args.from;
  }
  giveBack(run, freed, ok.freed);
}

/** Frees all that a request holds and closes it. @internal */
export function closeRequest(run: ModelRun, req: string, ok: FreedOk): void {
  const row = run.rows.require(req);
  const freed = new FreedPages(run);
  for (let index = 0; index < row.pageCount; index++) takePage(run, row, index, freed);
  takeSlots(run, row.allSlots(), freed);
  giveBack(run, freed, ok.freed);
  run.rows.close(row);
}

/** Closes a request that holds nothing. @internal */
export function closeEmpty(run: ModelRun, req: string): void {
  const row = run.rows.require(req);
  const holds = row.virtual.subarray(0, row.pageCount).some((id) => id !== 0);
  if (holds || row.allSlots().length > 0)
    fail("bad_effect", `row of ${req} is freed while it holds pages or slots`);
  run.rows.close(row);
}

/** @internal */
export function freeSlots(run: ModelRun, args: KvArgs["state.free"], ok: FreedOk): void {
  const freed = new FreedPages(run);
  takeSlots(run, run.rows.require(args.req).takeSlots(args.purpose), freed);
  giveBack(run, freed, ok.freed);
}

/** Frees the window pages that the answer names; each must be one of the row's below the answered cursor. @internal */
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
  const end = Math.min(Math.floor(retired.cursor / run.config.page_size), row.pageCount);
  if (run.group !== null) {
    // Which of them the answer means is told at the group's end.
    for (let index = 0; index < end; index++) {
      const id = row.virtual[index]!; // below pageCount
      if (id !== 0 && band.placeOf(id) !== 0) run.group.bands[band.index]!.add(id); // one set a band
    }
    requireEmpty({ [band.name]: retired.freed });
    return;
  }
  let next = Math.min(row.retired[band.index] ?? 0, end);
  eachId(retired.freed, (page) => {
    const at = findPage(row, band, page, next, end) ?? findPage(row, band, page, 0, end);
    if (at === undefined) {
      const below = `${row.req} holds below token ${retired.cursor}`;
      fail("bad_effect", `retires ${band.name} page ${page}, none that ${below}`, band.name, page);
    }
    next = at + 1;
    endBinding(run, band, row.virtual[at]!); // below pageCount
  });
  row.retired[band.index] = next;
}

function findPage(
  row: ModelRow,
  band: BandPages,
  page: number,
  from: number,
  end: number,
): number | undefined {
  for (let index = from; index < end; index++) {
    const id = row.virtual[index]!; // below pageCount
    if (id !== 0 && page !== 0 && band.placeOf(id) === page) return index;
  }
  return undefined;
}

/** @internal */
export function beginGroup(run: ModelRun): void {
  if (run.group !== null) fail("bad_effect", "group.begin inside an open group");
  run.group = {
    virtual: new Set(),
    slots: new Set(),
    bands: run.arena.bands.map(() => new Set<number>()),
  };
}

/** Ends the group: every listed page must be one that an operation of the group gave back. @internal */
export function endGroup(run: ModelRun, ok: FreedOk): void {
  const { group } = run;
  if (group === null) fail("bad_effect", "group.end without an open group");
  run.group = null;
  for (const band of run.arena.bands) {
    eachId(ok.freed[band.name] ?? [], (page) => {
      requireUsable(band, page, "group.end");
      const id = band.holderOf(page);
      if (id === 0 || !group.bands[band.index]!.has(id)) {
        const what = run.arena.describe(band, page);
        fail(
          "bad_effect",
          `group.end frees ${what}, which the group did not free`,
          band.name,
          page,
        );
      }
      endBinding(run, band, id);
    });
  }
  endIds(run, ok.freed["virtual"] ?? [], group.virtual, run.arena.tokenBands, "virtual");
  const { stateBand } = run.arena;
  if (stateBand !== null) endIds(run, ok.freed["slots"] ?? [], group.slots, [stateBand], "slot");
}

function endIds(
  run: ModelRun,
  listed: Extents,
  given: Set<number>,
  bands: readonly BandPages[],
  word: string,
): void {
  eachId(listed, (id) => {
    if (!given.delete(id))
      fail("bad_effect", `group.end frees ${word} ${id}, which the group did not free`);
    for (const band of bands) {
      const page = band.placeOf(id);
      if (page === 0) continue;
      const what = run.arena.describe(band, page);
      fail("bad_effect", `group.end frees ${word} ${id} and leaves ${what} bound`, band.name, page);
    }
  });
  for (const id of given) fail("bad_effect", `group.end leaves out ${word} ${id}`);
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

function takePage(run: ModelRun, row: ModelRow, index: number, freed: FreedPages): void {
  const id = row.virtual[index]!; // below pageCount
  if (id === 0) return;
  row.virtual[index] = 0;
  freed.virtual.push(id);
  for (const band of run.arena.tokenBands) takeId(band, id, freed);
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
    if (id !== 0 && band.isWindow && names.includes(band.name)) takeId(band, id, freed);
  }
}

function takeSlots(run: ModelRun, slots: readonly number[], freed: FreedPages): void {
  const band = run.arena.stateBand;
  for (const slot of slots) {
    freed.slots.push(slot);
    if (band !== null) takeId(band, slot, freed);
  }
}

function takeId(band: BandPages, id: number, freed: FreedPages): void {
  if (band.placeOf(id) !== 0) freed.bands[band.index]!.push(id); // one list a band
}

function giveBack(run: ModelRun, freed: FreedPages, answered: PageLists): void {
  const { group } = run;
  if (group !== null) {
    requireEmpty(answered);
    for (const id of freed.virtual) group.virtual.add(id);
    for (const id of freed.slots) group.slots.add(id);
    for (const [index, ids] of freed.bands.entries())
      for (const id of ids) group.bands[index]!.add(id); // one set a band
    return;
  }
  const { bands } = run.arena;
  for (const name of Object.keys(answered))
    if (name !== "virtual" && name !== "slots") run.arena.band(name);
  compare("virtual", freed.virtual, answered["virtual"] ?? []);
  compare("slots", freed.slots, answered["slots"] ?? []);
  for (const [index, ids] of freed.bands.entries()) {
    const band = bands[index]!; // one list a band
    const places = ids.map((id) => band.placeOf(id));
    compare(band.name, places, answered[band.name] ?? []);
    for (const id of ids) endBinding(run, band, id);
  }
}

/** A page is verified once more before its last holder lets go of it. */
function endBinding(run: ModelRun, band: BandPages, id: number): void {
  run.arena.verify(band, id);
  band.unbind(id);
}

function compare(what: string, held: readonly number[], answered: Extents): void {
  let index = 0;
  eachId(answered, (id) => {
    const own = held[index++];
    if (own === id) return;
    const instead = own === undefined ? "nothing more is held" : `${own} is held`;
    fail("bad_effect", `the answer frees ${what} ${id} where ${instead}`);
  });
  if (index < held.length)
    fail(
      "bad_effect",
      `the answer frees ${index} of ${held.length} in ${what}: ${held[index]!} is left out`,
    );
}

function requireEmpty(answered: PageLists): void {
  for (const [name, extents] of Object.entries(answered))
    if (extents.length > 0) fail("bad_effect", `${name} pages are freed inside an open group`);
}
