// The table of commands as it was promised to users: each is there, no other is, and each has its flags in its help, an
// answer with its numbers, and the exit code of a wrong call.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { file, isOneLine, root, start } from "./command-line.js";

interface Row {
  readonly command: string;
  readonly flags: readonly string[];
  readonly words: readonly string[]; // a call that works
  readonly answer: RegExp; // of its last line
}

const lifetimes = file("lifetimes.csv", "id,lower,upper,size\n0,0,5,100\n1,2,9,3000\n");
const lifo = `module:${join(root, "examples", "lifo-holes.mjs")}`;
const counts = /\b1 run\b.*\b40 operations\b/;

const ROWS: readonly Row[] = [
  {
    command: "record",
    flags: [
      "seeds",
      "ops",
      "page-sizes",
      "layouts",
      "scenario",
      "workload",
      "limit",
      "prefix-sharing",
    ]
      .concat(["host-cache", "checkpoint", "config", "impl", "out", "digest", "state", "stamp"])
      .concat(["crash-safe", "last"]),
    words: ["--seeds", "0:1", "--ops", "40", "--layouts", "full+window", "--out", "own.jsonl"],
    answer: counts,
  },
  {
    command: "compare",
    flags: [
      "trace",
      "candidate",
      "candidates",
      "mode",
      "run",
      "first",
      "keep-going",
      "double",
      "mask",
    ]
      .concat(["baseline", "bisect", "jobs", "shard", "time-budget", "time", "skip-unsupported"])
      .concat(["junit", "github", "markdown", "html", "report", "json", "last"]),
    words: ["--trace", "base.jsonl", "--candidate", "self:none"],
    answer: counts,
  },
  {
    command: "replay",
    flags: ["trace", "impl", "run", "to", "from-state", "repeat", "time", "json"],
    words: ["--trace", "base.jsonl", "--to", "39"],
    answer: counts,
  },
  {
    command: "run",
    flags: [
      "impl",
      "junit",
      "github",
      "markdown",
      "workload",
      "config",
      "jobs",
      "shard",
      "time-budget",
      "coverage",
      "floor",
    ].concat(["html"]),
    words: [join(root, "scenarios", "boot_floor_met_exactly.json")],
    answer: /^passed: 1 of 1 run passed, \d+ operations?$/,
  },
  {
    command: "validate",
    flags: ["accept-truncated", "lenient", "max-line", "json"],
    words: ["base.jsonl"],
    answer: counts,
  },
  {
    command: "audit",
    flags: ["run", "json"],
    words: ["base.jsonl"],
    answer: counts,
  },
  {
    command: "shrink",
    flags: ["out", "run", "candidate", "time-budget", "jobs"],
    words: ["diverges.jsonl", "--candidate", lifo, "--out", "case.json"],
    answer: /operations/,
  },
  {
    command: "stress",
    flags: [
      "seeds",
      "ops",
      "layouts",
      "page-sizes",
      "profile",
      "device",
      "replay",
      "minimize",
      "out",
    ].concat(["jobs", "shard", "time-budget", "junit", "github", "markdown", "html", "report"]),
    words: ["--seeds", "0:1", "--ops", "20", "--layouts", "full+window", "--no-scenarios"],
    answer: /^passed: 1 run and \d+ operations on 2 ranks/,
  },
  {
    command: "metamorph",
    flags: ["trace", "impl", "run", "rewrite", "seeds", "jobs", "shard", "time-budget"],
    words: ["--trace", "base.jsonl", "--rewrite", "names"],
    answer: /1 run.*operations/,
  },
  {
    command: "sweep",
    flags: ["trace", "key", "impl", "run", "json"],
    words: ["--trace", "base.jsonl", "--key", "rows=4:8:4"],
    answer: /runs? and .*operations? replayed/,
  },
  {
    command: "bisect",
    flags: ["trace", "good", "bad", "key", "json"],
    words: ["--trace", "diverges.jsonl", "--key", "rows=16:1"],
    answer: /^found: \d+ values tested, .* \d+ runs and [\d,]+ operations compared$/,
  },
  {
    command: "show",
    flags: ["plan", "run", "op", "step", "impl", "candidate", "break", "json"],
    words: ["base.jsonl", "--op", "3"],
    answer: /operation/,
  },
  {
    command: "stats",
    flags: ["coverage", "floor", "run", "allocators", "html", "no-curves", "json"],
    words: ["base.jsonl"],
    answer: /\b1 run\b/,
  },
  {
    command: "import",
    flags: ["out", "time", "json"],
    words: [`minimalloc:${lifetimes}`, "--out", "imported.jsonl"],
    answer: /^imported imported\.jsonl: 1 run, 4 operations/,
  },
  {
    command: "edit",
    flags: ["out", "filter", "cut", "substitute", "merge", "json"],
    words: ["base.jsonl", "--cut", "30:40", "--out", "edited.jsonl"],
    answer: /^edited edited\.jsonl: 1 run, 3\d operations$/,
  },
  {
    command: "bundle",
    flags: ["trace", "report", "out", "anonymize", "json"],
    words: ["--trace", "base.jsonl", "--out", "bundle.jsonl.gz"],
    answer: counts,
  },
  {
    command: "convert",
    flags: ["out", "to", "recover", "json"],
    words: ["base.jsonl", "--out", "base.jsonl.gz"],
    answer: counts,
  },
  {
    command: "anonymize",
    flags: ["out", "salt", "json"],
    words: ["base.jsonl", "--out", "anonymous.jsonl"],
    answer: /1 run/,
  },
  {
    command: "serve",
    flags: [],
    words: [],
    answer: /^\{"hello":\{"protocol":1,/,
  },
  {
    command: "conformance",
    flags: ["ops", "rate", "json"],
    words: [lifo, "--ops", "200"],
    answer: /checks?/,
  },
  {
    command: "doctor",
    flags: ["self-test", "json"],
    words: [],
    answer: /^ready: /,
  },
];

beforeAll(async () => {
  const words = ["record", "--seeds", "0:1", "--layouts", "full+window"];
  expect((await start([...words, "--ops", "40", "--out", "base.jsonl"])).code).toBe(0);
  expect((await start([...words, "--ops", "120", "--out", "diverges.jsonl"])).code).toBe(0);
});

test("--help lists exactly these commands", async () => {
  const { stdout } = await start(["--help"]);
  const list = stdout.slice(stdout.indexOf("\nCommands:"), stdout.indexOf("\nExamples:"));
  const names = [...list.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
  expect(names.toSorted()).toEqual([...ROWS.map(({ command }) => command), "help"].toSorted());
});

describe.concurrent.each(ROWS)("$command", ({ command, flags, words, answer }) => {
  test("its help has the promised flags and examples", async () => {
    const { stdout, code: exit } = await start([command, "--help"]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^Examples:$/m);
    const missing = flags.filter(
      (flag) => !new RegExp(`^ {2,}(-\\w, )?--${flag}\\b`, "m").test(stdout),
    );
    expect(missing).toEqual([]);
  });

  test("its answer ends with what it looked at", async () => {
    const {
      stdout,
      stderr,
      code: exit,
    } = await start([command, ...words], {
      stdin: command === "serve" ? '{"hello":{"protocol":1,"tool":"test","version":"1"}}\n' : "",
    });
    expect([exit, exit === 0 ? "" : stderr]).toEqual([0, ""]);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(answer);
  });

  test("a flag that it does not have is wrong usage, in one line", async () => {
    const { stdout, stderr, code: exit } = await start([command, "--no-such-flag"]);
    expect([exit, stdout, isOneLine(stderr)]).toEqual([2, "", true]);
  });
});
