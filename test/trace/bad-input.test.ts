// Everything that can be wrong with a trace file, and the one clear line that it gives.
import { mkdirSync, symlinkSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openTrace } from "../../src/trace/reader.js";
import {
  ALLOC,
  BOOT,
  END,
  FITS,
  GOOD,
  HEADER,
  RUN,
  errorOf,
  fileOf,
  freshPath,
  readAll,
  textOf,
} from "./files.js";

/** GOOD with line `index` replaced. */
const withLine = (index: number, ...lines: string[]): string =>
  textOf([...GOOD.slice(0, index), ...lines, ...GOOD.slice(index + 1)]);
const swap = (text: string, from: string, to: string): string => {
  expect(text).toContain(from);
  return text.replace(from, to);
};
const fits = (from: string, to: string): string => withLine(4, swap(FITS, from, to));

test("the file that the broken ones are made of is good", async () => {
  expect(await errorOf(fileOf(textOf(GOOD)))).toBe("no error");
});

describe("a line", () => {
  // what is wrong, the file, the error (3 is the exit code, then line and column)
  const cases: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
    ["is not JSON", withLine(4, "{not json}"), /^trace_not_json 3 5.* not JSON: "\{not json\}"$/],
    ["has single quotes", withLine(4, "{'kind':'op'}"), /^trace_not_json 3 5/],
    ["is empty", withLine(4, "", FITS), /^trace_not_json 3 5.* an empty line$/],
    ["is no object", withLine(4, "[1,2]"), /^trace_schema 3 5 expected an object, found \[1,2\]$/],
    ["is null", withLine(4, "null"), /^trace_schema 3 5 expected an object, found null$/],
    ["has no kind", withLine(4, '{"n":1}'), /^trace_schema 3 5 missing key "kind"$/],
    [
      "is of an unknown kind",
      fits('"op","n"', '"opp","n"'),
      /^trace_schema 3 5 unknown kind of line "opp"; did you mean "op"\?/,
    ],
    [
      "names an unknown operation",
      fits("ask.fits", "ask.fit"),
      /at \/op: unknown operation "ask.fit"; did you mean "ask.fits"\?$/,
    ],
    [
      "names an operation that is no text",
      fits('"ask.fits"', "7"),
      /at \/op: unknown operation 7$/,
    ],
    [
      "has no operation",
      fits('"op":"ask.fits"', '"opp":"ask.fits"'),
      /missing key "op"; did you mean "op"/,
    ],
    [
      "has an unknown key",
      fits('"demand"', '"demands"'),
      /at \/args\/demands: unknown key "demands"; did you mean "demand"\?$/,
    ],
    [
      "has an unknown key beside the known",
      fits('"ok":', '"okay":1,"ok":'),
      /at \/okay: unknown key "okay"/,
    ],
    ["lacks a key", fits('"args":{"demand":{"full":1,"window_8":2}},', ""), /missing key "args"$/],
    [
      "names an unknown band",
      fits('"full":1', '"ful":1'),
      /at \/args\/demand\/ful: unknown band "ful"; did you mean "full"\? \(the run has window_8, full\)$/,
    ],
    [
      "has a wrong type",
      fits('"full":1', '"full":"1"'),
      /at \/args\/demand\/full: found "1", expected a whole number \(pages\) of at least 0$/,
    ],
    ["has a fraction", fits('"full":1', '"full":1.5'), /found 1.5, expected a whole number/],
    [
      "has a number beyond 2^53",
      fits('"full":1', '"full":9007199254740993'),
      /at \/args\/demand\/full: number beyond 2\^53: 9007199254740993$/,
    ],
    [
      "has a huge number",
      fits('"full":1', '"full":1e400'),
      /at \/args\/demand\/full: number beyond 2\^53: 1e400$/,
    ],
    [
      "has a negative count",
      fits('"full":1', '"full":-1'),
      /at \/args\/demand\/full: negative number -1 out of range/,
    ],
    [
      "has an unknown word",
      withLine(
        3,
        ALLOC,
        '{"kind":"op","n":2,"op":"state.alloc","args":{"req":"r1","count":1,"purpose":"mian"},"ok":{}}',
      ),
      /at \/args\/purpose: unknown word "mian"; did you mean "main"\?/,
    ],
    [
      "has a name of another kind",
      withLine(3, swap(ALLOC, '["r1"]', '["q1"]')),
      /at \/args\/reqs\/0: found "q1", expected a request's name/,
    ],
    [
      "has a key twice",
      fits('"full":1', '"full":1,"full":1'),
      /^trace_schema 3 5 the key "full" stands twice in one object$/,
    ],
    [
      "has a key twice, once escaped",
      fits('"full":1', '"full":1,"f\\u0075ll":1'),
      /the key "full" stands twice/,
    ],
    ["has a key twice at the top", fits('"ok":', '"n":2,"ok":'), /the key "n" stands twice/],
    [
      "has ok and err",
      fits('"ok":{"fits":true}', '"ok":{"fits":true},"err":{"code":"invalid","rule":"name_state"}'),
      /both "ok" and "err"/,
    ],
    ["has neither ok nor err", fits(',"ok":{"fits":true}', ""), /neither "ok" nor "err"/],
    [
      "has a refusal of another operation",
      fits('"ok":{"fits":true}', '"err":{"code":"refused_rows"}'),
      /at \/err\/code: "refused_rows" is no answer of ask.fits/,
    ],
    [
      "has an unknown refusal",
      fits('"ok":{"fits":true}', '"err":{"code":"refuse_rows"}'),
      /at \/err\/code: unknown word "refuse_rows"; did you mean "refused_rows"/,
    ],
    [
      "has an unknown effect",
      fits('"ok":{"fits":true}', '"ok":{"fits":true},"fx":[["zeroo","full",[]]]'),
      /at \/fx\/0\/0: unknown word "zeroo"; did you mean "zero"\?$/,
    ],
    [
      "has an effect on an unknown band",
      fits('"ok":{"fits":true}', '"ok":{"fits":true},"fx":[["zero","window_4",[]]]'),
      /at \/fx\/0\/1: unknown band "window_4"; did you mean "window_8"/,
    ],
    [
      "names the owner's band otherwise",
      withLine(1, swap(RUN, '"name":"full"', '"name":"main"')),
      /^trace_schema 3 2 at \/config\/sub_pools\/1\/name: .*named "main", expected "full"$/,
    ],
    [
      "gives a state a window",
      withLine(1, swap(RUN, '"kind":"mha","window":8', '"kind":"state","window":8')),
      /^trace_schema 3 2 at \/config\/sub_pools\/0\/window: sub-pool "window_8" of kind state/,
    ],
    [
      "has a digest of an unknown component",
      fits('"ok":{"fits":true}', '"ok":{"fits":true},"digest":{"chains":"0000000000000000"}'),
      /at \/digest\/chains: unknown component "chains"; did you mean "chain"/,
    ],
    [
      "has a digest that is none",
      fits('"ok":{"fits":true}', '"ok":{"fits":true},"digest":{"full":"00000000000000XX"}'),
      /at \/digest\/full: found .* expected a hex64/,
    ],
    [
      "has an extent beyond all ids",
      withLine(4, translate("[[4503599627370495,4503599627370497]]")),
      /at \/args\/virtual\/0: extent overflow: \[4503599627370495,4503599627370497\]/,
    ],
    [
      "has an extent below the first id",
      withLine(4, translate("[[3,-4]]")),
      /at \/args\/virtual\/0: extent overflow: \[3,-4\]/,
    ],
    [
      "has an empty extent",
      withLine(4, translate("[[3,0]]")),
      /at \/args\/virtual\/0: empty extent/,
    ],
    [
      "has an extent of three",
      withLine(4, translate("[[3,1,1]]")),
      /at \/args\/virtual\/0: found \[3,1,1\], expected an extent/,
    ],
    ["holds a NUL byte", fits("true", "\0true"), /^trace_not_json 3 5.* NUL bytes$/],
    [
      "holds a NUL byte in a text",
      withLine(4, FITS, '{"kind":"mark","n":3,"text":"\0"}'),
      /^trace_not_json 3 6.* NUL bytes$/,
    ],
    [
      "begins with a byte order mark",
      withLine(4, `\uFEFF${FITS}`),
      /^trace_not_json 3 5.* a byte order mark$/,
    ],
    [
      "is not UTF-8",
      Buffer.from(withLine(4, '{"kind":"mark","n":2,"text":"ÿ"}'), "latin1"),
      /^trace_not_json 3 5 not UTF-8$/,
    ],
  ];
  for (const [what, content, expected] of cases) {
    test(what, async () => expect(await errorOf(fileOf(content))).toMatch(expected));
  }

  test("is longer than the limit: named before it is all in memory", async () => {
    const path = fileOf(withLine(4, `{"kind":"mark","n":2,"text":"${"x".repeat(100_000)}"}`, FITS));
    expect(await errorOf(path, { maxLineBytes: 50_000 })).toMatch(
      /^trace_limit 3 5 the line is longer than 50000 bytes$/,
    );
    expect(await errorOf(path)).toBe("no error");
    const endless = fileOf(`${HEADER}\n${" ".repeat(100_000)}`);
    expect(await errorOf(endless, { maxLineBytes: 50_000 })).toMatch(/^trace_limit 3 2 /);
    const exact = fileOf(textOf(GOOD));
    const longest = Math.max(...GOOD.map((line) => line.length));
    expect(await errorOf(exact, { maxLineBytes: longest })).toBe("no error");
    expect(await errorOf(exact, { maxLineBytes: longest - 1 })).toMatch(/^trace_limit 3 2 /);
  });

  test("is nested too deep", async () => {
    const nested = (depth: number): string =>
      swap(FITS, '"ok":', `"x_deep":${"[".repeat(depth)}${"]".repeat(depth)},"ok":`);
    expect(await errorOf(fileOf(withLine(4, nested(63))))).toBe("no error");
    expect(await errorOf(fileOf(withLine(4, nested(64))))).toMatch(
      /^trace_limit 3 5 nesting too deep: 65 levels, at most 64/,
    );
    expect(await errorOf(fileOf(withLine(4, nested(1_000_000))))).toMatch(
      /^trace_limit 3 5 nesting too deep/,
    );
    expect(await errorOf(fileOf(withLine(4, nested(64))), { maxDepth: 70 })).toBe("no error");
    const inText = swap(FITS, '"ok":', `"x_text":"${"[".repeat(500)}","ok":`);
    expect(await errorOf(fileOf(withLine(4, inText)))).toBe("no error");
  });
});

