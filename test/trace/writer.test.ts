// What a writer leaves behind: canonical bytes under the final name, or nothing at all.
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  closeSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { EnvironmentError } from "../../src/base/errors.js";
import { producerBlock } from "../../src/trace/header.js";
import type { OpLine, TraceLine } from "../../src/trace/lines.js";
import { canonicalLine, createTraceWriter } from "../../src/trace/writer.js";
import type { TraceWriter, WriterOptions } from "../../src/trace/writer.js";
import { describeUnless } from "../skip-aloud.js";
import { GOOD, fileOf, freshPath, readAll, textOf } from "./files.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const golden = fileURLToPath(new URL("../../../shared/golden/", import.meta.url));
const format = fileURLToPath(new URL("../../../shared/design/trace-format.md", import.meta.url));

const parsed = GOOD.map((line) => JSON.parse(line) as TraceLine);

function writeGood(writer: TraceWriter, times = 1): void {
  for (let i = 0; i < times; i++) for (const line of parsed) writer.line(line);
}

async function rewritten(path: string, options: WriterOptions = {}): Promise<string> {
  const out = freshPath();
  const writer = createTraceWriter(out, options);
  const { lines } = await readAll(path);
  for (const line of lines) writer.line(line);
  writer.commit();
  return readFileSync(out, "utf8");
}

describe("lines", () => {
  test("each method writes its line in canonical order", () => {
    const path = freshPath();
    const writer = createTraceWriter(path);
    writer.header(producerBlock("t", "1", null, null), { note: "n" });
    const run = parsed[1] as Extract<TraceLine, { kind: "run" }>;
    const { kind: _kind, source, ...body } = run;
    writer.run({ source, ...body });
    const boot = parsed[2] as OpLine;
    writer.op(0, boot, { ...(boot.ok === undefined ? {} : { ok: boot.ok }), fx: [], digest: {} });
    writer.mark(1, "m");
    writer.call(1, parsed[3] as OpLine);
    writer.op(
      1,
      parsed[3] as OpLine,
      { err: { code: "refused_rows", need: 1, free: 0 } },
      { site: "s", at_us: 5 },
    );
    writer.op(2, parsed[4] as OpLine, {
      ok: { fits: true },
      fx: [["wait", "f1"]],
      digest: { full: "0".repeat(16) },
    });
    writer.end("one", 3, "f".repeat(16));
    expect(writer.lines).toBe(8);
    writer.commit();
    const text = readFileSync(path, "utf8");
    expect(writer.bytes).toBe(Buffer.byteLength(text));
    expect(text).toBe(
      textOf([
        GOOD[0]!.replace('"note":null', '"note":"n"'),
        GOOD[1]!,
        GOOD[2]!,
        '{"kind":"mark","n":1,"text":"m"}',
        '{"kind":"call","n":1,"op":"row.alloc","args":{"reqs":["r1"]}}',
        '{"kind":"op","n":1,"op":"row.alloc","args":{"reqs":["r1"]},"err":{"code":"refused_rows","need":1,"free":0},"site":"s","at_us":5}',
        GOOD[4]!.slice(0, -1) + ',"fx":[["wait","f1"]],"digest":{"full":"0000000000000000"}}',
        '{"kind":"end","run":"one","ops":3,"digest":"ffffffffffffffff"}',
      ]),
    );
  });

  test("a parsed line comes back in canonical order, x_ keys last, empty effects left out", () => {
    const line = JSON.parse(
      '{"x_b":1,"fx":[],"ok":{"step":"no_move","x_a":{"z":1,"a":2},"pages":{"r2":{},"r1":{}}},"args":{"batch":[{"to":4,"req":"r2","from":0}]},"op":"tokens.extend","n":3,"kind":"op"}',
    ) as TraceLine;
    expect(canonicalLine(line)).toBe(
      '{"kind":"op","n":3,"op":"tokens.extend","args":{"batch":[{"req":"r2","from":0,"to":4}]},"ok":{"pages":{"r2":{},"r1":{}},"step":"no_move","x_a":{"z":1,"a":2}},"x_b":1}',
    );
  });

  test("the same lines give the same bytes in batches of any size, packed or not", async () => {
    const path = fileOf(textOf(GOOD));
    const plain = await rewritten(path);
    expect(plain).toBe(textOf(GOOD));
    expect(await rewritten(path, { crashSafe: true })).toBe(plain);
    expect(await rewritten(path, { batchBytes: 1 })).toBe(plain);
    const packed = [0, 1].map(() => {
      const out = freshPath(".jsonl.gz");
      const writer = createTraceWriter(out);
      writeGood(writer, 2000);
      writer.commit();
      return readFileSync(out);
    });
    expect(packed[0]!.equals(packed[1]!)).toBe(true);
    expect([packed[0]!.readUInt32LE(4), packed[0]![9]]).toEqual([0, 255]); // no time, no system
    expect(gunzipSync(packed[0]!).toString()).toBe(textOf(GOOD).repeat(2000));
  });
});

