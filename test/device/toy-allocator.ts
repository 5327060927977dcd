// The smallest legal allocator: pages anywhere on their grids where no live byte lies, in three bands whose grids do not
// fit each other, with a wait exactly where a forward may still use the bytes. What to do is drawn from one seed and
// where to put it from another, so that one run can be laid out in many ways.
import { toExtents } from "../../src/base/extents.js";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";

const ARENA_BYTES = 4000;
const PAGE_SIZE = 4;
const BANDS = [
  { name: "mamba", kind: "state", unit_bytes: 20, page_bytes: 20, pages: 200, first_page: 2 },
  {
    name: "window_8",
    kind: "mha",
    window: 8,
    unit_bytes: 6,
    page_bytes: 24,
    pages: 166,
    first_page: 1,
  },
  { name: "full", kind: "mha", unit_bytes: 4, page_bytes: 16, pages: 250, first_page: 2 },
] as const;
const [STATE, WINDOW, FULL] = [0, 1, 2] as const;

export const TOY_CONFIG: DirectConfig = {
  page_size: PAGE_SIZE,
  arena_bytes: ARENA_BYTES,
  sub_pools: BANDS.map(({ name, kind, unit_bytes, ...rest }) =>
    "window" in rest ? { name, kind, unit_bytes, window: rest.window } : { name, kind, unit_bytes },
  ),
  rows: 1000,
  row_tokens: 64,
  overlap: true,
};
export const TOY_BOOT: BootOk = {
  bands: Object.fromEntries(
    BANDS.map(({ name, unit_bytes, page_bytes, pages, first_page }) => [
      name,
      { grow: "float", unit_bytes, page_bytes, pages, first_page } as const,
    ]),
  ),
  sink_bytes: 24,
};

/** What may be forgotten. */
export type ToyMistake = "wait" | "written move" | "overlap";
export interface ToyLine {
  readonly operation: KvOperation;
  readonly answer: Answer;
  readonly mistaken: boolean; // the first mistake was made here
}

interface Bound {
  place: number;
  usedBy: number; // newest forward that reads or writes it at its place
  writtenBy: number;
}
interface Row {
  readonly req: string;
  readonly virtual: number[];
  readonly slot: number;
  allocated: number;
  cursor: number; // window pages below are gone
}

export class ToyRun {
  readonly #what: Prng;
  readonly #where: Prng;
  readonly #mistake: ToyMistake | null;
  #mistaken = false;
  readonly #live = new Uint8Array(ARENA_BYTES);
  readonly #until = new Int32Array(ARENA_BYTES); // forward that may still use the byte
  readonly #bound: readonly Map<number, Bound>[] = BANDS.map(() => new Map());
  readonly #rows: Row[] = [];
  readonly #unprocessed: number[] = [];
  #unknown = 0;
  #launched = 0;
  #retired = 0;
  #requests = 0;
  #nextVirtual = 2;
  #nextSlot = 2;
  #marks: number[] = [];
  #fx: unknown[] = [];

  constructor(seed: number, placement: number, mistake: ToyMistake | null = null) {
    this.#what = new Prng(seed);
    this.#where = new Prng(placement, 1);
    this.#mistake = mistake;
  }

