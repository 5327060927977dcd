// The browser that the page is tried in: Chromium as the system has it, driven without a download.
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";

const PLACES = [
  process.env["UT_CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The programme, null where there is none: then tests with it are skipped, and say so. */
export const chromiumPath: string | null =
  PLACES.find((path) => path !== undefined && existsSync(path)) ?? null;

if (chromiumPath === null) {
  console.warn(
    "SKIPPED: no Chromium was found (apt-get install chromium, or UT_CHROMIUM names one): the report page was not opened in a browser",
  );
}

export async function launch(): Promise<Browser> {
  // without a sandbox, which needs rights that a container may lack: only pages made here are opened
  return chromium.launch({ executablePath: chromiumPath!, args: ["--no-sandbox"] });
}

/** What the pages of one test ask for and complain of. */
export class Watched {
  readonly requests: string[] = []; // addresses
  readonly troubles: string[] = []; // errors and warnings

  /** Opens a file in a window of 1280 by 900; `ready` is an element of it once its script has run. */
  async open(
    browser: Browser,
    path: string,
    ready: string,
    options: Parameters<Browser["newPage"]>[0] = {},
  ): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    page.on("request", (request) => this.requests.push(request.url()));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning")
        this.troubles.push(message.text());
    });
    page.on("pageerror", (error) => this.troubles.push(error.message));
    await page.goto(pathToFileURL(path).href);
    await page.locator(ready).waitFor();
    return page;
  }
}
