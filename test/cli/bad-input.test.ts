// Hostile and broken input: each becomes one clear line and the exit code of the page on errors.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { ERROR_CODES } from "../../src/base/errors.js";
import type { ErrorCode } from "../../src/base/errors.js";
import { file, folder, isOneLine, shell, start } from "./command-line.js";

const HEADER = {
  ...{ kind: "trace", format: "unified-trace", version: 1 },
  producer: { name: "hand", version: "1", revision: null, dirty: null },
  ...{ created: null, note: null },
};
const RUN = {
  ...{ kind: "run", run: "a", domain: "kv" },
  config: {
    ...{ page_size: 1, arena_bytes: 640 },
    sub_pools: [
      { name: "window_4", kind: "mha", window: 4, unit_bytes: 8 },
      { name: "full", kind: "mha", unit_bytes: 16 },
    ],
    ...{ rows: 4, row_tokens: 32 },
  },
  source: { type: "scenario", name: "a" },
};
const band = (grow: string, unit_bytes: number, pages: number, first_page: number) => ({
  ...{ grow, unit_bytes, page_bytes: unit_bytes, pages, first_page },
});
const BOOT = {
  ...{ kind: "op", n: 0, op: "boot", args: {} },
  ok: { bands: { window_4: band("up", 8, 80, 2), full: band("down", 16, 40, 1) }, sink_bytes: 16 },
};
const ROW = { kind: "op", n: 1, op: "row.alloc", args: { reqs: ["r1"] }, ok: { rows: { r1: 1 } } };
const EXTEND = {
  ...{ kind: "op", n: 2, op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 2 }] } },
  ok: {
    pages: { r1: { virtual: [[1, 2]], window_4: [[2, 2]], full: [[38, 2]] } },
    step: "no_move",
  },
  fx: [
    ["zero", "window_4", [[2, 2]]],
    ["zero", "full", [[38, 2]]],
  ],
};
const END = { kind: "end", run: "a", ops: 3 };
const GOOD: readonly object[] = [HEADER, RUN, BOOT, ROW, EXTEND, END];

const traceOf = (lines: readonly unknown[]): string =>
  lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
/** The good trace with one line replaced. */
const withLine = (index: number, line: unknown): string =>
  traceOf(GOOD.map((good, i) => (i === index ? line : good)));
const altered = (index: number, change: object): string =>
  withLine(index, { ...GOOD[index], ...change });
const extended = (ok: object): string => altered(4, { ok: { ...EXTEND.ok, ...ok } });

const bad: readonly [what: string, content: string | Uint8Array, message: RegExp][] = [
  ["not JSON", withLine(3, '{"kind":"op","n":1,'), /:4:?.*JSON/],
  ["not an object", withLine(3, "[1,2]"), /:4/],
  ["wrong kind of line", altered(3, { kind: "ops" }), /:4.*"ops".*"?op"?/],
  ["unknown operation, with the nearest", altered(3, { op: "row.aloc" }), /row\.aloc.*row\.alloc/],
  ["unknown key, with the nearest", altered(3, { arg: 1 }), /arg\b.*args/],
  ["unknown band", extended({ pages: { r1: { ful: [[1, 1]] } } }), /ful\b/],
  ["wrong type", altered(3, { args: { reqs: "r1" } }), /reqs/],
  [
    "a number beyond 2^53",
    withLine(3, JSON.stringify(ROW).replace('"n":1', '"n":9007199254740993')),
    /beyond 2\^53: 9007199254740993/,
  ],
  [
    "a number beyond all",
    withLine(3, JSON.stringify(ROW).replace('"n":1', '"n":1e400')),
    /beyond 2\^53: 1e400/,
  ],
  ["a negative count", altered(4, { args: { batch: [{ req: "r1", from: -1, to: 2 }] } }), /from/],
  [
    "an extent that overflows",
    extended({ pages: { r1: { virtual: [[9007199254740991, 5]] } } }),
    /extent|virtual/,
  ],
  [
    "a duplicate key",
    withLine(3, JSON.stringify(ROW).replace("{", '{"kind":"op",')),
    /kind.*(twice|duplicate)|(twice|duplicate).*kind/i,
  ],
  ["a duplicate run", traceOf([...GOOD, RUN, BOOT, ROW, EXTEND, END]), /"a"|\ba\b/],
  [
    "a missing end",
    traceOf(GOOD.slice(0, 5)),
    /truncated after operation 2|operation 2.*truncated/,
  ],
  [
    "a cut last line",
    traceOf(GOOD.slice(0, 5)).slice(0, -20),
    /truncated after operation 1|operation 1.*truncated/,
  ],
  ["a missing middle line", traceOf(GOOD.filter((_, i) => i !== 3)), /:4.*\bn\b|gap/],
  ["a wrong count at the end", altered(5, { ops: 4 }), /4|3/],
  ["mixed versions", traceOf([...GOOD, { ...HEADER, version: 2 }]), /version/],
  ["a newer version", altered(0, { version: 99 }), /version 99|99/],
  ["another format", altered(0, { format: "other" }), /format|other/],
  ["a second first line", traceOf([...GOOD, HEADER]), /:7.*trace/],
  ["NUL bytes", withLine(3, "\u0000\u0000\u0000"), /NUL|\\u0000|JSON/],
  ["a byte order mark", `\ufeff${traceOf(GOOD)}`, /byte order mark/],
  ["an empty file", "", /empty/],
  ["gzip that cannot be read", Buffer.from("this is no gzip"), /gzip|gz/],
];

