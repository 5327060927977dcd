// An arena of bytes in plain JavaScript: every verb runs at once, in submission order. It is what a script means when
// nothing overlaps; the native devices are held against it, and everything above it runs where no addon is built.
import { mixA, mixB } from "../base/digest.js";
import {
  type ByteArena,
  type ByteBackend,
  type ByteCapabilities,
  type ByteConfig,
  ByteError,
  type ByteFault,
  HASH,
  TABLE,
} from "./bytes.js";
import { checkScript } from "./bytes-check.js";
import { VERB } from "./bytes-script.js";
import { stampOf } from "./model-pages.js";
import { payloadWord, TORN, UNIT_FIELD } from "./payload.js";

const POISON_WORD = 0x7fc17fc1;
const FAULTS_MAX = 4096; // kept; more are counted
const BYTES_MAX = 2 ** 30;

/** One band's tables. */
interface Tables {
  readonly pageWords: number;
  readonly unitWords: number;
  readonly units: number;
  readonly isState: boolean;
  readonly v2p: Int32Array;
  readonly expected: Int32Array; // ids x units stamps, 0 = nothing is expected
  readonly host: Int32Array; // host pages x page words
}

/** @internal */
export const simulatedBackend: ByteBackend = {
  name: "simulated",
  deviceCount: () => 1,
  capabilities: (): ByteCapabilities => ({
    name: "plain JavaScript",
    memoryBytes: BYTES_MAX,
    memoryFreeBytes: BYTES_MAX,
    readEnd: true,
    concurrentStreams: false,
    computeMajor: 0,
    computeMinor: 0,
  }),
  open: (config) => new SimulatedArena(config),
};

/** @internal */
class SimulatedArena implements ByteArena {
  #config: ByteConfig;
  #words: Int32Array = new Int32Array(0);
  #bands: readonly Tables[] = [];
  #rows: Int32Array = new Int32Array(0);
  #forwards: Int32Array = new Int32Array(0);
  #faults: ByteFault[] = [];
  #faultCount = 0;
  readonly #handles = new Set<number>();
  #isClosed = false;

  constructor(config: ByteConfig) {
    this.#config = config;
    this.#make(config);
  }

  submit(words: Int32Array, count: number): void {
    this.#requireOpen();
    checkScript(this.#config, words, count, this.#handles);
    for (let at = 0; at < count; at += words[at + 1]!) this.#run(words, at); // checked
  }

  hashPages(band: number, pages: Int32Array, masks: Uint32Array): Uint32Array {
    const tables = this.#band(band);
    const maskWords = Math.ceil(tables.units / 32);
    if (masks.length !== pages.length * maskWords)
      throw new ByteError("UT_INVALID", `hash of ${pages.length} pages with other masks`);
    const out = new Uint32Array(pages.length * HASH.numbers);
    for (const [index, page] of pages.entries()) {
      const hash = this.#hash(
        tables,
        page,
        masks.subarray(index * maskWords, (index + 1) * maskWords),
      );
      out.set(hash, index * HASH.numbers);
    }
    return out;
  }

