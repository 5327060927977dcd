// Logs of another allocator, compared as they are: what differs is told once, whatever addresses and times say.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { compareText } from "../../src/report/compare-text.js";
import { compareJson } from "../../src/report/json.js";
import { PLAIN } from "../../src/report/palette.js";
import { compareFiles } from "../../src/tools/compare-files.js";
import type { CompareResult } from "../../src/tools/outcome.js";
import { describeUnless } from "../skip-aloud.js";
import { fixture, linesOf, logOf, writtenImport } from "../workload/import-lines.js";

const compare = (base: string, candidate: string): Promise<CompareResult> =>
  compareFiles({ base, candidate });
const textOf = (result: CompareResult): string[] =>
  compareText(result, { palette: PLAIN, verbose: false, trace: null }).split("\n");

const small = linesOf("events.replay");
// the same program on a build that makes a pool more, after the first six events, with two operations in it
const more = [
  ...small.slice(0, 7),
  '{"category":"operation","name":"make_allocator","numeric_args":{"introspection":1},"string_args":{"allocator_ref":"0x9000","arg0":"HOST","type":"N6umpire8strategy9FixedPoolE"},"tags":{"allocator_name":"fixed"},"timestamp":5}',
  '{"category":"operation","name":"allocate","numeric_args":{"size":8},"string_args":{"allocator_ref":"0x9000","pointer":"0x9100"},"tags":{},"timestamp":6}',
  '{"category":"operation","name":"deallocate","string_args":{"allocator_ref":"0x9000","pointer":"0x9100"},"tags":{},"timestamp":7}',
  ...small.slice(7),
];

test("a pool more: one block, its events and its cause in one line, both ways", async () => {
  const [there, back] = [
    await compare(logOf(small), logOf(more)),
    await compare(logOf(more), logOf(small)),
  ];
  expect([there.verdict, back.verdict]).toEqual(["divergent", "divergent"]);
  expect(there.runs[0]?.divergence?.kind).toBe("extra operation");
  expect(back.runs[0]?.divergence?.kind).toBe("missing operation");
  expect(textOf(there)).toContain(
    "    inserted  3 events at 6-8 of the candidate: the candidate makes one more allocator and its 2 operations",
  );
  expect(textOf(back)).toContain(
    "    removed   3 events at 6-8 of the base: the candidate lacks one allocator and its 2 operations",
  );
  expect(there.runs[0]?.alignment?.recovers).toEqual({ base: 5, candidate: 8 });
});

test("the same log on another machine is equal, with the trace that was imported from it too", async () => {
  const elsewhere = logOf(
    small.map((line) => line.replaceAll("0x", "0x77").replace(/"timestamp":\d+/, '"timestamp":1')),
  );
  expect((await compare(logOf(small), elsewhere)).verdict).toBe("equal");
  const written = await writtenImport(fixture("events.replay"));
  expect((await compare(`umpire:${logOf(small)}`, written)).verdict).toBe("equal");
  expect((await compare(written, elsewhere)).runs[0]?.alignment).toBeNull();
});

const data = fileURLToPath(new URL("../../../shared/data/umpire/", import.meta.url));
const missing = existsSync(data) ? undefined : "../shared/data is not here";

describeUnless(missing, "one program on two builds", () => {
  const host = `${data}output.replay`;
  const numa = `${data}output.numa.replay.gz`;

  test("two more allocators and their 12 operations, and nothing else", async () => {
    const result = await compare(host, numa);
    const { runs } = compareJson([result], null) as { runs: [{ alignment: { blocks: object[] } }] };
    expect(runs[0].alignment.blocks).toMatchObject([
      {
        kind: "inserted",
        candidate: { events: [166, 180] },
        operations: { base: 0, candidate: 14 },
        cause: 0,
      },
    ]);
    expect(textOf(result)).toContain(
      "    inserted  14 events at 166-179 of the candidate: the candidate makes two more allocators and their 12 operations",
    );
    expect(textOf(result).at(-1)).toContain("two more allocators and their 12 operations");
  });

  test("the other way round they are removed", async () => {
    const result = await compare(numa, host);
    expect(result.runs[0]?.alignment?.blocks).toMatchObject([
      { kind: "removed", base: { events: [166, 180] }, operations: { base: 14, candidate: 0 } },
    ]);
    expect(textOf(result)).toContain(
      "    removed   14 events at 166-179 of the base: the candidate lacks two allocators and their 12 operations",
    );
  });
});