describe("files", () => {
  const leftovers = (path: string): string[] =>
    readdirSync(dirname(path)).filter(
      (name) => name.startsWith(basename(path)) && name !== basename(path),
    );

  test("nothing stands under the final name before commit, all of it after", () => {
    const path = freshPath();
    const writer = createTraceWriter(path);
    writeGood(writer);
    writer.flush();
    expect(existsSync(path)).toBe(false);
    writer.commit();
    expect(readFileSync(path, "utf8")).toBe(textOf(GOOD));
    writer.commit();
    writer.abort();
    expect(readFileSync(path, "utf8")).toBe(textOf(GOOD));
    expect(leftovers(path)).toEqual([]);
  });

  test("a file that was there stays as it was until commit, and after abort", () => {
    const path = fileOf("old");
    const given = createTraceWriter(path);
    writeGood(given, 5000);
    expect(readFileSync(path, "utf8")).toBe("old");
    given.abort();
    given.commit();
    expect(readFileSync(path, "utf8")).toBe("old");
    expect(leftovers(path)).toEqual([]);
    const replaced = createTraceWriter(path);
    writeGood(replaced);
    replaced.commit();
    expect(readFileSync(path, "utf8")).toBe(textOf(GOOD));
  });

  test("two writers of one file do not mix", () => {
    const path = freshPath();
    const one = createTraceWriter(path);
    const two = createTraceWriter(path);
    one.mark(1, "one");
    two.mark(2, "two");
    one.commit();
    two.commit();
    expect(readFileSync(path, "utf8")).toBe('{"kind":"mark","n":2,"text":"two"}\n');
    expect(leftovers(path)).toEqual([]);
  });

  test("a link stays a link", () => {
    const target = fileOf("old");
    const link = freshPath();
    symlinkSync(target, link);
    const writer = createTraceWriter(link);
    writer.mark(0, "");
    writer.commit();
    expect(readFileSync(target, "utf8")).toMatch(/mark/);
    expect(readFileSync(link, "utf8")).toMatch(/mark/);
  });

  test("a line after the end is a bug of the caller", () => {
    const writer = createTraceWriter(freshPath());
    writer.commit();
    expect(() => writer.mark(0, "")).toThrow(/after its end/);
  });
});