describe.concurrent("traces", () => {
  // One process reads them all, so that the table may grow; each file has its own line, code and exit.
  const files = bad.map(([what, content]) =>
    file(what.startsWith("gzip") ? "bad.jsonl.gz" : "bad.jsonl", content),
  );
  const text = start(["validate", ...files]);
  const json = start(["validate", ...files, "--json"]);
  for (const [index, [what, , message]] of bad.entries()) {
    test(what, async () => {
      const path = files[index]!;
      const { code, stderr, stdout } = await text;
      const line = stderr.split("\n")[index]!;
      expect(line).toContain(path);
      expect(line).toMatch(message);
      expect(isOneLine(`${line}\n`)).toBe(true);
      expect(stdout).toMatch(new RegExp(`^invalid +${path}$`, "m"));
      expect(code).toBe(3);
      const { verdict, error } = JSON.parse((await json).stdout).files[index];
      expect(verdict).toBe("invalid");
      expect(ERROR_CODES[error.code as ErrorCode]).toBe(3);
    });
  }

  test("alone, each command says it in one line and with exit code 3", async () => {
    const path = file("bad.jsonl", altered(3, { op: "row.aloc" }));
    for (const words of [
      ["validate"],
      ["audit"],
      ["stats"],
      ["replay", "--trace"],
      ["compare", "--trace"],
    ]) {
      const { code, stderr } = await start([...words, path]);
      expect(stderr).toMatch(/:4.*row\.aloc.*row\.alloc/);
      expect(isOneLine(stderr)).toBe(true);
      expect(code).toBe(3);
    }
  });

  test("cut gzip", async () => {
    const packed = gzipSync(traceOf(GOOD));
    const { code, stderr } = await start([
      "validate",
      file("cut.jsonl.gz", packed.subarray(0, -12)),
    ]);
    expect(isOneLine(stderr)).toBe(true);
    expect(code).toBe(3);
  });

  test("gzip on standard input: what to do", async () => {
    const { code, stderr } = await shell(
      `ut validate - < ${file("good.jsonl.gz", gzipSync(traceOf(GOOD)))}`,
    );
    expect(stderr).toMatch(/gunzip/);
    expect(isOneLine(stderr)).toBe(true);
    expect(code).toBe(3);
  });

  test("gzip and CRLF are read", async () => {
    const crlf = file("crlf.jsonl", traceOf(GOOD).replaceAll("\n", "\r\n"));
    const packed = file("good.jsonl.gz", gzipSync(traceOf(GOOD)));
    const plain = file("good.jsonl", traceOf(GOOD));
    const { code, stdout } = await start(["validate", crlf, packed, plain]);
    expect(stdout).toMatch(/valid: 3 files, 3 runs and 9 operations read/);
    expect(code).toBe(0);
  });

  test("a directory, a missing file", async () => {
    mkdirSync(join(folder, "directory.jsonl"));
    for (const [name, message] of [
      ["directory.jsonl", /director|folder/],
      ["nothing.jsonl", /no such file|missing|does not exist/i],
    ] as const) {
      const { code, stderr } = await start(["compare", "--trace", name]);
      expect(stderr).toMatch(message);
      expect(stderr).toContain(name);
      expect(isOneLine(stderr)).toBe(true);
      expect(code).toBe(3);
    }
  });

  test("a line over the limit", async () => {
    const long = altered(0, { note: "x".repeat(5000) });
    const path = file("long.jsonl", long);
    const { code, stderr } = await start(["validate", path, "--max-line", "4k"]);
    expect(stderr).toMatch(/4096|4 ?KiB|limit|longer/i);
    expect(code).toBe(3);
    expect((await start(["validate", path])).code).toBe(0);
  });

  test("an unknown key on request: left out, and incomplete", async () => {
    const path = file("lenient.jsonl", altered(3, { arg: 1 }));
    const { code, stdout } = await start(["validate", path, "--lenient"]);
    expect(code).toBe(6);
    expect(stdout).toMatch(/^incomplete: /m);
  });

  test("a truncated trace on request: its whole part, and incomplete (B050)", async () => {
    const path = file("cut.jsonl", traceOf(GOOD.slice(0, 5)));
    const { code, stdout } = await start(["compare", "--trace", path, "--accept-truncated"]);
    expect(code).toBe(6);
    expect(stdout).toMatch(/truncated after operation 2/);
    expect(stdout).toMatch(/^incomplete: .*1 run and 3 operations compared/m);
  });

  test("an error as JSON is one document on standard output", async () => {
    const path = file("bad.jsonl", altered(3, { op: "row.aloc" }));
    const { code, stdout, stderr } = await start(["replay", "--trace", path, "--json"]);
    const { error } = JSON.parse(stdout);
    expect(error).toMatchObject({ code: "trace_schema", file: path, line: 4 });
    expect(stderr).toBe("");
    expect(code).toBe(3);
  });
});

