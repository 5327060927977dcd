// Walking a value and a text at once says what JSON.stringify says.
import { expect, test } from "vitest";
import { Prng } from "../../src/base/prng.js";
import { headOf } from "../../src/trace/line-head.js";
import { endOfWritten } from "../../src/trace/written-json.js";

const WORDS = ["", "r1", "full", "window_128", "a b", "0", "12", "~", "__proto__", "toString"];

function randomValue(random: Prng, depth: number): unknown {
  const one = random.below(depth > 3 ? 5 : 8);
  if (one === 0) return random.below(2) === 0;
  if (one === 1) return null;
  if (one === 2) return WORDS[random.below(WORDS.length)];
  if (one < 5) return randomNumber(random);
  if (one === 5)
    return Array.from({ length: random.below(4) }, () => randomValue(random, depth + 1));
  const entries = Array.from({ length: random.below(4) }, () => [
    WORDS[random.below(WORDS.length)]!,
    randomValue(random, depth + 1),
  ]);
  return Object.fromEntries(entries);
}

function randomNumber(random: Prng): number {
  const edges = [0, 9, 10, 99, 100, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 999_999_999, 1e9];
  const value = random.below(2) === 0 ? edges[random.below(edges.length)]! : random.below(1 << 30);
  return random.below(3) === 0 ? -value : value;
}

test("what is written is found to its end, whatever stands around it", () => {
  const random = new Prng(1);
  for (let trial = 0; trial < 5000; trial++) {
    const value = randomValue(random, 0);
    const text = JSON.stringify(value);
    for (const [front, rest] of [
      ["", ""],
      ["{,", ",1"],
      ["99", "}}"],
    ] as const) {
      const end = endOfWritten(front + text + rest, front.length, value);
      expect(end, text).toBe(front.length + text.length);
    }
  }
});

test("any other text of the same place is not", () => {
  const random = new Prng(2);
  let different = 0;
  for (let trial = 0; trial < 5000; trial++) {
    const value = randomValue(random, 0);
    const text = JSON.stringify(value);
    const at = random.below(text.length);
    const put = String.fromCharCode(random.below(256));
    const changed = text.slice(0, at) + put + text.slice(at + random.below(2));
    if (changed === text) continue;
    different += 1;
    expect(endOfWritten(changed, 0, value), changed).not.toBe(changed.length);
  }
  expect(different).toBeGreaterThan(4000);
});

test.each([
  1.5,
  NaN,
  Infinity,
  2 ** 53,
  "\u00e9",
  'a"b',
  "a\\b",
  "\n",
  "\u007f",
  undefined,
  { a: undefined },
])("%s is left to the parser", (value) => {
  expect(endOfWritten(JSON.stringify(value) ?? "", 0, value)).toBe(-1);
  expect(endOfWritten(JSON.stringify([value]), 0, [value])).toBe(-1);
});

test("the head of a line is what JSON.parse finds there, or nothing", () => {
  const random = new Prng(3);
  let found = 0;
  for (let trial = 0; trial < 3000; trial++) {
    const args = Object.fromEntries([
      ["req", "r1"],
      ["more", randomValue(random, 1)],
    ]);
    const line = { kind: "op", n: random.below(1 << 30), op: "tokens.extend", args, ok: {} };
    const text = JSON.stringify(line);
    const at = random.below(text.length);
    const changed =
      trial % 2 === 0
        ? text
        : text.slice(0, at) + String.fromCharCode(random.below(128)) + text.slice(at + 1);
    const bytes = Buffer.from(`xx${changed}\n`, "latin1");
    const head = headOf(bytes, 2, bytes.length - 1);
    if (trial % 2 === 0) expect(head).not.toBeNull();
    if (head === null) continue;
    found += 1;
    // whatever follows: closed behind the arguments it is JSON with the same values
    const front = JSON.parse(`${changed.slice(0, head.end)}}`) as typeof line;
    expect({ n: head.n, op: head.op, args: head.args }).toEqual({
      n: front.n,
      op: front.op,
      args: front.args,
    });
    expect(front.kind).toBe("op");
  }
  expect(found).toBeGreaterThan(1500);
});
