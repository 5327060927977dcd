// The page as a file: nothing of a trace becomes markup or script, nothing is asked for outside it, the summary names what
// a reader needs, and long or large runs say what they leave out.
import { describe, expect, test } from "vitest";
import { inflateRawSync } from "node:zlib";
import type { Adapter } from "../../../src/adapter/adapter.js";
import type { Answer } from "../../../src/base/operations.js";
import { htmlPage } from "../../../src/report/html/page.js";
import type { PageReport } from "../../../src/report/html/page-report.js";
import { parseQuery, search } from "../../../src/report/html/shared/search.js";
import { unpack, type Unpacked } from "../../../src/report/html/shared/unpack.js";
import { compareTrace } from "../../../src/tools/compare-trace.js";
import type { CompareResult } from "../../../src/tools/outcome.js";
import { collectView } from "../../../src/tools/view/collect.js";
import type { ViewData } from "../../../src/tools/view/view-data.js";
import {
  at,
  FaultyAdapter,
  type Line,
  type Mistake,
  readLines,
  recorded,
  right,
  seeds,
  writeLines,
} from "../../tools/faulty-adapter.js";
import { expectOwnPolicy } from "./policy.js";

const HOSTILE = `</script><script>window.hostile=1</script>"'&<img src=x onerror=hostile()>\u2028`;
const trace = await recorded(seeds(0, 1, 300));
const lines = readLines(trace);
const N: number = lines.find(({ n, op, ok }) => n > 100 && op === "tokens.extend" && ok).n;

const adapter = (mistake: Mistake) => async (): Promise<Adapter> => new FaultyAdapter(mistake);

function otherPages(answer: Answer): Answer {
  const { ok } = answer as Line; // an answer of no operation
  return { ...answer, ok: { ...ok, pages: { [HOSTILE]: {} } } };
}

async function compared(mistake: Mistake, path = trace): Promise<CompareResult> {
  const base = { spec: "self", start: adapter(right) };
  const candidate = "module:planted.mjs";
  return compareTrace({ trace: path, candidate, start: adapter(mistake), base });
}

async function viewOf(mistake: Mistake, path = trace, framesMax?: number): Promise<ViewData> {
  return collectView({
    trace: path,
    run: null,
    base: { spec: "self", start: adapter(right) },
    candidate: {
      kind: "implementation",
      implementation: { spec: HOSTILE, start: adapter(mistake) },
    },
    divergence: N,
    focus: [],
    ...(framesMax === undefined ? {} : { framesMax }),
  });
}

function reportOf(result: CompareResult): PageReport {
  const comparison = result.runs[0]!;
  const told = { mode: result.mode, text: `line one\n${HOSTILE}`, reproduce: HOSTILE };
  return { command: "compare", comparison, notes: [HOSTILE], ...told };
}

/** The data of a page, read as its own script reads it. */
function dataOf(html: string): Unpacked {
  const base64 = /<script type="application\/octet-stream" id="data">([\w+/=]*)<\/script>/.exec(
    html,
  )![1]!;
  return unpack(new Uint8Array(inflateRawSync(Buffer.from(base64, "base64"))));
}

const result = await compared(at(N, otherPages));
const { html } = htmlPage(await viewOf(at(N, otherPages)), reportOf(result));

describe("hostile texts", () => {
  test("the page holds two scripts, its data and its own, and none of a trace", () => {
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html.match(/<\/script/g)).toHaveLength(2);
    expect(html).not.toContain("<img");
    expect(html).not.toContain("\u2028");
    expect(html).toContain("&lt;/script&gt;&lt;script&gt;window.hostile=1");
  });

  test("a run, a request and a refusal with such names", async () => {
    const text = readLines(trace)
      .map((line: Line) => JSON.stringify(line))
      .join("\n");
    const renamed = text.replaceAll('"r1"', JSON.stringify(HOSTILE.slice(0, 60)));
    const hostile = writeLines(renamed.split("\n").map((line) => JSON.parse(line)));
    const view = await viewOf(right, hostile).catch(() => null); // a reader may refuse such a name
    if (view !== null) {
      const page = htmlPage({ ...view, run: HOSTILE }, { ...reportOf(result), comparison: null });
      expect(page.html.match(/<script/g)).toHaveLength(2);
    }
    const named = htmlPage(
      { ...(await viewOf(right)), run: HOSTILE },
      { ...reportOf(result), comparison: null },
    );
    expect(named.html.match(/<script/g)).toHaveLength(2);
    expect(named.html).not.toContain("<img");
  });
});

