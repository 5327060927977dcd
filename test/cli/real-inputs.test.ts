// Real inputs through the command line: what is said aloud, what is refused in one line, and how much memory it takes.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { describeUnless } from "../skip-aloud.js";
import { bin, file, folder, isOneLine, start } from "./command-line.js";

const AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,48,10\n";

describe.concurrent("request traces", () => {
  test("what is made up is said, and stands on the run line", async () => {
    const trace = file("azure.csv", AZURE);
    const words = ["--workload", `azure-llm:${trace}`, "--layouts", "full+window"];
    const { code, stdout, stderr } = await start(["record", ...words, "--out", "-"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/azure-llm: 1 row: 1 request\n/);
    expect(stderr).toMatch(
      /azure-llm: made up: no prefix identity in the file: every request is fresh/,
    );
    const run = stdout.split("\n").find((line) => line.startsWith('{"kind":"run"')) ?? "{}";
    expect(JSON.parse(run)).toMatchObject({
      source: { type: "workload", name: "azure-llm", invented: "prefix_identity", requests: 1 },
    });
  });

  test("a wrong row is one line with file, line and field; exit 3", async () => {
    const trace = file("bad.csv", `${AZURE}2023-11-16 18:17:04,x,1\n`);
    const words = ["run", "--workload", `azure-llm:${trace}`];
    const { code, stdout, stderr } = await start(words);
    expect([code, stdout, isOneLine(stderr)]).toEqual([3, "", true]);
    expect(stderr).toContain(`${trace}:3: ContextTokens must be a whole number of at least 0`);
    const { stdout: json } = await start([...words, "--json"]);
    expect(JSON.parse(json)["error"]).toMatchObject({
      ...{ code: "input_format", file: trace, line: 3, path: "/ContextTokens" },
      expected: "a whole number of at least 0 and below 2^53",
    });
  });

  test("--columns reads any table, and goes with nothing else", async () => {
    const trace = file("mine.csv", "when,prompt,answer\n0.5,10,3\n0.75,20,4\n");
    const map = ["--columns", "arrival=when:s,input=prompt,output=answer"];
    const good = await start(["run", "--workload", `csv:${trace}`, ...map]);
    expect([good.code, good.stdout]).toEqual([0, expect.stringMatching(/served +4\n/)]); // on two layouts
    expect((await start(["run", "--workload", "synthetic", ...map])).code).toBe(2);
    expect((await start(["run", ...map])).stderr).toMatch(/--columns goes with --workload/);
  });
});

describe.concurrent("allocator logs", () => {
  test("an execution trace is refused in one line that says why", async () => {
    const trace = file("et.json", '{"schema":"1.0.1","nodes":[{"name":"aten::add"}]}\n');
    for (const spec of [trace, `pytorch-et:${trace}`, `pytorch:${trace}`]) {
      const { code, stderr } = await start(["import", spec, "--out", join(folder, "et.jsonl")]);
      expect([code, isOneLine(stderr)]).toEqual([3, true]);
      expect(stderr).toMatch(
        /execution trace: it holds operators and tensors, no allocator events/,
      );
    }
  });

  test("the table of allocators, and a wrong name", async () => {
    const rows = "id,lower,upper,size\na,0,4,512\nb,2,6,512\nc,4,9,256\n";
    const buffers = file("buffers.csv", rows);
    const words = ["stats", buffers, "--allocators", "all", "--arena-bytes"];
    const { code, stdout } = await start([...words, "1k"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/first-fit +1,024 +yes +0 +1,024 +1,024 +0\.0 %/);
    expect(stdout).toMatch(/fits 4 of 4; 1 run and 24 operations asked\n$/);
    expect((await start([...words, "768"])).stdout).toMatch(/fits 0 of 4; /);
    const wrong = await start(["stats", buffers, "--allocators", "frist-fit"]);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringMatching(/did you mean first-fit/),
    ]);
  });
});

const DATA = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const MOST_MIB = 256;

/** Peak of the resident memory of a command, in MiB. */
function peakOf(words: readonly string[]): number {
  const script = `process.argv.splice(1, 0, "ut");
    process.on("exit", () => console.error("peak " + process.resourceUsage().maxRSS));
    await import(${JSON.stringify(`file://${bin}`)});`;
  const args = ["--input-type=module", "-e", script, "--", ...words];
  const { stderr, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  expect(status).toBe(0);
  return Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024;
}

describeUnless(existsSync(DATA) ? undefined : "../shared/data is not here", "memory", () => {
  test.each([
    [
      "import",
      `android:${DATA}android/systemui.txt.gz`,
      "--out",
      join(folder, "systemui.jsonl.gz"),
    ],
    // sessions are read whole, whatever the limit
    ["run", "--workload", `kv-cache-tester:${DATA}kv-cache-tester/sessions.jsonl.gz`].concat([
      ...["--limit", "20", "--layouts", "full+window"],
    ]),
  ])(
    `%s %s stays below ${MOST_MIB} MiB`,
    (...words) => {
      expect(peakOf(words)).toBeLessThan(MOST_MIB);
    },
    120_000,
  );
});
