// Copies and transfers on the modelled device. A copy's stream waits the forward and the schedule stream as they stand
// when it is submitted. A transfer's engine runs outside every stream: it starts once the host has told the peer where
// the pages lie, which it reads back from the device first.
import type { KvArgs, PageLists } from "../../base/operations.js";
import { ACTOR, type Clock } from "./clocks.js";
import { mixed, type Reading, type Work, type Writing } from "./memory.js";
import type { HarnessRun } from "./run.js";

interface OpenTransfer {
  readonly name: string;
  readonly isSend: boolean;
  readonly writers: Set<string>; // that have yet to end
  /** A receive's take: where the schedule stream stood behind it. */
  readonly taken: Clock | null;
  actor: number | null; // null: not published
  works: readonly Work[];
  pages: ReadonlySet<string>; // `BAND PAGE`
  /** The id of the page that a receive shares with tokens from before, 0 = none. */
  readonly sharedId: number;
}

const ANY_WRITER = "";

/** Copies by name and open transfers. @internal */
export class HarnessTransfers {
  readonly #run: HarnessRun;
  readonly #copies = new Map<string, Clock>(); // when each is over
  readonly #open = new Map<string, OpenTransfer>();
  /** The last part of a publication beside the schedule stream: what it waits in the operation under way. */
  #besideWaits: Clock[] = [];

  constructor(run: HarnessRun) {
    this.#run = run;
  }

  copyEnd(name: string): Clock | null {
    return this.#copies.get(name) ?? null;
  }

  /** Submits a copy. One to the host must find what its pages held; one from there fills them. */
  startCopy(name: string, direction: "out" | "in", lists: PageLists): void {
    const run = this.#run;
    const actor = direction === "out" ? ACTOR.copyOut : ACTOR.copyIn;
    for (const stream of [ACTOR.forward, ACTOR.schedule])
      run.actors.join(actor, run.actors.snapshot(stream));
    const reads: Reading[] = [];
    const writes: Writing[] = [];
    for (const [book, page] of run.listed(lists)) {
      if (direction === "out") reads.push(run.reading(book, page));
      else writes.push(run.whole(book, page, name));
    }
    run.queue(actor, name, direction === "out" ? { reads } : {}); // it begins
    const work = run.queue(actor, name, direction === "out" ? { reads } : { writes });
    run.touch(work);
    for (const { band, page, stamp } of writes) {
      const book = run.books[band]!; // a band's place
      book.hold(book.holders[page]!, stamp, work);
    }
    this.#copies.set(name, run.actors.snapshot(actor));
  }

  /** The host has seen a copy's end. */
  endCopy(name: string): void {
    const end = this.#copies.get(name);
    if (end !== undefined) this.#run.hostSees(end);
  }

