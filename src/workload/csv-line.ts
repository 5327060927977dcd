// Tables of text: a header line with the columns' names, then one row a line. A cell may stand in quotes, with doubled
// quotes inside; a cell never holds a line end.
import { InputError } from "../base/errors.js";
import { below, shown, suggestion } from "../trace/messages.js";

/** Where a line stands. @internal */
export interface LinePlace {
  readonly file: string;
  readonly line: number; // 1-based
}

/** The cells of a line. Throws `InputError` for a quote that is not closed or stands inside a cell. @internal */
export function csvCells(text: string, place: LinePlace): string[] {
  if (!text.includes('"')) return text.split(",").map((cell) => cell.trim());
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*(?=,|$)/.exec(text.slice(at));
    if (quoted !== null) {
      cells.push((quoted[1] ?? "").replaceAll('""', '"'));
      at += quoted[0].length;
    } else {
      const comma = text.indexOf(",", at);
      const end = comma < 0 ? text.length : comma;
      const cell = text.slice(at, end);
      if (cell.includes('"')) {
        const message = `a quote that does not enclose a cell, in ${shown(cell)}`;
        throw new InputError("input_format", message, {
          ...place,
          expected: "whole cells in quotes",
        });
      }
      cells.push(cell.trim());
      at = end;
    }
    if (at >= text.length) return cells;
    at += 1; // the comma
  }
}

/** The columns of a table. @internal */
export class CsvTable {
  readonly columns: readonly string[];

  /** Throws `InputError` for a header with an empty or repeated name. */
  constructor(header: string, place: LinePlace) {
    if (header.startsWith("\uFEFF")) {
      throw new InputError("input_format", "begins with a byte order mark", place);
    }
    this.columns = csvCells(header, place);
    const seen = new Set<string>();
    for (const name of this.columns) {
      if (name === "") throw new InputError("input_format", "a column without a name", place);
      if (seen.has(name)) {
        throw new InputError("input_format", `the column ${shown(name)} stands twice`, place);
      }
      seen.add(name);
    }
  }

  /** Where a column stands, 0-based. Throws `InputError` where there is none, with the nearest name. */
  indexOf(name: string, place: LinePlace): number {
    const index = this.columns.indexOf(name);
    if (index >= 0) return index;
    const meant = suggestion(name, this.columns);
    const columns = this.columns.map((column) => shown(column)).join(", ");
    throw new InputError("input_format", `no column ${shown(name)} among ${columns}${meant}`, {
      ...place,
      path: below("", name),
      expected: `a column ${name}`,
    });
  }

  /** The cells of a row. Throws `InputError` for more or fewer than the header has. */
  row(text: string, place: LinePlace): CsvRow {
    const cells = csvCells(text, place);
    if (cells.length === this.columns.length) return new CsvRow(this, cells, place);
    const found = text.trim() === "" ? "an empty line" : `${String(cells.length)} cells`;
    const expected = `${String(this.columns.length)} (${this.columns.join(", ")})`;
    throw new InputError("input_format", `${found}, expected ${expected}`, { ...place, expected });
  }
}

/** One row of a table. @internal */
export class CsvRow {
  readonly #table: CsvTable;
  readonly #cells: readonly string[];
  readonly #place: LinePlace;

  constructor(table: CsvTable, cells: readonly string[], place: LinePlace) {
    this.#table = table;
    this.#cells = cells;
    this.#place = place;
  }

  /** The text of a column. */
  text(name: string): string {
    return this.#cells[this.#table.indexOf(name, this.#place)] ?? "";
  }

  /** A whole number of at least 0 and below 2^53, in decimal digits. Throws `InputError`. */
  count(name: string): number {
    const text = this.text(name);
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value)) return value;
    return this.wrong(name, "a whole number of at least 0 and below 2^53");
  }

  /** Throws the `InputError` of one cell. */
  wrong(name: string, expected: string): never {
    const message = `${name} must be ${expected}, found ${shown(this.text(name))}`;
    const place = { ...this.#place, path: below("", name), expected };
    throw new InputError("input_format", message, place);
  }
}