function translate(extents: string): string {
  return `{"kind":"op","n":2,"op":"ask.translate","args":{"virtual":${extents}},"ok":{"pages":{}}}`;
}

test("lines before a wrong one are handed out first, then the error, again and again", async () => {
  const reader = await openTrace(fileOf(fits('"full":1', '"full":-1')));
  expect((await reader.readBatch()).numbers).toEqual([1, 2, 3, 4]);
  await expect(reader.readBatch()).rejects.toThrow(/negative number/);
  await expect(reader.readBatch()).rejects.toThrow(/negative number/);
  await reader.close();
  expect((await reader.readBatch()).lines).toEqual([]);
  const cut = await openTrace(fileOf(textOf(GOOD.slice(0, 5))));
  expect((await cut.readBatch()).numbers).toEqual([1, 2, 3, 4, 5]);
  await expect(cut.readBatch()).rejects.toThrow(/truncated after operation 2 of run one/);
  await cut.close();
});

describe("the structure", () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [
      "no header",
      textOf(GOOD.slice(1)),
      /^trace_structure 3 1 the first line must be a "trace" line, found a "run" line$/,
    ],
    ["a second header", withLine(4, HEADER), /^trace_structure 3 5 a second "trace" line$/],
    [
      "a second header of another version",
      withLine(4, swap(HEADER, '"version":1', '"version":2')),
      /^trace_version 3 5 .*version 2/,
    ],
    [
      "a newer version",
      withLine(0, swap(HEADER, '"version":1,"p', '"version":2,"added":1,"p')),
      /^trace_version 3 1 version 2 of the format is newer than version 1/,
    ],
    [
      "a version that is none",
      withLine(0, swap(HEADER, '"version":1,"p', '"version":"1","p')),
      /^trace_schema 3 1 at \/version/,
    ],
    [
      "another format",
      withLine(0, swap(HEADER, "unified-trace", "unified-tracy")),
      /at \/format: unknown word "unified-tracy"; did you mean "unified-trace"/,
    ],
    [
      "an operation outside a run",
      textOf([HEADER, BOOT]),
      /^trace_structure 3 2 a "op" line outside a run$/,
    ],
    [
      "a repeated run",
      textOf([...GOOD, ...GOOD.slice(1)]),
      /^trace_structure 3 7 a second run is named "one"$/,
    ],
    [
      "a gap in n",
      textOf([HEADER, RUN, BOOT, FITS, END]),
      /^trace_structure 3 4 gap: missing operation 1 in run one: found n 2, expected 1$/,
    ],
    [
      "a repeat in n",
      textOf([HEADER, RUN, BOOT, ALLOC, ALLOC, END]),
      /^trace_structure 3 5 repeated operation 1 in run one/,
    ],
    [
      "an end count that differs",
      withLine(5, swap(END, "3", "4")),
      /^trace_structure 3 6 run one says 4 operations, the file has 3$/,
    ],
    [
      "the end of another run",
      withLine(5, swap(END, '"one"', '"two"')),
      /^trace_structure 3 6 the end of run "two" inside run "one"$/,
    ],
    [
      "no boot",
      textOf([HEADER, RUN, swap(FITS, '"n":2', '"n":0')]),
      /^trace_structure 3 3 operation 0 is boot, found ask.fits$/,
    ],
    [
      "boot again",
      withLine(4, swap(BOOT, '"n":0', '"n":2')),
      /^trace_structure 3 5 boot is operation 0, found at 2$/,
    ],
    [
      "an operation of another domain",
      withLine(4, '{"kind":"op","n":2,"op":"heap.free","args":{"id":"a"},"ok":{}}'),
      /^trace_structure 3 5 heap.free is no operation of domain kv$/,
    ],
    [
      "a state of another operation",
      withLine(
        4,
        FITS,
        '{"kind":"state","n":1,"state":{"chain":{"move_epoch":0,"fences":[]},"forwards":{"unprocessed":[],"retired":null,"open":null},"ledger":[],"rows":{},"tree":[],"host":{},"net":{}}}',
      ),
      /^trace_structure 3 6 the state of operation 1 after operation 2$/,
    ],
    [
      "a mark far away",
      withLine(4, '{"kind":"mark","n":9,"text":""}'),
      /^trace_structure 3 5 mark 9 stands before operation 2/,
    ],
    [
      "a call that another operation answers",
      withLine(4, '{"kind":"call","n":2,"op":"group.begin","args":{}}', FITS),
      /^trace_structure 3 6 operation 2 is ask.fits, but its "call" line says group.begin$/,
    ],
    [
      "a call out of turn",
      withLine(4, '{"kind":"call","n":3,"op":"group.begin","args":{}}'),
      /^trace_structure 3 5 call 3 where 2 is next/,
    ],
    [
      "two bands of one name",
      withLine(1, swap(RUN, '"name":"window_8"', '"name":"full"')),
      /at \/config\/sub_pools\/1\/name: two bands are named "full"$/,
    ],
    [
      "a band of a reserved name",
      withLine(1, swap(RUN, '"name":"window_8"', '"name":"chain"')),
      /a band cannot be named "chain"$/,
    ],
    [
      "host pages of no band",
      withLine(1, swap(RUN, '"rows":8', '"rows":8,"host":{"fulll":1}')),
      /at \/config\/host\/fulll: unknown band "fulll"; did you mean "full"/,
    ],
    [
      "an unknown key of the configuration",
      withLine(1, swap(RUN, '"rows":8', '"rows":8,"pagesize":1')),
      /at \/config\/pagesize: unknown key "pagesize"; did you mean "page_size"/,
    ],
    [
      "an unknown domain",
      withLine(1, swap(RUN, '"kv"', '"kvv"')),
      /at \/domain: unknown word "kvv"; did you mean "kv"\? \(one of kv, heap\)$/,
    ],
  ];
  for (const [what, content, expected] of cases) {
    test(what, async () => expect(await errorOf(fileOf(content))).toMatch(expected));
  }

  test("calls may run ahead of their answers, and the last may never return", async () => {
    const call = (n: number): string =>
      `{"kind":"call","n":${n},"op":"ask.fits","args":{"demand":{"full":1,"window_8":2}}}`;
    const op = (n: number): string => swap(FITS, '"n":2', `"n":${n}`);
    const lines = [
      ...GOOD.slice(0, 4),
      call(2),
      call(3),
      op(2),
      call(4),
      op(3),
      swap(END, "3", "4"),
    ];
    expect(await errorOf(fileOf(textOf(lines)))).toBe("no error");
  });

  test("a recording that kept its last operations begins with a state", async () => {
    const state =
      '{"kind":"state","n":6,"state":{"chain":{"move_epoch":0,"fences":[]},"forwards":{"unprocessed":[],"retired":null,"open":null},"ledger":[],"rows":{},"tree":[],"host":{},"net":{}}}';
    const run = swap(
      RUN,
      '"digest_depth":"layout"',
      '"digest_depth":null,"starts_at":7,"dropped":7',
    );
    const lines = [HEADER, run, state, swap(FITS, '"n":2', '"n":7'), swap(END, "3", "1")];
    expect(await errorOf(fileOf(textOf(lines)))).toBe("no error");
  });
});

