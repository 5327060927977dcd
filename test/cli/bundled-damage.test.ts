// What V8 compiled at build time lies in a file that V8 itself does not check: damage there must not reach it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Prng } from "../../src/base/prng.js";
import { folder, root, start } from "./command-line.js";

test("any damaged byte of what was compiled: the same verdict, word for word", async () => {
  const home = join(folder, "damaged");
  mkdirSync(home);
  for (const part of ["bin", "dist", "package.json"])
    cpSync(join(root, part), join(home, part), { recursive: true, preserveTimestamps: true });
  const { code } = await start(["record", "--seeds", "3:4", "--out", "damage.jsonl"]);
  expect(code).toBe(0);
  const compare = (): unknown[] => {
    const words = ["compare", "--trace", "damage.jsonl", "--candidate", "self:none"];
    const options = { cwd: folder, encoding: "utf8", timeout: 20_000 } as const;
    const child = spawnSync(
      process.execPath,
      [join(home, "bin/unified-trace.js"), ...words],
      options,
    );
    return [child.status, child.stdout, child.stderr];
  };
  const right = compare();
  expect(right[0]).toBe(0);

  const path = join(home, "dist", "bundle", "code.bin");
  const { places } = JSON.parse(readFileSync(join(home, "dist/bundle/code.json"), "latin1")) as {
    places: Readonly<Record<string, readonly number[]>>;
  };
  const bytes = readFileSync(path);
  const { atime, mtime } = statSync(path);
  const pieces = Object.entries(places).filter(([name]) =>
    /^(main|comparison-.*)\.cjs$/.test(name),
  );
  expect(pieces).toHaveLength(2);
  const random = new Prng(1);
  for (let trial = 0; trial < 12; trial++) {
    const [offset = 0, length = 0] = pieces[trial % 3 === 0 ? 0 : 1]![1];
    const damaged = Buffer.from(bytes);
    damaged[offset + random.below(length)]! ^= 1 << random.below(8);
    writeFileSync(path, damaged);
    utimesSync(path, atime, mtime);
    expect(compare()).toEqual(right);
  }
});
