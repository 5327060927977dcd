// What a reader hands out: the same lines whatever the packing, the chunks, the batches and the end of line.
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { Prng } from "../../src/base/prng.js";
import { LineFeed } from "../../src/trace/reader-lines.js";
import { validateTrace } from "../../src/trace/validate.js";
import { describeUnless } from "../skip-aloud.js";
import {
  ALLOC,
  COMPONENTS,
  END,
  FITS,
  GOOD,
  errorOf,
  fileOf,
  readAll,
  textOf,
  withDigest,
} from "./files.js";
import { SPECS, opLineOf } from "./values.js";

const golden = fileURLToPath(new URL("../../../shared/golden/", import.meta.url));

describe("the same lines", () => {
  const expected = GOOD.map((line) => JSON.parse(line));
  const numbers = [1, 2, 3, 4, 5, 6];

  test("from a plain file, with LF and with CR LF, in batches of any size", async () => {
    for (const end of ["\n", "\r\n"]) {
      const path = fileOf(textOf(GOOD, end));
      for (const max of [1, 2, 5, undefined]) {
        const all = await readAll(path, {}, max);
        expect(all.lines).toEqual(expected);
        expect(all.numbers).toEqual(numbers);
        expect(all.reader.header?.producer.name).toBe("t");
      }
    }
  });

  test("from gzip, of one member and of several", async () => {
    const halves = [GOOD.slice(0, 3), GOOD.slice(3)].map((lines) => gzipSync(textOf(lines)));
    for (const bytes of [gzipSync(textOf(GOOD)), Buffer.concat(halves)]) {
      expect((await readAll(fileOf(bytes, ".jsonl.gz"))).lines).toEqual(expected);
    }
  });

  test("from standard input, in chunks of any size", async () => {
    const bytes = Buffer.from(textOf(GOOD));
    for (const size of [1, 2, 7, 64, 100_000]) {
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      const { lines } = await readAll("-", { stdin: Readable.from(chunks) });
      expect(lines).toEqual(expected);
    }
    const text = Readable.from([textOf(GOOD)]);
    expect((await readAll("-", { stdin: text })).lines).toEqual(expected);
  });

  test("without standard input at hand, a clear error", async () => {
    expect(await errorOf("-")).toBe("input_unreadable 3  no standard input");
  });

  test("keys in any order, spaces, and colons and brackets in texts", async () => {
    const mark = '{"text":"a: [b] {c: \\"d\\"}","n":3,"kind":"mark"}';
    const spaced =
      ' { "n" : 2 ,\t"kind" : "op", "ok":{ "fits" :true},"op":"ask.fits","args":{"demand":{}}} ';
    const colons = ALLOC.replace('["r1"]', '["r:1:2"]').replace('"r1":1', '"r:1:2":1');
    const lines = [...GOOD.slice(0, 3), colons, spaced, mark, END];
    expect((await readAll(fileOf(textOf(lines)))).lines).toEqual(
      lines.map((line) => JSON.parse(line)),
    );
  });

  test("texts of any script", async () => {
    const lines = [...GOOD.slice(0, 5), '{"kind":"mark","n":3,"text":"ü 漢字 🙂 \u2028"}', END];
    const { lines: read } = await readAll(fileOf(textOf(lines)));
    expect(read[5]).toEqual({ kind: "mark", n: 3, text: "ü 漢字 🙂 \u2028" });
  });
});

describe("random runs of every operation", () => {
  test("are read as they were written, quick check or not", async () => {
    for (let seed = 0; seed < 5; seed++) {
      const prng = new Prng(seed, 5);
      const kv = SPECS.filter((spec) => spec.domain === "kv" && spec.name !== "boot");
      const ops = Array.from({ length: 300 }, (_, i) =>
        JSON.stringify({ ...opLineOf(prng.pick(kv), prng), n: i + 1 }),
      );
      const run = GOOD[1]!.replace(
        '"sub_pools":[',
        '"sub_pools":[{"name":"mamba","kind":"state","unit_bytes":160},',
      );
      const end = END.replace('"ops":3', '"ops":301,"digest":"00000000000000ff"');
      const boot = withDigest(GOOD[2]!, ["mamba", ...COMPONENTS]);
      const lines = [GOOD[0]!, run, boot, ...ops, end];
      const path = fileOf(textOf(lines));
      const { lines: read } = await readAll(path);
      expect(read.map((line) => JSON.stringify(line))).toEqual(lines);
      const { lines: unchecked } = await readAll(path, { validate: false });
      expect(unchecked).toEqual(read);
    }
  });
});

describe("extensions and lenience", () => {
  const extended = FITS.replace('"ok":', '"x_note":{"any":1,"x_in":2},"ok":').replace(
    '"full":1',
    '"full":1,"x_band":null',
  );

  test("x_ keys are kept and counted wherever they stand", async () => {
    const { lines, reader } = await readAll(fileOf(textOf([...GOOD.slice(0, 4), extended, END])));
    expect(lines[4]).toEqual(JSON.parse(extended));
    expect([reader.extensionKeys, reader.ignoredKeys]).toEqual([2, 0]);
  });

  test("lenient: unknown keys of objects are left out and counted, all else is still an error", async () => {
    const more = FITS.replace('"ok":', '"extra":[{}],"ok":').replace(
      '"fits":true',
      '"fits":true,"why":"so"',
    );
    const path = fileOf(textOf([...GOOD.slice(0, 4), more, END]));
    expect(await errorOf(path)).toMatch(/unknown key/);
    const { lines, reader } = await readAll(path, { lenient: true });
    expect(lines[4]).toEqual(JSON.parse(FITS));
    expect([reader.extensionKeys, reader.ignoredKeys]).toEqual([0, 2]);
    const band = fileOf(textOf([...GOOD.slice(0, 4), FITS.replace('"full":1', '"ful":1'), END]));
    expect(await errorOf(band, { lenient: true })).toMatch(/unknown band "ful"/);
  });
});

