// The browser that the page is tried in: Chromium as the system has it, driven without a download.
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

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
