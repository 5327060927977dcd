// Buffer lifetimes as MiniMalloc's benchmarks tell them: CSV `id,lower,upper,size`, alive from `lower` until before
// `upper`. Sorted by time they are allocations and frees; of one moment the frees come first, as the spans are half open.
import { CsvTable } from "./csv-line.js";
import type { ImportFormat, LogPlace, LogTranslator, TranslatorOptions } from "./import-format.js";
import { LogRun } from "./import-log-run.js";

const COLUMNS = ["id", "lower", "upper", "size"] as const;

/** @internal */
export const MINIMALLOC: ImportFormat = {
  name: "minimalloc",
  about: "MiniMalloc buffer lifetimes: CSV id,lower,upper,size",
  recognises: (head) => /^id,lower,upper,size(?:,|$)/.test(head.trim()),
  isComment: () => false,
  open: (options) => new MinimallocTranslator(options),
};

interface Buffer {
  readonly key: string; // stands for an address, which the file has none of
  readonly lower: number;
  readonly upper: number;
  readonly size: number; // bytes
  readonly place: LogPlace;
}

interface Event {
  readonly buffer: Buffer;
  readonly isFree: boolean;
}

/** Lifetimes stand in any order, so all of them are kept until the end. */
class MinimallocTranslator extends LogRun implements LogTranslator {
  #table: CsvTable | null = null;
  readonly #buffers: Buffer[] = [];
  readonly #ids = new Set<string>();

  constructor(options: TranslatorOptions) {
    super("minimalloc", options);
  }

  take(text: string, place: LogPlace): void {
    if (this.#table === null) {
      this.#table = new CsvTable(text, place);
      for (const column of COLUMNS) this.#table.indexOf(column, place);
      return;
    }
    const row = this.#table.row(text, place);
    const id = row.text("id");
    if (id === "" || this.#ids.has(id)) row.wrong("id", "an id of its own");
    this.#ids.add(id);
    const [lower, upper] = [row.count("lower"), row.count("upper")];
    if (upper <= lower) row.wrong("upper", `more than lower, which is ${String(lower)}`);
    this.#buffers.push({ key: id, lower, upper, size: row.count("size"), place });
  }

  override finish(file: string): void {
    const events: Event[] = this.#buffers.flatMap((buffer) => [
      { buffer, isFree: false },
      { buffer, isFree: true },
    ]);
    const timeOf = ({ buffer, isFree }: Event): number => (isFree ? buffer.upper : buffer.lower);
    // sorting is stable: of the same moment and kind the earlier line is first
    events.sort(
      (left, right) => timeOf(left) - timeOf(right) || Number(right.isFree) - Number(left.isFree),
    );
    this.heap.tally.count("buffers", this.#buffers.length);
    for (const { buffer, isFree } of events) {
      const at = this.event();
      const { key, size, place } = buffer;
      if (isFree) this.heap.free(key, at, place, { size });
      else this.heap.allocate(key, { size }, at, place);
    }
    super.finish(file);
  }
}
