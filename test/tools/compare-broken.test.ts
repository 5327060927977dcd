// What is claimed of a candidate that broke: nothing about an answer or a state that it never gave.
import { describe, expect, test } from "vitest";
import type { Adapter, AdapterFailure } from "../../src/adapter/adapter.js";
import { compareText } from "../../src/report/compare-text.js";
import { compareJson } from "../../src/report/json.js";
import { PLAIN } from "../../src/report/palette.js";
import { compareFiles } from "../../src/tools/compare-files.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import type { CompareResult } from "../../src/tools/outcome.js";
import {
  at,
  FaultyAdapter,
  readLines,
  recorded,
  right,
  seeds,
  writeLines,
} from "./faulty-adapter.js";

const trace = await recorded(seeds(0, 1));
const lines = readLines(trace);
const count = lines.filter(({ kind }) => kind === "op").length;
const text = (result: CompareResult): string =>
  compareText(result, { palette: PLAIN, verbose: false, trace: null });

function claimsNoState(result: CompareResult): void {
  const found = result.runs[0]?.divergence;
  expect(found).toMatchObject({ agreeing: [], components: [], cause: null });
  expect(text(result)).not.toContain("state after it");
  expect(JSON.parse(JSON.stringify(compareJson([result], null)))).toMatchObject({
    runs: [{ divergence: { agreeing_components: [], component: null } }],
  });
}

describe("an operation without an answer", () => {
  for (const kind of ["crash", "hang", "protocol", "invariant"] as const) {
    test(`${kind}: what agreed before it, and no state after it`, async () => {
      const start = async (): Promise<Adapter> =>
        new FaultyAdapter(at(30, () => ({ kind, message: "planted" })));
      const result = await compareTrace({ trace, candidate: "planted", start });
      expect(result.runs[0]).toMatchObject({ agreed: 30, divergence: { n: 30, kind } });
      expect(result.operations).toBe(31);
      claimsNoState(result);
      if (kind !== "hang") expect(text(result)).toContain("the candidate gives no more answers");
      expect(text(result)).not.toMatch(/-1|weaker modes/);
      expect(text(result)).toContain("agreed before  all 30 operations before it");
    });
  }

  test("missing and extra operations", async () => {
    const less = writeLines(
      lines
        .filter(({ kind, n }) => kind !== "op" || n !== 30)
        .map((line) => (line.kind === "op" && line.n > 30 ? { ...line, n: line.n - 1 } : line))
        .map((line) => (line.kind === "end" ? { ...line, ops: line.ops - 1 } : line)),
    );
    const [missing, extra] = [
      await compareFiles({ base: trace, candidate: less }),
      await compareFiles({ base: less, candidate: trace }),
    ];
    expect(missing.runs[0]?.divergence).toMatchObject({ n: 30, kind: "missing operation" });
    expect(extra.runs[0]?.divergence).toMatchObject({ n: 30, kind: "extra operation" });
    for (const result of [missing, extra]) {
      claimsNoState(result);
      expect(text(result)).not.toContain("in this operation:");
    }
  });
});

test("a crash at the end of a run stands after the last operation, which agreed", async () => {
  const failure: AdapterFailure = { kind: "crash", message: "planted" };
  const start = async (): Promise<Adapter> => {
    const adapter = new FaultyAdapter(right);
    adapter.close = async () => ({ digest: null, failure });
    return adapter;
  };
  const result = await compareTrace({ trace, candidate: "planted", start });
  expect(result.operations).toBe(count);
  expect(result.runs[0]).toMatchObject({ agreed: count, operations: count });
  const found = result.runs[0]?.divergence;
  expect(found).toMatchObject({ n: count - 1, place: "after", base: null, candidate: null });
  claimsNoState(result);
  expect(text(result)).toContain(`after the last operation, ${count - 1}`);
  expect(text(result)).not.toContain(`operation ${count - 1}:`);
  expect(text(result)).not.toContain(`at operation ${count - 1}`);
});