  translate(
    band: number,
    ids: Int32Array | BigInt64Array,
    rows: number,
    columns: number,
    out: Int32Array | BigInt64Array,
    outColumns: number,
  ): void {
    const { v2p, units } = this.#band(band);
    if (outColumns < columns || ids.length < rows * columns || out.length < rows * outColumns)
      throw new ByteError("UT_INVALID", "translate with tables of other sizes");
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < outColumns; column++) {
        const token = column < columns ? Number(ids[row * columns + column]) : 0;
        const id = Math.floor(token / units);
        const page = token <= 0 || id >= v2p.length ? 0 : v2p[id]!; // in range
        const physical = page === 0 ? 0 : page * units + (token % units);
        const at = row * outColumns + column;
        if (out instanceof BigInt64Array) out[at] = BigInt(physical);
        else out[at] = physical;
      }
    }
  }

  faults(max: number): { readonly count: number; readonly faults: readonly ByteFault[] } {
    this.#requireOpen();
    const answer = { count: this.#faultCount, faults: this.#faults.slice(0, max) };
    this.#faults = [];
    this.#faultCount = 0;
    return answer;
  }

  readBytes(offset: number, bytes: number): Uint8Array {
    this.#requireOpen();
    if (offset < 0 || bytes < 0 || offset + bytes > this.#words.byteLength)
      throw new ByteError("UT_INVALID", `bytes ${offset} to ${offset + bytes} are not all there`);
    return new Uint8Array(this.#words.buffer, offset, bytes).slice();
  }

  readTable(table: number, index: number, count: number): Int32Array {
    this.#requireOpen();
    if (table === TABLE.v2p) return this.#band(index).v2p.slice(0, count);
    if (table === TABLE.forwards) return this.#forwards.slice(0, count);
    const first = index * this.#config.rowPages;
    return this.#rows.slice(first, first + count);
  }

  query(handle: number): boolean {
    if (!this.#handles.has(handle))
      throw new ByteError("UT_INVALID", `there is no handle ${handle}`);
    return true;
  }

  resize(config: ByteConfig): void {
    this.#requireOpen();
    this.#make(config);
  }

  close(): void {
    this.#isClosed = true;
  }

  #make(config: ByteConfig): void {
    const hostBytes = config.bands.reduce((sum, band) => sum + band.hostPages * band.pageBytes, 0);
    if (config.arenaBytes + hostBytes > BYTES_MAX)
      throw new ByteError("UT_NO_MEMORY", `an arena of ${config.arenaBytes} bytes is too large`);
    const bands = config.bands.map((band): Tables => {
      const pageWords = band.pageBytes / 4;
      return {
        pageWords,
        unitWords: Math.floor(pageWords / band.units),
        units: band.units,
        isState: band.isState,
        v2p: new Int32Array(band.ids),
        expected: new Int32Array(band.ids * band.units),
        host: new Int32Array(band.hostPages * pageWords),
      };
    });
    this.#words = new Int32Array(Math.floor(config.arenaBytes / 4));
    if (config.poison) this.#words.fill(POISON_WORD);
    this.#bands = bands;
    this.#config = config;
    this.#rows = new Int32Array((config.rows + 1) * config.rowPages);
    this.#forwards = new Int32Array(config.rows + 1);
    this.#handles.clear();
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new ByteError("UT_INVALID", "the arena is closed");
  }
  #band(index: number): Tables {
    this.#requireOpen();
    const found = this.#bands[index];
    if (found === undefined) throw new ByteError("UT_INVALID", `there is no band ${index}`);
    return found;
  }

  // The script was checked: every number below is in range.
  #run(words: Int32Array, at: number): void {
    const [verb, a] = [words[at]!, at + 2];
    const arg = (index: number): number => words[a + index]!;
    switch (verb) {
      case VERB.zero:
        for (let k = 0; k < arg(1); k++) this.#page(this.#bands[arg(0)]!, arg(2 + k)).fill(0);
        return;
      case VERB.move:
        for (let k = 0; k < arg(2); k++) this.#copy(arg(0), arg(3 + 2 * k), arg(4 + 2 * k));
        return;
      case VERB.bind:
        for (let k = 0; k < arg(2); k++)
          this.#bind(arg(0), arg(3 + 2 * k), arg(4 + 2 * k), (arg(1) & 1) === 1);
        return;
      case VERB.row:
        for (let k = 0; k < arg(2); k++)
          this.#rows[arg(0) * this.#config.rowPages + arg(1) + k] = arg(3 + k);
        return;
      case VERB.expect:
        this.#expect(words, a);
        return;
      case VERB.stamp:
        for (let k = 0; k < arg(1); k++) {
          const tables = this.#bands[arg(0)]!;
          this.#stamp(tables, arg(2 + 3 * k), arg(3 + 3 * k), arg(4 + 3 * k));
        }
        return;
      case VERB.reset:
        for (let k = 0; k < arg(0); k++) this.#forwards[arg(1 + k)] = 0;
        return;
      case VERB.forward:
        this.#forward(words, a);
        return;
      case VERB.hostCopy:
        for (let k = 0; k < arg(3); k++)
          this.#hostCopy(arg(1), arg(4 + 3 * k), arg(5 + 3 * k), arg(6 + 3 * k));
        this.#handles.add(arg(0));
        return;
      case VERB.send:
        this.#send(words, a);
        return;
      case VERB.fill:
      case VERB.receive:
        this.#handles.add(arg(0));
        for (let k = 0; k < arg(2); k++) {
          const w = a + 3 + 6 * k;
          this.#writeUnits(this.#bands[words[w]!]!, words[w + 1]!, words, w);
        }
        return;
      case VERB.record:
        this.#handles.add(arg(0));
        return;
      case VERB.forget:
        this.#handles.delete(arg(0));
        return;
      default: // waits and delays: nothing is ever outstanding
        return;
    }
  }

  #page({ pageWords }: Tables, page: number): Int32Array {
    return this.#words.subarray(page * pageWords, (page + 1) * pageWords);
  }
  #unit(tables: Tables, page: number, unit: number): Int32Array {
    const first = page * tables.pageWords + unit * tables.unitWords;
    return this.#words.subarray(first, first + tables.unitWords);
  }
  #stamp(tables: Tables, page: number, unit: number, stamp: number): void {
    const words = this.#unit(tables, page, unit);
    for (let word = 0; word < words.length; word++) words[word] = payloadWord(stamp, word);
  }
  #copy(band: number, from: number, to: number): void {
    const tables = this.#bands[band]!;
    this.#page(tables, to).set(this.#page(tables, from));
  }
  #bind(band: number, id: number, page: number, isFresh: boolean): void {
    const { v2p, expected, units } = this.#bands[band]!;
    v2p[id] = page;
    if (isFresh) expected.fill(0, id * units, (id + 1) * units);
  }
  #expect(words: Int32Array, a: number): void {
    const { expected, units } = this.#bands[words[a]!]!;
    for (let k = 0; k < words[a + 1]!; k++) {
      const entry = a + 2 + k * (1 + units);
      expected.set(words.subarray(entry + 1, entry + 1 + units), words[entry]! * units);
    }
  }
  #hostCopy(direction: number, band: number, page: number, hostPage: number): void {
    const tables = this.#bands[band]!;
    const { pageWords, host } = tables;
    const there = host.subarray(hostPage * pageWords, (hostPage + 1) * pageWords);
    if (direction === 0) there.set(this.#page(tables, page));
    else this.#page(tables, page).set(there);
  }

  #forward(words: Int32Array, a: number): void {
    const [handle, reads, states, writes] = [
      words[a]!,
      words[a + 2]!,
      words[a + 3]!,
      words[a + 4]!,
    ];
    let at = a + 5;
    for (let k = 0; k < reads; k++, at += 2) {
      const [row, pages] = [words[at]!, words[at + 1]!];
      for (const [band, tables] of this.#bands.entries()) {
        if (tables.isState) continue;
        for (let index = 0; index < pages; index++)
          this.#read(handle, band, this.#rows[row * this.#config.rowPages + index]!);
      }
      this.#forwards[row]! += 1;
    }
    for (let k = 0; k < states; k++, at += 2) this.#read(handle, words[at]!, words[at + 1]!);
    const firstWrite = at;
    for (let k = 0; k < writes; k++, at += 6) this.#note(words, at);
    for (let k = 0; k < writes; k++) this.#write(handle, words, firstWrite + 6 * k);
    this.#handles.add(handle);
  }

  #read(handle: number, band: number, id: number): void {
    const tables = this.#bands[band]!;
    const page = tables.v2p[id] ?? 0;
    if (id === 0 || page === 0 || !this.#config.checkReads) return;
    for (let unit = 0; unit < tables.units; unit++) {
      const expected = tables.expected[id * tables.units + unit]!;
      if (expected === 0) continue;
      const found = this.#stampAt(tables, page, unit);
      if (found >>> 0 === expected >>> 0) continue;
      const fault = { kind: "forward", handle, band, id, page, unit } as const;
      this.#fault({ ...fault, expected: expected >>> 0, found: found >>> 0 });
    }
  }

  // [band, id, from, to, position, writer]
  #note(words: Int32Array, w: number): void {
    const { expected, units } = this.#bands[words[w]!]!;
    for (let unit = words[w + 2]!; unit < words[w + 3]!; unit++)
      expected[words[w + 1]! * units + unit] = stampOf(
        words[w + 5]! >>> 0,
        (words[w + 4]! >>> 0) + unit,
      );
  }
  #write(handle: number, words: Int32Array, w: number): void {
    const [band, id] = [words[w]!, words[w + 1]!];
    const page = this.#bands[band]!.v2p[id]!;
    if (page === 0)
      this.#fault({
        kind: "unbound",
        handle,
        band,
        id,
        page,
        unit: words[w + 2]!,
        expected: 0,
        found: 0,
      });
    else this.#writeUnits(this.#bands[band]!, page, words, w);
  }
  #writeUnits(tables: Tables, page: number, words: Int32Array, w: number): void {
    for (let unit = words[w + 2]!; unit < words[w + 3]!; unit++) {
      const stamp = stampOf(words[w + 5]! >>> 0, (words[w + 4]! >>> 0) + unit);
      this.#stamp(tables, page, unit, stamp);
    }
  }

  // [handle, delay_us, mask words, n, (band, page, lane a, mask...) * n]
  #send(words: Int32Array, a: number): void {
    const [handle, maskWords, n] = [words[a]!, words[a + 2]!, words[a + 3]!];
    this.#handles.add(handle);
    if (!this.#config.checkReads) return;
    for (let k = 0; k < n; k++) {
      const entry = a + 4 + k * (3 + maskWords);
      const [band, page, expected] = [words[entry]!, words[entry + 1]!, words[entry + 2]! >>> 0];
      const mask = new Uint32Array(words.subarray(entry + 3, entry + 3 + maskWords));
      const found = this.#hash(this.#bands[band]!, page, mask)[HASH.a]; // three numbers
      if (found === expected) continue;
      this.#fault({ kind: "send", handle, band, id: 0, page, unit: 0, expected, found });
    }
  }

  // Word 0 of a unit whose other words follow from it, else `TORN`.
  #stampAt(tables: Tables, page: number, unit: number): number {
    const words = this.#unit(tables, page, unit);
    const stamp = words[0]!; // at least one word a unit
    for (let word = 1; word < words.length; word++)
      if (words[word] !== payloadWord(stamp, word)) return TORN;
    return stamp;
  }

  #hash(tables: Tables, page: number, mask: Uint32Array): readonly [number, number, number] {
    let [a, b, torn] = [0, 0, 0];
    for (let unit = 0; unit < tables.units; unit++) {
      if (((mask[unit >> 5]! >>> (unit & 31)) & 1) === 0) continue; // as many words as units need
      const stamp = this.#stampAt(tables, page, unit) >>> 0;
      if (stamp === TORN) torn += 1;
      if (stamp === 0) continue;
      a = (a + mixA(UNIT_FIELD, unit, stamp)) | 0;
      b = (b + mixB(UNIT_FIELD, unit, stamp)) | 0;
    }
    return [a >>> 0, b >>> 0, torn];
  }

  #fault(fault: ByteFault): void {
    this.#faultCount += 1;
    if (this.#faults.length < FAULTS_MAX) this.#faults.push(fault);
  }
}