describe("outputs that cannot be written", () => {
  const failure = (act: () => void): string => {
    try {
      act();
      return "no error";
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      return `${error.code} ${error.exitCode} ${error.message}`;
    }
  };

  test("a folder that is not there, a folder as file, a suffix that is only read", () => {
    expect(failure(() => createTraceWriter(`${freshPath("")}/a.jsonl`))).toBe(
      "output_unwritable 4 cannot be written: its folder does not exist",
    );
    const folder = freshPath("");
    mkdirSync(folder);
    expect(failure(() => createTraceWriter(folder))).toBe(
      "output_unwritable 4 cannot be written: is a directory",
    );
    expect(failure(() => createTraceWriter(freshPath(".jsonl.zst")))).toMatch(
      /^output_unwritable 4 .*\.zst is read but not written/,
    );
    expect(failure(() => createTraceWriter(`${fileOf("x")}/a.jsonl`))).toMatch(
      /^output_unwritable 4 .*no folder$/,
    );
  });

  const isRoot = process.getuid?.() === 0;
  describeUnless(isRoot ? "the user may write everywhere" : undefined, "permissions", () => {
    test("a folder that may not be written", () => {
      const folder = freshPath("");
      mkdirSync(folder);
      chmodSync(folder, 0o500);
      expect(failure(() => createTraceWriter(`${folder}/a.jsonl`))).toBe(
        "output_unwritable 4 cannot be written: permission denied",
      );
    });
  });

  describeUnless(existsSync("/dev/full") ? undefined : "no /dev/full", "a full disk", () => {
    test("is told once, and nothing is left", () => {
      const writer = createTraceWriter("/dev/full");
      writeGood(writer);
      expect(failure(() => writer.commit())).toBe(
        "output_unwritable 4 cannot be written: no space left on the device",
      );
      expect(statSync("/dev/full").isCharacterDevice()).toBe(true);
      writer.abort();
      writer.commit();
    });
    test("on standard output", () => {
      const fd = openSync("/dev/full", "w");
      const writer = createTraceWriter("-", { stdoutFd: fd });
      writer.mark(0, "");
      expect(failure(() => writer.flush())).toMatch(/^output_unwritable 4 .*no space left/);
      closeSync(fd);
    });
  });

  test("standard output whose reader has gone ends quietly, and says so", () => {
    // `head -c 1` leaves at once; the writer sees a closed pipe and no error.
    const script = `
      import { createTraceWriter } from ${JSON.stringify(`file://${root}dist/trace/writer.js`)};
      const writer = createTraceWriter("-");
      let lines = 0;
      while (!writer.closed && lines < 3_000_000) { writer.mark(lines, "x".repeat(200)); lines += 1; }
      writer.commit();
      process.stderr.write(writer.closed ? "closed" : "open");`;
    const file = fileOf(script, ".mjs");
    expect(existsSync(`${root}dist/trace/writer.js`), "npm run build").toBe(true);
    const done = spawnSync(
      "bash",
      ["-c", `set -o pipefail; "${process.execPath}" "${file}" | head -c 1`],
      { encoding: "utf8" },
    );
    expect([done.stderr, done.status]).toEqual(["closed", 0]);
  });

  test("standard output takes everything, however slow its reader", () => {
    const script = `
      import { createTraceWriter } from ${JSON.stringify(`file://${root}dist/trace/writer.js`)};
      const writer = createTraceWriter("-");
      for (let i = 0; i < 20_000; i++) writer.mark(i, "x".repeat(100));
      writer.commit();`;
    const file = fileOf(script, ".mjs");
    const out = execFileSync(
      "bash",
      ["-c", `"${process.execPath}" "${file}" | { sleep 0.3; wc -l; }`],
      { encoding: "utf8" },
    );
    expect(Number(out)).toBe(20_000);
  });
});

describeUnless(
  existsSync(golden) ? undefined : "no golden traces beside the project",
  "golden traces",
  () => {
    test("are written back byte for byte", async () => {
      const files = readdirSync(golden).filter((file) => file.endsWith(".jsonl"));
      expect(files).toContain("three-bands.jsonl");
      for (const file of files)
        expect(await rewritten(golden + file)).toBe(readFileSync(golden + file, "utf8"));
    });
  },
);

describeUnless(
  existsSync(format) ? undefined : "no format page beside the project",
  "the worked file of the format",
  () => {
    test("is valid and written back byte for byte", async () => {
      const page = readFileSync(format, "utf8");
      const section = page.slice(page.indexOf("## 7. Worked file"));
      const lines = section
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => line.replace(',"digest":"…"', ""));
      expect(lines).toHaveLength(15);
      const path = freshPath();
      writeFileSync(path, textOf([GOOD[0]!, ...lines]));
      expect(await rewritten(path)).toBe(textOf([GOOD[0]!, ...lines]));
    });
  },
);
