// Stamped bytes and page hashes of the host device against the arithmetic of src/base/digest.ts, over seeds.
import { expect, it } from "vitest";
import { LaneSum, mixA, mixB } from "../../src/base/digest.js";
import { stampOf } from "../../src/device/model-pages.js";
import { describeUnless } from "../skip-aloud.js";
import { load, missingAddon, smallConfig, submit, verb, VERB } from "./built.js";

const UNIT_FIELD = 0x5801;
const UNITS = 40;
const UNIT_BYTES = 48;
const config = {
  ...smallConfig,
  bands: [{ ...smallConfig.bands[0]!, pageBytes: 2000, pages: 4, units: UNITS }], // it has one band
};

/** 32-bit numbers that follow from a seed, corners among them. */
function* numbers(seed: number): Generator<number, never> {
  for (let i = 0; ; i++) {
    const number = mixB(seed, i, 1) >>> 0;
    yield i % 7 === 0 ? [0, 1, 0x7fffffff, 0x80000000, 0xffffffff][number % 5]! : number;
  }
}

/** Word `index` of a unit: its stamp, and then what follows from stamp and place (native/include/ut/payload.h). */
function wordOf(stamp: number, index: number): number {
  if (stamp === 0 || index === 0) return stamp;
  let h = (stamp + Math.imul(index, 0x9e3779b9)) >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad) >>> 0;
  return (h ^ (h >>> 15)) >>> 0;
}

describeUnless(missingAddon, "payload", () => {
  it("of a page hashes to the sum of its cells, masked and whole", () => {
    const arena = load().openBackend().open(config);
    for (let seed = 0; seed < 50; seed++) {
      const draw = numbers(seed);
      const stamps = Array.from({ length: UNITS }, () => draw.next().value);
      const entries = stamps.flatMap((stamp, unit) => [2, unit, stamp]);
      submit(arena, verb(VERB.stamp, 0, UNITS, ...entries));
      const mask = Uint32Array.of(draw.next().value, draw.next().value);
      const sum = new LaneSum();
      for (const [unit, stamp] of stamps.entries()) {
        const isSet = ((mask[unit >> 5]! >>> (unit & 31)) & 1) === 1; // two words for 40 units
        if (isSet && stamp !== 0) sum.add(UNIT_FIELD, unit, stamp);
      }
      expect([...arena.hashPages(0, Int32Array.of(2), mask)]).toEqual([
        sum.a >>> 0,
        sum.b >>> 0,
        0,
      ]);
    }
    arena.close();
  });

  it("fills a unit with words that follow from its stamp", () => {
    const arena = load().openBackend().open(config);
    const draw = numbers(99);
    for (let i = 0; i < 100; i++) {
      const stamp = draw.next().value;
      submit(arena, verb(VERB.stamp, 0, 1, 3, 5, stamp));
      const bytes = arena.readBytes(3 * 2000 + 5 * UNIT_BYTES, UNIT_BYTES);
      const words = new Uint32Array(bytes.buffer, bytes.byteOffset, UNIT_BYTES / 4);
      expect([...words]).toEqual(
        Array.from({ length: UNIT_BYTES / 4 }, (_, w) => wordOf(stamp, w)),
      );
    }
    arena.close();
  });

  it("of a forward carries the stamps of its writer and positions", () => {
    const arena = load().openBackend().open(config);
    const draw = numbers(7);
    submit(arena, verb(VERB.bind, 0, 1, 1, 3, 1));
    for (let i = 1; i <= 50; i++) {
      const writer = draw.next().value;
      const first = draw.next().value >>> 2;
      submit(arena, verb(VERB.forward, i, 0, 0, 0, 1, 0, 3, 0, UNITS, first, writer));
      const sum = new LaneSum();
      for (let unit = 0; unit < UNITS; unit++)
        sum.add(UNIT_FIELD, unit, stampOf(writer, first + unit));
      const mask = Uint32Array.of(0xffffffff, 0xff);
      expect([...arena.hashPages(0, Int32Array.of(1), mask)]).toEqual([
        sum.a >>> 0,
        sum.b >>> 0,
        0,
      ]);
    }
    expect(arena.faults(1).count).toBe(0);
    arena.close();
  });

  it("that was never written is torn: poison enters as a stamp of its own", () => {
    const arena = load()
      .openBackend()
      .open({ ...config, poison: true });
    const [a, b, torn] = arena.hashPages(0, Int32Array.of(1), Uint32Array.of(3, 0));
    const sum = new LaneSum();
    for (const unit of [0, 1]) sum.add(UNIT_FIELD, unit, 0xffffffff);
    expect([a, b, torn]).toEqual([sum.a >>> 0, sum.b >>> 0, 2]);
    expect(mixA(UNIT_FIELD, 0, 0xffffffff) >>> 0).not.toBe(a); // both units count
    arena.close();
  });
});
