// Where an output goes: through links, under names of any length, with the rights of the file that was there.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { EnvironmentError } from "../../src/base/errors.js";
import { createTraceWriter } from "../../src/trace/writer.js";
import { GOOD, freshPath, readAll, textOf } from "./files.js";

function freshFolder(): string {
  const folder = freshPath("");
  mkdirSync(folder);
  return folder;
}

function write(path: string): void {
  const writer = createTraceWriter(path);
  writer.mark(0, "new");
  writer.commit();
}

function failureOf(path: string): string {
  try {
    createTraceWriter(path).abort();
    return "no error";
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

const LINE = '{"kind":"mark","n":0,"text":"new"}\n';

describe("the rights of the file that was there", () => {
  test.each([0o600, 0o640, 0o664, 0o444, 0o755, 0o666])("%o stays, before and after", (mode) => {
    const path = freshPath();
    writeFileSync(path, "old");
    chmodSync(path, mode);
    const writer = createTraceWriter(path);
    writer.mark(0, "new");
    writer.flush();
    const beside = readdirSync(dirname(path)).filter((name) =>
      name.startsWith(`${basename(path)}.`),
    );
    expect(beside.length).toBe(1);
    expect(statSync(join(dirname(path), beside[0]!)).mode & 0o777).toBe(mode);
    writer.commit();
    expect(readFileSync(path, "utf8")).toBe(LINE);
    expect(statSync(path).mode & 0o777).toBe(mode);
    expect(statSync(path).uid).toBe(process.getuid?.() ?? 0);
  });

  test("a new file has those that the user gives to new files", () => {
    const before = process.umask(0o027);
    try {
      const path = freshPath();
      write(path);
      expect(statSync(path).mode & 0o777).toBe(0o640);
    } finally {
      process.umask(before);
    }
  });
});

describe("a link that leads to nothing yet", () => {
  test("is written through, and stays a link", () => {
    const folder = freshFolder();
    mkdirSync(join(folder, "data"));
    symlinkSync("data", join(folder, "way"));
    symlinkSync("data/plain.jsonl", join(folder, "relative.jsonl"));
    symlinkSync(join(folder, "data", "absolute.jsonl"), join(folder, "link.jsonl"));
    symlinkSync("../data/up.jsonl", join(folder, "data", "up-link.jsonl"));
    symlinkSync("chained.jsonl", join(folder, "data", "second.jsonl"));
    symlinkSync("data/second.jsonl", join(folder, "first.jsonl"));
    for (const [link, target] of [
      ["relative.jsonl", "data/plain.jsonl"],
      ["link.jsonl", "data/absolute.jsonl"],
      ["way/up-link.jsonl", "data/up.jsonl"],
      ["first.jsonl", "data/chained.jsonl"],
    ] as const) {
      write(join(folder, link));
      expect(lstatSync(join(folder, link)).isSymbolicLink(), link).toBe(true);
      expect(lstatSync(join(folder, target)).isFile(), target).toBe(true);
      expect(readFileSync(join(folder, target), "utf8")).toBe(LINE);
    }
    expect(lstatSync(join(folder, "data", "second.jsonl")).isSymbolicLink()).toBe(true);
    expect(readdirSync(join(folder, "data")).filter((name) => /partial/.test(name))).toEqual([]);
  });

  test("into a folder that is not there, and in a circle, is refused at once", () => {
    const folder = freshFolder();
    symlinkSync("nowhere/a.jsonl", join(folder, "lost.jsonl"));
    symlinkSync("b.jsonl", join(folder, "a.jsonl"));
    symlinkSync("a.jsonl", join(folder, "b.jsonl"));
    expect(failureOf(join(folder, "lost.jsonl"))).toBe(
      "output_unwritable: cannot be written: its folder does not exist",
    );
    expect(failureOf(join(folder, "a.jsonl"))).toBe(
      "output_unwritable: cannot be written: its links lead in a circle",
    );
  });
});

describe("names as long as a name may be", () => {
  const named = (bytes: number, letter: string, ending: string): string =>
    letter.repeat(Math.floor((bytes - ending.length) / Buffer.byteLength(letter))) + ending;
  const lengths = [...Array.from({ length: 22 }, (_, i) => 234 + i)];

  test.each([
    ["a", ".jsonl"],
    ["ü", ".jsonl.gz"],
    ["漢", ".jsonl"],
    ["a", ""],
  ])("of %j and %j: written, given up, or left beside", async (letter, ending) => {
    for (const bytes of lengths) {
      const folder = freshFolder();
      const name = named(bytes, letter, ending);
      const path = join(folder, name);
      write(path);
      expect(readdirSync(folder)).toEqual([name]);
      createTraceWriter(path).abort();
      expect(readdirSync(folder)).toEqual([name]);

      const writer = createTraceWriter(path);
      for (const line of GOOD.slice(0, 4)) writer.line(JSON.parse(line));
      const partial = writer.commitPartial()!;
      expect(Buffer.byteLength(basename(partial))).toBeLessThanOrEqual(255);
      expect(basename(partial).endsWith(`${ending}.partial`)).toBe(true);
      const fits = Buffer.byteLength(name) + ".partial".length <= 255;
      expect(basename(partial) === `${name}.partial`).toBe(fits);
      expect(readdirSync(folder).sort()).toEqual([name, basename(partial)].sort());
      const { lines } = await readAll(partial, { acceptTruncated: true });
      expect(lines.length).toBe(4);
    }
  });

  test("one byte more is refused before anything is recorded", () => {
    const folder = freshFolder();
    expect(failureOf(join(folder, "a".repeat(256)))).toBe(
      "output_unwritable: cannot be written: its name is too long",
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

test("an earlier partial file of the same name is replaced", () => {
  const path = freshPath();
  writeFileSync(`${path}.partial`, textOf(GOOD));
  const writer = createTraceWriter(path);
  writer.mark(0, "new");
  expect(writer.commitPartial()).toBe(`${path}.partial`);
  expect(readFileSync(`${path}.partial`, "utf8")).toBe(LINE);
  expect(existsSync(path)).toBe(false);
});
