// The page of many runs in a browser: failures are chosen, the table is searched, maps come and go, in every dress and without a
// request.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Browser, Page } from "playwright-core";
import { casesPage } from "../../../src/report/html/cases-page.js";
import { runPage, type ToldScenario } from "../../../src/report/html/run-page.js";
import type { ScenarioResult } from "../../../src/tools/outcome.js";
import { runScenarios } from "../../../src/tools/run-scenarios.js";
import { failedScenario } from "../../../src/tools/view/failed-scenario.js";
import { loadScenarios } from "../../../src/workload/scenario.js";
import { folder, root } from "../../cli/command-line.js";
import { at, FaultyAdapter } from "../../tools/faulty-adapter.js";
import { chromiumPath, launch, Watched } from "./browser.js";

const NAMES = ["ids_first_in_first_out", "fill_to_the_last_page", "boot_floor_met_exactly"];
const FAILING = 6; // operation; the last scenario has fewer

describe.skipIf(chromiumPath === null)("the page of runs in a browser", () => {
  const path = join(folder, "cases.html");
  let browser: Browser;
  let page: Page;
  let failed: readonly ScenarioResult[];
  let runs = 0;
  const watched = new Watched();

  beforeAll(async () => {
    const scenarios = loadScenarios(NAMES.map((name) => join(root, "scenarios", `${name}.json`)));
    const refused = at(
      FAILING,
      () => ({ err: { code: "refused_capacity", limit: "ids" } }) as never,
    );
    const start = async (): Promise<FaultyAdapter> => new FaultyAdapter(refused);
    const result = await runScenarios({ scenarios, start });
    failed = result.scenarios.filter(({ verdict }) => verdict === "failed");
    runs = result.scenarios.length;
    const told = new Map<ScenarioResult, ToldScenario>();
    for (const one of failed.slice(0, -1)) {
      const scenario = scenarios.find(({ name }) => name === one.name)!;
      const implementation = { spec: "planted", start };
      const { config, n } = one;
      const again = await failedScenario({ scenario, config, implementation, n: n! });
      told.set(one, { story: scenario.story, again, noMaps: null });
    }
    const reproduce = ({ name }: ScenarioResult): string => `again ${name}`;
    const parts = runPage({ result, told, reproduce, notes: [] });
    writeFileSync(path, casesPage(parts).html);
    browser = await launch();
    page = await opened({});
  }, 60_000);
  afterAll(async () => {
    await browser.close();
  });

  function opened(options: Parameters<Browser["newPage"]>[0]): Promise<Page> {
    return watched.open(browser, path, "#now:not(:empty)", options);
  }

  test("the first failure is open, at its operation", async () => {
    expect(failed.length).toBeGreaterThanOrEqual(2);
    expect(await page.locator(".failure:visible").count()).toBe(1);
    expect(await page.textContent(".failure:visible h3")).toContain(failed[0]!.name);
    expect(await page.textContent("#now")).toContain(`Operation ${failed[0]!.n!} of `);
  });

  test("n and p go through the failures; one without maps has an empty stage", async () => {
    for (const _further of failed.slice(1)) await page.keyboard.press("n");
    expect(await page.textContent("#case-now")).toBe(`${failed.length} of ${failed.length}`);
    expect(await page.textContent(".failure:visible h3")).toContain(failed.at(-1)!.name);
    expect(await page.locator("#slider").count()).toBe(0);
    await page.keyboard.press("p");
    await page.locator("#now:not(:empty)").waitFor();
    expect(await page.locator("#slider").count()).toBe(1);
    expect(await page.locator(".hint").count()).toBe(1); // of the maps that are there now
    await page.keyboard.press("Home");
    await page.locator("#now", { hasText: "Operation 0 of" }).waitFor();
  });

  test("the field of the table shows the rows with all its words", async () => {
    await page.keyboard.press("f");
    await page.keyboard.type("FAILED fill");
    const rows = page.locator("#cases tbody tr:visible");
    expect(await rows.count()).toBe(failed.filter(({ name }) => name.includes("fill")).length);
    expect(await page.textContent("#filtered")).toBe(`${await rows.count()} of ${runs}`);
    await rows.locator("button").first().click();
    expect(await page.textContent(".failure:visible h3")).toContain("fill_to_the_last_page");
    await page.fill("#filter", "");
    expect(await rows.count()).toBe(runs);
  });

  test("light, dark, narrow, paper", async () => {
    const ground = (where: Page): Promise<string> =>
      where.evaluate("getComputedStyle(document.body).backgroundColor");
    const night = await opened({ colorScheme: "dark" });
    expect(await ground(night)).not.toBe(await ground(page));
    await night.emulateMedia({ media: "print" });
    expect(await ground(night)).toBe("rgb(255, 255, 255)");
    expect(await night.locator(".failure:visible").count()).toBe(failed.length);
    await night.close();
    const narrow = await opened({ viewport: { width: 390, height: 800 } });
    expect(await narrow.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await narrow.close();
  });

  test("without scripting all failures stand there", async () => {
    const plain = await browser.newPage({ javaScriptEnabled: false });
    await plain.goto(pathToFileURL(path).href);
    expect(await plain.locator(".failure:visible").count()).toBe(failed.length);
    expect(await plain.textContent("noscript")).toContain("scripting");
    await plain.close();
  });

  test("nothing was requested, nothing was complained of", async () => {
    expect(new Set(watched.requests)).toEqual(new Set([pathToFileURL(path).href]));
    expect(watched.troubles).toEqual([]);
  });
});