describe.concurrent("scenarios", () => {
  const scenario = (change: object, ops?: readonly object[]): string =>
    JSON.stringify({
      ...{ name: "small", story: "One row. It is given and taken back.", tags: [] },
      config: RUN.config,
      ops: ops ?? [
        { op: "row.alloc", args: { reqs: ["r1"] } },
        { op: "row.free", args: { req: "r1" } },
      ],
      finally: { quiescent: true },
      ...change,
    });
  const named = (content: string): string => {
    const path = file("scenario.json", content);
    return path;
  };

  test("a sound one passes, and says how much it looked at", async () => {
    const { code, stdout } = await start(["run", named(scenario({}))]);
    expect(stdout).toMatch(/^passed: 1 of 1 run passed, \d+ operations$/m);
    expect(code).toBe(0);
  });

  test("a failed expectation is a finding at its operation", async () => {
    const ops = [{ op: "row.alloc", args: { reqs: ["r1"] }, expect: { ok: { rows: { r1: 2 } } } }];
    const { code, stdout } = await start(["run", named(scenario({}, ops))]);
    expect(stdout).toMatch(/operation 1 \(row\.alloc\)/);
    expect(code).toBe(1);
  });

  test("a name that nothing opens is invalid: neither passed nor failed", async () => {
    const path = named(scenario({}, [{ op: "row.free", args: { req: "r9" } }]));
    const { code, stdout } = await start(["run", path, "--json"]);
    const { verdict, scenarios } = JSON.parse(stdout);
    expect(verdict).toBe("invalid");
    expect(scenarios[0].message).toMatch(/r9/);
    expect(code).toBe(3);
    expect((await start(["validate", path])).code).toBe(3);
  });

  const broken: readonly [what: string, content: string, message: RegExp][] = [
    ["not JSON", "{", /:1:2: /],
    ["a NUL byte", '{\n "name": "a\u0000b"}', /:2:12: holds a NUL byte/],
    ["a number beyond 2^53", '{"x_n": 9007199254740993}', /9007199254740993.*2\^53/],
    ["unknown key", scenario({ opps: [] }), /opps.*ops/],
    ["unknown operation", scenario({}, [{ op: "row.aloc", args: { reqs: ["r1"] } }]), /row\.aloc/],
    [
      "misspelt configuration",
      scenario({ config: undefined, configs: ["full+sate/p1"] }),
      /full\+sate/,
    ],
    ["no operation", scenario({}, []), /ops/],
  ];
  for (const [what, content, message] of broken) {
    test(what, async () => {
      const { code, stderr } = await start(["run", named(content)]);
      expect(stderr).toMatch(message);
      expect(isOneLine(stderr)).toBe(true);
      expect(code).toBe(3);
    });
  }

  test("a folder without scenarios, a missing file", async () => {
    mkdirSync(join(folder, "empty"));
    for (const path of ["empty", "typo.json"]) {
      const { code, stderr } = await start(["run", path]);
      expect(stderr).toContain(path);
      expect(isOneLine(stderr)).toBe(true);
      expect([2, 3]).toContain(code);
    }
  });
});