describe("nothing is asked for", () => {
  test("the policy allows the page's own script and style and nothing else", () => {
    expectOwnPolicy(html);
  });

  test("no address, no attribute that loads or runs something", () => {
    const body = html.slice(html.indexOf("<body>"), html.indexOf('<script type="application'));
    expect(body).not.toMatch(/<[^>]*\s(src|href|style|on\w+)=/);
    expect(html).not.toMatch(/@import|url\(|<link|<iframe|<object/);
  });
});

describe("what a reader needs, in words", () => {
  test("the first differing operation, the cause, the reproducing line", () => {
    expect(html).toContain(`<h1>The two sides part at operation ${N} (tokens.extend).</h1>`);
    expect(html).toContain(
      `Both sides grant operation ${N} (tokens.extend), but with another result.`,
    );
    expect(html).toContain("What is the cause?");
    expect(html).toContain('<pre id="reproduce">');
  });

  test("which weaker equality holds", () => {
    const holds = result.runs[0]!.examination!.holds;
    const rows = [...html.matchAll(/<th scope="row">([\w-]+)<\/th><td class="\w*">([\w ]+)</g)];
    expect(rows.map(([, mode]) => mode)).toEqual([
      "renamed",
      "placement-free",
      "decisions",
      "quiescent",
    ]);
    for (const [, mode, word] of rows)
      expect(word).toBe(holds.some((held) => held === mode) ? "holds" : "not shown to hold");
  });

  test("an equal comparison says so", async () => {
    const equal = await compared(right);
    const page = htmlPage(await viewOf(right), reportOf(equal));
    expect(page.html).toContain("<h1>Both sides answer all 300 operations alike.</h1>");
  });
});

describe("what is left out is said", () => {
  test("a long run is sampled: all near the divergence, maps still right at the end", async () => {
    const whole = await viewOf(right);
    const view = await viewOf(right, trace, 60);
    const page = htmlPage(view, reportOf(result));
    expect(view.frames.length).toBeLessThanOrEqual(61);
    expect(page.html).toContain("The run is too long to show every operation");
    const numbers = view.frames.map(({ n }) => n);
    expect(numbers).toEqual(expect.arrayContaining([N - 1, N, N + 1]));
    expect(numbers.at(-1)).toBe(whole.frames.at(-1)!.n);
  });

  test("answers far from the divergence go first where the page would be too large", async () => {
    const view = await viewOf(right);
    const page = htmlPage(view, reportOf(result), 6000);
    const data = dataOf(page.html);
    expect(data.head.detailsTo - data.head.detailsFrom).toBeLessThan(300);
    const frame = view.frames.findIndex(({ n }) => n === N);
    expect(data.details(frame)!.args).toBe(view.frames[frame]!.args);
    expect(page.html).toContain("Arguments and answers are in the page for operations");
  });
});

describe("the data in the page", () => {
  const data = dataOf(html);

  test("holds arguments and both answers of every operation", async () => {
    const view = await viewOf(at(N, otherPages));
    for (const [frame, { args, base, candidate }] of view.frames.entries()) {
      expect(data.details(frame)).toEqual({
        args,
        base: base.answer,
        candidate: candidate!.answer,
      });
      expect(data.n[frame]).toBe(view.frames[frame]!.n);
    }
    const ops = lines.filter(({ kind }) => kind === "op");
    expect([...data.op].map((kind) => data.head.ops[kind])).toEqual(ops.map(({ op }) => op));
  });

  test("is found by operation, kind, outcome, request and page", () => {
    const found = (text: string): readonly number[] => search(parseQuery(text, data)!, data).frames;
    const ops = lines.filter(({ kind }) => kind === "op");
    expect(found("#37")).toEqual([37]);
    expect(found("1,000")).toEqual([299]);
    const extended = ops.filter(({ op }) => op === "tokens.extend").map(({ n }) => n);
    expect(found("tokens.extend")).toEqual(extended);
    expect(extended.length).toBeGreaterThan(5);
    const refused = ops.filter(({ err }) => err?.code === "invalid").map(({ n }) => n);
    expect(found("invalid")).toEqual(refused);
    const naming = ops
      .filter(({ args }) => JSON.stringify(args).includes('"r2"'))
      .map(({ n }) => n);
    expect(found("r2")).toEqual(naming);
    expect(naming.length).toBeGreaterThan(2);
    const isExtended = (line: Line): boolean =>
      line.op === "tokens.extend" && /"full":\[\[/.test(JSON.stringify(line.ok ?? null));
    const last = ops.findLast(isExtended);
    const lists = Object.values(last.ok.pages as Record<string, { full?: [number, number][] }>);
    const page = lists.flatMap(({ full }) => full ?? [])[0]![0];
    expect(found(`full:${page}`)).toContain(last.n);
    expect(found("nobody")).toEqual([]);
  });
});
