// Laws of the page's packing: what is written is read back, over seeds.
import { describe, expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import {
  ChangesReader,
  ChangesWriter,
  type DecodedChanges,
} from "../../../src/report/html/shared/changes-code.js";
import { ByteReader, ByteWriter } from "../../../src/report/html/shared/varint.js";

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);

describe("numbers as bytes", () => {
  test.each([0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32 + 1, 2 ** 53 - 1])(
    "%d comes back",
    (value) => {
      const writer = new ByteWriter();
      writer.unsigned(value);
      expect(new ByteReader(writer.bytes()).unsigned()).toBe(value);
    },
  );

  test.each([0, -1, 1, -64, 64, -8192, 8191, -(2 ** 40), 2 ** 40])("%d with its sign", (value) => {
    const writer = new ByteWriter();
    writer.signed(value);
    expect(new ByteReader(writer.bytes()).signed()).toBe(value);
  });

  test("any sequence comes back in order, small numbers in one byte", () => {
    for (const seed of SEEDS) {
      const random = new Prng(seed, 7);
      const values = Array.from({ length: 500 }, () =>
        random.between(0, 2 ** random.between(1, 31)),
      );
      const writer = new ByteWriter();
      for (const value of values) writer.unsigned(value);
      const reader = new ByteReader(writer.bytes());
      expect(values.map(() => reader.unsigned())).toEqual(values);
      expect(reader.at).toBe(writer.length);
    }
    const small = new ByteWriter();
    for (let value = 0; value < 128; value++) small.unsigned(value);
    expect(small.length).toBe(128);
  });
});

function randomChanges(random: Prng): DecodedChanges {
  const runs: number[] = [];
  const count = random.between(0, 6);
  for (let index = 0; index < count; index++) {
    const virtual = random.between(0, 3) === 0 ? 0 : random.between(1, 5000);
    runs.push(
      random.between(0, 5),
      random.between(0, 7),
      random.between(0, 100_000),
      random.between(1, 300),
    );
    runs.push(random.between(0, 900), virtual);
  }
  return { geometry: random.between(0, 8) === 0 ? random.between(0, 3) : null, runs };
}

test("changes of a side come back frame by frame, those of the base where they are the same", () => {
  let same = 0;
  for (const seed of SEEDS) {
    const random = new Prng(seed, 7);
    const frames = Array.from({ length: 200 }, () =>
      random.between(0, 4) === 0 ? null : randomChanges(random),
    );
    const writer = new ChangesWriter();
    for (const frame of frames) {
      if (frame === null) writer.same();
      else writer.changes(frame);
    }
    const reader = new ChangesReader(writer.bytes());
    for (const frame of frames) expect(reader.next()).toEqual(frame);
    same += frames.filter((frame) => frame === null).length;
  }
  expect(same).toBeGreaterThan(100);
});

test("no change is one byte, the same as the base's too", () => {
  const writer = new ChangesWriter();
  for (let frame = 0; frame < 10; frame++) writer.changes(null);
  for (let frame = 0; frame < 10; frame++) writer.same();
  expect(writer.bytes().length).toBe(20);
});
