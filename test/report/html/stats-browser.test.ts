// The page of `stats` in a browser: what it shows at each operation is the curve, by slider, keys and buttons, in every dress.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Browser, Page } from "playwright-core";
import { statsPage } from "../../../src/report/html/stats-page.js";
import { grouped } from "../../../src/report/words.js";
import type { RunCurve } from "../../../src/tools/curves/curve.js";
import { pointShares } from "../../../src/tools/curves/curve.js";
import { traceStats } from "../../../src/tools/stats.js";
import { heapTrace, mixedSeeds } from "../../tools/convert/inputs.js";
import { recorded } from "../../tools/faulty-adapter.js";
import { chromiumPath, launch, Watched } from "./browser.js";

describe.skipIf(chromiumPath === null)("the page of stats in a browser", () => {
  const folder = mkdtempSync(join(tmpdir(), "unified-trace-stats-page-"));
  const address = pathToFileURL(join(folder, "stats.html")).href;
  const watched = new Watched();
  let browser: Browser;
  let page: Page;
  let curves: readonly RunCurve[];

  beforeAll(async () => {
    const seeded = await traceStats({ trace: await recorded(mixedSeeds(0, 2, 300)), curves: true });
    const heap = await traceStats({ trace: heapTrace("a <b>heap</b>"), curves: true });
    curves = [...seeded.curves!.curves, ...heap.curves!.curves];
    writeFileSync(join(folder, "stats.html"), statsPage([seeded, heap]).html);
    browser = await launch();
    page = await opened({});
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  function opened(options: Parameters<Browser["newPage"]>[0]): Promise<Page> {
    return watched.open(browser, join(folder, "stats.html"), "#bar:not([hidden])", options);
  }
  const now = async (): Promise<string> => (await page.textContent("#now")) ?? "";
  const values = (): Promise<string[]> => page.locator(".key .value").allTextContents();

  /** What stands beside the lines at a point. */
  function expected({ points, parts }: RunCurve, at: number): string[] {
    const point = points[at]!;
    const shares = Object.values(pointShares(point)).map(
      (value) => `${(value! * 100).toFixed(1)} %`,
    );
    return [...shares, ...parts.map((_, index) => grouped(point.parts[index]!))];
  }

  test("begins at the most live bytes of the first run", async () => {
    const [{ peaks, operations }] = curves as readonly [RunCurve];
    expect(await now()).toBe(`Operation ${grouped(peaks.liveBytes.n)} of ${grouped(operations)}`);
    expect(await page.locator(".curve canvas").count()).toBe(2);
  });

  test("slider, keys and buttons go to points, and the values are those of the curve", async () => {
    const [curve] = curves as readonly [RunCurve];
    const { points, peaks } = curve;
    const numberAt = (n: number): number => points.findIndex((point) => point.n === n);
    const seen = async (at: number): Promise<void> => {
      expect(await now()).toContain(`Operation ${grouped(points[at]!.n)} of`);
      const told = (await values()).map((text) => text.replace(/ \(.*\)$/, ""));
      expect(told).toEqual(expected(curve, at));
    };
    await page.locator("#slider").focus();
    await page.keyboard.press("Home");
    await seen(0);
    await page.keyboard.press("ArrowRight");
    await seen(1);
    await page.keyboard.press("Shift+ArrowRight");
    await seen(11);
    await page.keyboard.press("End");
    await seen(points.length - 1);
    await page.click("#back");
    await seen(points.length - 2);
    await page.click("text=Most fragmentation");
    await seen(numberAt(peaks.fragmentation!.n));
    await page.keyboard.press("p");
    await seen(numberAt(peaks.liveBytes.n));
    await page.locator("#slider").fill("17");
    await seen(17);
    await page.keyboard.press("+");
    await page.keyboard.press("Home");
    await seen(0);
    await page.keyboard.press("0");
    const over = page.locator(".curve .u-over").first();
    const { width } = (await over.boundingBox())!;
    await over.click({ position: { x: width / 3, y: 20 } });
    const clicked = Math.round(points.at(-1)!.n / 3); // the operation under it; the point at or before it is shown
    await seen(points.findLastIndex(({ n }) => n <= clicked));
  });

  test("goes from run to run, a heap with its bytes and failed requests", async () => {
    await page.keyboard.press("]");
    expect(await now()).toContain(`Operation ${grouped(curves[1]!.peaks.liveBytes.n)} of`);
    await page.locator("#run").selectOption("2");
    const heads = await page.locator(".lane-head b").allTextContents();
    expect(heads).toEqual(["Fragmentation", "Bytes", "Failed requests"]);
    expect(await values()).toEqual(["37.5 %", "80 B", "128 B", "1"]);
    expect(await page.locator("#run option:checked").textContent()).toContain("a <b>heap</b>");
    await page.click("#run-back");
    expect(await page.locator("#run").inputValue()).toBe("1");
  });

  test("light, dark, paper, narrow, and without scripting", async () => {
    const ground = (where: Page): Promise<string> =>
      where.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await ground(page);
    await page.keyboard.press("t");
    const dark = await ground(page);
    expect(dark).not.toBe(light);
    const night = await opened({ colorScheme: "dark", viewport: { width: 390, height: 800 } });
    expect(await ground(night)).toBe(dark);
    expect(await night.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await night.emulateMedia({ media: "print" });
    expect(await ground(night)).toBe("rgb(255, 255, 255)");
    await night.close();
    const plain = await browser.newPage({ javaScriptEnabled: false });
    await plain.goto(address);
    expect(await plain.isVisible("#peaks")).toBe(true);
    expect(await plain.textContent("noscript")).toContain("scripting");
    await plain.close();
  });

  test("nothing was requested, nothing was complained of", () => {
    expect(new Set(watched.requests)).toEqual(new Set([address]));
    expect(watched.troubles).toEqual([]);
  });
});
