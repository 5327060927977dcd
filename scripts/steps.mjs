// The checks of the source tree, once: `npm run check` runs them, and so does CI.
import { spawn, spawnSync } from "node:child_process";
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

/** Each with the words of its Node process. @type {{ name: string, words: () => string[] }[]} */
export const checks = [
  {
    name: "lint", // first: it takes longest
    words: () => [command("eslint"), "--cache", "--cache-location", join(cache, "eslint"), "."],
  },
  {
    name: "types of src",
    words: () => [
      command("typescript", "tsc"),
      ...["-p", "tsconfig.json", "--noEmit"],
      ...["--tsBuildInfoFile", join(cache, "src.tsbuildinfo")],
    ],
  },
  {
    name: "types of tests",
    words: () => [command("typescript", "tsc"), "-p", "test/tsconfig.json"],
  },
  {
    name: "types of the page",
    words: () => [command("typescript", "tsc"), "-p", "src/report/html/browser/tsconfig.json"],
  },
  {
    name: "format",
    words: () => [command("prettier"), "--check", "--log-level", "warn", "."],
  },
  {
    name: "floors",
    words: () => [
      command("dependency-cruiser", "depcruise"),
      ...["src", "--config", ".dependency-cruiser.cjs"],
    ],
  },
  { name: "dead code", words: () => [command("knip"), "--no-config-hints"] },
  { name: "package", words: () => [command("publint"), "--strict"] },
];

/** Runs one check; what it says comes back in one piece. */
function runCheck({ name, words }) {
  const started = performance.now();
  return new Promise((settle) => {
    const end = (isGood, text) => {
      settle({ name, isGood, text, seconds: (performance.now() - started) / 1000 });
    };
    let args;
    try {
      args = words();
    } catch (error) {
      end(false, `${error.message}\n`); // not installed
      return;
    }
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const parts = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (part) => parts.push(part));
    child.on("error", (error) => end(false, `${error.message}\n`));
    child.on("close", (code) => end(code === 0, Buffer.concat(parts).toString()));
  });
}

/**
 * Runs checks two at a time: most of them keep one processor busy.
 * @param wanted the checks
 * @param tell called with `{ name, isGood, text, seconds }` of each as it ends
 */
export async function runChecks(wanted, tell) {
  const waiting = [...wanted];
  const next = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift())
      tell(await runCheck(check));
  };
  await Promise.all([next(), next()]);
}
