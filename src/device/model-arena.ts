// The arena of the simulated device: every band on its own grid over the same bytes. It knows who may write what: a
// write destroys whatever other bands hold in those bytes, must not hit a live page, and must come after every forward
// that still uses them.
import { InputError } from "../base/errors.js";
import type { BootOk, DirectConfig } from "../base/operations.js";
import { DeferredFrees } from "./model-deferred.js";
import { fail } from "./model-fault.js";
import { ACT, ACT_WORDS, type Act, BandPages, ID, offsetOf, PAGE } from "./model-pages.js";
import type { StrayTransfers } from "./model-strays.js";
import type { ModelTap } from "./model-tap.js";
import { SOME_SLOT, UnplacedSlots } from "./model-unplaced.js";
import { OpenUses } from "./model-uses.js";

const PAGES_MAX = 2 ** 31;

/** Words that the arena needs from those who know requests and forwards; used in messages only. @internal */
export interface ArenaNames {
  /** The request part of a page's name: `r1 tokens 8 to 11`. */
  holder(band: BandPages, id: number): string;
  /** A forward's name by its number. */
  forward(serial: number): string;
}

/** The bands of one run. @internal */
export class ModelArena {
  readonly bands: readonly BandPages[]; // chain order
  readonly tokenBands: readonly BandPages[];
  readonly stateBand: BandPages | null;
  readonly owner: BandPages; // mints the virtual ids
  readonly tap: ModelTap | null;
  readonly #strays: StrayTransfers; // engines that never proved their end
  operation = 0; // number of the operation under way
  finishedForward = 0; // number of the newest forward that has run
  readonly uses: OpenUses; // copies, transfers and reservations that are not over
  readonly deferred: DeferredFrees; // given back, and bound until transfers are over
  /** Whether somebody let go of a page that an open group keeps bound; null without such pages. */
  letGo: ((band: BandPages, id: number) => boolean) | null = null;
  readonly unplaced: UnplacedSlots = new UnplacedSlots(); // slots whose page is not known yet
  moveEffects = 0; // `move` effects so far
  readonly #byName: ReadonlyMap<string, BandPages>;
  readonly #names: ArenaNames;
  #garbage = 1;

  constructor(
    config: DirectConfig,
    boot: BootOk,
    strays: StrayTransfers,
    names: ArenaNames,
    tap: ModelTap | null,
  ) {
    this.tap = tap;
    this.#strays = strays;
    this.#names = names;
    this.bands = Object.entries(boot.bands).map(([name, geometry], index) => {
      const pool = config.sub_pools.find((candidate) => candidate.name === name);
      if (pool === undefined)
        throw new InputError("config", `boot names band ${name}, which is no sub-pool`);
      if (geometry.pages >= PAGES_MAX) {
        const limit = `band ${name} has ${geometry.pages} pages, the model device takes fewer than 2^31 a band`;
        throw new InputError("config", `${limit}: use self:none or a smaller arena`);
      }
      return new BandPages(pool, geometry, index, config.page_size);
    });
    this.tokenBands = this.bands.filter((band) => !band.isState);
    this.stateBand = this.bands.find((band) => band.isState) ?? null;
    for (const band of this.bands) band.tap = tap;
    const owner = this.tokenBands.find((band) => !band.isWindow);
    if (owner === undefined) throw new InputError("config", "no full-attention band owns the ids");
    this.owner = owner;
    this.uses = new OpenUses(this.bands.length);
    this.deferred = new DeferredFrees(this.bands.length);
    this.#byName = new Map(this.bands.map((band) => [band.name, band]));
  }

  /** The band of that name; anything else in an answer or effect is a violation. */
  band(name: string): BandPages {
    return this.#byName.get(name) ?? fail("bad_effect", `there is no band ${name}`);
  }

