// Allocator logs in CSV: RMM's replay log, and calls of the C functions in columns of plain names.
import { InputError } from "../base/errors.js";
import { below, shown, suggestion } from "../trace/messages.js";
import { CsvTable } from "./csv-line.js";
import type { CsvRow } from "./csv-line.js";
import { addressOf } from "./import-fields.js";
import type { ImportFormat, LogPlace, LogTranslator, TranslatorOptions } from "./import-format.js";
import { LogRun } from "./import-log-run.js";
import { MallocRun } from "./import-malloc-run.js";

const RMM_COLUMNS = ["Thread", "Time", "Action", "Pointer", "Size", "Stream"] as const;
const RMM_ACTIONS = ["allocate", "allocate failure", "free"] as const;
const DAY_US = 86_400_000_000;

/** @internal */
export const RMM: ImportFormat = {
  name: "rmm",
  about: `RAPIDS Memory Manager: CSV ${RMM_COLUMNS.join(",")}`,
  recognises: (head) => head.trim() === RMM_COLUMNS.join(","),
  isComment: () => false,
  open: (options) => new RmmTranslator(options),
};

class RmmTranslator extends LogRun implements LogTranslator {
  #table: CsvTable | null = null;
  #startUs: number | null = null;
  #days = 0; // midnights passed
  #latestUs = 0; // of the day

  constructor(options: TranslatorOptions) {
    super("rmm", options);
  }

  take(text: string, place: LogPlace): void {
    if (this.#table === null) {
      this.#table = new CsvTable(text, place);
      for (const column of RMM_COLUMNS) this.#table.indexOf(column, place);
      return;
    }
    const row = this.#table.row(text, place);
    const action = oneWord(row, "Action", RMM_ACTIONS, place);
    const at = this.event(this.#passedUs(row));
    const address = pointer(row, "Pointer");
    const size = row.count("Size");
    const [thread, stream] = [row.text("Thread"), row.text("Stream")];
    if (action === "allocate" && address === null && size === 0)
      this.heap.tally.drop("allocation of nothing");
    else if (action === "allocate" && address === null)
      row.wrong("Pointer", "the address of what was allocated");
    else if (action !== "free") {
      const to = action === "allocate" ? address : null;
      this.heap.allocate(to, { size, stream, thread }, at, place);
    } else if (address === null) this.heap.tally.drop("free of the null pointer");
    else this.heap.free(address, at, place, { size, stream, thread });
  }

  /** The log tells the time of day: where it falls by half a day or more, midnight has passed. */
  #passedUs(row: CsvRow): number {
    const parts = /^(\d\d):(\d\d):(\d\d)[.:](\d{6})$/.exec(row.text("Time"));
    const [hour = 24, minute = 0, second = 0, micro = 0] = (parts ?? []).slice(1).map(Number);
    if (hour > 23 || minute > 59 || second > 59)
      row.wrong("Time", "a time of day such as 10:52:12.012345");
    const us = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micro;
    if (this.#latestUs - us >= DAY_US / 2) this.#days += 1;
    this.#latestUs = us;
    const now = us + this.#days * DAY_US;
    this.#startUs ??= now;
    return Math.max(0, now - this.#startUs);
  }
}

const CALLS = ["malloc", "calloc", "realloc", "memalign", "free"] as const;
const NEEDED = ["op", "ptr", "size"] as const;

/** @internal */
export const MALLOC_CSV: ImportFormat = {
  name: "malloc-csv",
  about: "calls of malloc and free: CSV op,ptr,size[,old,count,align,thread,time_us]",
  recognises: (head) => /^op,ptr,size(?:,|$)/.test(head.trim()),
  isComment: () => false,
  open: (options) => new MallocCsvTranslator(options),
};

class MallocCsvTranslator extends MallocRun implements LogTranslator {
  #table: CsvTable | null = null;
  #startUs: number | null = null;

  constructor(options: TranslatorOptions) {
    super("malloc-csv", options);
  }

  take(text: string, place: LogPlace): void {
    if (this.#table === null) {
      this.#table = new CsvTable(text, place);
      for (const column of NEEDED) this.#table.indexOf(column, place);
      return;
    }
    const row = this.#table.row(text, place);
    const call = oneWord(row, "op", CALLS, place);
    const at = this.event(this.#passedUs(row));
    const address = pointer(row, "ptr");
    const thread = this.#given(row, "thread");
    const named = thread === null ? {} : { thread };
    if (call === "free") {
      this.free(address, thread ?? undefined, at, place);
      return;
    }
    const size = call === "calloc" && this.#has("count") ? product(row) : row.count("size");
    if (call === "realloc") {
      if (!this.#has("old")) this.#table.indexOf("old", place);
      this.reallocate(pointer(row, "old"), address, { size, ...named }, at, place);
    } else {
      const isAligned = call === "memalign" && this.#given(row, "align") !== null;
      const align = isAligned ? { align: Math.max(1, row.count("align")) } : {};
      this.allocate(address, { size, ...align, ...named }, at, place);
    }
  }

  #has(column: string): boolean {
    return this.#table?.columns.includes(column) === true;
  }

  #given(row: CsvRow, column: string): string | null {
    const text = this.#has(column) ? row.text(column) : "";
    return text === "" ? null : text;
  }

  #passedUs(row: CsvRow): number | null {
    if (!this.#has("time_us")) return null;
    const us = row.count("time_us");
    this.#startUs ??= us;
    return Math.max(0, us - this.#startUs);
  }
}

function product(row: CsvRow): number {
  const bytes = row.count("count") * row.count("size");
  return Number.isSafeInteger(bytes) ? bytes : row.wrong("size", "bytes below 2^53 in all");
}

function pointer(row: CsvRow, column: string): string | null {
  const address = addressOf(row.text(column));
  return address === undefined ? row.wrong(column, "an address such as 0x7f00") : address;
}

function oneWord<W extends string>(
  row: CsvRow,
  column: string,
  known: readonly W[],
  place: LogPlace,
): W {
  const text = row.text(column);
  const word = known.find((one) => one === text);
  if (word !== undefined) return word;
  const expected = known.map((one) => JSON.stringify(one)).join(", ");
  const message = `unknown ${column} ${shown(text)}, expected ${expected}${suggestion(text, known)}`;
  throw new InputError("input_format", message, { ...place, path: below("", column), expected });
}
