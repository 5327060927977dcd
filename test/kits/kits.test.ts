// The adapter kits as their users meet them: the session of their page, conformance, bad lines, live recordings.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { openAdapter } from "../../src/adapter/open-adapter.js";
import { transportTo } from "../../src/adapter/open-transport.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import { testConformance } from "../../src/tools/conformance/conformance.js";
import { canonicalLine } from "../../src/trace/canonical.js";
import type { TraceLine } from "../../src/trace/lines.js";
import { validateTrace } from "../../src/trace/validate.js";
import { describeUnless } from "../skip-aloud.js";

const kits = fileURLToPath(new URL("../../examples/kits/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "unified-trace-kits-"));
const page = readFileSync(new URL("../../docs/adapter-kits.md", import.meta.url), "utf8");
const session = (page.split("```text\n")[1]?.split("```")[0] ?? "").trimEnd().split("\n");

const python = works("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 8))"]);
const compiler = ["c++", "g++", "clang++"].find((name) => works(name, ["--version"]));

function works(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}

interface Kit {
  readonly name: string;
  readonly missing: string | undefined;
  /** The words that start an example. */
  readonly example: (name: "adapter" | "live") => readonly string[];
}

const KITS: readonly Kit[] = [
  {
    name: "Python",
    missing: python ? undefined : "no python3 of 3.8 or newer",
    example: (name) => ["python3", "-B", join(kits, "python", `${name}.py`)],
  },
  {
    name: "C++",
    missing: compiler === undefined ? "no C++ compiler" : undefined,
    example: (name) => [join(folder, name)],
  },
  {
    name: "TypeScript",
    missing: undefined,
    example: (name) => [process.execPath, join(kits, "typescript", `${name}.mjs`)],
  },
];

beforeAll(() => {
  if (compiler === undefined) return;
  for (const name of ["adapter", "live"]) {
    const source = join(kits, "cpp", `${name}.cpp`);
    const flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
    const args = [...flags, "-o", join(folder, name), source];
    const { status, stderr } = spawnSync(compiler, args, { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  }
});

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program; its input is written in pieces, each of them once. */
function run(
  words: readonly string[],
  input: Iterable<string | Uint8Array> = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const [program = "", ...args] = words;
  const child = spawn(program, args, { env: { ...process.env, ...env } });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined); // it may end first
  for (const piece of input) child.stdin.write(piece);
  child.stdin.end();
  return new Promise((resolve) => {
    child.on("close", (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}

const HELLO = '{"hello":{"protocol":1}}\n';
const OPEN = '{"open":{"run":"r","domain":"heap","config":{"arena_bytes":1024}}}\n';

for (const { name, missing, example } of KITS) {
  describeUnless(missing, `the ${name} kit`, () => {
    const command = (): string =>
      `cmd:${example("adapter")
        .map((word) => `"${word}"`)
        .join(" ")}`;

    test("holds the session of its page", async () => {
      const sent = session.filter((line) => line.startsWith("→ ")).map((line) => line.slice(2));
      const due = session.filter((line) => line.startsWith("← ")).map((line) => line.slice(2));
      expect(sent.length).toBeGreaterThan(15);
      expect(due.length).toBe(sent.length);
      const { code, stdout } = await run(example("adapter"), [`${sent.join("\n")}\n`]);
      expect(stdout.trimEnd().split("\n")).toEqual(due);
      expect(code).toBe(3); // its last line is cut on purpose
      // byte by byte as well
      const pieces = [...Buffer.from(`${sent.join("\n")}\n`)].map((byte) => Uint8Array.of(byte));
      expect((await run(example("adapter"), pieces)).stdout).toBe(stdout);
    });

    test("passes conformance in both domains, and a long run", async () => {
      const result = await testConformance({
        make: await transportTo(command()),
        waits: { answerMs: 60_000, startMs: 60_000 },
        toolVersion: "1",
        operations: 5000,
      });
      expect(result.checks.filter(({ verdict }) => verdict === "failed")).toEqual([]);
      expect(result.checks.filter(({ verdict }) => verdict === "passed").length).toBeGreaterThan(
        20,
      );
      expect(result.unasked).toEqual([]);
    });

    const bad: readonly [string, readonly (string | Uint8Array)[], RegExp][] = [
      ["rubbish", [HELLO, "rubbish\n"], /not JSON: \\"rubbish\\"/],
      ["an empty line", [HELLO, "\n"], /an empty line/],
      ["no object", [HELLO, "[1]\n"], /not an object/],
      ["NaN", [HELLO, OPEN, '{"n":NaN}\n'], /not JSON/],
      [
        "bytes that are no UTF-8",
        [HELLO, Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d, 10)],
        /not UTF-8/,
      ],
      ["a deep line", [HELLO, `${"[".repeat(65)}${"]".repeat(65)}\n`], /nested deeper than 64/],
      ["a cut line", [HELLO, '{"open":'], /ends in the middle of a line/],
      [
        "an operation before a run",
        [HELLO, '{"n":0,"op":"heap.free","args":{}}\n'],
        /no run is open/,
      ],
      ["an open before the hello", [OPEN], /before the hello/],
      ["a second hello", [HELLO, HELLO], /second hello/],
      ["another protocol", ['{"hello":{"protocol":2}}\n'], /protocol/],
      [
        "a wrong n",
        [HELLO, OPEN, '{"n":1,"op":"heap.free","args":{"id":"a"}}\n'],
        /operation .*1.* where operation 0 is next/,
      ],
      [
        "an unknown operation",
        [HELLO, OPEN, '{"n":0,"op":"heap.aloc","args":{}}\n'],
        /not answered here: \\"heap.aloc\\"/,
      ],
      [
        "no arguments",
        [HELLO, OPEN, '{"n":0,"op":"heap.alloc"}\n'],
        /without \\"op\\" or \\"args\\"/,
      ],
    ];
    test.each(bad)("refuses %s", async (_name, input, message) => {
      const { code, stdout } = await run(example("adapter"), input);
      const last = stdout.trimEnd().split("\n").at(-1) ?? "";
      expect(last).toMatch(/^\{"error":\{"code":"protocol","message":/);
      expect(last).toMatch(message);
      expect(code).toBe(3);
    });

    test("says of a handler that throws that it crashed, and answers no more", async () => {
      const broken = '{"n":0,"op":"heap.alloc","args":{"id":"a1"}}\n'; // no size
      const more = '{"n":1,"op":"heap.free","args":{"id":"a1"}}\n';
      const { code, stdout } = await run(example("adapter"), [HELLO, OPEN, broken + more]);
      const lines = stdout.trimEnd().split("\n");
      // JavaScript computes with what is missing; the others notice
      if (name === "TypeScript") return;
      expect(lines.at(-1)).toMatch(/^\{"n":0,"fail":\{"kind":"crash","message":".*size_bytes/);
      expect(code).toBe(1);
    });

    test("takes a line of 8 MiB, and refuses one over 64 MiB without keeping it", async () => {
      const long = `{"open":{"run":"r","domain":"heap","config":{"arena_bytes":64,"x":"${"y".repeat(8 << 20)}"}}}\n`;
      const taken = await run(example("adapter"), [HELLO, long]);
      expect(taken.stdout.trimEnd().split("\n").at(-1)).toBe('{"opened":{"run":"r"}}');
      const mebibyte = Buffer.alloc(1 << 20, "z");
      const pieces = Array.from({ length: 66 }, () => mebibyte);
      const refused = await run(example("adapter"), [HELLO, ...pieces]);
      expect(refused.stdout).toMatch(/a line is longer than 64 MiB/);
      expect(refused.code).toBe(3);
    });

    test("records itself: valid, canonical, and equal when it is replayed", async () => {
      const file = join(folder, `${name}.jsonl`);
      const { code, stderr } = await run(example("live"), [], { UNIFIED_TRACE: file });
      expect([code, stderr]).toEqual([0, ""]);
      const validated = await validateTrace(file);
      expect([validated.runs, validated.operations]).toEqual([1, 222]);
      const lines = readFileSync(file, "utf8").trimEnd().split("\n");
      for (const line of lines) expect(canonicalLine(JSON.parse(line) as TraceLine)).toBe(line);
      expect(lines[1]).toContain('"source":{"type":"live","name":"first-fit"}');
      const start = (): ReturnType<typeof openAdapter> => openAdapter(command());
      const result = await compareTrace({ trace: file, candidate: "kit", start });
      expect([result.verdict, result.operations]).toEqual(["equal", 222]);
      expect(lines.filter((line) => line.includes('"err"')).length).toBeGreaterThan(0);
      // no address comes up twice as an id
      const opened = lines.flatMap(
        (line) => /"heap.alloc","args":\{"id":"(a\d+)"/.exec(line)?.[1] ?? [],
      );
      expect(new Set(opened).size).toBe(opened.length);
    });

    test("a crash-safe recording names the call that never returned", async () => {
      const own = join(folder, `${name}-crash`);
      mkdirSync(own);
      const env = { UNIFIED_TRACE: join(own, "t-%p.jsonl"), UNIFIED_TRACE_CRASH_SAFE: "1" };
      const { code } = await run([...example("live"), "200", "50"], [], env);
      expect(code).not.toBe(0);
      const [partial = "", ...others] = readdirSync(own);
      expect(others).toEqual([]);
      expect(partial).toMatch(/^t-(\d+)\.jsonl\.\1\.partial$/);
      const lines = readFileSync(join(own, partial), "utf8").split("\n");
      expect(lines.pop()).toBe("");
      expect(lines.at(-1)).toMatch(
        /^\{"kind":"call","n":50,"op":"heap.alloc","args":\{"id":"a\d+","size_bytes":\d+\}\}$/,
      );
      await expect(validateTrace(join(own, partial))).rejects.toThrow(
        /truncated after operation 49/,
      );
      const whole = join(own, "whole.jsonl");
      await run(example("live"), [], { ...env, UNIFIED_TRACE: whole });
      const calls = readFileSync(whole, "utf8").match(/"kind":"call"/g);
      expect([(await validateTrace(whole)).operations, calls?.length]).toEqual([222, 222]);
    });

    test("records nothing unasked, and never disturbs the program", async () => {
      const before = readdirSync(folder).length;
      expect(await run(example("live"), [], { UNIFIED_TRACE: "" })).toEqual({
        ...{ code: 0, stdout: "", stderr: "" },
      });
      expect(readdirSync(folder).length).toBe(before);
      for (const file of [join(folder, "no", "such", "t.jsonl"), join(folder, "t.jsonl.gz"), "-"]) {
        const { code, stdout, stderr } = await run(example("live"), [], { UNIFIED_TRACE: file });
        expect([code, stdout]).toEqual([0, ""]);
        expect(stderr).toMatch(/^UNIFIED_TRACE=[^\n]+: [^\n]+\n$/);
        expect(existsSync(file)).toBe(false);
      }
    });
  });
}

describeUnless(
  python && compiler !== undefined ? undefined : "not every kit is here",
  "all kits",
  () => {
    test("record the same bytes", async () => {
      const recorded = await Promise.all(
        KITS.map(async ({ name, example }) => {
          const file = join(folder, `same-${name}.jsonl`);
          await run(example("live"), [], { UNIFIED_TRACE: file });
          return readFileSync(file, "utf8");
        }),
      );
      expect(new Set(recorded).size).toBe(1);
    });
  },
);

describeUnless(python ? undefined : "no python3", "the Python kit's recorder", () => {
  const program = (body: string): readonly string[] => [
    ...["python3", "-B", "-c"],
    `import sys; sys.path.insert(0, ${JSON.stringify(join(kits, "python"))})\n${body}`,
  ];
  const recorder = `import unified_trace_kit as kit\nlive = kit.LiveRecorder("p", "1", config={}, base=None)\n`;

  test("a call that tells no outcome ends the recording, not the program", async () => {
    const file = join(folder, "untold.jsonl");
    const body = `${recorder}
with live.alloc(16) as call: call.granted(1)
try:
  with live.alloc(16): raise ValueError("boom")
except ValueError: print("went on")
with live.alloc(16) as call: call.granted(2)`;
    const { code, stdout, stderr } = await run(program(body), [], { UNIFIED_TRACE: file });
    expect([code, stdout]).toEqual([0, "went on\n"]);
    expect(stderr).toMatch(
      /heap\.alloc raised ValueError: boom; what was recorded until then is in /,
    );
    expect(existsSync(file)).toBe(false);
  });

  test("nested calls, double frees, forks and threads", async () => {
    const file = join(folder, "nested.jsonl");
    const body = `${recorder}
import os, threading
with live.alloc(16) as call:
  with live.alloc(8) as inner: inner.granted(9)
  call.granted(1)
with live.free(1) as call: call.granted()
with live.free(1) as call: call.refused("invalid", rule="unknown_request", req="a1")
with live.free(77) as call: call.refused("invalid", rule="unknown_request", req="u2")
def work():
  for i in range(50):
    with live.alloc(16) as call: call.granted(1000 + threading.get_ident() * 100 + i)
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
child = os.fork()
if child == 0: sys.exit(0)
os.waitpid(child, 0)`;
    const { code, stderr } = await run(program(body), [], { UNIFIED_TRACE: file });
    expect([code, stderr]).toEqual([0, ""]);
    expect((await validateTrace(file)).operations).toBe(204);
    const lines = readFileSync(file, "utf8").split("\n");
    expect(lines.slice(2, 6).map((line) => /"args":\{[^}]*\}/.exec(line)?.[0])).toEqual([
      '"args":{"id":"a1","size_bytes":16}',
      '"args":{"id":"a1"}',
      '"args":{"id":"a1"}',
      '"args":{"id":"u2"}',
    ]);
  });
});

// What a handler may do beside granting and refusing, as one small program a language.
const PYTHON_EDGES = `
import sys; sys.path.insert(0, ${JSON.stringify(join(kits, "python"))})
import unified_trace_kit as kit
class Heap(kit.Implementation):
    domain = "heap"
    digest = "light"
    from_state = True
    def __init__(self, opening):
        if opening.state: raise ValueError("no such state")
    @kit.operation("heap.alloc")
    def alloc(self, args):
        size = args["size_bytes"]
        print("a remark of the program's own")
        if size == 1: return kit.Granted({"address_offset": 0}, fx=[["forward", "f1"]], digest={"x": "0" * 16}, message="first")
        if size == 2: raise kit.Unsupported("not  this\\nsize")
        if size == 3: return kit.Granted({}, fx=[])
        raise kit.InvariantBroken("gap lost")
    def state(self): return {"objects": 1}
    def close(self): return "f" * 16
sys.exit(kit.serve([Heap], name="edges", version="1"))
`;
const NODE_EDGES = `
import { granted, InvariantBroken, serve, Unsupported } from ${JSON.stringify(join(kits, "typescript", "unified-trace-kit.mjs"))};
class Heap {
  static domain = "heap";
  static digest = "light";
  static fromState = true;
  constructor({ state }) { if (state) throw new TypeError("no such state"); }
  "heap.alloc"({ size_bytes: size }) {
    console.log("a remark of the program's own");
    if (size === 1) return granted({ address_offset: 0 }, { fx: [["forward", "f1"]], digest: { x: "0".repeat(16) }, message: "first" });
    if (size === 2) throw new Unsupported("not  this\\nsize");
    if (size === 3) return granted();
    throw new InvariantBroken("gap lost");
  }
  state() { return { objects: 1 }; }
  close() { return "f".repeat(16); }
}
await serve([Heap], { name: "edges", version: "1" });
`;
const EDGES: readonly [string, string | undefined, readonly string[]][] = [
  ["Python", python ? undefined : "no python3", ["python3", "-B", "-c", PYTHON_EDGES]],
  ["TypeScript", undefined, [process.execPath, "--input-type=module", "-e", NODE_EDGES]],
];
for (const [name, missing, words] of EDGES) {
  describeUnless(missing, `what a handler of the ${name} kit may do`, () => {
    test("effects, digests, remarks, states; what it prints is no answer", async () => {
      const sizes = [1, 2, 3];
      const asked = sizes.map(
        (size, n) => `{"n":${n},"op":"heap.alloc","args":{"id":"a${n}","size_bytes":${size}}}\n`,
      );
      const bad = OPEN.replace('"config"', '"state":{"objects":2},"config"');
      const tail = '{"state":{"n":2}}\n{"close":{"run":"r"}}\n';
      const again =
        '{"n":0,"op":"heap.alloc","args":{"id":"b","size_bytes":9}}\n{"close":{"run":"r"}}\n';
      const input = [HELLO, bad, OPEN, ...asked, tail, OPEN, again];
      const { code, stdout, stderr } = await run(words, input);
      const [hello, ...lines] = stdout.trimEnd().split("\n");
      expect(hello).toContain(
        '"domains":["heap"],"ops":["heap.alloc"],"digest":"light","fx":false,"from_state":true',
      );
      expect(lines).toEqual([
        expect.stringMatching(/^\{"error":\{"code":"config","message":"\w+: no such state"\}\}$/),
        '{"opened":{"run":"r"}}',
        '{"n":0,"ok":{"address_offset":0},"fx":[["forward","f1"]],"digest":{"x":"0000000000000000"},"message":"first"}',
        '{"n":1,"err":{"code":"unsupported","message":"not this size"}}',
        '{"n":2,"ok":{}}',
        '{"state":{"objects":1}}',
        '{"closed":{"run":"r","digest":"ffffffffffffffff"}}',
        '{"opened":{"run":"r"}}',
        '{"n":0,"fail":{"kind":"invariant","message":"gap lost"}}', // and nothing after it
      ]);
      expect(stderr.match(/a remark of the program's own/g)).toHaveLength(4);
      expect(code).toBe(1);
    });
  });
}

describe("the page", () => {
  test("names every file of the kits", () => {
    for (const kit of ["python", "cpp", "typescript"])
      for (const file of readdirSync(join(kits, kit)))
        if (file !== "__pycache__") expect(page).toContain(file);
  });
});
