// Forwards on the modelled device. A forward first reads its requests' rows and resolves where their ids lie (its
// metadata), then it reads those pages for its whole duration and writes each request's next slots at its end. A verify
// forward ends with a commit of the states it accepted. Everything after the metadata uses what the metadata resolved.
import type { ForwardEntry, ForwardMode } from "../../base/operations.js";
import type { BandBook } from "./books.js";
import { ACTOR, type Clock } from "./clocks.js";
import { mixed, type Reading, type Work, type Writing } from "./memory.js";
import type { HarnessFinding, HarnessRun } from "./run.js";

/** A state that a verify forward of a pipeline stage has yet to commit. @internal */
export interface RelayedCommit {
  readonly step: string;
  readonly req: string;
  readonly row: number;
  readonly track: number | null; // index into the ring of tracking slots
}

/** Where the states of a commit go. @internal */
export class CommitSlots {
  /** The slot that a commit inside a forward writes: the one that the metadata resolved, whoever has it by now. */
  ofForward(resolved: number, _now: () => number): number {
    return resolved;
  }
  /** The slot that a relayed commit writes: where the request's state lies when the commit runs. */
  ofRelay(_resolved: number, now: () => number): number {
    return now();
  }
}

/** The forward stream. @internal */
export class HarnessForwards {
  readonly #run: HarnessRun;
  readonly #isApart: () => boolean;
  readonly #hasReadEnd: boolean;
  readonly #slots = new CommitSlots();
  readonly #readEnds = new Map<string, Clock>();
  readonly #ends = new Map<string, Clock>();
  readonly #unknown: Work[] = []; // forwards whose writes are not known, not yet over for the schedule stream
  readonly #last = new Map<string, Work>(); // by step: its last piece of work
  readonly #unreset = new Set<number>(); // rows handed out and not reset since
  #relayed: (RelayedCommit & { readonly places: ReadonlyMap<string, number> })[] = [];

  /**
   * @param isApart - whether forwards run beside the schedule stream
   * @param hasReadEnd - whether a barrier waits the end of the shared reads; else the whole forward stream
   */
  constructor(run: HarnessRun, isApart: () => boolean, hasReadEnd: boolean) {
    this.#run = run;
    this.#isApart = isApart;
    this.#hasReadEnd = hasReadEnd;
  }

