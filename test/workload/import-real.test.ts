// The real allocator logs: what ../shared/data/README.md says of them, recounted.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openImport } from "../../src/workload/import.js";
import type { ImportCounts } from "../../src/workload/import.js";
import { describeUnless } from "../skip-aloud.js";
import { imported } from "./import-lines.js";

const DATA = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const missing = (folder: string): string | undefined =>
  existsSync(`${DATA}${folder}`) ? undefined : `../shared/data/${folder} is not here`;

/** The counts alone: no line is kept. */
async function countsOf(spec: string): Promise<ImportCounts> {
  const log = await openImport(spec);
  try {
    while ((await log.readBatch()).lines.length > 0);
    return log.counts();
  } finally {
    await log.close();
  }
}

describeUnless(missing("android"), "systemui", () => {
  test("786,454 calls, and every figure of the oracle", async () => {
    const counts = await countsOf(`${DATA}android/systemui.txt.gz`);
    expect(counts).toMatchObject({
      events: 786_454,
      live: 53_645,
      unknown: 0,
      facts: {
        threads: 393,
        peak_bytes: 10_441_709,
        peak_objects: 60_097,
        frees_by_another_thread: 39_466,
        address_reuses: 298_063,
      },
    });
    expect(counts.dropped["free of the null pointer"]).toBe(15_818);
  }, 120_000);
});

describeUnless(missing("minimalloc"), "minimalloc", () => {
  // lines of the table in the README, less the header
  test.each([
    ["A.1048576", 154],
    ["B.1048576", 170],
    ["C.1048576", 203],
    ["D.1048576", 213],
    ["E.1048576", 215],
    ["input.12", 5],
  ])("%s: %i buffers, each allocated and freed", async (name, buffers) => {
    const { counts } = await imported(`${DATA}minimalloc/${name}.csv`);
    expect(counts).toMatchObject({ operations: 2 * buffers, allocations: buffers, live: 0 });
    // what is known to fit is never asked for at once
    expect(counts.facts["peak_bytes"]).toBeLessThanOrEqual(Number(name.split(".")[1]));
  });
});

describeUnless(missing("pytorch-et"), "execution traces", () => {
  test.each(["linear_et", "resnet_et"])("%s is refused in one line", async (name) => {
    const file = `${DATA}pytorch-et/${name}.json.gz`;
    for (const spec of [file, `pytorch:${file}`, `pytorch-et:${file}`])
      await expect(imported(spec)).rejects.toThrow(/execution trace: .*no allocator events/);
  });
});