  /**
   * Says that `act` writes (or, handing out, lets someone write) a page. On the schedule stream every forward, copy and
   * transfer that uses the bytes must have run; the forward stream is in order, and a load's copy comes behind it. Other
   * bands lose what they held in the bytes.
   */
  claim(band: BandPages, page: number, act: Act): void {
    if (!comesBehindForwards(act)) {
      const reader = band.page(page)[offsetOf(page) + PAGE.reader]!; // inside the block
      if (reader > this.finishedForward) this.#failUnordered(act, band, page, reader, band, page);
    }
    if (this.uses.count > 0 && !wasOrdered(act)) this.#requireUnused(act, band, page, band, page);
    if (this.#strays.size > 0) this.#strays.meet(band, page);
    band.touch(page);
    const fromBytes = page * band.pageBytes;
    const toBytes = fromBytes + band.pageBytes;
    for (const other of this.bands) {
      if (other === band) continue;
      if (fromBytes >= other.touchedToBytes || toBytes <= other.touchedFromBytes) continue;
      const low = Math.max(fromBytes, other.touchedFromBytes);
      const high = Math.min(toBytes, other.touchedToBytes);
      const last = Math.floor((high - 1) / other.pageBytes);
      for (let hit = Math.floor(low / other.pageBytes); hit <= last; hit++)
        this.#hit(band, page, act, other, hit);
    }
  }

  #hit(band: BandPages, page: number, act: Act, other: BandPages, hit: number): void {
    const pages = other.isWatched ? other.page(hit) : other.peekPage(hit);
    if (pages === undefined) return;
    const p = offsetOf(hit);
    if (pages[p + PAGE.holder] !== 0) {
      const hurt = this.describe(other, hit);
      const writer = `${ACT_WORDS[act]!} of ${band.name} page ${page}`; // one word an act
      fail("lost_write", `${writer} writes bytes of ${hurt}, which is live`, other.name, hit);
    }
    const reader = pages[p + PAGE.reader]!; // inside the block
    if (!comesBehindForwards(act) && reader > this.finishedForward)
      this.#failUnordered(act, band, page, reader, other, hit);
    if (this.uses.count > 0 && !wasOrdered(act)) this.#requireUnused(act, band, page, other, hit);
    if (act === ACT.handOut || act === ACT.reserve) return; // nothing is written yet
    if (this.#strays.size > 0) this.#strays.meet(other, hit);
    pages[p + PAGE.content] = this.garbage();
    pages[p + PAGE.byOperation] = this.operation;
    pages[p + PAGE.byAct] = act;
  }

  /** Whether who held a page let go of it, though it waits to be freed: forwards launched since do not use it. */
  wasLetGo(band: BandPages, id: number): boolean {
    return this.deferred.has(band, id) || (this.letGo !== null && this.letGo(band, id));
  }

  /** A content that no page is ever expected to hold. */
  garbage(): number {
    this.#garbage = (Math.imul(this.#garbage, 0x2c9277b5) + 0x3c6ef35f) | 0;
    return this.#garbage;
  }

  /** Notes that `act` leaves `content` in a page; `claim` comes first. */
  write(band: BandPages, page: number, content: number, act: Act, operation: number): void {
    const pages = band.page(page);
    const p = offsetOf(page);
    pages[p + PAGE.content] = content;
    pages[p + PAGE.byOperation] = operation;
    pages[p + PAGE.byAct] = act;
  }

  /** Checks that a bound id's page holds what its last writer wrote. */
  verify(band: BandPages, id: number): void {
    const ids = band.id(id);
    const page = ids[offsetOf(id) + ID.place]!; // inside the block
    if (band.page(page)[offsetOf(page) + PAGE.content] !== ids[offsetOf(id) + ID.expected])
      this.failLost(band, id);
  }

  /** Checks every live page. */
  verifyLive(): void {
    for (const band of this.bands) {
      const lost = band.firstLost();
      if (lost !== 0) this.failLost(band, lost);
    }
  }

  /** Reports a page that does not hold what its last writer wrote. */
  failLost(band: BandPages, id: number): never {
    const page = band.placeOf(id);
    const pages = band.page(page);
    const p = offsetOf(page);
    const wrote = band.id(id)[offsetOf(id) + ID.byOperation]!; // inside the block, as below
    const act = ACT_WORDS[pages[p + PAGE.byAct]!]!; // one word an act
    const lost = `${this.describe(band, page)} lost what operation ${wrote} wrote`;
    const message = `${lost}: its bytes are those of a ${act} in operation ${pages[p + PAGE.byOperation]!}`;
    fail("lost_write", message, band.name, page);
  }

  /** `full page 12 (virtual 3, r1 tokens 8 to 11)`. */
  describe(band: BandPages, page: number): string {
    const id = band.holderOf(page);
    if (id === 0) return `${band.name} page ${page}`;
    if (id === SOME_SLOT) return `${band.name} page ${page} (a slot that changed owners)`;
    const kind = band.isState ? "slot" : "virtual";
    const holder = this.#names.holder(band, id);
    return `${band.name} page ${page} (${kind} ${id}${holder === "" ? "" : `, ${holder}`})`;
  }

  /** Refuses to read a page that somebody, not waited, still writes. @param what - the reader and what it does */
  requireWritten(what: string, band: BandPages, page: number): void {
    this.requireRun(what, band, page);
    if (this.uses.count > 0) this.requireFilled(what, band, page);
  }

  /** Refuses to read a page that a forward, not waited, still writes. */
  requireRun(what: string, band: BandPages, page: number): void {
    const writer = band.page(page)[offsetOf(page) + PAGE.writer]!; // inside the block
    if (writer > this.finishedForward)
      this.#failReading(what, band, page, this.#names.forward(writer));
  }

  /** Refuses to write a page that a forward, not waited, still uses. */
  requireUnread(what: string, band: BandPages, page: number): void {
    const reader = band.page(page)[offsetOf(page) + PAGE.reader]!; // inside the block
    if (reader <= this.finishedForward) return;
    const forward = this.#names.forward(reader);
    const message = `${what} writes ${this.describe(band, page)} while ${forward} may still use it: nothing waits for ${forward} first`;
    fail("unordered_overlap", message, band.name, page);
  }

  /** Refuses to read a page that a copy, transfer or reservation has yet to fill. */
  requireFilled(what: string, band: BandPages, page: number): void {
    const use = this.uses.writerAt(band, page);
    if (use !== null) this.#failReading(what, band, page, use.name);
  }

  /** Refuses to write a page that a copy, transfer or reservation still uses. */
  requireUnused(what: string, band: BandPages, page: number): void {
    const use = this.uses.at(band, page)[0];
    if (use === undefined) return;
    const message = `${what} writes ${this.describe(band, page)} while ${use.name} may still use it: nothing waits for ${use.name} first`;
    fail("unordered_overlap", message, band.name, page);
  }

  #failReading(what: string, band: BandPages, page: number, writer: string): never {
    const reads = `${what} reads ${this.describe(band, page)}`;
    const message = `${reads} while ${writer} may still write it: nothing waits for ${writer} first`;
    fail("unordered_overlap", message, band.name, page);
  }

