// Lines of the protocol are nested 64 deep at most, as lines of a trace are: deeper ones are a broken promise.
import { describe, expect, test } from "vitest";
import { DEPTH_MAX, isTooDeep } from "../../src/adapter/nesting.js";
import { parseReply, parseRequest } from "../../src/adapter/protocol.js";
import { Prng } from "../../src/base/prng.js";

/** Lists in lists, `levels` of them. */
const lists = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

function randomValue(prng: Prng, levels: number): unknown {
  const text = '[{}]"\\'.slice(prng.below(6)).repeat(1 + prng.below(30));
  if (levels === 0) return prng.pick([text, 7, null, true]);
  const inner = randomValue(prng, levels - 1);
  const others = Array.from({ length: prng.below(3) }, () =>
    randomValue(prng, prng.below(Math.min(levels, 3))),
  );
  if (prng.chance(1, 2)) return [...others, inner, ...others];
  return Object.fromEntries([
    ...others.map((other, i) => [`${text}${i}`, other]),
    [prng.chance(1, 2) ? text : "k", inner],
  ]);
}

test("the depth of random JSON is told as it was made, whatever its texts hold", () => {
  for (let seed = 0; seed < 300; seed++) {
    const prng = new Prng(seed, 21);
    const levels = DEPTH_MAX - 5 + prng.below(11);
    const line = JSON.stringify(randomValue(prng, levels));
    expect(isTooDeep(line), `seed ${seed}`).toBe(levels > DEPTH_MAX);
  }
});

describe("a line", () => {
  const replies: readonly (readonly [string, (inner: string) => string, number])[] = [
    ["an answer", (inner) => `{"n":3,"ok":{"x":${inner}}}`, 2],
    ["a refusal", (inner) => `{"n":3,"err":{"code":"invalid","x":${inner}}}`, 2],
    ["effects", (inner) => `{"n":3,"ok":{},"fx":${inner}}`, 1],
    ["an extension", (inner) => `{"n":3,"ok":{},"x_more":${inner}}`, 1],
    ["a state", (inner) => `{"state":{"tree":${inner}}}`, 2],
    ["the end of a run", (inner) => `{"closed":{"run":"a","x":${inner}}}`, 2],
    [
      "a hello",
      (inner) =>
        `{"hello":{"protocol":1,"name":"a","version":"","domains":[],"ops":[],"x":${inner}}}`,
      2,
    ],
  ];
  test.each(replies)("%s may be 64 deep and no deeper", (_, line, outer) => {
    expect(parseReply(line(lists(DEPTH_MAX - outer))).kind).not.toBe("mistake");
    for (const levels of [DEPTH_MAX - outer + 1, 1000, 200_000]) {
      expect(parseReply(line(lists(levels)))).toEqual({
        kind: "mistake",
        message: expect.stringMatching(/^nested deeper than 64 levels: "\{/),
      });
    }
  });

  const requests: readonly (readonly [string, (inner: string) => string, number])[] = [
    ["an operation", (inner) => `{"n":0,"op":"boot","args":{"x":${inner}}}`, 2],
    ["an opening", (inner) => `{"open":{"run":"a","config":{"x":${inner}}}}`, 3],
  ];
  test.each(requests)("%s likewise, where this side is asked", (_, line, outer) => {
    expect(parseRequest(line(lists(DEPTH_MAX - outer))).kind).not.toBe("mistake");
    for (const levels of [DEPTH_MAX - outer + 1, 200_000]) {
      expect(parseRequest(line(lists(levels)))).toMatchObject({ kind: "mistake" });
    }
  });
});
