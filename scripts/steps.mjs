// The checks of the source tree, once: `npm run check` runs them, and so does CI.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** The script behind a package's command, so that no shell and no `.cmd` shim is needed. */
export function command(packageName, binName = packageName) {
  const manifest = join(root, "node_modules", packageName, "package.json");
  if (!existsSync(manifest)) throw new Error(`${packageName} is not installed: run npm ci`);
  const { bin } = JSON.parse(readFileSync(manifest, "utf8"));
  return join(dirname(manifest), typeof bin === "string" ? bin : bin[binName]);
}

/** Runs a Node script from the repository root with inherited output; true when it exits 0. */
export function runNode(args, options = {}) {
  return (
    spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", ...options }).status === 0
  );
}

/** Whether a programme can be started at all; its version request must exit 0. */
export function isFound(programme) {
  return spawnSync(programme, ["--version"], { stdio: "ignore" }).status === 0;
}

/** The C++ compiler CMake would take: $CXX when set, else the usual names. */
export function findCompiler() {
  const names = process.env.CXX ? [process.env.CXX] : ["c++", "g++", "clang++"];
  return names.find(isFound);
}

const cache = join("node_modules", ".cache", "unified-trace");

/** @type {{ name: string, run: () => boolean }[]} */
export const checks = [
  {
    name: "types of src",
    run: () =>
      runNode([
        command("typescript", "tsc"),
        ...["-p", "tsconfig.json", "--noEmit"],
        ...["--tsBuildInfoFile", join(cache, "src.tsbuildinfo")],
      ]),
  },
  {
    name: "types of tests",
    run: () => runNode([command("typescript", "tsc"), "-p", "test/tsconfig.json"]),
  },
  {
    name: "types of the page",
    run: () =>
      runNode([command("typescript", "tsc"), "-p", "src/report/html/browser/tsconfig.json"]),
  },
  {
    name: "lint",
    run: () =>
      runNode([command("eslint"), "--cache", "--cache-location", join(cache, "eslint"), "."]),
  },
  {
    name: "format",
    run: () => runNode([command("prettier"), "--check", "--log-level", "warn", "."]),
  },
  {
    name: "floors",
    run: () =>
      runNode([
        command("dependency-cruiser", "depcruise"),
        ...["src", "--config", ".dependency-cruiser.cjs"],
      ]),
  },
  { name: "dead code", run: () => runNode([command("knip"), "--no-config-hints"]) },
  { name: "package", run: () => runNode([command("publint"), "--strict"]) },
];
