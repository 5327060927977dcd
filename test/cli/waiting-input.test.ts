// Inputs that make their reader wait (a pipe whose writer is slow or never comes) keep no signal from being handled.
import { execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { describeUnless } from "../skip-aloud.js";
import { folder, root, shell, start } from "./command-line.js";

function canMakePipes(): boolean {
  try {
    execFileSync("mkfifo", [join(folder, "probe")]);
    return true;
  } catch {
    return false;
  }
}

let pipes = 0;
function pipe(suffix: string): string {
  pipes += 1;
  const path = join(folder, `pipe${pipes}${suffix}`);
  execFileSync("mkfifo", [path]);
  return path;
}

/** Waits until somebody reads the pipe; the end that keeps it open. */
async function writerOf(path: string): Promise<number> {
  for (;;) {
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as { code?: string }).code !== "ENXIO") throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

describeUnless(canMakePipes() ? undefined : "no mkfifo on this machine", "a pipe", () => {
  const commands: readonly (readonly [string, string, (pipe: string) => readonly string[]])[] = [
    ["validate a trace", ".jsonl", (path) => ["validate", path]],
    ["validate a packed trace", ".jsonl.gz", (path) => ["validate", path]],
    ["validate a scenario", ".json", (path) => ["validate", path]],
    ["compare", ".jsonl", (path) => ["compare", "--trace", path]],
    ["replay", ".jsonl", (path) => ["replay", "--trace", path]],
    ["stats", ".jsonl", (path) => ["stats", path]],
    ["run", ".json", (path) => ["run", path]],
    ["run a workload", ".jsonl", (path) => ["run", "--workload", `mooncake:${path}`]],
    ["record a scenario", ".json", (path) => ["record", "--scenario", path, "--out", "no.jsonl"]],
    ["show", ".json", (path) => ["show", "--plan", path]],
  ];
  test.each(commands)("%s: an interrupt ends the wait", async (_, suffix, words) => {
    const path = pipe(suffix);
    let writer: number | null = null;
    let asked = 0;
    const { code, stderr } = await start(words(path), {
      onStart: async (kill) => {
        writer = await writerOf(path);
        asked = Date.now();
        kill("SIGINT");
      },
    });
    const waited = Date.now() - asked;
    if (writer !== null) closeSync(writer);
    expect(code).toBe(130);
    expect(stderr).toMatch(/interrupted/);
    expect(waited).toBeLessThan(5000); // far less than for ever, on a busy machine too
    expect(existsSync(join(folder, "no.jsonl"))).toBe(false);
  });

  test("whose writer comes late is read to its end", async () => {
    const made = await start(["record", "--seeds", "0:1", "--ops", "40", "--out", "late.jsonl"]);
    expect(made.code).toBe(0);
    for (const [suffix, pack] of [
      [".jsonl", "cat"],
      [".jsonl.gz", "gzip -c"],
    ] as const) {
      const path = pipe(suffix);
      const { code, stdout } = await shell(
        `(sleep 0.5; ${pack} late.jsonl > ${path}) & ut validate ${path}`,
      );
      expect([code, stdout]).toEqual([0, expect.stringContaining("2 runs and 80 operations")]);
    }
  });

  test("of a scenario, a configuration, requests, a trace is read like a file", async () => {
    const scenario = join(root, "scenarios", "state_slots_exhausted.json");
    const run = await shell(`ut run <(cat ${scenario}) --config full+state/p1`);
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining("10 operations")]);
    const config = {
      ...{ page_size: 4, arena_bytes: 4096, rows: 4, row_tokens: 64 },
      sub_pools: [{ name: "full", kind: "mha", unit_bytes: 16 }],
    };
    writeFileSync(join(folder, "plan.json"), JSON.stringify(config));
    expect((await shell("ut show --plan <(cat plan.json)")).code).toBe(0);
    const row = '{"timestamp":0,"input_length":1,"output_length":2,"hash_ids":[7]}\n';
    writeFileSync(join(folder, "requests.jsonl.gz"), gzipSync(row));
    expect((await shell("ut run --workload mooncake:<(gunzip -c requests.jsonl.gz)")).code).toBe(0);
    expect((await shell("ut compare --trace <(cat late.jsonl)")).code).toBe(0);
  });

  test("in a folder of scenarios is refused, for nobody named it", async () => {
    execFileSync("mkdir", [join(folder, "piped")]);
    execFileSync("mkfifo", [join(folder, "piped", "one.json")]);
    const { code, stderr } = await start(["run", "piped"]);
    expect([code, stderr]).toEqual([3, expect.stringContaining("is no plain file")]);
  });
});

describe("an interrupt", () => {
  test("ends a wait for standard input", async () => {
    const { code } = await start(["validate", "-"], {
      isStdinOpen: true,
      signalAfterMs: ["SIGTERM", 2500],
    });
    expect(code).toBe(143);
  });
});

describeUnless(existsSync("/dev/zero") ? undefined : "no /dev/zero here", "a device", () => {
  test("without an end meets the limit of a line, or of a file", async () => {
    for (const words of [
      ["validate", "/dev/zero"],
      ["run", "/dev/zero"],
      ["record", "--workload", "mooncake:/dev/zero", "--out", "no.jsonl"],
    ]) {
      const { code, stderr } = await start(words);
      expect([code, stderr]).toEqual([3, expect.stringMatching(/longer than 67108864 bytes/)]);
    }
  });
});
