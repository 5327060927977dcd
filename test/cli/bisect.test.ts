// `bisect` over commits and `compare --bisect` under git's own bisection, in a generated repository: 16 commits of which
// the eleventh changes the order of rows and two do not build.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GeneratedRepository } from "../adapter/generated-repository.js";
import type { Order } from "../adapter/generated-repository.js";
import { bin, file, folder, isOneLine, root, start } from "./command-line.js";
import type { Outcome, StartOptions } from "./command-line.js";

const repository = new GeneratedRepository();
const COUNT = 16;
const FIRST_BAD = 11;
const BROKEN = [8, 9]; // the middle, where halving looks first
const orderOf = (number: number): Order =>
  BROKEN.includes(number) ? "broken" : number < FIRST_BAD ? "push" : "unshift";
const commits = Array.from({ length: COUNT }, (_, index) =>
  repository.commit(`Change ${String(index + 1)}`, orderOf(index + 1)),
);
const commit = (number: number): string => commits[number - 1]!;
const trace = join(folder, "rows.jsonl");
const cache = join(repository.home, "cache");
const BUILD = ["--build", "node build.mjs"];

/** Runs the command line in the repository, or in another folder. */
function ut(words: readonly string[], options: StartOptions = {}): Promise<Outcome> {
  const env = {
    UNIFIED_TRACE_CACHE: cache,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
  };
  return start(words, { cwd: repository.folder, ...options, env: { ...env, ...options.env } });
}
const bisect = (words: readonly string[], options: StartOptions = {}): Promise<Outcome> =>
  ut(["bisect", "--trace", trace, ...words], options);

let before = "";
beforeAll(async () => {
  const config = {
    ...{ page_size: 4, arena_bytes: 6656, rows: 4, row_tokens: 128 },
    sub_pools: [{ name: "full", kind: "mha", unit_bytes: 64 }],
  };
  const ops = [
    { op: "boot" },
    { op: "row.alloc", args: { reqs: ["r1", "r2", "r3", "r4"] } },
    { op: "row.free", args: { req: "r1" } },
    { op: "row.free", args: { req: "r2" } },
    { op: "row.alloc", args: { reqs: ["r5", "r6"] } },
  ];
  const head = { name: "rows", story: "Rows come back. They are given again.", tags: [] };
  const scenario = file("rows.json", JSON.stringify({ ...head, config, ops }));
  const minimal = `cmd:${process.execPath} ${join(root, "examples", "adapters", "minimal.mjs")}`;
  const words = ["--scenario", scenario, "--impl", minimal, "--digest", "none", "--out", trace];
  expect(await start(["record", ...words])).toMatchObject({ code: 0 });
  // somebody is in the middle of a bisection of their own
  repository.git("bisect", "start", commit(13), commit(6));
  before = repository.fingerprint();
});
afterAll(() => {
  repository.remove();
});