  /** The next operations; a launch comes with its record. */
  next(): ToyLine[] {
    const before = this.#mistaken;
    const lines = this.#draw();
    return lines.map(
      (line) => ({ ...line, mistaken: this.#mistaken && !before }) as unknown as ToyLine,
    );
  }

  #draw(): object[] {
    const draw = this.#what.below(10);
    const row = this.#rows.length === 0 ? null : this.#what.pick(this.#rows);
    if (row === null || (draw === 0 && this.#rows.length < 6)) return this.#open();
    if (draw <= 2) return [this.#extend(row)];
    if (draw <= 4 && this.#unprocessed.length < 3) return this.#forward();
    if (draw === 5 && this.#unprocessed.length > 0) return [this.#process()];
    if (draw === 6) return [this.#retire(row)];
    if (draw === 7) return [this.#what.chance(1, 2) ? this.#finish(row) : this.#shorten(row)];
    if (draw === 8) return [this.#copy(row)];
    return [this.#flush()];
  }

  #line(op: string, args: object, ok: object): object {
    const fx = this.#fx;
    this.#fx = [];
    return { operation: { op, args }, answer: { ok, ...(fx.length > 0 && { fx }) } };
  }

  #open(): object[] {
    const req = `r${++this.#requests}`;
    const row = { req, virtual: [], slot: this.#nextSlot++, allocated: 0, cursor: 0 };
    if (this.#nextSlot >= BANDS[STATE].pages) this.#nextSlot = 2; // long closed by then
    this.#rows.push(row);
    this.#marks.push(this.#requests);
    const opened = this.#line("row.alloc", { reqs: [req] }, { rows: { [req]: this.#requests } });
    const place = this.#take(STATE, row.slot);
    const ok = { slots: [[row.slot, 1]], mamba: [[place, 1]], step: "no_move" };
    return [opened, this.#line("state.alloc", { req, count: 1, purpose: "main" }, ok)];
  }

  #extend(row: Row): object {
    const from = row.allocated;
    const to = Math.min(from + 1 + this.#what.below(10), 64);
    const virtual: number[] = [];
    while ((row.virtual.length + virtual.length) * PAGE_SIZE < to) {
      virtual.push(this.#nextVirtual++);
      if (this.#nextVirtual >= 250) this.#nextVirtual = 2;
      while (this.#bound[FULL]!.has(this.#nextVirtual)) this.#nextVirtual++;
    }
    const places = [WINDOW, FULL].map((band) => virtual.map((id) => this.#take(band, id)));
    for (const [index, band] of [WINDOW, FULL].entries())
      if (virtual.length > 0) this.#fx.push(["zero", BANDS[band].name, toExtents(places[index]!)]);
    row.virtual.push(...virtual);
    row.allocated = to;
    const [window_8, full] = places.map(toExtents);
    const pages =
      virtual.length > 0 ? { [row.req]: { virtual: toExtents(virtual), window_8, full } } : {};
    return this.#line(
      "tokens.extend",
      { batch: [{ req: row.req, from, to }] },
      { pages, step: "no_move" },
    );
  }

  #forward(): object[] {
    const serial = ++this.#launched;
    const step = `f${serial}`;
    const batch = this.#rows.map(({ req, allocated }) => ({
      req,
      from: Math.max(0, allocated - 1 - this.#what.below(5)),
      to: allocated,
    }));
    for (const [index, row] of this.#rows.entries()) {
      for (const [page, id] of row.virtual.entries())
        for (const band of [WINDOW, FULL])
          this.#use(band, id, serial, (page + 1) * PAGE_SIZE > batch[index]!.from);
      this.#use(STATE, row.slot, serial, true);
    }
    const resets = toExtents(this.#marks.splice(0));
    if (resets.length > 0) this.#fx.push(["reset", resets]);
    this.#fx.push(["forward", step]);
    const launch = this.#line("forward.launch", { step, batch, mode: "extend" }, { resets });
    const writes = this.#what.chance(1, 8) ? "unknown" : "known";
    if (writes === "unknown") this.#unknown = serial;
    this.#unprocessed.push(serial);
    this.#fx.push(["event", step]);
    return [launch, this.#line("forward.record", { step, writes }, {})];
  }

  #process(): object {
    const serial = this.#unprocessed.shift()!;
    this.#retired = Math.max(this.#retired, serial);
    return this.#line("forward.process", { step: `f${serial}` }, { released: {} });
  }

  #retire(row: Row): object {
    const cursor = Math.max(
      row.cursor,
      Math.floor(Math.max(0, row.allocated - 8) / PAGE_SIZE) * PAGE_SIZE,
    );
    const ids = row.virtual.slice(row.cursor / PAGE_SIZE, cursor / PAGE_SIZE);
    row.cursor = cursor;
    const freed = toExtents(this.#free(WINDOW, ids));
    const ok = { window_8: { cursor, floor: null, freed } };
    return this.#line("window.retire", { req: row.req, len: row.allocated }, ok);
  }

  #shorten(row: Row): object {
    const from = Math.max(row.cursor, row.allocated - this.#what.below(12));
    const ids = row.virtual.splice(Math.ceil(from / PAGE_SIZE));
    const args = { req: row.req, from, to: row.allocated, bands: "all" };
    row.allocated = from;
    return this.#line("tokens.free", args, { freed: this.#freeAll(ids, []) });
  }

  #finish(row: Row): object {
    this.#rows.splice(this.#rows.indexOf(row), 1);
    const args = { req: row.req, len: row.allocated, insert: false };
    return this.#line("request.finish", args, { freed: this.#freeAll(row.virtual, [row.slot]) });
  }

  #copy(row: Row): object {
    const other = this.#what.pick(this.#rows);
    const from = this.#bound[STATE]!.get(row.slot)!;
    const to = this.#bound[STATE]!.get(other.slot)!;
    this.#await(Math.max(from.writtenBy, to.usedBy, this.#unknown));
    this.#fx.push(["copy", "mamba", [[from.place, to.place]]]);
    const args = {
      from: { req: row.req, purpose: "main" },
      to: { req: other.req, purpose: "main" },
    };
    return this.#line("state.copy", args, {});
  }

  // Moves are places, so all of them are drawn from the placement's seed.
  #flush(): object {
    const ok: Record<string, object> = {};
    for (const [band, { name }] of BANDS.entries()) {
      const moves: [number, number][] = [];
      const count = this.#unknown > this.#retired ? 0 : this.#where.below(3);
      for (const [id, bound] of [...this.#bound[band]!].slice(0, count)) {
        const written = bound.writtenBy > this.#retired;
        if (written && !this.#err("written move")) continue;
        moves.push([bound.place, this.#take(band, id, bound)]);
        this.#fx.push(["move", name, [moves.at(-1)!]]);
      }
      ok[name] = { moves, absorbed: 0 };
    }
    return this.#line("chain.flush", {}, ok);
  }

  #use(band: number, id: number, serial: number, writes: boolean): void {
    const bound = this.#bound[band]!.get(id);
    if (bound === undefined) return;
    bound.usedBy = serial;
    if (writes) bound.writtenBy = serial;
  }

  #freeAll(virtual: readonly number[], slots: readonly number[]): object {
    const lists = {
      virtual: toExtents(virtual),
      slots: toExtents(slots),
      mamba: toExtents(this.#free(STATE, slots)),
      window_8: toExtents(this.#free(WINDOW, virtual)),
      full: toExtents(this.#free(FULL, virtual)),
    };
    return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
  }

  #free(band: number, ids: readonly number[]): number[] {
    return ids.flatMap((id) => {
      const bound = this.#bound[band]!.get(id);
      if (bound === undefined) return [];
      this.#bound[band]!.delete(id);
      this.#release(band, bound.place, bound.usedBy);
      return [bound.place];
    });
  }

  #release(band: number, place: number, usedBy: number): void {
    const bytes = BANDS[band]!.page_bytes;
    this.#live.fill(0, place * bytes, (place + 1) * bytes);
    for (let byte = place * bytes; byte < (place + 1) * bytes; byte++)
      this.#until[byte] = Math.max(this.#until[byte]!, usedBy);
  }

  /** A place for an id, waiting whoever may still use its bytes; with `from` the id leaves that place. */
  #take(band: number, id: number, from?: Bound): number {
    const { pages, first_page, page_bytes: bytes } = BANDS[band]!;
    const start = this.#where.below(pages - first_page);
    const overlap = this.#launched > 2 && this.#live.includes(1, 100) && this.#err("overlap");
    for (let tried = 0; tried < pages - first_page; tried++) {
      const place = first_page + ((start + tried) % (pages - first_page));
      const isFree = !this.#live.subarray(place * bytes, (place + 1) * bytes).includes(1);
      if (isFree === overlap) continue;
      this.#await(Math.max(...this.#until.subarray(place * bytes, (place + 1) * bytes)));
      if (from !== undefined) this.#release(band, from.place, from.usedBy);
      this.#live.fill(1, place * bytes, (place + 1) * bytes);
      this.#bound[band]!.set(id, { place, usedBy: 0, writtenBy: 0 });
      return place;
    }
    throw new Error("the toy arena is too small for its run");
  }

  #await(serial: number): void {
    if (serial <= this.#retired) return;
    this.#retired = serial;
    if (!this.#err("wait")) this.#fx.push(["wait", `f${serial}`]);
  }

  // Makes the chosen mistake at most once.
  #err(kind: ToyMistake): boolean {
    if (this.#mistake !== kind || this.#mistaken) return false;
    return (this.#mistaken = true);
  }
}
