// docs/trace-format.md says what the code does: its example, its digest vectors, its words.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { foldDigests, hashName, hexOf, LaneSum } from "../../src/base/digest.js";
import { FIXED_COMPONENTS, INVALID_RULES } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import { DIRECT_CONFIG, MODEL_CONFIG, RESERVED_BAND_NAMES } from "../../src/trace/config-spec.js";
import { canonicalLine } from "../../src/trace/canonical.js";
import type { AnySpec } from "../../src/trace/fields.js";
import { ERROR, HEADER_LINE, OP_KEYS, RUN_LINES, opLine } from "../../src/trace/line-specs.js";
import { LINE_KINDS } from "../../src/trace/lines.js";
import { fileOf, readAll } from "./files.js";
import { SPECS } from "./values.js";

const page = readFileSync(
  fileURLToPath(new URL("../../docs/trace-format.md", import.meta.url)),
  "utf8",
);

// A second implementation of the digest, from the page's rules, with unlimited integers.
const TWO32 = 2n ** 32n;
const product = (left: bigint, right: bigint): bigint => (left * right) % TWO32;
const low = (value: bigint): bigint => value % TWO32;
const high = (value: bigint): bigint => value / TWO32;
function laneA([field, index, value]: readonly bigint[]): bigint {
  let h = product(low(field! + 0x9e3779b9n), 0x85ebca6bn) ^ product(low(index!), 0xc2b2ae35n);
  h = product(h ^ (h >> 15n), 0x2c1b3c6dn);
  h = low((h ^ low(value!)) + high(index!) + product(high(value!), 0x27d4eb2fn));
  h = product(h ^ (h >> 16n), 0x7feb352dn);
  h = product(h ^ (h >> 15n), 0x846ca68bn);
  return h ^ (h >> 16n);
}
function laneB([field, index, value]: readonly bigint[]): bigint {
  let h = product(low(field! + 0x7f4a7c15n), 0xcc9e2d51n) ^ product(low(index!), 0x1b873593n);
  h = product(h ^ (h >> 13n), 0x5bd1e995n);
  h = low((h ^ low(value!)) + high(index!) + product(high(value!), 0x165667b1n));
  h = product(h ^ (h >> 15n), 0xd168aaadn);
  h = product(h ^ (h >> 15n), 0xaf723597n);
  return h ^ (h >> 15n);
}
function hashOf(cells: readonly (readonly bigint[])[]): string {
  const sum = (lane: (cell: readonly bigint[]) => bigint): string =>
    low(cells.reduce((total, cell) => total + lane(cell), 0n))
      .toString(16)
      .padStart(8, "0");
  return sum(laneA) + sum(laneB);
}
function foldOf(hashes: readonly string[]): string {
  return hashOf(
    hashes.flatMap((hash, k) => [
      [1n, BigInt(k), BigInt(`0x${hash.slice(0, 8)}`)],
      [2n, BigInt(k), BigInt(`0x${hash.slice(8)}`)],
    ]),
  );
}
function nameHash(name: string): bigint {
  let h = 2166136261n;
  for (let i = 0; i < name.length; i++) h = product(h ^ BigInt(name.charCodeAt(i)), 16777619n);
  return h;
}
function sourceHash(cells: readonly (readonly bigint[])[]): string {
  const sum = new LaneSum();
  for (const [field, index, value] of cells) sum.add(Number(field), Number(index), Number(value));
  return hexOf(sum.a, sum.b);
}

