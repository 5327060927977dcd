// Splitting a command line without a shell.
import { describe, expect, test } from "vitest";
import { splitCommandWords } from "../../src/adapter/command-words.js";
import { Prng } from "../../src/base/prng.js";

describe("a command line", () => {
  test("law: words quoted either way come back as they were", () => {
    const letters = ["a", "B", "7", " ", "\t", '"', "'", "\\", "$", "*", "|", "é", "-", "/"];
    for (let seed = 0; seed < 300; seed++) {
      const random = new Prng(seed);
      const word = (): string =>
        Array.from(
          { length: 1 + random.below(6) },
          () => letters[random.below(letters.length)],
        ).join("");
      const words = ["program", ...Array.from({ length: 1 + random.below(4) }, word)];
      const doubled = words.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join(" ");
      expect(splitCommandWords(doubled), `seed ${seed}: ${doubled}`).toEqual(words);
      const single = words.map((text) => `'${text.replaceAll("'", `'"'"'`)}'`).join("\t");
      expect(splitCommandWords(single), `seed ${seed}: ${single}`).toEqual(words);
    }
  });

  test.each([
    ["python3 my_adapter.py", ["python3", "my_adapter.py"]],
    ["  a \t b  ", ["a", "b"]],
    [`"python3 x.py --fast"`, ["python3", "x.py", "--fast"]],
    [`'node a.mjs'`, ["node", "a.mjs"]],
    [`"/opt/my tools/run" "a b" ''`, ["/opt/my tools/run", "a b", ""]],
    [`a"b c"d'e f'`, ["ab cde f"]],
    [String.raw`a\ b c\"d \\e`, ["a b", `c"d`, String.raw`\e`]],
    [String.raw`C:\dir\run.exe \n`, [String.raw`C:\dir\run.exe`, String.raw`\n`]],
    ["a | b > c && $(d) *", ["a", "|", "b", ">", "c", "&&", "$(d)", "*"]],
    ["trailing\\", ["trailing\\"]],
  ])("%s", (text, words) => {
    expect(splitCommandWords(text)).toEqual(words);
  });

  test.each([
    ["", /no program/],
    ["   ", /no program/],
    [`''`, /no program/],
    [`'' x`, /no program/],
    [`a "b c`, /the quote at character 3 of the command line is never closed/],
    [`it's`, /the quote at character 3/],
  ])("%j is a usage error", (text, message) => {
    expect(() => splitCommandWords(text)).toThrow(message);
    expect(() => splitCommandWords(text)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });
});