test("validateTrace counts what a trace holds", async () => {
  const mark = '{"kind":"mark","n":3,"text":""}';
  const path = fileOf(
    textOf([
      ...GOOD.slice(0, 5),
      mark,
      END,
      ...GOOD.slice(1).map((line) => line.replace('"one"', '"two"')),
    ]),
  );
  expect(await validateTrace(path)).toEqual({
    lines: 12,
    runs: 2,
    operations: 6,
    marks: 1,
    states: 0,
    ignoredKeys: 0,
    extensionKeys: 0,
    truncated: null,
  });
});

test("a closed reader gives nothing more, and closes twice", async () => {
  const { reader } = await readAll(fileOf(textOf(GOOD)));
  await reader.close();
  expect(await reader.readBatch()).toEqual({ lines: [], numbers: [] });
});

describe("lines of bytes", () => {
  test("are cut the same whatever the buffer and the pieces, and memory follows the longest line", () => {
    for (let seed = 0; seed < 40; seed++) {
      const prng = new Prng(seed, 9);
      const texts = Array.from({ length: 1 + prng.below(60) }, () =>
        "x".repeat(prng.chance(1, 20) ? prng.below(20_000) : prng.below(50)),
      );
      const ends: string[] = texts.map(() => (prng.chance(1, 3) ? "\r\n" : "\n"));
      if (prng.chance(1, 3)) ends[ends.length - 1] = "";
      const bytes = Buffer.from(texts.map((text, i) => text + ends[i]!).join(""));
      let at = 0;
      const fill = (target: Buffer, offset: number): number => {
        const count = Math.min(1 + prng.below(9000), bytes.length - at, target.length - offset);
        bytes.copy(target, offset, at, at + count);
        at += count;
        return count;
      };
      const feed = new LineFeed(
        { fill, isCut: false, close: () => Promise.resolve() },
        "f",
        1 << 20,
        4096,
      );
      const read: string[] = [];
      for (;;) {
        if (feed.advance()) read.push(feed.room.bytes.toString("latin1", feed.start, feed.end));
        else if (feed.fill() === false) break;
        expect(feed.room.bytes.length).toBeLessThanOrEqual(65_536);
      }
      const wanted = texts.at(-1) === "" && ends.at(-1) === "" ? texts.slice(0, -1) : texts;
      expect(read).toEqual(wanted);
    }
  });
});

describe("the work for a long line", () => {
  // Bytes that are searched and copied, whatever the pieces, in proportion to the bytes that come.
  const MIB = 1 << 20;
  test.each([
    ["one line of 48 MiB", [48 * MIB]],
    ["short lines after one of 40 MiB", [40 * MIB, ...Array.from({ length: 20_000 }, () => 100)]],
    ["lines of 3 MiB", Array.from({ length: 12 }, () => 3 * MIB)],
  ])("%s, in pieces of 64 KiB", (_, lengths) => {
    const total = lengths.reduce((sum, length) => sum + length + 1, 0);
    const bytes = Buffer.alloc(total, "x");
    let end = 0;
    for (const length of lengths) {
      bytes[end + length] = 10;
      end += length + 1;
    }
    let at = 0;
    const fill = (target: Buffer, offset: number): number => {
      const count = Math.min(65_536, total - at, target.length - offset);
      target.set(bytes.subarray(at, at + count), offset);
      at += count;
      return count;
    };
    let work = 0;
    const { indexOf, copy, copyWithin } = Buffer.prototype;
    vi.spyOn(Buffer.prototype, "indexOf").mockImplementation(function (this: Buffer, value, from) {
      const found = indexOf.call(this, value, from);
      work += (found === -1 ? this.length : found + 1) - Number(from);
      return found;
    });
    vi.spyOn(Buffer.prototype, "copy").mockImplementation(function (this: Buffer, ...words) {
      const copied = copy.apply(this, words);
      work += copied;
      return copied;
    });
    vi.spyOn(Buffer.prototype, "copyWithin").mockImplementation(function (this: Buffer, ...words) {
      work += Number(words[2]) - Number(words[1]);
      return copyWithin.apply(this, words);
    });
    const source = { fill, isCut: false, close: () => Promise.resolve() };
    const feed = new LineFeed(source, "f", 64 * MIB);
    const read: number[] = [];
    try {
      for (;;) {
        if (feed.advance()) read.push(feed.end - feed.start);
        else if (feed.fill() === false) break;
      }
    } finally {
      vi.restoreAllMocks();
    }
    expect(read).toEqual(lengths);
    expect(work).toBeLessThan(4 * total);
  });
});

describeUnless(
  existsSync(golden) ? undefined : "no golden traces beside the project",
  "golden traces",
  () => {
    test("are valid", async () => {
      const files = readdirSync(golden).filter((file) => file.endsWith(".jsonl"));
      expect(files.length).toBeGreaterThan(0);
      for (const file of files) {
        const text = readFileSync(golden + file, "utf8")
          .trimEnd()
          .split("\n");
        const summary = await validateTrace(golden + file);
        expect([summary.lines, summary.runs]).toEqual([text.length, 1]);
      }
    });
  },
);
