#!/usr/bin/env node
// Starts the built command line; says so plainly when it has not been built yet.
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const entry = new URL("../dist/cli/main.js", import.meta.url);
if (existsSync(fileURLToPath(entry))) {
  const { main } = await import(entry.href);
  process.exitCode = await main(process.argv);
} else {
  process.stderr.write("unified-trace: not built: run npm ci && npm run build\n");
  process.exitCode = 4; // this machine lacks something
}
