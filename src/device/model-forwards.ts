// The forward stream of the simulated device. It is as late as the rules allow: a forward resolves its pages when it is
// launched, as kernels do from their metadata, and runs only when the schedule stream or the host must have seen its
// end. Until then its pages carry its number, so that every access that is not ordered behind it is found at once.
import { hashName } from "../base/digest.js";
import type { ForwardEntry } from "../base/operations.js";
import type { ModelArena } from "./model-arena.js";
import { fail } from "./model-fault.js";
import { ACT, type BandPages, ID, offsetOf, PAGE, writerOf } from "./model-pages.js";
import type { ModelRow, ModelRows } from "./model-rows.js";

/** Names of forwards that ended are remembered, as readers of a trace do: a later wait for one is no error. */
const NAMES_MAX = 65_536;

/** Numbers of one captured write. */
const WRITE = { band: 0, id: 1, generation: 2, place: 3, value: 4, whole: 5, numbers: 6 } as const;

interface Forward {
  readonly name: string;
  readonly serial: number; // 1, 2, … in launch order
  readonly operation: number;
  readonly writes: number[]; // captured at launch, `WRITE.numbers` each
  recorded: boolean;
}

/** Forwards in launch order. @internal */
export class ForwardStream {
  readonly #arena: ModelArena;
  readonly #rows: ModelRows;
  readonly #late: () => boolean;
  readonly #unfinished: Forward[] = []; // oldest first
  readonly #serials = new Map<string, number>(); // 0 = prebuilt
  #launched = 0;
  #newestUnknown = 0; // newest forward whose writes are unknown

  /** @param late - whether forwards run beside the schedule stream (overlap or pipeline stages) */
  constructor(arena: ModelArena, rows: ModelRows, late: () => boolean) {
    this.#arena = arena;
    this.#rows = rows;
    this.#late = late;
  }

  /** Number of the newest forward that was launched. */
  get launched(): number {
    return this.#launched;
  }
  nameOf(serial: number): string {
    return this.#unfinished.find((forward) => forward.serial === serial)?.name ?? "a forward";
  }

  /** A step without a forward of its own: it moves the rings of tracking slots on, and nothing else. */
  launchPrebuilt(name: string, batch: readonly ForwardEntry[]): void {
    this.#remember(name, 0);
    for (const { req, track } of batch) {
      if (track === undefined) continue;
      const row = this.#rows.require(req);
      const tracked = row.slots.track[row.trackCursor];
      if (tracked !== undefined) row.track(tracked, track);
    }
  }

