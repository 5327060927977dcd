// `--html` on the command line: what it writes, what it refuses, what it says of maps that cannot be known.
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { file, folder, isOneLine, linesOf, root, start } from "./command-line.js";

const planted = `module:${join(root, "bench", "page", "pages-swapped-once.mjs")}`;
const env = { UT_PLANT_FROM: "100" };
const page = (name: string): string => readFileSync(join(folder, name), "utf8");

beforeAll(async () => {
  const what = ["--seeds", "0:2", "--ops", "400", "--layouts", "full+window+state"];
  const { code } = await start(["record", ...what, "--page-sizes", "16", "--out", "base.jsonl"]);
  expect(code).toBe(0);
});

describe("compare --html", () => {
  test("a divergence: exit 1, the report, one page with both sides known to the end", async () => {
    const words = ["compare", "--trace", "base.jsonl", "--candidate", planted];
    const { code, stdout, stderr } = await start([...words, "--html", "one.html"], { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/first divergence/i);
    expect(stderr).toMatch(
      /one\.html shows 400 operations of run full\+window\+state\/p16\/seed-\d/,
    );
    const html = page("one.html");
    const n = /operation ([\d,]+) \(/.exec(html)![1]!;
    expect(html).toContain(`<h1>The two sides part at operation ${n} (`);
    expect(html).toContain("2 runs were compared");
    expect(html.match(/page maps from/g)).toHaveLength(2);
    expect(html).not.toContain("up to operation 3");
  });

  test("--run of an equal run: exit 0, a page that says so", async () => {
    const words = ["compare", "--trace", "base.jsonl", "--run", "full+window+state/p16/seed-1"];
    const { code } = await start([...words, "--html", "equal.html"]);
    expect(code).toBe(0);
    expect(page("equal.html")).toContain("<h1>Both sides answer all 400 operations alike.</h1>");
  });

  test("self against a trace of another allocator: the base's maps end at the divergence, --base names them", async () => {
    const what = ["--seeds", "0:1", "--ops", "400", "--layouts", "full+window+state"];
    const out = ["--page-sizes", "16", "--out", "other.jsonl"];
    await start(["record", ...what, ...out, "--impl", planted], { env });
    const words = ["compare", "--trace", "other.jsonl", "--html", "self.html"];
    expect((await start(words)).code).toBe(1);
    const html = page("self.html");
    const n = Number(/part at operation (\d+)/.exec(html)![1]);
    expect(html).toContain(
      `up to operation ${n - 1}: nothing is known that answers as the trace does`,
    );
    expect((await start([...words, "--base", planted], { env })).code).toBe(1);
    expect(page("self.html")).not.toContain("nothing is known");
  });

  test("two traces: each side's maps from what answers as it does, as far as it does", async () => {
    const run = ["--run", "full+window+state/p16/seed-0"];
    const words = ["compare", "base.jsonl", "other.jsonl", "--html", "two.html"];
    const { code } = await start([...words, ...run]);
    expect(code).toBe(1);
    expect(page("two.html")).toMatch(
      /up to operation \d+: it does not answer operation \d+ as the trace/,
    );
  });

  test("two traces, one without the run: the page shows the side that has it", async () => {
    const words = ["compare", "base.jsonl", "other.jsonl", "--html", "missing.html"];
    const run = ["--run", "full+window+state/p16/seed-1"];
    const { code } = await start([...words, ...run]);
    expect(code).toBe(1);
    expect(page("missing.html")).toContain("no page maps: the trace holds no such run");
  });

  test("a candidate that breaks has maps up to there", async () => {
    const module = file(
      "breaks.mjs",
      `import { createImplementation as make, info as told } from ${JSON.stringify(join(root, "bench/page/pages-swapped-once.mjs"))};
export const info = told;
export function createImplementation(...more) {
  const inner = make(...more);
  let n = 0;
  return { ...inner, apply(operation) { if (n++ === 200) throw new Error("</script>broken"); return inner.apply(operation); } };
}`,
    );
    const words = ["compare", "--trace", "base.jsonl", "--candidate", `module:${module}`];
    const { code } = await start([...words, "--html", "broken.html"], {
      env: { UT_PLANT_FROM: "9999" },
    });
    expect(code).toBe(1);
    const html = page("broken.html");
    expect(html).toContain("The candidate breaks at operation 200");
    expect(html).toContain("up to operation 199: crash at operation 200");
    expect(html.match(/<\/script/g)).toHaveLength(2);
  });

  test.each([
    [["--html", "-"], /--html writes a file/],
    [["--html", "a.html", "--candidates", "self,reference"], /one candidate/],
    [["--html", "base.jsonl"], /is the trace itself/],
    [["--html", "./base.jsonl", "--first"], /is the trace itself/],
    [["--html", "a.html", "--write-baseline", "./a.html"], /is named twice/],
  ])("%j is refused before anything runs", async (words, says) => {
    const { code, stderr } = await start(["compare", "--trace", "base.jsonl", ...words]);
    expect([code, isOneLine(stderr)]).toEqual([2, true]);
    expect(stderr).toMatch(says);
  });

  test("standard input can be read only once", async () => {
    const { code, stderr } = await start(["compare", "--trace", "-", "--html", "a.html"], {
      stdin: "",
    });
    expect([code, isOneLine(stderr)]).toEqual([2, true]);
    expect(stderr).toContain("can be read only once");
  });

  test("a page that cannot be written takes nothing from the report", async () => {
    const words = ["compare", "--trace", "base.jsonl", "--html", "nowhere/a.html"];
    const { code, stdout, stderr } = await start(words);
    expect(code).toBe(4);
    expect(stdout).toContain("equal: 2 runs");
    expect(stderr).toContain("unified-trace: no page: ");
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });
});

describe("run --html", () => {
  const scenario = join(root, "scenarios", "ids_first_in_first_out.json");

  test("a failure: exit 1, its maps, its line; the saved report gives a page without maps", async () => {
    const lifo = `module:${join(root, "examples", "lifo-holes.mjs")}`;
    const words = ["run", scenario, "--impl", lifo, "--json"];
    const { code, stdout, stderr } = await start([...words, "--html", "run.html"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/run\.html tells of \d+ cases?, \d+ page maps?/);
    const html = page("run.html");
    expect(html).toContain(`unified-trace run ${scenario}`);
    expect(html).toContain(`--impl ${lifo}`);
    expect(html).toContain('id="data-0"');
    const saved = ["run", "--report", file("run.json", stdout), "--html", "saved.html"];
    expect((await start(saved)).code).toBe(1);
    expect(page("saved.html")).toContain("is made of a saved report");
    expect(page("saved.html")).not.toContain('id="data-0"');
  });

  test("a page that cannot be written: exit 4, the answer stands", async () => {
    const { code, stdout } = await start(["run", scenario, "--html", "nowhere/a.html"]);
    expect(code).toBe(4);
    expect(stdout).toContain("passed: ");
  });
});

describe("stats --html", () => {
  test("counts and curves of every run; a page that cannot be written takes nothing from the answer", async () => {
    const { code, stdout, stderr } = await start(["stats", "base.jsonl", "--html", "stats.html"]);
    expect([code, isOneLine(stderr)]).toEqual([0, true]);
    expect(stderr).toContain("stats.html shows 2 curves and the counts of 1 file");
    expect(page("stats.html")).toContain("<h1>2 runs and 800 operations counted</h1>");
    expect(stdout).toMatch(/ {4}occupancy +[▁-█]{60} {2}0 to 100 %\n/);
    expect(stdout).toMatch(/\n1 file, 2 runs and 800 operations counted\n$/);
    const words = ["stats", "base.jsonl", "--no-curves", "--html", "nowhere/a.html"];
    const other = await start(words);
    expect([other.code, isOneLine(other.stderr)]).toEqual([4, true]);
    expect(other.stdout).not.toContain("occupancy");
    expect(other.stdout).toMatch(/\n1 file, 2 runs and 800 operations counted\n$/);
  });

  test.each([
    [["--html", "-"], /--html writes a file/],
    [["--html", "a.html", "--coverage"], /--html: not with --coverage/],
    [["--no-curves", "--allocators", "all"], /--no-curves: not with --allocators/],
  ])("%j is refused before anything runs", async (words, says) => {
    const { code, stderr } = await start(["stats", "base.jsonl", ...words]);
    expect([code, isOneLine(stderr)]).toEqual([2, true]);
    expect(stderr).toMatch(says);
  });
});

describe("show --html", () => {
  test("the trace is never written over, through a link either", async () => {
    symlinkSync("base.jsonl", join(folder, "link.jsonl"));
    const before = page("base.jsonl");
    for (const out of ["base.jsonl", "link.jsonl"]) {
      const { code, stderr } = await start(["show", "base.jsonl", "--html", out]);
      expect([code, isOneLine(stderr)]).toEqual([2, true]);
      expect(stderr).toContain("is the trace itself");
    }
    expect(page("base.jsonl")).toBe(before);
  });

  test("one side, beginning at --op", async () => {
    const words = ["show", "base.jsonl", "--html", "show.html", "--op", "321"];
    const { code, stdout } = await start(words);
    expect(code).toBe(0);
    expect(stdout).toBe("shown: 400 operations of run full+window+state/p16/seed-0\n");
    const html = page("show.html");
    expect(html).toContain('data-n="321"');
    expect(html).not.toContain('class="candidate"');
  });

  test("an implementation that does not answer as recorded is a finding", async () => {
    const words = ["show", "base.jsonl", "--html", "show.html", "--impl", planted];
    const { code, stdout } = await start(words, { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /page maps up to operation \d+: it does not answer operation \d+ as the trace does/,
    );
  });

  test("what says nothing beside it is refused", async () => {
    const { code, stderr } = await start(["show", "base.jsonl", "--html", "a.html", "--state"]);
    expect([code, isOneLine(stderr)]).toEqual([2, true]);
  });

  test("an unknown run and a heap have no page", async () => {
    const unknown = await start(["show", "base.jsonl", "--html", "a.html", "--run", "nobody"]);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain("holds no such run");
    expect(linesOf("base.jsonl").length).toBeGreaterThan(800);
  });
});
