// What changes in a page map, as bytes. One frame is a head and its runs:
//
//   0                       the same as the base's changes of this frame (of the candidate only)
//   1 + 2 * runs            runs that follow
//   2 + 2 * runs, geometry  the arena was laid out anew, then runs
//
// A run is lane * 8 + class, its first page (from the end of the lane's run before), pages - 1, label (from the label before)
// and its virtual id (from the end of the ids before; only where 1 is added to the label's fold: most runs have none).
import { ByteReader, ByteWriter } from "./varint.js";

/** What changed in one frame; RUN_NUMBERS numbers a run: lane, class, first page, pages, label, virtual id. @internal */
export interface DecodedChanges {
  readonly geometry: number | null;
  readonly runs: readonly number[];
}

const CLASSES = 8;
const NUMBERS = 6;

/** Where the numbers of a side's last runs ended; writer and reader keep the same. */
class Last {
  readonly ends: number[] = []; // by lane
  label = 0;
  virtual = 0;
}

/** Writes one side, frame by frame. @internal */
export class ChangesWriter {
  readonly #writer = new ByteWriter();
  readonly #last = new Last();

  /** The base changed in the same way. */
  same(): void {
    this.#writer.unsigned(0);
  }

  changes(changes: DecodedChanges | null): void {
    const { geometry, runs } = changes ?? { geometry: null, runs: [] };
    const count = runs.length / NUMBERS;
    this.#writer.unsigned((geometry === null ? 1 : 2) + 2 * count);
    if (geometry !== null) this.#writer.unsigned(geometry);
    for (let at = 0; at < runs.length; at += NUMBERS) this.#run(runs, at);
  }

  bytes(): Uint8Array {
    return this.#writer.bytes();
  }

  #run(runs: readonly number[], at: number): void {
    const writer = this.#writer;
    const last = this.#last;
    const [lane, code, first, pages] = [runs[at]!, runs[at + 1]!, runs[at + 2]!, runs[at + 3]!]; // whole runs
    const [label, virtual] = [runs[at + 4]!, runs[at + 5]!];
    writer.unsigned(lane * CLASSES + code);
    writer.signed(first - (last.ends[lane] ?? 0));
    writer.unsigned(pages - 1);
    const step = label - last.label;
    const folded = step < 0 ? -2 * step - 1 : 2 * step;
    writer.unsigned(2 * folded + (virtual === 0 ? 0 : 1));
    if (virtual !== 0) {
      writer.signed(virtual - last.virtual);
      last.virtual = virtual + pages;
    }
    last.label = label;
    last.ends[lane] = first + pages;
  }
}

/** Reads one side, frame by frame. @internal */
export class ChangesReader {
  readonly #reader: ByteReader;
  readonly #last = new Last();

  constructor(bytes: Uint8Array) {
    this.#reader = new ByteReader(bytes);
  }

  /** The next frame's changes; null: the same as the base's. */
  next(): DecodedChanges | null {
    const reader = this.#reader;
    const head = reader.unsigned();
    if (head === 0) return null;
    const isNew = head % 2 === 0;
    const count = Math.floor((head - 1) / 2);
    const geometry = isNew ? reader.unsigned() : null;
    const runs: number[] = [];
    for (let index = 0; index < count; index++) this.#run(runs);
    return { geometry, runs };
  }

  #run(runs: number[]): void {
    const reader = this.#reader;
    const last = this.#last;
    const mixed = reader.unsigned();
    const lane = Math.floor(mixed / CLASSES);
    const first = (last.ends[lane] ?? 0) + reader.signed();
    const pages = reader.unsigned() + 1;
    const flagged = reader.unsigned();
    const folded = Math.floor(flagged / 2);
    const label = last.label + (folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2);
    let virtual = 0;
    if (flagged % 2 === 1) {
      virtual = last.virtual + reader.signed();
      last.virtual = virtual + pages;
    }
    last.label = label;
    last.ends[lane] = first + pages;
    runs.push(lane, mixed % CLASSES, first, pages, label, virtual);
  }
}
