// Forwards: launched, recorded, processed in launch order, and what pends under them.
import { expand, toExtents } from "../../base/extents.js";
import type { ForwardEntry, KvArgs, KvOk } from "../../base/operations.js";
import type { BandBook } from "./band-book.js";
import { type Books, listOf } from "./books.js";
import { openRow } from "./contract.js";
import type { Shown } from "./effects.js";
import { checkLive, type Clearance, markReads } from "./hazards.js";
import { currentSlot, type RowBook } from "./row-book.js";
import type { Forward } from "./uses.js";

const READS: Clearance = { forwards: "none", copies: "writers", transfers: "writers" };
const WRITES: Clearance = { forwards: "none", copies: "all", transfers: "all" };

/** @internal */
export function launch(
  books: Books,
  args: KvArgs["forward.launch"],
  ok: KvOk["forward.launch"],
  shown: Shown,
): void {
  const isPrebuilt = args.mode === "prebuilt";
  checkLaunch(books, args, ok, shown, isPrebuilt);
  const reqs = args.batch.map(({ req }) => req);
  const forward = books.uses.launch(args.step, books.n, isPrebuilt, reqs);
  for (const entry of args.batch) {
    const row = openRow(books, entry.req);
    if (row === null) continue;
    if (entry.to > row.allocated || entry.to < entry.from)
      books.report(
        "contract.length",
        `${args.step} covers ${entry.from} to ${entry.to} tokens of ${entry.req}, which has ${row.allocated}`,
        { component: "rows" },
      );
    followEntry(books, row, entry, isPrebuilt ? null : forward);
  }
}

function checkLaunch(
  books: Books,
  { step, mode }: KvArgs["forward.launch"],
  { resets }: KvOk["forward.launch"],
  shown: Shown,
  isPrebuilt: boolean,
): void {
  const open = books.uses.forwards.find((one) => !one.isPrebuilt && !one.isRecorded);
  if (books.recordsForwards && open !== undefined)
    books.report("contract.launch", `${step} is launched before ${open.name} is recorded`, {
      actors: [step, open.name],
      component: "forwards",
    });
  if (books.uses.forwardNamed(step) !== undefined)
    books.report("contract.name", `${step} is launched twice`, {
      actors: [step],
      component: "forwards",
    });
  requireStep(books, shown, "forward", step, !isPrebuilt);
  const due = isPrebuilt ? [] : books.marked;
  const told = JSON.stringify(toExtents(due));
  if (JSON.stringify(resets) !== told)
    books.report(
      "effect.reset",
      `${step} (${mode}) answers resets ${JSON.stringify(resets)}, marked are ${told}`,
      { component: "rows" },
    );
  if (JSON.stringify(toExtents(shown.resets)) !== told)
    books.reportMissing(
      "effect.reset",
      `${step} (${mode}) resets ${JSON.stringify(toExtents(shown.resets))}, marked are ${told}`,
      { component: "rows" },
    );
  if (!isPrebuilt) books.marked = [];
}

/** Exactly the effect that belongs to an operation on a step, or none. @internal */
export function requireStep(
  books: Books,
  shown: Shown,
  kind: "forward" | "event" | "barrier",
  step: string,
  isDue: boolean,
): void {
  const named = shown.steps.filter((one) => one.kind === kind && one.step === step).length;
  if (isDue && named === 0)
    books.reportMissing("effect.missing", `${books.op} of ${step} has no ${kind} effect`, {
      actors: [step],
      component: "forwards",
    });
  if (named > (isDue ? 1 : 0))
    books.report("effect.stray", `${books.op} of ${step} has ${named} ${kind} effects`, {
      actors: [step],
      component: "forwards",
    });
}

function followEntry(
  books: Books,
  row: RowBook,
  entry: ForwardEntry,
  forward: Forward | null,
): void {
  const { from, to, track } = entry;
  const readPages = books.pagesOf(to);
  const slots = [currentSlot(row, "main")];
  if (track !== undefined) {
    if (row.slots.track.length === 0)
      books.report("contract.name", `${row.req} tracks a state and has no slot for it`, {
        component: "rows",
      });
    else {
      slots.push(currentSlot(row, "track"));
      row.tracked[row.ring] = track;
      row.ring = (row.ring + 1) % row.slots.track.length;
    }
  }
  if (forward === null) return;
  const first = Math.floor(from / books.pageSize);
  clearReads(books, row, readPages, forward);
  for (let page = first; from < to && page < readPages; page++) {
    const id = row.ids[page] ?? 0;
    for (const band of id === 0 ? [] : books.tokenBands)
      writePage(books, band, heldPlace(band, id), forward);
  }
  const { stateBand } = books;
  for (const slot of slots) {
    if (stateBand !== null && slot !== 0)
      writePage(books, stateBand, stateBand.placeOf(slot), forward);
  }
  if (!books.recordsForwards) return;
  const before = row.forward;
  if (before !== null && before !== forward && row.readPages > readPages) markReads(books, row);
  row.readPages = before === forward ? Math.max(row.readPages, readPages) : readPages;
  row.forward = forward;
}