  get #stream(): number {
    return this.#isApart() ? ACTOR.forward : ACTOR.schedule;
  }
  /** The forward stream waits all that the schedule stream was given. */
  #followSchedule(): void {
    if (this.#isApart())
      this.#run.actors.join(ACTOR.forward, this.#run.actors.snapshot(ACTOR.schedule));
  }

  /** When a forward is over, null for a step without one. */
  endOf(step: string): Clock | null {
    return this.#ends.get(step) ?? null;
  }

  handOut(rows: Iterable<number>): void {
    for (const row of rows) this.#unreset.add(row);
  }
  /** A row that a copy writes whole needs no reset. */
  writeWhole(row: number): void {
    this.#unreset.delete(row);
  }

  /** Resets rows: on the forward stream by a launch, else wherever the operation stands. */
  reset(rows: readonly number[], isLaunch: boolean): void {
    if (isLaunch) this.#followSchedule();
    const work = this.#run.queue(isLaunch ? this.#stream : ACTOR.schedule, "row reset");
    for (const row of rows) {
      this.#run.writesCell(work, this.#run.space.rowStateCell(row));
      this.#unreset.delete(row);
    }
  }

  /** @param relays - whether commits come separately, after the forward */
  launch(step: string, batch: readonly ForwardEntry[], mode: ForwardMode, relays: boolean): void {
    const run = this.#run;
    this.#followSchedule();
    for (const { req } of batch) this.#commitRelayed((commit) => commit.req === req, this.#stream);
    const metadata = run.queue(this.#stream, `${step} metadata`);
    for (const entry of batch) this.#resolve(metadata, step, entry);
    this.#readEnds.set(step, run.actors.snapshot(this.#stream));
    const reads = this.#readings(batch);
    const writes = this.#tokenWrites(step, batch);
    const isVerify = mode === "verify";
    const states = isVerify && relays ? [] : this.#stateWrites(step, batch);
    run.queue(this.#stream, step, { reads, isForward: true }); // it begins
    const own = isVerify ? writes : [...writes, ...states];
    const end = run.queue(this.#stream, step, { reads, writes: own, isForward: true });
    run.touch(end);
    for (const writing of own) this.#hold(writing, end);
    this.#last.set(step, end);
    if (isVerify && relays) this.#relay(step, batch);
    else if (isVerify && states.length > 0) this.#commit(step, states);
    this.#ends.set(step, run.actors.snapshot(this.#stream));
  }

  /** The commit inside a forward, behind its reads. */
  #commit(step: string, states: readonly Writing[]): void {
    const run = this.#run;
    const book = run.stateBook!; // there are states
    const slots = states.map(({ page }) => book.holders[page]!); // on the grid
    const late = (): readonly Writing[] =>
      states.map((writing, at) => {
        const now = (): number => book.places[slots[at]!]!; // one slot a state
        return { ...writing, page: this.#slots.ofForward(writing.page, now) };
      });
    const work = run.queue(this.#stream, `${step} commit`, { late });
    for (const writing of states) {
      run.writesPage(work, writing.band, writing.page);
      this.#hold(writing, work);
    }
    this.#last.set(step, work);
  }

  #relay(step: string, batch: readonly ForwardEntry[]): void {
    const { tables, stateBook } = this.#run;
    if (stateBook === null) return;
    for (const { req, track } of batch) {
      const row = tables.row(req);
      if (row === undefined || this.#relayed.some((commit) => commit.req === req)) continue;
      const places = new Map<string, number>();
      const ring = row.slots.track.length;
      const index = track === undefined ? null : (row.trackCursor - 1 + ring) % ring;
      const resolved = { main: row.slots.main[0], track: row.slots.track[index ?? -1] };
      for (const [purpose, slot] of Object.entries(resolved))
        if (slot !== undefined) places.set(purpose, stateBook.places[slot]!); // a slot of the band
      this.#relayed.push({ step, req, row: row.row, track: index, places });
    }
  }

  /** Commits that arrive now, each into the slots that its request has now. */
  #commitRelayed(isDue: (commit: RelayedCommit) => boolean, actor: number): void {
    const due = this.#relayed.filter(isDue);
    if (due.length === 0) return;
    this.#relayed = this.#relayed.filter((commit) => !isDue(commit));
    const run = this.#run;
    const book = run.stateBook!; // relayed commits are of states
    for (const { step, req, row: number, track, places } of due) {
      const row = run.tables.row(req);
      if (row?.row !== number) continue; // the batch's requests own their rows, or nothing is committed
      const slots = { main: row.slots.main[0], track: row.slots.track[track ?? -1] };
      for (const [purpose, slot] of Object.entries(slots)) {
        const resolved = places.get(purpose);
        if (slot === undefined || resolved === undefined || book.places[slot] === 0) continue;
        const page = this.#slots.ofRelay(resolved, () => book.places[slot]!);
        const stamp = run.stamp(book, slot, step);
        const writes = [{ band: book.band.index, page, stamp, isWhole: true }];
        const work = run.queue(actor, `${step} commit`, { writes });
        run.touch(work);
        book.hold(slot, stamp, work);
      }
    }
  }

  /** The host has seen a forward's end; what its stage relays arrives. */
  process(step: string): void {
    const end = this.#ends.get(step);
    if (end !== undefined) this.#run.hostSees(end);
    this.#commitRelayed((commit) => commit.step === step, ACTOR.schedule);
    this.#last.delete(step);
  }

  record(step: string, writes: "known" | "unknown"): void {
    const work = this.#last.get(step);
    if (writes === "unknown" && work !== undefined) this.#unknown.push(work);
  }

  barrier(step: string): void {
    const { actors } = this.#run;
    const end = this.#hasReadEnd ? this.#readEnds.get(step) : actors.snapshot(this.#stream);
    if (end !== undefined) actors.join(ACTOR.schedule, end);
  }

  /** A forward that may write any page must be over before pages are copied. */
  beforeCopy(what: string): HarnessFinding | null {
    const { actors } = this.#run;
    actors.join(ACTOR.schedule, actors.snapshot(ACTOR.host)); // it comes behind all that the host has seen
    while (this.#unknown.length > 0) {
      const { actor, time, name } = this.#unknown[0]!; // not empty
      if (!actors.isBefore(actor, time, ACTOR.schedule)) {
        const message = `${what} while ${name}, whose writes are unknown, may still run: nothing orders the two`;
        return { check: "unordered_overlap", message, actors: [name, what] };
      }
      this.#unknown.shift();
    }
    return null;
  }

  /** Reads one request's row and where its ids lie. */
  #resolve(metadata: Work, step: string, { req, to }: ForwardEntry): void {
    const run = this.#run;
    const { space, tables, tokenBooks, stateBook } = run;
    const row = tables.row(req);
    if (row === undefined) return;
    run.readsCell(metadata, space.rowStateCell(row.row));
    if (this.#unreset.delete(row.row)) {
      const message = `${step} reads the state of row ${row.row}, which ${req} got and nothing has reset since`;
      run.found.push({ check: "lost_write", message, actors: [step], band: "row state" });
    }
    const pages = Math.ceil(to / run.config.page_size);
    for (let page = 0; page < pages; page++) {
      const id = row.pages[page] ?? 0;
      run.readsCell(metadata, space.rowCell(row.row, page));
      if (id === 0) continue;
      for (const { band, places } of tokenBooks)
        if (places[id]! > 0 && tables.isHeld(band.index, id))
          run.readsCell(metadata, space.idCell(band.index, id));
    }
    if (stateBook === null) return;
    for (const slot of [row.slots.main[0] ?? 0])
      if (slot > 0) run.readsCell(metadata, space.idCell(stateBook.band.index, slot));
  }

  /** Every page of the batch, each once, and what is in it before the forward writes. */
  #readings(batch: readonly ForwardEntry[]): readonly Reading[] {
    const run = this.#run;
    const readings: Reading[] = [];
    const seen = run.books.map(() => new Set<number>());
    const add = (book: BandBook, page: number): void => {
      if (page <= 0 || seen[book.band.index]!.has(page)) return; // a set a band
      seen[book.band.index]!.add(page);
      readings.push(run.reading(book, page));
    };
    for (const { req, to } of batch) {
      const row = run.tables.row(req);
      if (row === undefined) continue;
      const pages = Math.ceil(to / run.config.page_size);
      for (const book of run.tokenBooks)
        for (let page = 0; page < pages; page++) {
          const id = row.pages[page] ?? 0;
          if (id > 0 && run.tables.isHeld(book.band.index, id)) add(book, book.places[id]!);
        }
      const main = row.slots.main[0];
      if (main !== undefined && run.stateBook !== null)
        add(run.stateBook, run.stateBook.places[main]!);
    }
    return readings;
  }

  #tokenWrites(step: string, batch: readonly ForwardEntry[]): Writing[] {
    const run = this.#run;
    const size = run.config.page_size;
    const writings: Writing[] = [];
    for (const { req, from, to } of batch) {
      const row = run.tables.row(req);
      if (row === undefined || from >= to) continue;
      for (const book of run.tokenBooks)
        for (let page = Math.floor(from / size); page < Math.ceil(to / size); page++) {
          const id = row.pages[page] ?? 0;
          if (id === 0 || book.places[id] === 0 || !run.tables.isHeld(book.band.index, id))
            continue;
          const isWhole = from <= page * size && to >= (page + 1) * size;
          const stamp = run.stamp(book, id, `${step} ${req}`);
          writings.push({ band: book.band.index, page: book.places[id]!, stamp, isWhole });
        }
    }
    return writings;
  }

  /** The states that a forward writes: each request's first main slot and the tracking slot of its turn. */
  #stateWrites(step: string, batch: readonly ForwardEntry[]): Writing[] {
    const { tables, stateBook: book } = this.#run;
    const writings: Writing[] = [];
    if (book === null) return writings;
    for (const { req, track } of batch) {
      const row = tables.row(req);
      if (row === undefined) continue;
      const ring = row.slots.track.length; // the launch moved its cursor on
      const tracked =
        track === undefined ? undefined : row.slots.track[(row.trackCursor - 1 + ring) % ring];
      for (const slot of [row.slots.main[0], tracked]) {
        if (slot === undefined || book.places[slot] === 0) continue;
        const stamp = this.#run.stamp(book, slot, `${step} ${req}`);
        writings.push({ band: book.band.index, page: book.places[slot]!, stamp, isWhole: true });
      }
    }
    return writings;
  }

  #hold({ band, page, stamp, isWhole }: Writing, work: Work): void {
    const book = this.#run.books[band]!; // a band's place
    const before = book.expectedAt(page);
    book.hold(book.holders[page]!, isWhole ? stamp : mixed(before, stamp), work);
  }
}
