// The heap of this machine as an implementation: it answers a log as the log was answered, and a limit is kept.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAdapter } from "../../src/adapter/open-adapter.js";
import { transportTo } from "../../src/adapter/open-transport.js";
import { Prng } from "../../src/base/prng.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import { testConformance } from "../../src/tools/conformance/conformance.js";
import { importLog } from "../../src/tools/import-log.js";
import { replayTrace } from "../../src/tools/replay.js";
import { createTraceWriter } from "../../src/trace/writer.js";
import { openImport } from "../../src/workload/import.js";
import { describeUnless } from "../skip-aloud.js";

const folder = mkdtempSync(join(tmpdir(), "ut-system-heap-"));
const program = join(folder, "system_heap");
const command = `cmd:"${program}"`;
const compiler = ["c++", "g++", "clang++"].find(
  (name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0,
);

beforeAll(() => {
  if (compiler === undefined) return;
  const source = fileURLToPath(new URL("../../examples/kits/cpp/system_heap.cpp", import.meta.url));
  const flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
  const made = spawnSync(compiler, [...flags, "-o", program, source], { encoding: "utf8" });
  expect([made.status, made.stderr]).toEqual([0, ""]);
}, 120_000);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The calls of one seed as a trace; sizes up to 4,000 bytes, addresses used again. */
async function traced(seed: number, arenaBytes?: number): Promise<string> {
  const prng = new Prng(seed, 9);
  const lines = ["op,ptr,size,old,align"];
  const live: number[] = [];
  let next = 0;
  for (let call = 0; call < 600; call++) {
    const size = prng.below(4000);
    if (live.length > 0 && prng.chance(2, 5)) {
      const [at] = live.splice(prng.below(live.length), 1);
      lines.push(`free,0x${at!.toString(16)},0,,`);
    } else if (live.length > 0 && prng.chance(1, 4)) {
      const at = `0x${prng.pick(live).toString(16)}`;
      lines.push(`realloc,${at},${Math.max(1, size)},${at},`);
    } else {
      live.push((next += 1));
      const align = prng.chance(1, 5)
        ? `memalign,0x${next.toString(16)},${size},,${2 ** prng.below(10)}`
        : "";
      lines.push(align === "" ? `malloc,0x${next.toString(16)},${size},,` : align);
    }
  }
  const log = join(folder, `calls${seed}.csv`);
  writeFileSync(log, `${lines.join("\n")}\n`);
  const trace = join(folder, `calls${seed}.jsonl`);
  const writer = createTraceWriter(trace);
  const reader = await openImport(
    `malloc-csv:${log}`,
    arenaBytes === undefined ? {} : { arenaBytes },
  );
  await importLog({ log: reader, writer });
  await reader.close();
  writer.commit();
  return trace;
}

const start = (): ReturnType<typeof openAdapter> => openAdapter(command);

describeUnless(compiler === undefined ? "no C++ compiler" : undefined, "the system's heap", () => {
  test.each([1, 2, 3])(
    "grants what the log was granted, and no object loses its ends (seed %i)",
    async (seed) => {
      const trace = await traced(seed);
      const { verdict, operations } = await compareTrace({
        ...{ trace, candidate: command, start, mode: "decisions" },
      });
      expect([verdict, operations]).toEqual(["agree", 600]);
    },
  );

  test("a limit refuses what would pass it, and goes on", async () => {
    const trace = await traced(4, 20_000);
    const { refusals, violations, operations } = await replayTrace({ trace, start });
    expect([violations.length, operations]).toEqual([0, 600]);
    expect(refusals).toBeGreaterThan(10);
  });

  test("conforms", async () => {
    const result = await testConformance({
      make: await transportTo(command),
      waits: { answerMs: 60_000, startMs: 60_000 },
      toolVersion: "1",
    });
    expect(result.checks.filter(({ verdict }) => verdict === "failed")).toEqual([]);
  });
});
