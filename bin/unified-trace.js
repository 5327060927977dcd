#!/usr/bin/env node
// Starts the built command line: the bundle, or the modules where one of them is newer than the bundle; says so plainly when
// nothing has been built yet. A script of the older kind, as package.json beside it says: those start sooner.
"use strict";
const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");

const MAIN = join(__dirname, "..", "dist", "cli", "main.js");

function bundle() {
  try {
    return require("../dist/bundle/start.cjs").commandLine(process.argv[2]);
  } catch {
    return null; // no bundle, or not all of it
  }
}

async function start() {
  if (!existsSync(MAIN)) {
    process.stderr.write("unified-trace: not built: run npm ci && npm run build\n");
    return 4; // this machine lacks something
  }
  const { main } = bundle() ?? (await import(pathToFileURL(MAIN).href));
  return main(process.argv);
}

start().then((code) => {
  process.exitCode = code;
});
