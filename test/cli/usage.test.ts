// Flags, help and exit codes of the command line as its users meet them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { WEIGHT_NAMES } from "../../src/workload/seeded.js";
import { file, folder, isOneLine, root, shell, start } from "./command-line.js";

const COMMANDS = ["record", "compare", "replay", "run", "validate", "audit", "stats"].concat([
  "show",
  "import",
  "convert",
  "edit",
  "anonymize",
  "bundle",
  "shrink",
  "bisect",
  "sweep",
  "stress",
  "metamorph",
  "serve",
  "conformance",
  "doctor",
]);

describe.concurrent("help", () => {
  test("lists the commands that exist, and the exit codes", async () => {
    const { code, stdout } = await start(["--help"]);
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} `, "m"));
    for (const exit of [0, 1, 2, 3, 4, 5, 6, 7, 70, 130])
      expect(stdout).toMatch(new RegExp(`\\b${exit}\\b`));
    expect(code).toBe(0);
  });

  for (const command of COMMANDS) {
    test(`${command}: flags, examples, no line over 100 columns`, async () => {
      const { code, stdout } = await start([command, "--help"]);
      expect(stdout).toMatch(/^Examples:$/m);
      expect(stdout).toContain(`unified-trace ${command}`);
      expect(stdout).toMatch(/--verbose/);
      expect(stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
      expect(code).toBe(0);
    });
  }

  test("help of a command is that command's", async () => {
    const [asked, flag] = [await start(["help", "stats"]), await start(["stats", "--help"])];
    expect(asked).toEqual(flag);
    expect((await start(["help"])).code).toBe(0);
  });

  test("record names the values of --weights", async () => {
    const { stdout } = await start(["record", "--help"]);
    for (const name of WEIGHT_NAMES) expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
  });

  test("--version gives version and revision", async () => {
    const { code, stdout } = await start(["--version"]);
    expect(stdout).toMatch(/^unified-trace \d+\.\d+\.\d+ \(revision .+\)\n$/);
    expect(code).toBe(0);
  });

  test("no command at all shows the help and is wrong usage", async () => {
    const { code, stdout, stderr } = await start([]);
    expect(stderr).toMatch(/^Usage: /);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

describe.concurrent("a mistyped request never reports success (B059)", () => {
  const trace = file(
    "header-only.jsonl",
    `${JSON.stringify({
      ...{ kind: "trace", format: "unified-trace", version: 1 },
      producer: { name: "hand", version: "1", revision: null, dirty: null },
      ...{ created: null, note: null },
    })}\n`,
  );
  const wrong: readonly [words: readonly string[], message: RegExp][] = [
    [["recrod", "--out", "x"], /recrod.*record/],
    [["help", "compar"], /compar.*compare/],
    [["help", "nothing-like-it"], /record, compare/],
    [["run", "base.jsonl"], /base\.jsonl.*trace.*replay --trace/],
    [["record", "--sede", "1:2", "--out", "x"], /--sede.*--seeds/],
    [["record", "--seeds", "5:5", "--out", "x"], /5:5/],
    [["record", "--seeds", "a:b", "--out", "x"], /a:b/],
    [["record", "--ops", "-3", "--out", "x"], /-3/],
    [["record", "--layouts", "full+windw", "--out", "x"], /full\+windw.*full\+window/],
    [["record", "--page-sizes", "16,,1", "--out", "x"], /16,,1/],
    [["record", "--page-sizes", "0", "--out", "x"], /--page-sizes/],
    [["record", "--digest", "depe", "--out", "x"], /depe.*deep/],
    [["record", "--out", ""], /--out '': expected a value/],
    [["record", "--out", "x", "--config", ""], /--config '': expected a value/],
    [["compare", "--trace", ""], /--trace '': expected a value/],
    [["replay", "--trace="], /--trace '': expected a value/],
    [["validate", ""], /'': an empty word/],
    [["run", "", "x.json"], /'': an empty word/],
    [
      ["record", "--config", "serving/tihgt", "--workload", "synthetic", "--out", "x"],
      /tihgt.*serving\/tight/,
    ],
    [["record", "--limit", "3", "--out", "x"], /--limit/],
    [["record", "--scenario", "all", "--seeds", "0:1", "--out", "x"], /--seeds/],
    [["record", "--impl", "slef", "--out", "x"], /slef.*self/],
    [["record", "--state", "5", "--out", "x"], /every=N/],
    [["record", "extra", "--out", "x"], /argument/],
    [["record"], /--out/],
    [["compare"], /--trace/],
    [["compare", "one.jsonl"], /one\.jsonl/],
    [["compare", "--trace", "a", "b"], /not both/],
    [["compare", "--trace", "a", "--mode", "placement"], /placement.*placement-free/],
    [
      ["compare", "--trace", "a", "--candidate", "self", "--candidates", "self,reference"],
      /exclude each other/,
    ],
    [["compare", "--trace", "a", "--mode", "excat"], /excat.*exact/],
    [["replay"], /--trace/],
    [["run"], /nothing to run/],
    [["run", "scenarios", "--limit", "2"], /--limit/],
    [["validate"], /files/],
    [["stats"], /files/],
    [["sweep"], /--trace/],
    [["sweep", "--trace", "a"], /--key/],
    [["sweep", "--trace", "-", "--key", "rows=1:4:1"], /name a file/],
    [["sweep", "--trace", "a", "--key", "rows=1:4"], /KEY=FROM:TO:STEP/],
    [["sweep", "--trace", "a", "--key", "rows=1:4:x1"], /KEY=FROM:TO:STEP/],
    [["sweep", "--trace", "a", "--key", "arena_bytes=1:1g:1"], /at most 10000/],
    [
      ["sweep", "--trace", "a", "--key", "arena_bytes=1k:2k:64", "--impl", "heap:buddy@1m"],
      /heap:buddy@1m/,
    ],
    [["bisect"], /--trace/],
    [["bisect", "--trace", "-", "--operations"], /name a file/],
    [["bisect", "--trace", "a"], /--good REF and --bad REF/],
    [["bisect", "--trace", "a", "--bad", "main"], /--bad main alone/],
    [["bisect", "--trace", "a", "--operations", "--good", "x"], /--good does not go with/],
    [["bisect", "--trace", "a", "--key", "rows"], /KEY=GOOD:BAD/],
    [["bisect", "--trace", "a", "--key", "rows=4:4"], /the same value/],
    [["bisect", "--trace", "a", "--check", "node 'x"], /never closed/],
    [["replay", "--trace", "a", "--impl", "ref:"], /ref: names nothing/],
    [["audit"], /files/],
    [["conformance"], /implementation/],
    [["conformance", "slef"], /slef.*self/],
    [["conformance", "self", "--domain", "hep"], /hep.*heap/],
    [["conformance", "self", "--ops", "0"], /--ops 0/],
  ];
  for (const [words, message] of wrong) {
    test(words.join(" "), async () => {
      const { code, stdout, stderr } = await start(words);
      expect(stderr).toMatch(message);
      expect(isOneLine(stderr)).toBe(true);
      expect(stdout).toBe("");
      expect(code).toBe(2);
      expect(existsSync(join(folder, "x"))).toBe(false);
    });
  }

  test("a trace with nothing in it", async () => {
    for (const words of [
      ["validate", trace],
      ["stats", trace],
      ["audit", trace],
      ["compare", "--trace", trace],
      ["replay", "--trace", trace],
    ]) {
      const { code, stdout } = await start(words);
      expect(stdout).not.toMatch(/^(valid|equal|passed)/m);
      expect(code).toBe(3);
    }
  });

  test("with --json wrong usage is one JSON object", async () => {
    const { code, stdout, stderr } = await start(["compare", "--trase", "x", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "usage" } });
    expect(stderr).toBe("");
    expect(code).toBe(2);
  });
});

describe("from end to end", () => {
  const out = "end.jsonl";
  test("record, validate, stats, audit, replay, compare; the second recording is byte-identical", async () => {
    const record = ["record", "--seeds", "0:2", "--ops", "150"];
    const first = await start([...record, "--out", out]);
    expect(first.stdout).toMatch(/^recorded end\.jsonl: 4 runs, 600 operations, /m);
    const again = await shell(
      "ut record --seeds 0:2 --ops 150 --out - 2>summary.txt | cmp - end.jsonl && cat summary.txt",
    );
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^recorded standard output: 4 runs/),
    });
    expect((await start(["validate", out])).stdout).toMatch(
      /^valid: 1 file, 4 runs and 600 operations read$/m,
    );
    expect((await start(["stats", out])).stdout).toMatch(
      /^1 file, 4 runs and 600 operations counted$/m,
    );
    const audit = await start(["audit", out]);
    expect(audit).toMatchObject({ code: 0, stdout: "clean: 4 runs and 600 operations audited\n" });
    expect((await start(["replay", "--trace", out])).stdout).toMatch(
      /^passed: .*4 runs and 600 operations replayed/m,
    );
    const equal = await start(["compare", "--trace", out]);
    expect(equal.stdout).toMatch(/^equal: 4 runs and 600 operations compared$/m);
    expect([first.code, equal.code]).toEqual([0, 0]);
    const files = await start(["compare", out, out]);
    expect([
      files.code,
      files.stdout.includes("equal: 4 runs and 600 operations compared"),
    ]).toEqual([0, true]);
  });

  test("compare finds the example's other order of holes, as text and as JSON", async () => {
    const example = join(import.meta.dirname, "..", "..", "examples", "lifo-holes.mjs");
    const words = ["compare", "--trace", out, "--candidate", `module:${example}`];
    const [text, json] = [await start(words), await start([...words, "--json"])];
    const report = JSON.parse(json.stdout);
    expect(report).toMatchObject({
      command: "compare",
      verdict: "divergent",
      mode: "exact",
      hidden: 0,
    });
    const found = report.runs.find(
      ({ run }: { run: string }) => run === report.first.run,
    ).divergence;
    expect(found).toMatchObject({ n: report.first.n, kind: "result" });
    expect(found.fields.length).toBeGreaterThan(0);
    expect(text.stdout).toContain(`operation ${report.first.n}: ${found.op} (kind: result)`);
    expect(text.stdout).toContain("still agrees");
    expect([text.code, json.code]).toEqual([1, 1]);
    // The reproducing line does reproduce, and names the same operation.
    const line = report.runs.find(({ run }: { run: string }) => run === report.first.run)
      .reproduce as string;
    const again = await shell(line.replace(/^unified-trace/, "ut"));
    expect(again.code).toBe(1);
    expect(again.stdout).toContain(`operation ${report.first.n}: ${found.op}`);
  });

  test("the README shows what really comes out", async () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const recording = await start(["record", "--out", "readme.jsonl"]);
    const shown = /^recorded base\.jsonl: (.*refusals),/m.exec(readme)?.[1];
    expect(shown).toBeDefined();
    expect(recording.stdout).toContain(`recorded readme.jsonl: ${shown}`);
    const block = /^run full.*?(?=^…)/ms.exec(readme)?.[0].trimEnd().split("\n") ?? [];
    expect(block.length).toBeGreaterThan(10);
    const candidate = `module:${join(root, "examples", "lifo-holes.mjs")}`;
    const { stdout } = await start([
      "compare",
      "--trace",
      "readme.jsonl",
      "--candidate",
      candidate,
    ]);
    for (const line of block) expect(stdout.split("\n")).toContain(line);
  });

  test("what a candidate breaks is a finding at its operation; one that does not start is none", async () => {
    const module = (body: string): string =>
      `module:${file("candidate.mjs", `export function createImplementation() { let n = 0; return { apply() { ${body} } }; }`)}`;
    for (const [candidate, kind] of [
      [module("if (n++ === 0) throw new Error('boom'); return { ok: {} };"), "crash"],
      [module("for (;;) {}"), "hang"],
      [module("return 'rubbish';"), "protocol"],
    ] as const) {
      const words = [
        "compare",
        "--trace",
        out,
        "--candidate",
        candidate,
        "--timeout",
        "0.5",
        "--first",
        "--json",
      ];
      const { code, stdout } = await start(words);
      expect(JSON.parse(stdout).runs[0].divergence).toMatchObject({ n: 0, kind });
      expect(code).toBe(1);
    }
    const missing = await start(["compare", "--trace", out, "--candidate", "cmd:no-such-program"]);
    expect(missing.code).toBe(5);
    expect(isOneLine(missing.stderr)).toBe(true);
  });

  test("where there is no folder scenarios, those of the package run, and it is said", async () => {
    const { code, stdout, stderr } = await start(["run", "scenarios"]);
    expect(stderr).toMatch(/no folder scenarios here.*\bscenarios\n$/);
    expect(isOneLine(stderr)).toBe(true);
    expect(stdout).toMatch(/^operation kinds +54 of +54$/m); // a folder: what it exercises is counted
    expect(stdout).toMatch(/^passed: .*, 100 % covered$/m);
    expect(code).toBe(0);
  });

  test("colour only on request of a terminal: none in a pipe", async () => {
    const { stdout } = await start(["compare", "--trace", out], { env: { FORCE_COLOR: "1" } });
    expect(stdout).not.toContain("\u001b[");
  });

  test("an interrupt ends the candidate's process as well, and is no crash of it", async () => {
    const served = `cmd:${process.execPath} ${join(root, "bin", "unified-trace.js")} serve`;
    const words = ["record", "--seeds", "0:100000", "--impl", served, "--out", "never.jsonl"];
    const { code, stdout, stderr } = await start(words, { signalOnceWritten: "SIGINT" });
    expect(stderr).toMatch(/^unified-trace: interrupted after [^\n]+\n$/);
    expect(stdout).toBe("");
    expect(code).toBe(130);
  });

  test("an interrupt leaves nothing half written and says so", async () => {
    for (const [signal, exit] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
      ["SIGHUP", 143],
    ] as const) {
      const before = readdirSync(folder).length;
      const words = ["record", "--seeds", "0:100000", "--out", "never.jsonl"];
      const { code, stderr } = await start(words, { signalOnceWritten: signal });
      expect(code).toBe(exit);
      expect(stderr).toMatch(/interrupted .*never\.jsonl was not written/);
      expect(readdirSync(folder).length).toBe(before);
    }
  });
});
