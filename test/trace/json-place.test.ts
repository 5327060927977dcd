// Columns in messages: of any value and any key of any JSON text, and of what is wrong with a line.
import { describe, expect, test } from "vitest";
import { UnifiedTraceError } from "../../src/base/errors.js";
import { Prng } from "../../src/base/prng.js";
import { columnOf } from "../../src/trace/json-place.js";
import { below } from "../../src/trace/messages.js";
import { ALLOC, BOOT, fileOf, FITS, HEADER, readAll, RUN, textOf, withDigest } from "./files.js";

const KEYS = ["a", "b/c", "d~e", "~1", "", "0", "ä😀", 'q"\\', "n\n", "{[", "],}", ":"];

/** Writes a random value and notes where everything in it begins. */
class Writer {
  text = "";
  readonly values = new Map<string, number>(); // pointer → offset
  readonly keys = new Map<string, number>();
  readonly #random: Prng;

  constructor(random: Prng) {
    this.#random = random;
  }

  space(): void {
    this.text += [" ", "\t", "", "", ""][this.#random.below(5)]!;
  }

  value(pointer: string, depth: number): void {
    this.space();
    this.values.set(pointer, this.text.length);
    const kind = this.#random.below(depth > 3 ? 4 : 7);
    if (kind > 3) this.#members(pointer, depth, kind % 2 === 0);
    else
      this.text += [JSON.stringify(KEYS[this.#random.below(12)]), "-1.5e3", "null", "true"][kind]!;
    this.space();
  }

  #members(pointer: string, depth: number, isObject: boolean): void {
    this.text += isObject ? "{" : "[";
    const names = KEYS.filter(() => this.#random.chance(1, 3));
    for (const [index, name] of names.entries()) {
      if (index > 0) this.text += ",";
      const inner = below(pointer, isObject ? name : index);
      if (isObject) {
        this.space();
        this.keys.set(inner, this.text.length);
        this.text += JSON.stringify(name);
        this.space();
        this.text += ":";
      }
      this.value(inner, depth + 1);
    }
    this.space();
    this.text += isObject ? "}" : "]";
  }
}

test("every value and every key is found where it was written, what is not there at its parent", () => {
  let looked = 0;
  for (let seed = 0; seed < 200; seed++) {
    const writer = new Writer(new Prng(seed, 9));
    writer.value("", 0);
    const { text, values, keys } = writer;
    JSON.parse(text); // it is JSON
    for (const [pointer, offset] of values) {
      expect(columnOf(text, pointer)).toBe(offset + 1);
      expect(columnOf(text, pointer, "key")).toBe((keys.get(pointer) ?? offset) + 1);
      expect(columnOf(text, below(pointer, "nobody"))).toBe(offset + 1);
      expect(columnOf(text, below(below(pointer, "nobody"), "x"), "key")).toBe(offset + 1);
      looked += 1;
    }
  }
  expect(looked).toBeGreaterThan(1000);
});

describe("the column of a line that is wrong", () => {
  const swapped = (line: string, from: string, to: string): string => {
    if (!line.includes(from)) throw new Error(`${from} is not in the line`);
    return line.replace(from, () => to);
  };
  const fits = (from: string, to: string): readonly string[] => [
    ...[HEADER, RUN, BOOT, ALLOC],
    swapped(FITS, from, to),
  ];

  // the lines, of which the last is wrong, and what stands at the column
  test.each<[string, readonly string[], string]>([
    ["a value", fits('"full":1', '"x_😀":"😀", "full" :  "😀"'), '"😀"'],
    ["an unknown key", fits('"args":', '"argz" : 1,"args":'), '"argz"'],
    ["an unknown band", fits('"full":', '"ful":'), '"ful"'],
    ["an unknown operation", fits('"ask.fits"', '"ask.fit"'), '"ask.fit"'],
    ["a missing key", fits('"demand":', '"x_demand":'), '{"x_demand"'],
    ["a key twice", fits('"args":', '"n":7,"args":'), '"n":7'],
    ["an unknown kind", fits('"op"', '"opp"'), '"opp"'],
    ["a newer version", [swapped(HEADER, '"version":1', '"version": 9')], "9"],
    [
      "a digest too many",
      [HEADER, swapped(RUN, '"layout"', "null"), withDigest(BOOT, ["rows"])],
      '{"rows"',
    ],
  ])("%s", async (_what, lines, stands) => {
    try {
      await readAll(fileOf(textOf(lines)));
    } catch (error) {
      if (!(error instanceof UnifiedTraceError)) throw error;
      const { line, column } = error.place;
      expect(line).toBe(lines.length);
      const last = lines.at(-1)!;
      expect(last.slice(column! - 1, column! - 1 + stands.length)).toBe(stands);
      expect(error.describe()).toContain(`:${line}:${column}: `);
      return;
    }
    expect.unreachable("the file was read");
  });
});
