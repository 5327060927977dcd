// A run that uses a name which nothing opens is invalid, whatever the candidate does with it.
import { expect, test } from "vitest";
import type { Adapter } from "../../src/adapter/adapter.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import type { CompareResult } from "../../src/tools/outcome.js";
import { OpenNames } from "../../src/trace/open-names.js";
import {
  at,
  FaultyAdapter,
  readLines,
  recorded,
  right,
  seeds,
  writeLines,
} from "./faulty-adapter.js";
import type { Line, Mistake } from "./faulty-adapter.js";

const trace = await recorded(seeds(0, 8));
const lines = readLines(trace);

function compare(of: readonly Line[], mistake: Mistake = right): Promise<CompareResult> {
  const start = async (): Promise<Adapter> => new FaultyAdapter(mistake);
  return compareTrace({ trace: writeLines(of), candidate: "planted", start });
}

/** A request that an operation of the first run names and that was granted. */
function renamed(n: number): Line[] {
  let isFirst = true;
  return lines.map((line) => {
    if (line.kind === "end") isFirst = false;
    if (!isFirst || line.kind !== "op" || line.n !== n) return line;
    return { ...line, args: { batch: [{ ...line.args.batch[0], req: "r77" }] } };
  });
}

const place = lines.findIndex(
  ({ kind, op, ok, args }) =>
    kind === "op" && op.startsWith("tokens.") && ok !== undefined && args.batch?.length === 1,
);
const n: number = lines[place]?.n;

test("a name that nothing opens makes the run invalid, not divergent", async () => {
  const result = await compare(renamed(n));
  expect(result.verdict).toBe("invalid");
  expect(result.runs[0]).toMatchObject({ verdict: "invalid", agreed: n, divergence: null });
  expect(result.runs[0]?.note).toContain("r77, which nothing opens");
});

test("so it does when the candidate breaks there", async () => {
  const crash = at(n, () => ({ kind: "crash", message: "planted" }));
  expect((await compare(renamed(n), crash)).runs[0]?.verdict).toBe("invalid");
});

test("no name of a recording dangles, unless its answer says so (law over seeds)", () => {
  let names = new OpenNames();
  let checked = 0;
  for (const { kind, op, args, err } of lines) {
    if (kind === "run") names = new OpenNames();
    if (kind !== "op") continue;
    if (err?.code !== "invalid") {
      expect(names.check({ op, args })?.kind).not.toBe("dangling");
      checked += 1;
    }
    names.note({ op, args }, err === undefined);
  }
  expect(checked).toBeGreaterThan(500);
});

test("a difference on names that are open stays a divergence", async () => {
  const result = await compare(
    lines,
    at(n, () => ({ err: { code: "refused_ids" } })),
  );
  expect(result.runs[0]).toMatchObject({ verdict: "divergent", divergence: { n } });
});