describe("the file", () => {
  test("is empty", async () => {
    expect(await errorOf(fileOf(""))).toMatch(/^trace_structure 3 {2}is empty/);
  });
  test("is missing, a directory, not there behind a link", async () => {
    expect(await errorOf(freshPath())).toBe("input_unreadable 3  no such file");
    const directory = freshPath("");
    mkdirSync(directory);
    expect(await errorOf(directory)).toBe("input_unreadable 3  is a directory, expected a file");
    const link = freshPath();
    symlinkSync("nowhere", link);
    expect(await errorOf(link)).toBe("input_unreadable 3  no such file");
  });
  const nul = (count: number): string => "\0".repeat(count);
  test.each<[string, string, RegExp]>([
    ["nothing but NUL bytes", nul(600), /^trace_not_json 3 1 not JSON: nothing but NUL bytes$/],
    ["the same with an end", `${nul(600)}\n`, /3 1 not JSON: nothing but NUL bytes$/],
    ["a NUL byte in text", `${HEADER.replace("t", "\0")}\n`, /3 1(:\d+)? not JSON: NUL bytes$/],
    ["nothing but CR", "\r\r\r", /^trace_not_json 3 1 not JSON: nothing but CR, where lines/],
    ["lines that end in CR", textOf(GOOD, "\r"), /3 1(:\d+)? not JSON: lines that end in CR alone/],
    ["one such line inside", withLine(4, `${FITS}\r${FITS}`), /3 5(:\d+)? .*end in CR alone/],
    ["spaces", "   ", /^trace_not_json 3 1 not JSON: an empty line$/],
    ["a text of its own", "hello", /^trace_not_json 3 1(:1)? not JSON: "hello"$/],
    [
      "NUL bytes where its end should be",
      textOf(GOOD.slice(0, 4)) + nul(600),
      /^trace_truncated 3 5 truncated after operation 1 of run one: .*NUL bytes stand in its place$/,
    ],
    [
      "NUL bytes from the middle of a line on",
      textOf(GOOD.slice(0, 4)) + FITS.slice(0, 40) + nul(600),
      /^trace_truncated 3 5 truncated after operation 1 of run one: .*NUL bytes stand in its place$/,
    ],
    ["a line that is cut", HEADER.slice(0, 30), /^trace_truncated 3 1 truncated inside the first/],
  ])("holds %s", async (_, content, expected) => {
    expect(await errorOf(fileOf(content))).toMatch(expected);
  });
  test("holds NUL bytes without an end", async () => {
    expect(await errorOf(fileOf(nul(9000)), { maxLineBytes: 4000 })).toMatch(
      /^trace_limit 3 1 .*longer than 4000 bytes, and begins with NUL bytes$/,
    );
  });
  test("begins with a byte order mark", async () => {
    expect(await errorOf(fileOf(`\uFEFF${textOf(GOOD)}`))).toMatch(
      /^trace_not_json 3 1 begins with a byte order mark/,
    );
    expect(await errorOf(fileOf(Buffer.from(`\uFEFF${textOf(GOOD)}`, "utf16le")))).toMatch(
      /^trace_not_json 3 1 .*UTF-16/,
    );
  });
  test("is gzip under another name, or no gzip under that name", async () => {
    expect(await errorOf(fileOf(gzipSync(textOf(GOOD))))).toMatch(
      /^trace_not_json 3 1 is compressed with gzip/,
    );
    expect(await errorOf(fileOf(textOf(GOOD), ".jsonl.gz"))).toBe(
      "input_unreadable 3  is no readable gzip file",
    );
    const damaged = gzipSync(textOf(GOOD));
    damaged.fill(0x55, 40, 80);
    expect(await errorOf(fileOf(damaged, ".jsonl.gz"))).toBe(
      "input_unreadable 3  is no readable gzip file",
    );
  });
  test("is zstd where the running Node has none: exit 4", async () => {
    const zlib = await import("node:zlib");
    const answer = await errorOf(fileOf("", ".jsonl.zst"));
    if ("createZstdDecompress" in zlib) expect(answer).not.toMatch(/^environment/);
    else expect(answer).toMatch(/^environment 4 {2}this Node cannot read .zst/);
  });
});

