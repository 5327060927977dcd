// Lines out of chunks cut anywhere.
import { describe, expect, test } from "vitest";
import { LineSplitter } from "../../src/adapter/line-splitter.js";
import { Prng } from "../../src/base/prng.js";

describe("lines", () => {
  test("law: the cuts between chunks do not matter", () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = new Prng(seed);
      const lines = Array.from({ length: random.below(20) }, () => "é€x𝄞".repeat(random.below(9)));
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join("") + "rest");
      const splitter = new LineSplitter(1000);
      const seen: string[] = [];
      for (let at = 0; at < bytes.length;) {
        const end = at + 1 + random.below(25);
        seen.push(...splitter.push(bytes.subarray(at, end)));
        at = end;
      }
      expect(seen, `seed ${seed}`).toEqual(lines);
      expect(splitter.rest()).toBe("rest");
    }
  });

  test("carriage returns before line feeds go", () => {
    expect(new LineSplitter(100).push(Buffer.from("a\r\nb\rc\n\r\n"))).toEqual(["a", "b\rc", ""]);
  });

  test.each([
    ["in one chunk", ["x".repeat(11) + "\n"]],
    ["after a short line", ["ok\n" + "x".repeat(11) + "\n"]],
    ["over many chunks", ["xxxxx", "xxxxx", "x"]],
    ["ended by a later chunk", ["xxxxx", "xxxxxx\n"]],
  ])("a line over the limit, %s", (_, chunks) => {
    const splitter = new LineSplitter(10);
    for (const chunk of chunks) splitter.push(Buffer.from(chunk));
    expect(splitter.isOverlong).toBe(true);
    expect(splitter.push(Buffer.from("fine\n"))).toEqual([]);
  });

  test("a line of exactly the limit is fine", () => {
    const splitter = new LineSplitter(10);
    expect(splitter.push(Buffer.from("x".repeat(10) + "\n"))).toEqual(["x".repeat(10)]);
    expect(splitter.isOverlong).toBe(false);
  });
});
