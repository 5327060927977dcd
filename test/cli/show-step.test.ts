// `show --step` after commands from a pipe: what they show, how they end, what is refused.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { isOneLine, type Outcome, root, start } from "./command-line.js";

const TRACE = "steps.jsonl";
const LIFO = `module:${join(root, "examples", "lifo-holes.mjs")}`;
const LAST = 99;

const step = (commands: string, ...words: readonly string[]): Promise<Outcome> =>
  start(["show", TRACE, "--step", ...words], { stdin: commands });
/** The operations that were shown, in order. */
const shown = ({ stdout }: Outcome): number[] =>
  [...stdout.matchAll(/^run .*, operation (\d+): /gm)].map(([, n]) => Number(n));
const stops = ({ stdout }: Outcome): string[] =>
  [...stdout.matchAll(/^stopped at operation (.*)$/gm)].map(([, text]) => text!);

beforeAll(async () => {
  const words = ["record", "--seeds", "0:1", "--ops", "100", "--layouts", "full+window"];
  expect((await start([...words, "--out", TRACE])).code).toBe(0);
});

describe.concurrent("commands", () => {
  test("next, previous, go, map; an empty line goes on as before; the end of input ends the walk", async () => {
    const outcome = await step("next\nn 3\n\np\nprevious 2\n\ngo 40\nm\ng 99\nn\nj 0\np\n");
    expect(shown(outcome)).toEqual([0, 1, 4, 7, 6, 4, 2, 40, 40, 99, 0]);
    expect(outcome.stdout).toMatch(/^the run ends here$/m);
    expect(outcome.stdout).toMatch(/^the run begins here$/m);
    expect(outcome.stdout.trimEnd().split("\n").at(-1)).toBe(
      "walked: run full+window/p16/seed-0, operation 0 of 0 to 99; 11 operations shown",
    );
    expect([outcome.code, outcome.stderr]).toEqual([0, ""]);
  });

  test("what a step shows is what --op shows, forwards and back", async () => {
    const walked = await step("g 60\ng 20\n");
    for (const n of ["60", "20"]) {
      const { stdout } = await start(["show", TRACE, "--op", n]);
      const lines = stdout.trimEnd().split("\n").slice(0, -1);
      const from = lines.findIndex((line) => line.startsWith("  state  "));
      const map = lines.findIndex((line) => line.startsWith("arena"));
      const body = [...lines.slice(0, from), ...lines.slice(map - 1)].join("\n");
      expect(walked.stdout).toContain(body);
    }
  });

  test("breakpoints: given as flags and as commands, listed, taken away", async () => {
    const flags = ["--break", "op=forward.launch", "--break", "request=r2"];
    const outcome = await step("breaks\nd 2\nc\nb refused\nc\nd 1\nd 1\nc\n", ...flags);
    expect(outcome.stdout).toContain("  1  op=forward.launch\n  2  request=r2\n");
    expect(outcome.stdout).toContain("  1  op=forward.launch\n  2  refused\n");
    expect(outcome.stdout).toMatch(/^no breakpoints$/m);
    const [first, second, third] = stops(outcome);
    expect(first).toMatch(/^\d+: breakpoint op=forward.launch$/);
    expect(second).toMatch(/^\d+: breakpoint (op=forward.launch|refused)$/);
    expect(third).toBe(`${String(LAST)}: the end of the run`);
    expect(outcome.code).toBe(0);
  });

  test("a number of the state: it stops where it becomes true", async () => {
    const outcome = await step("c\nq\n", "--break", "state=full.live>=5");
    const [, n] = shown(outcome);
    const counts = /live (\d+) \(before (\d+)\)/g;
    const full = outcome.stdout.slice(outcome.stdout.lastIndexOf("  full  grows down"));
    const [live = 0, before = 0] = [...full.matchAll(counts)][0]?.slice(1).map(Number) ?? [];
    expect(n).toBeGreaterThan(0);
    expect([live >= 5, before < 5]).toEqual([true, true]);
  });

  test("two sides: on to the first operation that differs", async () => {
    const outcome = await step("c\n", "--candidate", LIFO, "--break", "differs");
    const compared = await start(["compare", "--trace", TRACE, "--candidate", LIFO, "--json"]);
    const { first } = JSON.parse(compared.stdout) as { first: { n: number } };
    expect(stops(outcome)).toEqual([`${String(first.n)}: breakpoint differs`]);
    expect(outcome.stdout).toMatch(/^candidate \(module:/m);
    expect(outcome.code).toBe(0);
  });

  test("list, state, help and quit; nothing behind quit is read", async () => {
    const outcome = await step("go 50\nl 2\ns\nhelp\nq\nrubbish\n");
    const listed = [...outcome.stdout.matchAll(/^([> ]) {5}(\d\d) {2}\w/gm)];
    expect(listed.map(([, mark, n]) => `${mark!}${n!}`)).toEqual([
      " 48",
      " 49",
      ">50",
      " 51",
      " 52",
    ]);
    expect(outcome.stdout).toMatch(/^rows\./m);
    expect(outcome.stdout).toContain("c, continue       on to the next breakpoint");
    expect(outcome.code).toBe(0);
  });

  test("--op begins there, and no commands at all show one operation", async () => {
    const outcome = await step("", "--op", "12");
    expect([shown(outcome), outcome.code]).toEqual([[12], 0]);
  });
});

describe.concurrent("refusals", () => {
  test.each([
    ["nxt\n", /line 1: unknown command 'nxt': did you mean next\?/],
    ["n\n\ng 100\n", /line 3: go 100: run .* holds operations 0 to 99/],
    ["g\n", /line 1: go : expected a whole number/],
    ["n x\n", /line 1: next x: expected a whole number/],
    ["b op=tokens.extnd\n", /line 1: breakpoint op=tokens.extnd: .*did you mean tokens.extend\?/],
    ["d 1\n", /line 1: delete 1: no such breakpoint/],
    ["c 3\n", /line 1: continue takes nothing/],
    ["\u001b[31m\n", /line 1: unknown command '\\u001b/],
  ])("a wrong command ends a walk that comes from a pipe: %j", async (commands, message) => {
    const { code, stderr } = await step(commands);
    expect(stderr).toMatch(message);
    expect([code, isOneLine(stderr)]).toEqual([2, true]);
  });

  test.each([
    [["--break", "op=nothing"], /breakpoint op=nothing/],
    [["--break", "differs"], /needs --candidate/],
    [["--op", "100"], /--op 100: run .* holds operations 0 to 99/],
    [["--from", "3"], /--from/],
    [["--json"], /--op N --json/],
    [["--run", "full+window/p16/seed-1"], /did you mean/],
  ])("flags: %j", async (words, message) => {
    const { code, stdout, stderr } = await step("n\n", ...words);
    expect(`${stdout}${stderr}`).toMatch(message);
    expect(code).toBe(2);
  });

  test("--break without --step, and a trace from standard input", async () => {
    const loose = await start(["show", TRACE, "--break", "refused"]);
    expect([loose.code, loose.stderr]).toEqual([
      2,
      expect.stringMatching(/--break is about --step/),
    ]);
    const piped = await start(["show", "-", "--step"], { stdin: "n\n" });
    expect([piped.code, piped.stderr]).toEqual([2, expect.stringMatching(/name a file/)]);
  });

  test("an interrupt while it waits: 130, told in one line", async () => {
    // some while it starts, some while it waits
    for (const after of [3000, 6000]) {
      const outcome = await start(["show", TRACE, "--step"], {
        isStdinOpen: true,
        signalAfterMs: ["SIGINT", after],
      });
      expect(outcome.code).toBe(130);
      expect(isOneLine(outcome.stderr)).toBe(true);
    }
  });
});