describe("digests", () => {
  const section = page.slice(page.indexOf("Test vectors"), page.indexOf("## 9."));
  const rows = [...section.matchAll(/^\| (.+) \| (`[0-9a-f]{16}`|\d+) \|$/gm)].map(
    (match) => [match[1]!, match[2]!.replaceAll("`", "")] as const,
  );

  test("the page's vectors are those of its rules and of the source", () => {
    const seen = { cells: 0, names: 0, folds: 0 };
    for (const [left, right] of rows) {
      const hashes = [...left.matchAll(/`([0-9a-f]{16})`/g)].map((match) => match[1]!);
      const name = /^`([^`]+)`$/.exec(left)?.[1] ?? "";
      if (hashes.length > 0) {
        seen.folds += 1;
        expect([foldOf(hashes), foldDigests(hashes)]).toEqual([right, right]);
      } else if (right.length < 16) {
        seen.names += 1;
        expect([nameHash(name), hashName(name)]).toEqual([BigInt(right), Number(right)]);
      } else {
        seen.cells += 1;
        const cells = [...left.matchAll(/\((\d+), (\d+), (\d+)\)/g)].map((match) =>
          match.slice(1).map(BigInt),
        );
        expect([hashOf(cells), sourceHash(cells)], left).toEqual([right, right]);
      }
    }
    expect(seen).toEqual({ cells: 10, names: 3, folds: 2 });
  });

  test("the source follows the rules for cells of any size", () => {
    const prng = new Prng(4);
    const any = (): bigint => {
      const bits = prng.below(54);
      const value = BigInt(prng.uint32()) * BigInt(prng.uint32()) * BigInt(1 + prng.below(1000));
      return value % 2n ** BigInt(bits);
    };
    for (let i = 0; i < 2000; i++) {
      const cells = Array.from({ length: 1 + prng.below(3) }, () => [
        BigInt(prng.below(65_536)),
        any(),
        any(),
      ]);
      expect(sourceHash(cells), cells.join()).toBe(hashOf(cells));
    }
  });

  test("a cell taken out again leaves no trace, and order means nothing", () => {
    const sum = new LaneSum();
    sum.add(1, 2, 3);
    const before = hexOf(sum.a, sum.b);
    sum.add(7, 2 ** 40, 2 ** 50);
    sum.add(4, 5, 6);
    sum.remove(7, 2 ** 40, 2 ** 50);
    sum.remove(4, 5, 6);
    expect(hexOf(sum.a, sum.b)).toBe(before);
    expect(
      sourceHash([
        [1n, 0n, 5n],
        [1n, 1n, 6n],
      ]),
    ).toBe(
      sourceHash([
        [1n, 1n, 6n],
        [1n, 0n, 5n],
      ]),
    );
  });
});

describe("the page", () => {
  test("its example is read, and written back byte for byte", async () => {
    const block = /```json\n([\s\S]+?)```/.exec(page)![1]!;
    const { lines, reader } = await readAll(fileOf(block));
    expect(lines.map((line) => `${canonicalLine(line)}\n`).join("")).toBe(block);
    expect(new Set(lines.map((line) => line.kind))).toEqual(
      new Set(LINE_KINDS.filter((kind) => kind !== "state")),
    );
    expect(reader.extensionKeys).toBe(1);
  });

  test("names every field of a line, of a configuration and of an error, every rule, component and reserved word", () => {
    const fieldsOf = (spec: AnySpec): string[] =>
      spec.type === "object" ? Object.keys(spec.fields) : [];
    const words = [
      ...LINE_KINDS,
      ...fieldsOf(HEADER_LINE),
      ...fieldsOf(RUN_LINES.kv),
      ...OP_KEYS,
      ...fieldsOf(DIRECT_CONFIG),
      ...fieldsOf(MODEL_CONFIG),
      ...fieldsOf(ERROR),
      ...INVALID_RULES,
      ...FIXED_COMPONENTS,
      ...RESERVED_BAND_NAMES,
    ];
    const missing = words.filter((word) => !page.includes(`\`${word}\``));
    expect(missing).toEqual([]);
    expect(OP_KEYS).toEqual(fieldsOf(opLine(SPECS[0]!)));
  });

  test("lists the rules in the order in which they answer", () => {
    const places = INVALID_RULES.map((rule) =>
      page.indexOf(`\`${rule}\``, page.indexOf("Rules, in the order")),
    );
    expect(places).toEqual([...places].sort((left, right) => left - right));
  });
});
