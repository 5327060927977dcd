// What every check of a device's contract uses: a small arena, a script, and ways to say what is wrong.
import { mixA, mixB } from "../../base/digest.js";
import type { ByteArena, ByteBackend, ByteConfig } from "../bytes.js";
import { ByteError, HASH, TABLE } from "../bytes.js";
import { Script, VERB } from "../bytes-script.js";
import { stampOf } from "../model-pages.js";
import { payloadWord, UNIT_FIELD } from "../payload.js";

/** One promise of the device contract. @internal */
export interface ContractCheck {
  readonly name: string;
  /** Only where work of different streams overlaps in time. */
  readonly needsConcurrency?: boolean;
  /** Throws `BrokenPromise` where the device does something else. */
  run(backend: ByteBackend): void;
}

/** Says in one line what a device did instead. @internal */
export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
}

/** Bands of the checks, by number. @internal */
export const FULL = 0;
/** @internal */
export const WINDOW = 1;
/** @internal */
export const STATE = 2;

/** Page sizes that are whole 16-byte words, whole 4-byte words, and a page larger than one block of threads copies at once. */
const GEOMETRY = {
  arenaBytes: 1 << 20,
  bands: [
    { name: "full", pageBytes: 4096, units: 4 },
    { name: "window", pageBytes: 1020, units: 5 },
    { name: "state", pageBytes: 40_000, units: 1 },
  ],
};

/** Bytes [band page) are those of other bands too: a check uses one band, or places that do not meet. @internal */
export function smallConfig(arenaBytes: number = GEOMETRY.arenaBytes): ByteConfig {
  return {
    arenaBytes,
    bands: GEOMETRY.bands.map(({ name, pageBytes, units }) => ({
      name,
      pageBytes,
      units,
      pages: Math.floor(arenaBytes / pageBytes),
      firstPage: 1,
      ids: 64,
      hostPages: 8,
      isState: name === "state",
    })),
    rows: 8,
    rowPages: 16,
    poison: true,
    checkReads: true,
    device: 0,
  };
}

/** An arena with a script, closed when the check is over. @internal */
export class Bench {
  readonly config: ByteConfig;
  readonly arena: ByteArena;
  readonly #script = new Script();

  constructor(backend: ByteBackend, config: ByteConfig = smallConfig()) {
    this.config = config;
    this.arena = backend.open(config);
  }

  /** Submits one verb. */
  do(verb: number, ...args: readonly number[]): void {
    this.#script.clear();
    this.#script.verb(verb, ...args);
    this.arena.submit(this.#script.words, this.#script.count);
  }

  /** Submits several verbs as one script. */
  submit(...verbs: readonly (readonly number[])[]): void {
    this.#script.clear();
    for (const [verb = 0, ...args] of verbs) this.#script.verb(verb, ...args);
    this.arena.submit(this.#script.words, this.#script.count);
  }

  /** Words of a page, everything submitted done. */
  page(band: number, page: number): Int32Array {
    const { pageBytes } = this.config.bands[band]!; // of the checks' own three
    const bytes = this.arena.readBytes(page * pageBytes, pageBytes);
    return new Int32Array(bytes.buffer, bytes.byteOffset, pageBytes / 4);
  }

  /** Refuses a page whose units do not carry these stamps; null: anything. */
  expectStamps(band: number, page: number, stamps: readonly (number | null)[]): void {
    const words = this.page(band, page);
    const { units, name, pageBytes } = this.config.bands[band]!;
    const unitWords = Math.floor(pageBytes / 4 / units);
    for (const [unit, stamp] of stamps.entries()) {
      if (stamp === null) continue;
      for (let word = 0; word < unitWords; word++) {
        const found = words[unit * unitWords + word]!; // inside the page
        const wanted = payloadWord(stamp, word);
        if (found === wanted) continue;
        const where = `${name} page ${page}, unit ${unit}, word ${word}`;
        throw new BrokenPromise(`${where} is ${hex(found)}, expected ${hex(wanted)}`);
      }
    }
  }

  expectNoFault(): void {
    const { count, faults } = this.arena.faults(1);
    if (count > 0) throw new BrokenPromise(`a fault where none is: ${JSON.stringify(faults[0])}`);
  }

  expectPlaces(band: number, places: readonly number[]): void {
    equal(`v2p of band ${band}`, [...this.arena.readTable(TABLE.v2p, band, places.length)], places);
  }

  /** Makes a forward over rows, with writes `[band, id, from, to, position, writer]`. */
  forward(
    handle: number,
    delayUs: number,
    reads: readonly (readonly [row: number, pages: number])[],
    writes: readonly (readonly number[])[],
    states: readonly (readonly [band: number, id: number])[] = [],
  ): readonly number[] {
    const lists = [...reads.flat(), ...states.flat(), ...writes.flat()];
    return [VERB.forward, handle, delayUs, reads.length, states.length, writes.length, ...lists];
  }

  hash(band: number, page: number): readonly number[] {
    const { units } = this.config.bands[band]!;
    const masks = new Uint32Array(Math.ceil(units / 32)).fill(0xffffffff);
    return [...this.arena.hashPages(band, Int32Array.of(page), masks)];
  }
}

/** What `hashPages` answers for a page whose units carry these stamps. @internal */
export function hashOfStamps(stamps: readonly number[]): readonly number[] {
  const out = [0, 0, 0];
  for (const [unit, stamp] of stamps.entries()) {
    if (stamp === 0) continue;
    out[HASH.a] = (out[HASH.a]! + mixA(UNIT_FIELD, unit, stamp >>> 0)) >>> 0;
    out[HASH.b] = (out[HASH.b]! + mixB(UNIT_FIELD, unit, stamp >>> 0)) >>> 0;
  }
  return out;
}

/** Stamps of units that a writer wrote from `position` on. @internal */
export function stampsOf(writer: number, position: number, count: number): number[] {
  return Array.from({ length: count }, (_, unit) => stampOf(writer, position + unit));
}

/** @internal */
export function equal(what: string, found: readonly number[], wanted: readonly number[]): void {
  if (found.length === wanted.length && found.every((value, at) => value === wanted[at])) return;
  throw new BrokenPromise(`${what} is [${found.join(", ")}], expected [${wanted.join(", ")}]`);
}

/** Refuses a call that does not fail with a code. @internal */
export function expectRefused(what: string, code: string, call: () => unknown): void {
  try {
    call();
  } catch (error) {
    if (error instanceof ByteError && error.code === code && error.message !== "") return;
    const got = error instanceof ByteError ? `${error.code}: ${error.message}` : String(error);
    throw new BrokenPromise(`${what} answers ${got}, expected ${code} and a reason`);
  }
  throw new BrokenPromise(`${what} is accepted, expected ${code}`);
}

/** Opens an arena for `work` and closes it whatever happens. @internal */
export function withBench(
  backend: ByteBackend,
  work: (bench: Bench) => void,
  config?: ByteConfig,
): void {
  const bench = new Bench(backend, config);
  try {
    work(bench);
  } finally {
    bench.arena.close();
  }
}

function hex(word: number): string {
  return `0x${(word >>> 0).toString(16).padStart(8, "0")}`;
}