// What a forward reads is long: it is looked at only while somebody writes the device.
function clearReads(books: Books, row: RowBook, readPages: number, forward: Forward): void {
  const uses = [...books.uses.copies.values(), ...books.uses.transfers.values()];
  const isWritten = uses.some((use) => use.writes && !use.isOver);
  const isReserved = books.loads.size > 0;
  if (!isWritten && !isReserved) return;
  for (let page = 0; page < readPages; page++) {
    const id = row.ids[page] ?? 0;
    for (const band of id === 0 ? [] : books.tokenBands) {
      const place = heldPlace(band, id);
      if (place === 0) continue;
      checkLive(books, `${forward.name} reads ${band.name} page ${place}`, band, place, READS);
      const { fixedBy } = band.record(place);
      if (fixedBy !== "")
        books.report(
          "contract.name",
          `${forward.name} reads ${band.name} page ${place}, which ${fixedBy} reserved`,
          { band, page: place },
        );
    }
  }
}

// What was given back and waits is none of a forward's business.
function heldPlace(band: BandBook, id: number): number {
  return band.isHeld(id) ? band.placeOf(id) : 0;
}

function writePage(books: Books, band: BandBook, page: number, forward: Forward): void {
  if (page === 0) return;
  checkLive(books, `${forward.name} writes ${band.name} page ${page}`, band, page, WRITES);
  if (!books.recordsForwards) return;
  const record = band.record(page);
  record.reader = forward.serial;
  record.writer = forward.serial;
}

/** @internal */
export function record(
  books: Books,
  { step, writes }: KvArgs["forward.record"],
  shown: Shown,
): void {
  const forward = books.uses.forwardNamed(step);
  if (forward === undefined || forward.isRecorded || forward.isPrebuilt)
    books.report(
      "contract.name",
      `${step} is recorded, and is ${forward === undefined ? "not launched" : forward.isPrebuilt ? "prebuilt" : "recorded already"}`,
      { actors: [step], component: "forwards" },
    );
  requireStep(books, shown, "event", step, books.recordsForwards);
  if (forward === undefined || !books.recordsForwards) return;
  forward.isRecorded = true;
  forward.hasUnknownWrites = writes === "unknown";
}

/** @internal */
export function barrier(books: Books, { step }: KvArgs["forward.barrier"], shown: Shown): void {
  const forward = books.uses.forwardNamed(step);
  if (forward === undefined)
    books.report("contract.name", `a barrier names ${step}, which is not in flight`, {
      actors: [step],
      component: "forwards",
    });
  requireStep(books, shown, "barrier", step, forward?.isRecorded === true);
}

/** @internal */
export function process(
  books: Books,
  { step }: KvArgs["forward.process"],
  ok: KvOk["forward.process"],
): void {
  const { uses } = books;
  const forward = uses.forwardNamed(step);
  if (forward === undefined) {
    books.report("contract.order", `${step} is processed, and is not in flight`, {
      actors: [step],
      component: "forwards",
    });
    return;
  }
  const oldest = uses.forwards.find((one) => !one.isPrebuilt);
  const isRecorded = forward.isRecorded || !books.recordsForwards;
  if (!forward.isPrebuilt && (oldest !== forward || !isRecorded))
    books.report(
      "contract.order",
      `${step} is processed before ${oldest === forward ? "it is recorded" : (oldest?.name ?? "")}`,
      { actors: [step], component: "forwards" },
    );
  uses.forwards = uses.forwards.filter((one) => one !== forward);
  if (forward.isRecorded) uses.retiredThrough = Math.max(uses.retiredThrough, forward.serial);
  for (const band of books.bands) {
    const released = expand(listOf(ok.released, band.name));
    releaseBatches(books, band, forward.isRecorded ? forward.serial : 0, released);
  }
}

// A settled batch is no longer pending, and which ones settled does not always show: untouched ones are told whole.
function releaseBatches(
  books: Books,
  band: BandBook,
  through: number,
  released: readonly number[],
): void {
  let at = 0;
  while ((band.batches[0]?.forward ?? Infinity) <= through) {
    const batch = band.batches.shift()!; // there is one
    for (const page of batch.pages) {
      const found = band.record(page);
      if (found.batch !== batch) continue; // handed out meanwhile
      found.batch = null;
      if (released[at] === page) at += 1;
      else if (!batch.isTouched) {
        books.report(
          "process.released",
          `${band.name} page ${page} pends and is not released in its order`,
          { band, page },
        );
        return;
      }
    }
  }
  const stray = released[at];
  if (stray !== undefined)
    books.report(
      "process.released",
      `${band.name} page ${stray} is released, and does not pend there`,
      { band, page: stray },
    );
}