describe("a truncated file", () => {
  const whole = textOf(GOOD);
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [
      "half of the last line",
      whole.slice(0, -10),
      /^trace_truncated 3 6 truncated after operation 2 of run one: the last line is cut$/,
    ],
    [
      "no end",
      textOf(GOOD.slice(0, 5)),
      /^trace_truncated 3 5 truncated after operation 2 of run one: no end line$/,
    ],
    [
      "half of an operation",
      textOf(GOOD.slice(0, 4)) + FITS.slice(0, 30),
      /^trace_truncated 3 5 truncated after operation 1 of run one/,
    ],
    [
      "no operation",
      textOf(GOOD.slice(0, 2)),
      /^trace_truncated 3 2 truncated before the first operation of run one/,
    ],
    [
      "half of the first line",
      HEADER.slice(0, 40),
      /^trace_truncated 3 1 truncated inside the first line/,
    ],
    [
      "half of a run line",
      `${HEADER}\n${RUN.slice(0, 40)}`,
      /^trace_truncated 3 2 truncated outside any run/,
    ],
    [
      "no end before another run",
      textOf([...GOOD.slice(0, 5), swap(RUN, '"run":"one"', '"run":"two"')]),
      /^trace_truncated 3 6 truncated after operation 2 of run one: no end line before the next run$/,
    ],
  ];
  for (const [what, content, expected] of cases) {
    test(what, async () => expect(await errorOf(fileOf(content))).toMatch(expected));
  }

  test("cut after any byte: an error that is told, or a whole prefix; never anything else", async () => {
    for (let size = 1; size < whole.length; size += 7) {
      const path = fileOf(whole.slice(0, size));
      const answer = await errorOf(path);
      expect(answer).toMatch(/^(trace_truncated|trace_structure|no error)/);
      const { lines, reader } = await readAll(path, { acceptTruncated: true });
      const complete = whole.slice(0, size).split("\n").slice(0, -1).length;
      expect(lines.length === complete || lines.length === complete + 1).toBe(true);
      if (answer.startsWith("trace_truncated"))
        expect(reader.truncated?.message).toBe(answer.replace(/^\S+ \S+ \S+ /, ""));
    }
  });

  test("is read as far as it goes when that is accepted", async () => {
    const { lines, reader } = await readAll(fileOf(textOf(GOOD.slice(0, 4)) + FITS.slice(0, 30)), {
      acceptTruncated: true,
    });
    expect(lines.map((line) => line.kind)).toEqual(["trace", "run", "op", "op"]);
    expect(reader.truncated).toMatchObject({ run: "one", operation: 1, line: 5 });
  });

  test("goes on with the next run when that is accepted", async () => {
    const second = GOOD.slice(1).map((line) => line.replace('"run":"one"', '"run":"two"'));
    const { lines, reader } = await readAll(fileOf(textOf([...GOOD.slice(0, 5), ...second])), {
      acceptTruncated: true,
    });
    expect(lines).toHaveLength(10);
    expect(reader.truncated).toMatchObject({ run: "one", operation: 2, line: 6 });
  });

  test("packed with gzip", async () => {
    const bytes = gzipSync(whole);
    const path = fileOf(bytes.subarray(0, bytes.length - 12), ".jsonl.gz");
    expect(await errorOf(path)).toMatch(/^trace_truncated 3/);
    const { reader } = await readAll(path, { acceptTruncated: true });
    expect(reader.truncated?.message).toMatch(/^truncated/);
  });

  test("a last line without line feed is whole when it is", async () => {
    expect(await errorOf(fileOf(whole.slice(0, -1)))).toBe("no error");
  });
});
