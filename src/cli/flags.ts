// Values of flags: numbers, lists, ranges, sizes. A wrong one is a `UsageError` that names the flag, what stood there
// and what was expected.
import type { Command, Option } from "commander";
import { UsageError } from "../base/errors.js";
import { nearestWord } from "../base/nearest.js";

/** A half-open range of seeds. @internal */
export interface SeedRange {
  readonly from: number;
  readonly to: number; // exclusive
}

function wrong(flag: string, text: string, expected: string): never {
  throw new UsageError(`${flag} ${text === "" ? "''" : text}: expected ${expected}`, expected);
}

/** A whole number of `[min, max]`. @internal */
export function wholeNumber(
  flag: string,
  min = 0,
  max: number = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      const upper = max === Number.MAX_SAFE_INTEGER ? "" : ` and at most ${max}`;
      wrong(flag, text, `a whole number, at least ${min}${upper}`);
    }
    return value;
  };
}

/** Seconds, possibly with a fraction, above 0. @internal */
export function seconds(flag: string): (text: string) => number {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > 86400) {
      wrong(flag, text, "seconds, above 0 and at most 86400");
    }
    return value;
  };
}

/** Most seeds of one range: the count of runs stays exact, whatever multiplies it. */
const SEEDS_MAX = 2 ** 32;

/** `a:b` (half open) or one seed. @internal */
export function seedRange(flag: string): (text: string) => SeedRange {
  return (text: string): SeedRange => {
    const match = /^(\d+)(?::(\d+))?$/.exec(text);
    if (match === null) wrong(flag, text, "FROM:TO (TO not included), such as 0:10, or one seed");
    const from = Number(match[1]);
    const to = match[2] === undefined ? from + 1 : Number(match[2]);
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) {
      wrong(flag, text, "seeds below 2^53");
    }
    if (to <= from) throw new UsageError(`${flag} ${text} selects no seed: TO must be above FROM`);
    if (to - from > SEEDS_MAX) wrong(flag, text, `${SEEDS_MAX} seeds at most`);
    return { from, to };
  };
}

/** The seeds of a range, one by one, as often as they are asked for. @internal */
export function seedsOf({ from, to }: SeedRange): Iterable<number> {
  return {
    *[Symbol.iterator]() {
      for (let seed = from; seed < to; seed++) yield seed;
    },
  };
}

/** Part `index`, from 1, of `of`. @internal */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

/** `I/N`. @internal */
export function shardPart(flag: string): (text: string) => Shard {
  return (text: string): Shard => {
    const match = /^(\d+)\/(\d+)$/.exec(text);
    const [index, of] = [Number(match?.[1]), Number(match?.[2])];
    if (match === null || index < 1 || index > of || !Number.isSafeInteger(of)) {
      wrong(flag, text, "I/N with I from 1 to N, such as 2/4");
    }
    return { index, of };
  };
}

/** Words between commas, each once. @internal */
export function wordList(flag: string): (text: string) => readonly string[] {
  return (text: string): readonly string[] => {
    const words = text.split(",").map((word) => word.trim());
    if (words.includes("")) wrong(flag, text, "words separated by commas");
    for (const word of words) {
      if (words.indexOf(word) !== words.lastIndexOf(word)) {
        throw new UsageError(`${flag} names ${word} twice`);
      }
    }
    return words;
  };
}

/** Whole numbers between commas, each once. @internal */
export function numberList(
  flag: string,
  min: number,
  max: number,
): (text: string) => readonly number[] {
  const words = wordList(flag);
  const number = wholeNumber(flag, min, max);
  return (text: string): readonly number[] => words(text).map(number);
}

/** One of a few words. @internal */
export function oneOf<T extends string>(flag: string, known: readonly T[]): (text: string) => T {
  return (text: string): T => {
    const found = known.find((word) => word === text);
    if (found === undefined) unknownWord(`${flag} ${text}`, text, known);
    return found;
  };
}

/** Refuses a word, with the nearest known one. @internal */
export function unknownWord(what: string, word: string, known: readonly string[]): never {
  const nearest = nearestWord(word, known);
  const meant = nearest === null ? "" : `; did you mean ${nearest}?`;
  throw new UsageError(`${what}: unknown, expected one of ${known.join(", ")}${meant}`);
}

/** `every=N` of `--state`. @internal */
export function everyCount(flag: string): (text: string) => number {
  return (text: string): number => {
    const match = /^every=(\d+)$/.exec(text);
    const count = Number(match?.[1]);
    if (match === null || count < 1 || !Number.isSafeInteger(count)) {
      wrong(flag, text, "every=N with N at least 1");
    }
    return count;
  };
}

/** Quotes a word for a POSIX shell where it needs it. @internal */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

const SIZE_FACTORS: Readonly<Record<string, number>> = {
  "": 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
};

/** A whole number, with `k`, `m` or `g` (binary) behind it if need be; NaN for anything else. @internal */
export function sizeIn(text: string): number {
  const match = /^(\d+)([kmg]?)$/i.exec(text);
  return Number(match?.[1]) * (SIZE_FACTORS[(match?.[2] ?? "").toLowerCase()] ?? NaN);
}

/** Bytes, with `k`, `m` or `g` (binary). @internal */
export function byteSize(flag: string): (text: string) => number {
  return (text) => {
    const value = sizeIn(text);
    if (!Number.isSafeInteger(value) || value < 1) wrong(flag, text, "a size such as 512k or 64m");
    return value;
  };
}

const repeatable = new WeakSet<Option>();

/** Marks a flag that may be given several times, because its values add up. @internal */
export function mayRepeat(option: Option): Option {
  repeatable.add(option);
  return option;
}

/**
 * Makes a command refuse what would else be taken in silence: a second value of a flag, where commander keeps the last
 * one, and an empty word for a value or an operand, which is what a variable that is not set leaves behind. A `<text>`
 * may be empty. @internal
 */
export function refuseCareless(command: Command): void {
  for (const option of command.options) {
    if (!option.required && !option.optional) continue;
    const flag = option.long ?? option.flags;
    let isGiven = false;
    command.on(`option:${option.name()}`, (value: string) => {
      if (value === "" && !option.flags.endsWith("<text>")) wrong(flag, value, "a value");
      if (isGiven && !repeatable.has(option)) {
        throw new UsageError(`${flag} is given twice: expected one value`);
      }
      isGiven = true;
    });
  }
  command.hook("preAction", (_, { args }) => {
    if (args.includes("")) throw new UsageError("'': an empty word, expected the name of a file");
  });
}
