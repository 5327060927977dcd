// A table of operations as Parquet: row groups of bounded size, so that memory follows a group and not the trace.
import { ByteWriter as ParquetBytes, ParquetWriter } from "hyparquet-writer";
import type { TraceLine } from "../../trace/lines.js";
import { ByteWriter } from "../../trace/writer-bytes.js";
import { COLUMNS, rowOf } from "./columns.js";
import type { Cell, Column } from "./columns.js";
import type { ConvertTarget } from "./target.js";

const GROUP_ROWS = 20_000;
const GROUP_CHARACTERS = 8 * 1024 * 1024;

type Schema = ConstructorParameters<typeof ParquetWriter>[0]["schema"];

/** @internal */
export class ParquetTarget implements ConvertTarget {
  readonly #writer: ByteWriter;
  readonly #parquet: ParquetWriter;
  #columns: Cell[][] = COLUMNS.map(() => []);
  #rows = 0;
  #characters = 0;
  #run = "";

  constructor(out: string) {
    this.#writer = new ByteWriter(out);
    this.#parquet = new ParquetWriter({
      writer: new Drained(this.#writer),
      schema: schemaOf(COLUMNS),
      createdBy: "unified-trace",
    });
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
    if (line.kind !== "op") return;
    for (const [index, cell] of rowOf(this.#run, line).entries()) {
      this.#columns[index]!.push(cell); // as many cells as columns
      if (typeof cell === "string") this.#characters += cell.length;
    }
    this.#rows += 1;
    if (this.#rows >= GROUP_ROWS || this.#characters >= GROUP_CHARACTERS) this.#group();
  }
  commit(): void {
    this.#group();
    void this.#parquet.finish(); // this writer's bytes are taken at once: nothing to wait for
    this.#writer.commit();
  }
  abort(): void {
    this.#writer.abort();
  }

  #group(): void {
    if (this.#rows === 0) return;
    void this.#parquet.write({
      columnData: COLUMNS.map(({ name, type }, index) => {
        const cells = this.#columns[index]!; // one list a column
        const data = type === "number" ? cells.map(integer) : cells;
        return { name, data, offsetIndex: false };
      }),
      rowGroupSize: this.#rows,
    });
    this.#columns = COLUMNS.map(() => []);
    this.#rows = 0;
    this.#characters = 0;
  }
}

/** 64-bit columns are written from big integers; the numbers of a trace are whole and within 2^53. */
function integer(cell: Cell): bigint | null {
  return typeof cell === "number" ? BigInt(cell) : null;
}

function schemaOf(columns: readonly Column[]): Schema {
  const leaves = columns.map(({ name, type, isRequired }): Schema[number] => {
    const repetition = isRequired ? "REQUIRED" : "OPTIONAL";
    const shared = { name, repetition_type: repetition } as const;
    if (type === "number") return { ...shared, type: "INT64" };
    // JSON stands as its text: a reader that is told of JSON would parse it, and its numbers with it
    return { ...shared, type: "BYTE_ARRAY", converted_type: "UTF8" };
  });
  return [{ name: "root", num_children: columns.length }, ...leaves];
}

/** The bytes of a row group go on as soon as it is whole. */
class Drained extends ParquetBytes {
  readonly #to: ByteWriter;

  constructor(to: ByteWriter) {
    super();
    this.#to = to;
  }
  flush(): void {
    this.#to.raw(this.getBytes());
    this.index = 0;
  }
  override finish(): void {
    this.flush();
  }
}
