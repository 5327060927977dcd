// What the parts of the harness share: the cells, the actors, the ranks and the books of one arena.
import { expand } from "../../base/extents.js";
import { hashName, mixA } from "../../base/digest.js";
import type { BootOk, DirectConfig, PageLists, StatePurpose } from "../../base/operations.js";
import { BandBook } from "./books.js";
import { CellSpace, type HarnessBand } from "./cells.js";
import { ACTOR, Actors, type Clock } from "./clocks.js";
import { RankMemory, type Reading, type Work, type Writing } from "./memory.js";

const STAMP_FIELD = 0x5811;

/** The tables in device memory, as the operation under way left them. @internal */
export interface HarnessTables {
  /** Physical page by id of a band, by its place in the chain; 0 or less = unbound. */
  places(band: number): Int32Array;
  row(req: string):
    | {
        readonly row: number;
        readonly pages: readonly number[]; // virtual page by page index, 0 = none
        readonly slots: Readonly<Record<StatePurpose, readonly number[]>>;
        readonly trackCursor: number;
      }
    | undefined;
  /** Whether a row still holds its page under an id. */
  isHeld(band: number, id: number): boolean;
}

/** One thing that the harness found. @internal */
export interface HarnessFinding {
  readonly check:
    | "lost_write"
    | "unordered_overlap"
    | "host_read_after_wait"
    | "rank_divergence"
    | "cross_dtype_bytes";
  readonly message: string; // one line
  readonly actors: readonly string[];
  readonly bytes?: readonly [from: number, to: number];
  readonly band?: string;
}

/** One arena of a run. @internal */
export class HarnessRun {
  readonly config: DirectConfig;
  readonly space: CellSpace;
  readonly actors: Actors<Work>;
  readonly ranks: readonly RankMemory[];
  readonly books: readonly BandBook[]; // chain order
  readonly tokenBooks: readonly BandBook[];
  readonly stateBook: BandBook | null;
  readonly rowIds: Int32Array; // by row and page: the id that the row's cell holds
  readonly found: HarnessFinding[] = [];
  tables: HarnessTables;
  operation = 0;

  constructor(
    config: DirectConfig,
    boot: BootOk,
    tables: HarnessTables,
    seed: number,
    ranks: number,
  ) {
    this.config = config;
    this.tables = tables;
    const bands = Object.keys(boot.bands);
    const ids = bands.map((_, index) => tables.places(index).length);
    this.space = new CellSpace(config, boot, ids);
    this.actors = new Actors(this.space);
    this.ranks = Array.from(
      { length: ranks },
      (_, rank) => new RankMemory(this.space, this.actors, seed, rank),
    );
    this.books = this.space.bands.map((band) => new BandBook(band, ids[band.index]!)); // one count a band
    this.tokenBooks = this.books.filter(({ band }) => !band.isState);
    this.stateBook = this.books.find(({ band }) => band.isState) ?? null;
    this.rowIds = new Int32Array((config.rows + 1) * this.space.rowPages);
  }

  book(name: string): BandBook | undefined {
    return this.books.find(({ band }) => band.name === name);
  }

  /** Queues a piece of work of one actor and notes what it touches in the arena. */
  queue(
    actor: number,
    name: string,
    work: Pick<Work, "reads" | "writes" | "moves" | "isForward" | "late"> = {},
  ): Work {
    const { time, clock } = this.actors.advance(actor);
    const queued: Work = { ...work, name, actor, time, clock, operation: this.operation };
    this.actors.queues[actor]!.push(queued); // a queue an actor
    return queued;
  }

  /** Notes that work reads and writes what it lists. */
  touch(work: Work): void {
    for (const { band, page } of work.reads ?? []) this.readsPage(work, band, page);
    for (const [band, source] of work.moves ?? []) this.readsPage(work, band, source);
    for (const { band, page } of work.writes ?? []) this.writesPage(work, band, page);
    for (const [band, , target] of work.moves ?? []) this.writesPage(work, band, target);
  }
  readsPage(work: Work, band: number, page: number): void {
    const { space } = this;
    this.actors.reads(work, space.pageStart(band, page), space.pageEnd(band, page));
    this.takeRace(space.bands[band]!);
  }
  writesPage(work: Work, band: number, page: number): void {
    const { space } = this;
    this.actors.writes(work, space.pageStart(band, page), space.pageEnd(band, page));
    this.takeRace(space.bands[band]!);
  }
  readsCell(work: Work, cell: number): void {
    this.actors.reads(work, cell, cell + 1);
    this.takeRace(this.space.bands[0]!);
  }
  writesCell(work: Work, cell: number): void {
    this.actors.writes(work, cell, cell + 1);
    this.takeRace(this.space.bands[0]!);
  }

  /** The host has seen that all of `clock` is over: on every rank it is. */
  hostSees(clock: Clock): void {
    this.actors.join(ACTOR.host, clock);
    for (const rank of this.ranks) rank.runTo(clock);
  }

  /** Pages of an effect's or answer's lists by band, those outside the grid left out. */
  *listed(lists: PageLists): Generator<readonly [book: BandBook, page: number]> {
    for (const [name, extents] of Object.entries(lists)) {
      const book = this.book(name);
      if (book === undefined) continue; // ids
      for (const page of expand(extents))
        if (page > 0 && page < book.band.pages) yield [book, page];
    }
  }

  /** A page that will be read, and what is to be found there. */
  reading(book: BandBook, page: number): Reading {
    return { band: book.band.index, page, expected: book.expectedAt(page) };
  }

  /** The stamp that a writer leaves in a page: owner, its generation, who writes, the band. */
  stamp(book: BandBook, id: number, writer: string): number {
    const owner = mixA(STAMP_FIELD + book.band.index, id, book.generations[id] ?? 0);
    return mixA(STAMP_FIELD, owner >>> 0, hashName(writer)) >>> 1;
  }
  /** A page that will be written whole under its id; says so in the books. */
  whole(book: BandBook, page: number, writer: string): Writing {
    const stamp = this.stamp(book, book.holders[page] ?? 0, writer);
    return { band: book.band.index, page, stamp, isWhole: true };
  }

  takeRace(via: HarnessBand): void {
    const { race } = this.actors;
    if (race === null) return;
    this.actors.race = null;
    this.found.push(raceFinding(this.space, race, via));
  }
}

function raceFinding(
  space: CellSpace,
  race: NonNullable<Actors<Work>["race"]>,
  via: HarnessBand,
): HarnessFinding {
  const { band, bytes } = space.placeOf(race.cell, via);
  const [earlier, later] = [nameOf(race.earlier), nameOf(race.later)];
  const did = race.isWriteFirst ? "wrote" : "may still read";
  const message = `${later} touches ${band} bytes ${bytes[0]} to ${bytes[1]}, which ${earlier} ${did}: nothing orders the two`;
  return { check: "unordered_overlap", message, actors: [earlier, later], bytes, band };
}

function nameOf({ name, operation }: Work): string {
  return `${name} of operation ${operation}`;
}