describe.concurrent("output", () => {
  let trace = "";
  beforeAll(async () => {
    trace = "recorded.jsonl";
    expect((await start(["record", "--seeds", "0:2", "--out", trace])).code).toBe(0);
  });

  test("a full disk", async () => {
    const { code, stderr } = await start(["record", "--seeds", "0:2", "--out", "/dev/full"]);
    expect(stderr).toMatch(/space/);
    expect(isOneLine(stderr)).toBe(true);
    expect(code).toBe(4);
  });

  test("a full standard output", async () => {
    const { code, stderr } = await shell(`ut stats ${trace} > /dev/full`);
    expect(isOneLine(stderr)).toBe(true);
    expect(code).toBe(4);
    expect((await shell("ut record --seeds 0:2 --out - > /dev/full")).code).toBe(4);
  });

  test("a folder that is not there, and a directory", async () => {
    mkdirSync(join(folder, "taken"));
    for (const out of ["no/such/folder/x.jsonl", "taken"]) {
      const { code, stderr } = await start(["record", "--seeds", "0:1", "--out", out]);
      expect(stderr).toContain(out);
      expect(isOneLine(stderr)).toBe(true);
      expect(code).toBe(4);
    }
  });

  test("a reader that goes away ends it quietly with 0", async () => {
    for (const line of [
      "ut record --seeds 0:200 --out - | head -1 > head.txt; echo ${PIPESTATUS[0]}",
      `ut stats ${trace} --json | true; echo \${PIPESTATUS[0]}`,
      `ut compare --trace ${trace} --verbose | head -1 > /dev/null; echo \${PIPESTATUS[0]}`,
    ]) {
      const { stdout, stderr } = await shell(line);
      expect(stderr).toBe("");
      expect(stdout.trim()).toBe("0");
    }
    expect(readFileSync(join(folder, "head.txt"), "utf8")).toMatch(/^\{"kind":"trace"/);
  });

  test("an earlier file stays when a recording fails", async () => {
    const path = file("kept.jsonl", "what was there\n");
    const { code } = await start([
      "record",
      "--seeds",
      "0:1",
      "--impl",
      "cmd:no-such-program",
      "--out",
      path,
    ]);
    expect(code).toBe(5);
    expect(readFileSync(join(folder, path), "utf8")).toBe("what was there\n");
  });
});

describe.concurrent("validate knows a JSON file by its keys", () => {
  const config = {
    ...{ page_size: 1, arena_bytes: 64, rows: 2, row_tokens: 8 },
    sub_pools: [{ name: "full", kind: "mha", unit_bytes: 4 }],
  };

  test("one configuration under any name, in either form", async () => {
    const direct = file("mine.json", JSON.stringify(config));
    const model = { model: { name: "m" }, page_size: 16, budget_bytes: 1000 };
    const files = [direct, file("model.json", JSON.stringify(model))];
    const { code, stdout } = await start(["validate", ...files]);
    expect(stdout).toMatch(/mine\.json: 1 configuration\n.*model\.json: 1 configuration/);
    expect(code).toBe(0);
  });

  test("a wrong one: exit 3, and the nearest word", async () => {
    const { arena_bytes: _, ...rest } = config;
    const misspelt = file("misspelt.json", JSON.stringify({ ...rest, arena_byte: 64 }));
    const { code, stderr } = await start(["validate", misspelt]);
    expect([code, stderr]).toEqual([3, expect.stringContaining('did you mean "arena_bytes"?')]);
    expect(isOneLine(stderr)).toBe(true);
  });

  test("named ones under another name than configs.json", async () => {
    const named = file("named.json", JSON.stringify({ configs: { a: config, b: config } }));
    const { code, stdout } = await start(["validate", named]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("2 configurations")]);
  });
});

test("a trace of a domain that the candidate does not answer: exit 5, as lacking operations", async () => {
  const trace = file(
    "heap.jsonl",
    [
      JSON.stringify(HEADER),
      '{"kind":"run","run":"one","domain":"heap","config":{},"source":{"type":"import","name":"t"},"digest_depth":null}',
      '{"kind":"op","n":0,"op":"heap.alloc","args":{"id":"a","size_bytes":8},"ok":{}}',
      '{"kind":"end","run":"one","ops":1}\n',
    ].join("\n"),
  );
  for (const command of ["compare", "replay"]) {
    const { code, stderr } = await start([command, "--trace", trace]);
    expect([code, stderr]).toEqual([5, expect.stringContaining("domain heap of run one")]);
    expect(isOneLine(stderr)).toBe(true);
  }
});
