// One run, line by line: from which operation on a run counts as recorded without digests.
import { expect, test } from "vitest";
import { RunComparer } from "../../src/tools/compare-run.js";

const PARTS = { fx: true, digest: true } as const;
const BOOT = { bands: {}, sink_bytes: 0 } as const;
const flush = { op: "chain.flush", args: {}, ok: { full: { moves: [], absorbed: 0 } } } as const;

test("operation 0 without a digest: the run has none", () => {
  const run = new RunComparer("r", PARTS, 5);
  expect(run.compare({ n: 0, op: "boot", args: {}, ok: BOOT }, { ok: BOOT })).toBe(true);
  expect(run.compare({ n: 1, ...flush }, { ok: flush.ok, digest: { full: "1".repeat(16) } })).toBe(
    true,
  );
});

test("a run that goes on from a state begins with an operation that changed nothing: digests still count", () => {
  const run = new RunComparer("r", PARTS, 5);
  expect(run.compare({ n: 7, ...flush }, { ok: flush.ok })).toBe(true);
  const digests = ["1", "2"].map((digit) => ({ full: digit.repeat(16) }));
  const line = { n: 8, ...flush, digest: digests[0]! };
  expect(run.compare(line, { ok: flush.ok, digest: digests[1]! })).toBe(false);
  expect(run.divergence).toMatchObject({ n: 8, kind: "state" });
});
