// A table of operations as CSV after RFC 4180: a row a line, CR LF, a header. Lines that are no operation have no row.
import type { TraceLine } from "../../trace/lines.js";
import { ByteWriter } from "../../trace/writer-bytes.js";
import { COLUMNS, rowOf } from "./columns.js";
import type { Cell } from "./columns.js";
import type { ConvertTarget } from "./target.js";

const QUOTED = /[",\r\n]/;
const LINE_END = "\r\n";

/** A cell: nothing is an empty one, an empty text a quoted one. @internal */
export function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  return cell === "" || QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** @internal */
export class CsvTarget implements ConvertTarget {
  readonly #writer: ByteWriter;
  #run = "";

  constructor(out: string) {
    this.#writer = new ByteWriter(out);
    this.#row(COLUMNS.map(({ name }) => name));
  }
  get closed(): boolean {
    return this.#writer.closed;
  }
  get bytes(): number {
    return this.#writer.bytes;
  }
  begin(): void {
    this.#run = "";
  }
  line(line: TraceLine): void {
    if (line.kind === "run") this.#run = line.run;
    else if (line.kind === "op") this.#row(rowOf(this.#run, line));
  }
  commit(): void {
    this.#writer.commit();
  }
  abort(): void {
    this.#writer.abort();
  }
  #row(cells: readonly Cell[]): void {
    this.#writer.text(cells.map(csvCell).join(",") + LINE_END);
  }
}
