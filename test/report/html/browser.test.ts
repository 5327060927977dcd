// The page of a planted divergence in a browser: opened from a file, scrubbed, searched, both maps against the states of both
// sides, no request, in every dress.
import { statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Browser, Page } from "playwright-core";
import type { Adapter } from "../../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import { expand } from "../../../src/base/extents.js";
import type { DirectConfig, Operation } from "../../../src/base/operations.js";
import { Prng } from "../../../src/base/prng.js";
import type { BandState, State } from "../../../src/base/state.js";
import { grouped } from "../../../src/report/words.js";
import { folder, linesOf, root, start } from "../../cli/command-line.js";
import { chromiumPath, launch, Watched } from "./browser.js";

const IS_WHOLE = process.env["UT_FULL"] === "1";
const OPS = IS_WHOLE ? 100_000 : 2000;
const FROM = IS_WHOLE ? "60000" : "900"; // operation
const BYTES_MAX = 5_000_000;
const LOOKS = 20;
const FRAME_MS = 1000 / 30;
const planted = `module:${join(root, "bench", "page", "pages-swapped-once.mjs")}`;

/** The built adapters: a module is loaded by a worker that only the build has. */
async function changed(): Promise<Adapter> {
  const path = pathToFileURL(join(root, "dist", "adapter", "open-adapter.js")).href;
  const { openAdapter } = (await import(
    path
  )) as typeof import("../../../src/adapter/open-adapter.js");
  return openAdapter(planted, {});
}
const self = async (): Promise<Adapter> => new InProcessAdapter({ device: "none" });

/** Waits for a fact of the page. Not by the driver's `waitForFunction`: its second look is an `eval` that the page forbids. */
async function until(page: Page, fact: string): Promise<void> {
  await vi.waitFor(async () => expect(await page.evaluate(fact)).toBe(true), { timeout: 30_000 });
}