  open(args: KvArgs["net.send"] | KvArgs["net.receive"], isSend: boolean): void {
    const given = args.writers ?? [];
    this.#open.set(args.transfer, {
      name: args.transfer,
      isSend,
      writers: new Set(given.length === 0 ? [ANY_WRITER] : given),
      taken: isSend ? null : this.#run.actors.snapshot(ACTOR.schedule),
      actor: null,
      works: [],
      pages: new Set(),
      sharedId: isSend ? 0 : this.#sharedId(args),
    });
  }

  #sharedId({ req, from }: { readonly req: string; readonly from: number }): number {
    const size = this.#run.config.page_size;
    return from % size === 0 ? 0 : (this.#run.tables.row(req)?.pages[Math.floor(from / size)] ?? 0);
  }

  /** A stream wait inside a publication beside the schedule stream: the readback's stream waits too. */
  waitBeside(clock: Clock): void {
    this.#besideWaits.push(clock);
  }

  /**
   * The engine may use the pages from now on.
   * @param isBeside - whether the pages' numbers are read back on a stream of its own, which waits for the take alone
   */
  start(name: string, lists: PageLists, isBeside: boolean): void {
    const run = this.#run;
    const transfer = this.#open.get(name);
    if (transfer === undefined) return;
    const pages = [...run.listed(lists)];
    const readback = isBeside ? ACTOR.readback : ACTOR.schedule;
    if (isBeside && transfer.taken !== null) run.actors.join(readback, transfer.taken);
    for (const clock of this.#besideWaits.splice(0)) run.actors.join(readback, clock);
    const reader = run.queue(readback, `readback for ${name}`);
    for (const [book, page] of pages) {
      const id = book.holders[page]!; // on the grid
      if (id > 0) run.readsCell(reader, run.space.idCell(book.band.index, id));
    }
    const actor = run.actors.lend();
    run.actors.join(actor, run.actors.snapshot(readback));
    transfer.actor = actor;
    transfer.pages = new Set(pages.map(([book, page]) => `${book.band.index} ${page}`));
    if (transfer.isSend) this.#startSend(transfer, actor, pages);
    else this.#startReceive(transfer, actor, pages);
  }

  #startSend(
    transfer: OpenTransfer,
    actor: number,
    pages: ReadonlyArray<readonly [HarnessRun["books"][number], number]>,
  ): void {
    const run = this.#run;
    const reads = pages.map(([book, page]) => run.reading(book, page));
    const isWritten = pages.some(([book, page]) => {
      const cell = run.space.pageStart(book.band.index, page);
      const writer = run.actors.unseenWriter(cell, actor);
      return writer !== null && writer.actor >= ACTOR.network;
    });
    const begins = run.queue(actor, `send ${transfer.name}`, { reads });
    const ends = run.queue(actor, `send ${transfer.name}`, { reads });
    transfer.works = [begins, ends];
    if (isWritten) for (const work of transfer.works) work.isUnchecked = true;
    run.touch(ends);
  }

  #startReceive(
    transfer: OpenTransfer,
    actor: number,
    pages: ReadonlyArray<readonly [HarnessRun["books"][number], number]>,
  ): void {
    const run = this.#run;
    for (const other of this.#open.values())
      if (other.isSend && [...other.pages].some((page) => transfer.pages.has(page)))
        for (const work of other.works) work.isUnchecked = true;
    // The first page may hold tokens from before: forwards use those while the peer writes behind them.
    const own = pages.filter(
      ([{ band, holders }, page]) => band.isState || holders[page] !== transfer.sharedId,
    );
    const writes = own.map(([book, page]): Writing => ({
      ...run.whole(book, page, transfer.name),
      isWhole: book.band.isState, // of a page of tokens perhaps only a part
    }));
    const work = run.queue(actor, `receive ${transfer.name}`, { writes });
    run.touch(work);
    for (const { band, page, stamp, isWhole } of writes) {
      const book = run.books[band]!; // a band's place
      const id = book.holders[page]!; // on the grid
      if (isWhole) book.hold(id, stamp, work);
      else book.hold(id, mixed(book.expectedAt(page), stamp), work);
    }
    transfer.works = [work];
  }

  /** A writer's end is about to be reported. The host has seen it on every rank, and with the last one the transfer's. */
  beforeEnd({ transfer: name, writer, outcome }: KvArgs["net.end"]): void {
    const transfer = this.#open.get(name);
    if (transfer === undefined) return;
    // An end that comes a second time is late and ends nothing.
    if (!transfer.writers.delete(writer ?? ANY_WRITER) && outcome !== "timeout") return;
    const isOver =
      outcome === "timeout" ||
      transfer.writers.size === 0 ||
      (transfer.isSend && outcome === "failed");
    // That a failed one's engine has stopped is not proved: a known limitation, taken as if it were.
    if (isOver) this.end(name);
  }

  /** A transfer is over, and the host knows. */
  end(name: string): void {
    const transfer = this.#open.get(name);
    if (transfer === undefined) return;
    this.#open.delete(name);
    const { actor } = transfer;
    if (actor === null) return;
    this.#run.hostSees(this.#run.actors.snapshot(actor));
    this.#run.actors.giveBack(actor);
  }
}