  /** Launches a forward: reads every page now bound in its rows, captures its writes. */
  launch(name: string, batch: readonly ForwardEntry[]): void {
    this.#launched += 1;
    const forward: Forward = {
      name,
      serial: this.#launched,
      operation: this.#arena.operation,
      writes: [],
      recorded: false,
    };
    this.#remember(name, forward.serial);
    this.#unfinished.push(forward); // before the pages, so that messages can name it
    const stepHash = hashName(name);
    for (const entry of batch) this.#resolve(forward, entry, stepHash);
    this.#arena.tap?.forward(name, batch, !this.#late());
    if (!this.#late()) this.runThrough(forward.serial);
  }

  record(name: string, writes: "known" | "unknown"): void {
    const serial = this.#serialOf(name, "event");
    const forward = this.#unfinished.find((candidate) => candidate.serial === serial);
    if (forward === undefined || forward.recorded)
      fail("bad_effect", `event of ${name}, which is not a launched and unrecorded forward`);
    forward.recorded = true;
    if (writes === "unknown") this.#newestUnknown = serial;
  }

  /** The schedule stream waits a forward: it and all earlier ones run first. */
  wait(name: string): void {
    const serial = this.#serialOf(name, "wait");
    const forward = this.#unfinished.find((candidate) => candidate.serial === serial);
    if (forward?.recorded === false)
      fail("bad_effect", `wait for ${name}, which was launched but not recorded`);
    if (serial === 0) fail("bad_effect", `wait for ${name}, a prebuilt step without an event`);
    this.runThrough(serial);
  }

  /** The host has seen a forward's end. */
  process(name: string): void {
    this.runThrough(this.#serialOf(name, "processing"));
  }

  requireKnown(name: string, what: string): void {
    this.#serialOf(name, what);
  }

  /** Refuses moves and copies beside a forward that may write any page. */
  requireKnownWrites(what: string): void {
    if (this.#newestUnknown <= this.#arena.finishedForward) return;
    const name = this.nameOf(this.#newestUnknown);
    const message = `${what} while ${name}, whose writes are unknown, may still run: nothing waits for ${name} first`;
    fail("unordered_overlap", message);
  }

  /** Runs everything that was launched. */
  drain(): void {
    this.runThrough(this.#launched);
  }

  #remember(name: string, serial: number): void {
    this.#serials.delete(name); // a name that comes back moves to the end
    this.#serials.set(name, serial);
    if (this.#serials.size <= NAMES_MAX) return;
    for (const oldest of this.#serials.keys()) {
      this.#serials.delete(oldest);
      break;
    }
  }

  #serialOf(name: string, what: string): number {
    return (
      this.#serials.get(name) ?? fail("bad_effect", `${what} of ${name}, which was never launched`)
    );
  }

  #resolve(forward: Forward, entry: ForwardEntry, stepHash: number): void {
    const row = this.#rows.require(entry.req);
    const pages = this.#rows.pagesOf(entry.to);
    if (pages > row.pageCount)
      fail("bad_effect", `${forward.name} reads ${entry.req} to ${entry.to}, beyond its row`);
    const writer = writerOf(row.hash, stepHash);
    for (const band of this.#arena.tokenBands) {
      this.#read(forward, band, row, pages);
      if (entry.from < entry.to) this.#captureTokens(forward, band, row, entry, writer);
    }
    const state = this.#arena.stateBand;
    if (state === null) return;
    const main = row.slots.main[0];
    if (main !== undefined) this.#captureState(forward, state, main, entry.to, writer);
    const tracked = entry.track === undefined ? undefined : row.slots.track[row.trackCursor];
    if (entry.track === undefined || tracked === undefined) return;
    this.#captureState(forward, state, tracked, entry.track, writer);
    row.track(tracked, entry.track);
  }

  #read(forward: Forward, band: BandPages, row: ModelRow, pages: number): void {
    const { virtual } = row;
    const { owner, uses } = this.#arena;
    const isShared = uses.count > 0; // with copies and transfers
    for (let index = 0; index < pages; index++) {
      const id = virtual[index]!; // below pageCount
      if (id === 0) continue;
      const ids = band.id(id);
      const i = offsetOf(id);
      const place = ids[i + ID.place]!; // inside the block, as below
      if (place === 0) {
        if (band !== owner) continue; // a window page that is gone
        const what = `page ${index} of ${row.req}, virtual ${id}`;
        fail("bad_effect", `${forward.name} reads ${what}, which is not bound`, band.name);
      }
      if (this.#arena.wasLetGo(band, id)) continue;
      if (isShared) this.#arena.requireFilled(forward.name, band, place);
      const block = band.page(place);
      const p = offsetOf(place);
      if (block[p + PAGE.content] !== ids[i + ID.expected]) this.#arena.failLost(band, id);
      block[p + PAGE.reader] = forward.serial;
    }
  }

  #captureTokens(
    forward: Forward,
    band: BandPages,
    row: ModelRow,
    entry: ForwardEntry,
    writer: number,
  ): void {
    const { units } = band;
    const isShared = this.#arena.uses.count > 0; // with copies and transfers
    const end = Math.ceil(entry.to / units);
    for (let index = Math.floor(entry.from / units); index < end; index++) {
      const id = row.virtual[index]!; // below pageCount
      if (id === 0 || band.placeOf(id) === 0) continue;
      if (this.#arena.wasLetGo(band, id)) continue;
      if (isShared) this.#arena.requireUnused(forward.name, band, band.placeOf(id));
      const firstToken = index * units;
      const from = Math.max(entry.from - firstToken, 0);
      const to = Math.min(entry.to - firstToken, units);
      const grown = band.issue(id, from, to, firstToken, writer);
      band.tap?.issued(band, id, from, to, firstToken, writer);
      this.#capture(forward, band, id, grown, to - from === units);
    }
  }

  #captureState(
    forward: Forward,
    band: BandPages,
    slot: number,
    len: number,
    writer: number,
  ): void {
    const place = band.placeOf(slot);
    if (place === 0) {
      this.#captureUnplaced(forward, band, slot, len, writer);
      return;
    }
    this.#arena.requireUnused(forward.name, band, place);
    this.#arena.verify(band, slot);
    band.page(place)[offsetOf(place) + PAGE.reader] = forward.serial;
    const grown = band.issue(slot, 0, 1, len, writer);
    band.tap?.issued(band, slot, 0, 1, len, writer);
    this.#capture(forward, band, slot, grown, true);
  }

  // Where the page is not known yet, what it holds is written down until it shows.
  #captureUnplaced(
    forward: Forward,
    band: BandPages,
    slot: number,
    len: number,
    writer: number,
  ): void {
    if (!this.#arena.unplaced.has(slot))
      fail("bad_effect", `${forward.name} writes slot ${slot}, which is not bound`, band.name);
    band.issue(slot, 0, 1, len, writer);
    band.tap?.changed(band, slot);
    const ids = band.id(slot);
    ids[offsetOf(slot) + ID.expected] = band.issuedContent(slot);
    ids[offsetOf(slot) + ID.byOperation] = forward.operation;
    this.#arena.unplaced.written(slot, forward.serial);
  }

  #capture(forward: Forward, band: BandPages, id: number, grown: number, whole: boolean): void {
    const ids = band.id(id);
    const i = offsetOf(id);
    const place = ids[i + ID.place]!; // inside the block, as below
    ids[i + ID.byOperation] = forward.operation;
    band.page(place)[offsetOf(place) + PAGE.writer] = forward.serial;
    const value = whole ? band.issuedContent(id) : grown;
    forward.writes.push(band.index, id, ids[i + ID.generation]!, place, value, whole ? 1 : 0);
  }

  /** Runs a forward and all earlier ones: the schedule stream, the host or a copy's stream is behind its end. */
  runThrough(serial: number): void {
    while (this.#unfinished.length > 0 && this.#unfinished[0]!.serial <= serial) {
      const forward = this.#unfinished[0]!; // not empty
      const { writes } = forward;
      for (let at = 0; at < writes.length; at += WRITE.numbers) this.#write(forward, at);
      this.#unfinished.shift();
      this.#arena.finishedForward = forward.serial;
    }
  }

  // Writes the place that was resolved at launch, whoever holds it by now.
  #write(forward: Forward, at: number): void {
    const { writes } = forward;
    const band = this.#arena.bands[writes[at + WRITE.band]!]!; // captured from that band
    const id = writes[at + WRITE.id]!; // inside the record, as below
    const place = writes[at + WRITE.place]!;
    const value = writes[at + WRITE.value]!;
    const whole = writes[at + WRITE.whole] === 1;
    const generation = writes[at + WRITE.generation]!;
    const owner = this.#ownerOf(band, id, place, generation); // 0 = nobody any more
    this.#arena.claim(band, place, ACT.forward);
    if (owner !== 0) {
      const ids = band.id(owner);
      const i = offsetOf(owner);
      ids[i + ID.expected] = whole ? value : ids[i + ID.expected]! + value; // inside the block
    }
    const old = band.page(place)[offsetOf(place) + PAGE.content]!;
    const content = whole ? value : (old + value) | 0;
    this.#arena.write(band, place, content, ACT.forward, forward.operation);
    if (owner !== 0) this.#arena.verify(band, owner);
    const holder = band.holderOf(place);
    if (holder > 0 && holder !== owner) this.#arena.verify(band, holder);
  }

  /** The id under which a binding that was captured goes on: the same, or the one that took its page over. */
  #ownerOf(band: BandPages, id: number, place: number, generation: number): number {
    if (band.isBinding(id, generation)) return id;
    const holder = band.holderOf(place);
    return holder > 0 && band.isBinding(holder, generation) ? holder : 0;
  }
}