describe("over commits", () => {
  test("finds the one among 16, although two do not build", async () => {
    const words = ["--good", commit(1), "--bad", "main", ...BUILD];
    const { code, stdout, stderr } = await bisect([...words, "--json"]);
    expect(code, stderr).toBe(0);
    const report = JSON.parse(stdout);
    const schema = JSON.parse(
      readFileSync(join(root, "schemas/bisect-report.schema.json"), "utf8"),
    );
    const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema);
    void validate(report);
    expect(validate.errors ?? []).toEqual([]);
    expect(report).toMatchObject({ command: "bisect", over: "commits", verdict: "found" });
    expect(report.first).toMatchObject({
      commit: commit(FIRST_BAD),
      subject: "Change 11",
      author: "Somebody",
      // the eleventh hour after the repository's first second
      date: expect.stringMatching(/^2023-11-15T09:13:20/),
      // r1 came back first and is given first; in reverse r5 gets the row of r2
      divergence: { run: "rows", n: 4, op: "row.alloc", place: "at", kind: "result" },
    });
    expect(report.candidates.map((one: { commit: string }) => one.commit)).toEqual([
      commit(FIRST_BAD),
    ]);
    const tested = report.tested as { commit: string; outcome: string; reason: string | null }[];
    for (const { commit: hash, outcome, reason } of tested) {
      const number = commits.indexOf(hash) + 1;
      const expected = number < FIRST_BAD ? "equal" : "divergent";
      expect(outcome).toBe(BROKEN.includes(number) ? "skipped" : expected);
      if (outcome === "skipped") expect(reason).toContain("what does broken mean?");
    }
    expect(report.skipped).toBeGreaterThan(0);
    // both ends, four halvings of 14 and what was skipped
    expect(tested.length).toBeLessThanOrEqual(2 + 4 + 2 * BROKEN.length);
    expect(stderr).toMatch(/commits? to test; [0-9a-f]{12} \(Change \d+\): (equal|divergent)/);
    expect(repository.fingerprint()).toBe(before);

    // the text says the same, from a folder further down, and what was built comes from the cache
    const text = await bisect(words, { cwd: join(repository.folder, "src") });
    expect(text.stdout).toContain(`first divergent commit  ${commit(FIRST_BAD)}`);
    expect(text.stdout).toMatch(/^ {2}subject +Change 11$/m);
    expect(text.stdout).toMatch(/at operation 4 \(row\.alloc\) of run rows: result$/m);
    expect(text.stdout).toMatch(
      /^found: \d+ commits tested, \d+ skipped, \d+ runs and \d+ operations compared$/m,
    );
    const rebuilt = [...text.stderr.matchAll(/^unified-trace: commit (\w+): node build\.mjs$/gm)];
    for (const [, short] of rebuilt)
      expect(BROKEN.map((number) => commit(number).slice(0, 12))).toContain(short);
    expect(text.stderr).not.toContain("\n  | "); // no logs
    const shown = /^unified-trace (compare .*)$/m.exec(text.stdout)?.[1] ?? "";
    expect(shown).toBe(
      `compare --trace ${trace} --candidate ref:${commit(11)} --build 'node build.mjs' --run rows`,
    );
  });

  test("names all that may be the one where the one before it does not build", async () => {
    const side = new GeneratedRepository();
    const orders: Order[] = ["push", "push", "broken", "none", "unshift", "push", "unshift"];
    const made = orders.map((order) => side.commit(order, order));
    // the order `none` answers no row.free: a commit that does not understand the trace
    const { code, stdout } = await bisect(
      ["--good", made[1]!, "--bad", made[4]!, ...BUILD, "--json"],
      {
        cwd: side.folder,
      },
    );
    const report = JSON.parse(stdout);
    expect([code, report.verdict, report.skipped]).toEqual([6, "several", 2]);
    const names = report.candidates.map((one: { commit: string }) => one.commit);
    expect(names).toEqual([made[2], made[3], made[4]]);
    expect(JSON.stringify(report.tested)).toMatch(/does not answer row\.free/);
    side.remove();
  });

  const wrong: readonly [what: string, words: () => readonly string[], message: RegExp][] = [
    [
      "a good one that diverges",
      () => [commit(12), commit(16)],
      /--good .* diverges already, at operation 4/,
    ],
    ["a bad one that is equal", () => [commit(1), commit(5)], /--bad .* is equal to the trace/],
    ["both the same", () => [commit(1), "main~15"], /are the same commit/],
    [
      "an unknown name",
      () => ["mani", "main"],
      /--good "mani" names no commit.*did you mean main\?/,
    ],
  ];
  test.each(wrong)("%s is said", async (_, words, message) => {
    const [good = "", bad = ""] = words();
    const { code, stdout, stderr } = await bisect(["--good", good, "--bad", bad, ...BUILD]);
    const last = `${stderr.trimEnd().split("\n").at(-1) ?? ""}\n`;
    expect(last).toMatch(message);
    expect(isOneLine(last)).toBe(true);
    expect([code, stdout]).toEqual([2, ""]);
  });

  test("an end that cannot be built is a candidate that failed", async () => {
    const { code, stderr } = await bisect(["--good", commit(8), "--bad", "main", ...BUILD]);
    expect(stderr).toMatch(/--good .* cannot be judged: .*what does broken mean\?/);
    expect(code).toBe(5);
  });

  test("the time budget leaves what is not tested", async () => {
    const words = ["--good", commit(1), "--bad", "main", ...BUILD, "--time-budget", "0.001"];
    const { code, stdout } = await bisect([...words, "--json"]);
    const report = JSON.parse(stdout);
    expect([code, report.verdict, report.tested.length]).toEqual([6, "incomplete", 2]);
    expect(report.candidates.length).toBe(15);
  });

  test("an interrupt in the middle of a build leaves everything as it was", async () => {
    const side = new GeneratedRepository();
    side.commit("one", "push");
    side.commit("two", "slow");
    side.commit("three", "unshift");
    const as = side.fingerprint();
    const own = join(side.home, "cache");
    const words = ["--good", "main~2", "--bad", "main", ...BUILD];
    const { code, stderr } = await bisect(words, {
      cwd: side.folder,
      env: { UNIFIED_TRACE_CACHE: own, BUILDS: join(side.home, "builds") },
      onStart: async (kill) => {
        const isSlow = (): boolean =>
          existsSync(join(side.home, "builds")) &&
          readFileSync(join(side.home, "builds"), "utf8").length >= 3 * "built\n".length;
        while (!isSlow()) await new Promise((resolve) => setTimeout(resolve, 50));
        kill("SIGINT");
      },
    });
    expect(code, stderr).toBe(130);
    expect(side.fingerprint()).toBe(as);
    side.remove();
  });
});

test("git bisect run takes compare --bisect as it is", () => {
  const git = (...words: string[]): string => repository.git(...words);
  git("bisect", "reset");
  git("bisect", "start", commit(13), commit(6));
  const compare = [bin, "compare", "--bisect", "--trace", trace, "--candidate", "ref:HEAD"];
  const environment = { ...repository.environment, UNIFIED_TRACE_CACHE: cache };
  const run = (words: readonly string[]): string =>
    execFileSync("git", ["bisect", "run", process.execPath, ...words], {
      cwd: repository.folder,
      env: environment,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  expect(run([...compare, ...BUILD])).toContain(`${commit(FIRST_BAD)} is the first bad commit`);
  // a flag that does not exist stops it: else every commit would be skipped
  git("bisect", "reset");
  git("bisect", "start", commit(13), commit(6));
  expect(() => run([...compare, "--buidl", "x"])).toThrow();
  expect(git("bisect", "log")).not.toMatch(/^git bisect (skip|bad [0-9a-f]+\n.*bad )/m);
  git("bisect", "reset");
});
