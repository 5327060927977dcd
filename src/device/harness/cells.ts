// The bytes that a run's actors share, cut into cells at every border of every band's grid: a page is a run of whole cells
// in its own band and in every other, so that an overlap is a common cell. Behind the arena lie the request rows, one
// cell a page of tokens, the rows' own state, and the id maps, one cell an id.
import { InputError } from "../../base/errors.js";
import type { BootOk, DirectConfig } from "../../base/operations.js";

const CELLS_MAX = 2 ** 24;
const ID_BYTES = 8; // of one token id in a row, and of one entry of an id map

/** One band as the cells know it. @internal */
export interface HarnessBand {
  readonly name: string;
  readonly index: number; // place in the chain
  readonly isState: boolean;
  readonly isOwner: boolean; // mints the virtual ids
  readonly units: number; // units a page: tokens, 1 for state
  readonly pageBytes: number;
  readonly pages: number; // on the grid, reserved ones included
}

/** What a cell is part of, in words and bytes. @internal */
export interface CellPlace {
  readonly band: string; // a band, `rows`, `row state` or `ids of BAND`
  readonly bytes: readonly [from: number, to: number]; // in the arena, or in that table
}

/** All cells of one arena and its tables. @internal */
export class CellSpace {
  readonly bands: readonly HarnessBand[];
  readonly count: number;
  readonly arenaCells: number;
  readonly rowPages: number; // cells of one row
  readonly #pageSize: number;
  readonly #borders: Float64Array; // bytes; cell c is [borders[c], borders[c + 1])
  readonly #starts: readonly Int32Array[]; // first cell by band and page; one past the last page too
  readonly #rowsFrom: number;
  readonly #rowStateFrom: number;
  readonly #idsFrom: readonly number[]; // by band

  /** @param ids - [bands] ids of each band's map. Throws `InputError` for an arena too large to follow byte by byte. */
  constructor(config: DirectConfig, boot: BootOk, ids: readonly number[]) {
    this.bands = bandsOf(config, boot);
    this.#pageSize = config.page_size;
    let borders = 1;
    for (const band of this.bands) borders += band.pages + 1;
    this.rowPages = Math.ceil(config.row_tokens / config.page_size);
    const rows = config.rows + 1;
    const tables = rows * (this.rowPages + 1) + ids.reduce((sum, count) => sum + count, 0);
    if (borders + tables > CELLS_MAX) {
      const cells = `${borders + tables} ranges of bytes, at most ${CELLS_MAX} are followed`;
      throw new InputError("config", `the harness would have to follow ${cells}`);
    }
    this.#borders = bordersOf(this.bands, borders);
    this.#starts = this.bands.map((band) => startsOf(band, this.#borders));
    this.arenaCells = this.#borders.length - 1;
    this.#rowsFrom = this.arenaCells;
    this.#rowStateFrom = this.#rowsFrom + rows * this.rowPages;
    let next = this.#rowStateFrom + rows;
    this.#idsFrom = ids.map((count) => {
      const from = next;
      next += count;
      return from;
    });
    this.count = next;
  }

  /** First cell of a page; `pageEnd` is one past its last. */
  pageStart(band: number, page: number): number {
    return this.#starts[band]![page]!; // the caller knows the grid, as below
  }
  pageEnd(band: number, page: number): number {
    return this.#starts[band]![page + 1]!;
  }
  /** Cell of one page of tokens of a row. */
  rowCell(row: number, page: number): number {
    return this.#rowsFrom + row * this.rowPages + page;
  }
  /** Cell of a row's own device state. */
  rowStateCell(row: number): number {
    return this.#rowStateFrom + row;
  }
  /** Cell of an id's entry in a band's map. */
  idCell(band: number, id: number): number {
    return this.#idsFrom[band]! + id;
  }

  /** Where a cell lies. @param via - the band through whose page the cell was touched */
  placeOf(cell: number, via: HarnessBand): CellPlace {
    if (cell < this.arenaCells)
      return { band: via.name, bytes: [this.#borders[cell]!, this.#borders[cell + 1]!] };
    if (cell < this.#rowStateFrom) {
      const from = (cell - this.#rowsFrom) * this.#pageSize * ID_BYTES;
      return { band: "rows", bytes: [from, from + this.#pageSize * ID_BYTES] };
    }
    const first = this.#idsFrom[0] ?? this.count;
    if (cell < first) {
      const row = cell - this.#rowStateFrom;
      return { band: "row state", bytes: [row, row + 1] };
    }
    const index = this.#idsFrom.findLastIndex((from) => from <= cell);
    const at = (cell - this.#idsFrom[index]!) * ID_BYTES;
    return { band: `ids of ${this.bands[index]!.name}`, bytes: [at, at + ID_BYTES] };
  }
}

function bandsOf(config: DirectConfig, boot: BootOk): readonly HarnessBand[] {
  return Object.entries(boot.bands).map(([name, grid], index) => {
    const pool = config.sub_pools.find((candidate) => candidate.name === name);
    if (pool === undefined)
      throw new InputError("config", `boot names band ${name}, which is no sub-pool`);
    const isState = pool.kind === "state";
    return {
      name,
      index,
      isState,
      isOwner: !isState && pool.window === undefined,
      units: isState ? 1 : config.page_size,
      pageBytes: grid.page_bytes,
      pages: Math.max(grid.pages, 0),
    };
  });
}

/** Every border of every grid, ascending, each once. */
function bordersOf(bands: readonly HarnessBand[], most: number): Float64Array {
  const all = new Float64Array(most);
  let count = 1; // byte 0
  for (const { pages, pageBytes } of bands)
    for (let page = 0; page <= pages; page++) all[count++] = page * pageBytes;
  const sorted = all.subarray(0, count).sort();
  let kept = 0;
  for (let at = 1; at < count; at++) if (sorted[at] !== sorted[kept]) sorted[++kept] = sorted[at]!;
  return sorted.slice(0, kept + 1);
}

function startsOf({ pages, pageBytes }: HarnessBand, borders: Float64Array): Int32Array {
  const starts = new Int32Array(pages + 1);
  let cell = 0;
  for (let page = 0; page <= pages; page++) {
    const byte = page * pageBytes;
    while (borders[cell]! < byte) cell += 1; // every page's border is among them
    starts[page] = cell;
  }
  return starts;
}