  #requireUnused(act: Act, band: BandPages, page: number, used: BandPages, usedPage: number): void {
    const use = this.uses.at(used, usedPage)[0];
    if (use !== undefined) this.#failOverlap(act, band, page, use.name, used, usedPage);
  }

  #failUnordered(
    act: Act,
    band: BandPages,
    page: number,
    reader: number,
    used: BandPages,
    usedPage: number,
  ): never {
    this.#failOverlap(act, band, page, this.#names.forward(reader), used, usedPage);
  }

  #failOverlap(
    act: Act,
    band: BandPages,
    page: number,
    user: string,
    used: BandPages,
    usedPage: number,
  ): never {
    const what = `${ACT_WORDS[act]!} of ${band.name} page ${page}`; // one word an act
    const bytes = used === band ? "it" : `bytes of ${used.name} page ${usedPage}`;
    const message = `${what} while ${user} may still use ${bytes}: nothing waits for ${user} first`;
    fail("unordered_overlap", message, band.name, page);
  }
}

/** Whether an act is ordered behind every launched forward: it runs on the forward stream, or on one that waits it. */
function comesBehindForwards(act: Act): boolean {
  return act >= ACT.forward;
}

/** Whether an act's order towards copies and transfers was checked when it was issued. */
function wasOrdered(act: Act): boolean {
  return act === ACT.forward || act === ACT.load || act === ACT.receive;
}
