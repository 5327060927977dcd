// Where a run's digests must stand: operation 0 lists all of them or none, and the end follows it.
import { describe, expect, test } from "vitest";
import { Prng } from "../../src/base/prng.js";
import {
  ALLOC,
  BOOT,
  COMPONENTS,
  END,
  FITS,
  HEADER,
  RUN,
  errorOf,
  fileOf,
  textOf,
  withDigest,
} from "./files.js";

const END_DIGEST = END.replace("}", ',"digest":"00000000000000bb"}');
const WITHOUT = RUN.replace('"digest_depth":"layout"', '"digest_depth":null');
const ABSENT = RUN.replace(',"digest_depth":"layout"', "");
const REFUSED =
  '{"kind":"op","n":0,"op":"boot","args":{},"err":{"code":"refused_plan","rule":"no_full_owner"}}';

const errorIn = (...lines: string[]): Promise<string> =>
  errorOf(fileOf(textOf([HEADER, ...lines])));
const FULL_BOOT = withDigest(BOOT, COMPONENTS);

describe("where digests stand, over all ways to place them", () => {
  // What the page says, told once more: `first`, `later` and `end` are what lists a digest.
  type Rule = (first: readonly string[], later: boolean, end: boolean) => "good" | number;
  const withDepth: Rule = (first, later, end) => {
    const lacks = first.length > 0 && COMPONENTS.some((name) => !first.includes(name));
    if (lacks) return 3;
    if (first.length === 0 && later) return 4;
    return first.length > 0 === end ? "good" : 6;
  };
  const withoutDepth: Rule = (first, later, end) =>
    first.length > 0 ? 3 : later ? 4 : end ? 6 : "good";

  for (const [what, run, rule] of [
    ["a depth", RUN, withDepth],
    ["null for a depth", WITHOUT, withoutDepth],
    ["no depth", ABSENT, withoutDepth],
  ] as const) {
    test(`in a run with ${what}`, async () => {
      for (let seed = 0; seed < 60; seed++) {
        const prng = new Prng(seed, 11);
        const share = prng.below(3); // none, some or all of the components
        const first = COMPONENTS.filter(() => share === 2 || (share === 1 && prng.chance(2, 3)));
        const [later, end] = [prng.chance(1, 2), prng.chance(1, 2)];
        const error = await errorIn(
          run,
          first.length === 0 ? BOOT : withDigest(BOOT, first),
          later ? withDigest(ALLOC, ["rows"]) : ALLOC,
          FITS,
          end ? END_DIGEST : END,
        );
        const expected = rule(first, later, end);
        const place =
          expected === "good" ? "no error" : `trace_structure 3 ${expected} at /digest: `;
        expect(error.slice(0, place.length), `seed ${seed}: ${error}`).toBe(place);
      }
    });
  }
});

test("what operation 0 lacks is named, in the order of the components", async () => {
  for (const missing of [["window_8"], ["net"], ["full", "rows", "host"]]) {
    const rest = COMPONENTS.filter((name) => !missing.includes(name));
    const names = missing.join(", ");
    expect(await errorIn(RUN, withDigest(BOOT, rest), ALLOC, FITS, END_DIGEST)).toBe(
      `trace_structure 3 3 at /digest: operation 0 lists no digest of ${names}: expected a digest of every component`,
    );
  }
});

test("digests stripped from the operations but kept at the end, and the other way round", async () => {
  expect(await errorIn(RUN, BOOT, ALLOC, FITS, END_DIGEST)).toBe(
    "trace_structure 3 6 at /digest: a digest, though operation 0 of run one has none",
  );
  expect(await errorIn(RUN, FULL_BOOT, ALLOC, FITS, END)).toBe(
    "trace_structure 3 6 at /digest: missing, though run one has digests: expected the digest of the run's end",
  );
  const isNull = END.replace("}", ',"digest":null}');
  expect(await errorIn(RUN, FULL_BOOT, ALLOC, FITS, isNull)).toMatch(/^trace_structure 3 6 at/);
  expect(await errorIn(RUN, BOOT, ALLOC, FITS, isNull)).toBe("no error");
});

test("an empty digest is the same as none", async () => {
  for (const run of [RUN, WITHOUT]) {
    expect(await errorIn(run, withDigest(BOOT, []), withDigest(ALLOC, []), FITS, END)).toBe(
      "no error",
    );
  }
});

test("a refused boot leaves nothing to take a digest of", async () => {
  const ends = (line: string): string => line.replace('"ops":3', '"ops":1');
  expect(await errorIn(RUN, REFUSED, ends(END))).toBe("no error");
  expect(await errorIn(RUN, REFUSED, ends(END_DIGEST))).toBe("no error");
  expect(await errorIn(WITHOUT, REFUSED, ends(END_DIGEST))).toMatch(/^trace_structure 3 4 at/);
});

test("a run that begins after its boot has digests from the first one on", async () => {
  const run = RUN.replace('"digest_depth"', '"starts_at":1,"dropped":1,"digest_depth"');
  const ends = (line: string): string => line.replace('"ops":3', '"ops":2');
  const listed = withDigest(ALLOC, ["rows"]);
  expect(await errorIn(run, listed, FITS, ends(END_DIGEST))).toBe("no error");
  expect(await errorIn(run, listed, FITS, ends(END))).toMatch(/^trace_structure 3 5 at \/digest/);
  expect(await errorIn(run, ALLOC, FITS, ends(END_DIGEST))).toBe("no error");
  expect(await errorIn(run, ALLOC, FITS, ends(END))).toBe("no error");
});

test("each run of a file is judged for itself", async () => {
  const renamed = (line: string): string => line.replaceAll('"run":"one"', '"run":"two"');
  const first = [RUN, FULL_BOOT, ALLOC, FITS, END_DIGEST];
  expect(await errorIn(...first, renamed(WITHOUT), BOOT, ALLOC, FITS, renamed(END))).toBe(
    "no error",
  );
  expect(await errorIn(...first, renamed(WITHOUT), BOOT, ALLOC, FITS, renamed(END_DIGEST))).toMatch(
    /^trace_structure 3 11 at \/digest: a digest, though the "digest_depth" of run two is null/,
  );
});

test("a model form is judged by the bands that its boot answers", async () => {
  const run = RUN.replace(
    /"config":\{.*?\},"source"/,
    '"config":{"model":{},"page_size":4,"budget_bytes":2048},"source"',
  );
  expect(await errorIn(run, FULL_BOOT, ALLOC, FITS, END_DIGEST)).toBe("no error");
  const rest = COMPONENTS.filter((name) => name !== "window_8");
  expect(await errorIn(run, withDigest(BOOT, rest), ALLOC, FITS, END_DIGEST)).toMatch(
    /^trace_structure 3 3 at \/digest: operation 0 lists no digest of window_8:/,
  );
});
