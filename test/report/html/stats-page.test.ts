// The page of `stats` as a file: counts and peaks as they were counted, nothing of a trace as markup, nothing asked for.
import { describe, expect, test } from "vitest";
import { curveJson } from "../../../src/report/curve-json.js";
import { statsPage } from "../../../src/report/html/stats-page.js";
import { grouped } from "../../../src/report/words.js";
import { traceStats } from "../../../src/tools/stats.js";
import { heapTrace, mixedSeeds } from "../../tools/convert/inputs.js";
import { recorded } from "../../tools/faulty-adapter.js";
import { expectOwnPolicy } from "./policy.js";

const HOSTILE = `</script><script>window.hostile=1</script>"'&<img src=x onerror=hostile()>`;
const seeded = await traceStats({ trace: await recorded(mixedSeeds(0, 3, 60)), curves: true });
const heap = await traceStats({ trace: heapTrace(HOSTILE), curves: true });
const { html, curves } = statsPage([seeded, { ...heap, file: HOSTILE }]);

describe("hostile texts", () => {
  test("the page holds two scripts, its data and its own, and none of a trace", () => {
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html.match(/<\/script/g)).toHaveLength(2);
    expect(html).not.toContain("<img");
    expect(html).toContain("&lt;/script&gt;&lt;script&gt;window.hostile=1");
  });

  test("the policy allows the page's own script and style and nothing else", () => {
    expectOwnPolicy(html);
    const body = html.slice(html.indexOf("<body>"), html.indexOf('<script type="application'));
    expect(body).not.toMatch(/<[^>]*\s(src|href|style|on\w+)=/);
    expect(html).not.toMatch(/@import|url\(|<link|<iframe|<object/);
  });
});

describe("what was counted", () => {
  test("the data of the page are the curves, run by run", () => {
    const text = /<script type="application\/json" id="data">(.*)<\/script>/.exec(html)![1]!;
    const runs = [
      ...seeded.curves!.curves.map((curve) => ({ file: seeded.file, curve: curveJson(curve) })),
      ...heap.curves!.curves.map((curve) => ({ file: HOSTILE, curve: curveJson(curve) })),
    ];
    expect(JSON.parse(text)).toEqual({ runs });
    expect(curves).toBe(4);
  });

  test("every kind, code and effect with its count, and the peaks of every run", () => {
    for (const counts of [seeded.operationKinds, seeded.refusals, seeded.effects, seeded.steps])
      for (const [name, count] of Object.entries(counts))
        expect(html).toContain(`<th scope="row">${name}</th><td>${grouped(count)}</td>`);
    for (const { run, peaks } of seeded.curves!.curves) {
      const row = html.split("<tr>").find((each) => each.includes(`: ${run}</th>`))!;
      const { value, n } = peaks.liveBytes;
      expect(row).toContain(`<td>${grouped(value)} <small>at ${grouped(n)}</small></td>`);
    }
    expect(html).toContain(`<h1>4 runs and ${grouped(180 + 6)} operations counted</h1>`);
  });

  test("a page without curves says so and still counts", () => {
    const page = statsPage([{ ...seeded, curves: null, truncated: true }]);
    expect(page.curves).toBe(0);
    expect(page.html).toContain("No run has a curve.");
    expect(page.html).toContain("A trace is truncated");
    expect(page.html).toContain("<h3>Operations by kind</h3>");
  });
});
