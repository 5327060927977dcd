#!/usr/bin/env node
// Starts the built command line: the bundle, or the modules where one of them is newer than the bundle; says so plainly when
// nothing has been built yet.
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";

const dist = new URL("../dist/", import.meta.url);
const place = fileURLToPath(dist);

/** Whether the bundle was made of the modules as they are now. Sizes too: a copied file may bring an old time with it. */
function isBundleFresh() {
  try {
    const stamp = `${place}bundle/modules.json`;
    const { mtimeMs } = statSync(stamp);
    return JSON.parse(readFileSync(stamp, "utf8")).modules.every(([path, size]) => {
      const module = statSync(place + path);
      return module.size === size && module.mtimeMs <= mtimeMs;
    });
  } catch {
    return false; // no bundle, or not all of it
  }
}

async function commandLine() {
  if (isBundleFresh()) return createRequire(import.meta.url)("../dist/bundle/main.cjs");
  return import(new URL("cli/main.js", dist).href);
}

if (existsSync(`${place}cli/main.js`)) {
  const { main } = await commandLine();
  process.exitCode = await main(process.argv);
} else {
  process.stderr.write("unified-trace: not built: run npm ci && npm run build\n");
  process.exitCode = 4; // this machine lacks something
}