describe.skipIf(chromiumPath === null)("the page in a browser", () => {
  let browser: Browser;
  let page: Page;
  let path: string;
  let divergence: number;
  let holds: readonly string[];
  let operations: readonly Operation[];
  const watched = new Watched();
  let config: DirectConfig;

  beforeAll(async () => {
    process.env["UT_PLANT_FROM"] = FROM;
    const env = { UT_PLANT_FROM: FROM };
    const what = ["--seeds", "0:1", "--ops", String(OPS), "--layouts", "full+window+state"];
    await start(["record", ...what, "--page-sizes", "16", "--out", "planted.jsonl"]);
    const words = ["compare", "--trace", "planted.jsonl", "--candidate", planted, "--json"];
    const { stdout, code } = await start([...words, "--html", "planted.html"], { env });
    expect(code).toBe(1);
    ({ n: divergence, holds } = JSON.parse(stdout).runs[0].divergence);
    const lines = linesOf("planted.jsonl");
    ({ config } = lines.find(({ kind }) => kind === "run"));
    operations = lines.filter(({ kind }) => kind === "op").map(({ op, args }) => ({ op, args })); // as they stand in the trace
    path = join(folder, "planted.html");
    browser = await launch();
    page = await opened({});
  }, 900_000);
  afterAll(async () => {
    await browser.close();
  });

  function opened(options: Parameters<Browser["newPage"]>[0]): Promise<Page> {
    return watched.open(browser, path, "#now:not(:empty)", options);
  }

  /** Cells of a band as the page shows them: class and id by page. */
  function cellsOf(side: string, band: string): Promise<[string, string, number][]> {
    return page.evaluate(`unifiedTrace.cells(${JSON.stringify(side)}, ${JSON.stringify(band)})`);
  }
  /** The text of an element once what changed is drawn. */
  async function told(selector: string): Promise<string> {
    await page.evaluate(
      "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
    );
    return (await page.textContent(selector)) ?? "";
  }
  const shown = (): Promise<number> => page.evaluate("unifiedTrace.model.operation");

  test("is small", () => {
    expect(statSync(path).size).toBeLessThan(BYTES_MAX);
  });

  test("begins at the divergence and says what it is", async () => {
    expect(await shown()).toBe(divergence);
    const { op } = operations[divergence]!;
    expect(await told("h1")).toContain(`operation ${grouped(divergence)} (${op})`);
    expect(await told("#summary")).toContain("Which page lies elsewhere?");
    expect(holds.length).toBeGreaterThan(0);
    expect(await told("#holds")).toContain(`“${holds[0]}”`);
    expect(await told("#lanes")).toMatch(/2 pages differ/);
  });

  test("both maps are the states of both sides at random operations", async () => {
    const random = new Prng(1, 3);
    const looks = [divergence - 1, divergence, divergence + 1];
    while (looks.length < LOOKS) looks.push(random.between(0, OPS - 1));
    looks.sort((left, right) => left - right);
    for (const [side, make] of [["base", self] as const, ["candidate", changed] as const]) {
      const adapter = await make();
      await adapter.open({ run: "r", domain: "kv", config: config, digestDepth: null });
      let next = 0;
      for (const n of looks) {
        await adapter.apply(operations.slice(next, n + 1));
        next = n + 1;
        await page.evaluate(`unifiedTrace.seek(${n})`);
        expect(await shown()).toBe(n);
        const state = (await adapter.state())!;
        for (const { name } of config.sub_pools)
          expectBand(await cellsOf(side, name), state, name, `${side} ${name} at ${n}`);
      }
      await adapter.dispose();
    }
  });

  test("slider, keys and buttons scrub", async () => {
    await page.locator("#slider").focus();
    await page.keyboard.press("Home");
    expect(await shown()).toBe(0);
    await page.keyboard.press("ArrowRight");
    expect(await shown()).toBe(1);
    await page.keyboard.press("Shift+ArrowRight");
    expect(await shown()).toBe(101);
    await page.keyboard.press("End");
    expect(await shown()).toBe(OPS - 1);
    await page.click("#back");
    expect(await shown()).toBe(OPS - 2);
    await page.click(".jump-divergence");
    expect(await shown()).toBe(divergence);
    await page.keyboard.press("Home");
    await page.keyboard.press("c");
    expect(await shown()).toBe(divergence);
    await page.locator("#slider").fill("77");
    expect(await shown()).toBe(77);
    expect(await told("#now")).toContain("Operation 77 of ");
  });

  test("jumps as far as it can: curves, maps and words stay together", async () => {
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    const last = operations.length - 1;
    for (const [from, to] of [
      [0, 9],
      [last - 9, last],
    ] as const) {
      // as narrow as it goes around one end, then the other end
      await page.evaluate(`unifiedTrace.seek(${from})`);
      await page.locator("#curves button", { hasText: "Around here" }).click();
      const far = last - to;
      await page.locator("#slider").fill(String(far));
      await until(page, `unifiedTrace.model.operation === ${far}`);
      const words = `Operation ${grouped(far)} of`;
      await until(page, `document.querySelector("#now").textContent.startsWith("${words}")`);
    }
    expect(errors).toEqual([]);
  });

  test("search steps through what it finds", async () => {
    const { batch } = operations[divergence]!.args as {
      readonly batch: { readonly req: string }[];
    };
    const { req } = batch[0]!;
    const naming = operations.flatMap((operation, n) =>
      JSON.stringify(operation.args).includes(`"${req}"`) ? [n] : [],
    );
    await page.keyboard.press("Home");
    await page.fill("#query", req);
    await page.press("#query", "Enter");
    expect(await shown()).toBe(naming[0]);
    expect(await told("#found")).toContain(`1 of ${naming.length}`);
    await page.press("#query", "Escape");
    await page.keyboard.press("]");
    expect(await shown()).toBe(naming[1]);
    await page.keyboard.press("[");
    expect(await shown()).toBe(naming[0]);
    await page.fill("#query", "#1234");
    await page.press("#query", "Enter");
    expect(await shown()).toBe(1234);
  });

  test("a click follows a page by its id on both sides", async () => {
    await page.click(".jump-divergence");
    await told("#now");
    const cells = await cellsOf("base", "full");
    const at = cells.findIndex(([name]) => name === "live");
    const box = (await page.locator("canvas.lane").last().boundingBox())!;
    const size = 16 * config.sub_pools.at(-1)!.unit_bytes;
    const x = ((at + 0.5) * size * box.width) / config.arena_bytes;
    await page
      .locator("canvas.lane")
      .last()
      .click({ position: { x, y: 8 } });
    expect(await told("#details .page")).toContain(`Page with id ${cells[at]![2]} of full`);
    await page.click("text=Operations that change it");
    expect(await told("#found")).toContain("operations that change the page with id");
  });

  test("zoom shows a part of the arena, 0 the whole", async () => {
    await page.click("#zoom-in");
    const [from, to] = await page.evaluate<[number, number]>("unifiedTrace.model.view");
    expect(to - from).toBeCloseTo(config.arena_bytes / 2, 3);
    await page.locator("#slider").focus();
    await page.keyboard.press("0");
    expect(await page.evaluate("unifiedTrace.model.view")).toEqual([0, config.arena_bytes]);
  });

  test("drawing keeps up with thirty pictures a second", async () => {
    const times = await page.evaluate<number[]>(`(() => {
      const { model } = unifiedTrace;
      const times = [];
      for (let look = 0; look < 200; look++) {
        model.seek((look * 331) % model.frames);
        model.draw();
        times.push(model.lastDrawMs);
      }
      return times.sort((left, right) => left - right);
    })()`);
    expect(times[100]).toBeLessThan(FRAME_MS);
  });

  test("light, dark and paper", async () => {
    const ground = (where: Page): Promise<string> =>
      where.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await ground(page);
    await page.click("#theme");
    const dark = await ground(page);
    expect(dark).not.toBe(light);
    await page.click("#theme");
    expect(await ground(page)).toBe(light);
    const night = await opened({ colorScheme: "dark" });
    expect(await ground(night)).toBe(dark);
    await night.emulateMedia({ media: "print" });
    expect(await ground(night)).toBe("rgb(255, 255, 255)");
    expect((await night.pdf()).length).toBeGreaterThan(10_000);
    await night.close();
  });

  test("a narrow window scrolls in one direction only", async () => {
    const narrow = await opened({ viewport: { width: 390, height: 800 } });
    expect(await narrow.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await narrow.close();
  });

  test("without scripting the summary stands", async () => {
    const plain = await browser.newPage({ javaScriptEnabled: false });
    await plain.goto(pathToFileURL(path).href);
    expect(await plain.isVisible("#summary")).toBe(true);
    expect(await plain.textContent("noscript")).toContain("scripting");
    await plain.close();
  });

  test("nothing was requested, nothing was complained of", async () => {
    expect(new Set(watched.requests)).toEqual(new Set([pathToFileURL(path).href]));
    expect(watched.troubles).toEqual([]);
  });
});

const OUTSIDE = ["elsewhere", "free", "fenced"];

/** Every page of one band: its class and its id, from the fields of a state. */
function expectBand(
  cells: readonly (readonly [string, string, number])[],
  state: State,
  name: string,
  where: string,
): void {
  const band = state[name] as BandState;
  const truth = new Map<number, readonly [string, number]>();
  for (const [virtual, first, count] of band.bindings)
    for (let index = 0; index < count; index++) truth.set(first + index, ["live", virtual + index]);
  for (const page of expand(band.fixed)) truth.set(page, ["fixed", truth.get(page)?.[1] ?? 0]);
  for (const page of expand(band.holes)) truth.set(page, ["hole", 0]);
  for (const { pages } of band.pending)
    for (const page of expand(pages)) truth.set(page, ["pending", 0]);
  for (const { pages } of band.vacated)
    for (const page of expand(pages)) truth.set(page, ["vacated", 0]);
  for (const [page, [told, , virtual]] of cells.entries()) {
    const right = truth.get(page);
    if (right === undefined) expect(OUTSIDE, `${where}, page ${page}`).toContain(told);
    else expect([told, virtual], `${where}, page ${page}`).toEqual(right);
  }
}
