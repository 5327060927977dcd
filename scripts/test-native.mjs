// Builds the C++ core without Node, twice: under the address and undefined-behaviour sanitizers and under the thread
// sanitizer. Runs every test of both; the last line is `N passed, N failed`. Builds the fake backends of `test/native` too.
// Exit: 0 when nothing failed and at least one test ran, 1 otherwise, 4 where there is no CMake or no compiler.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findCompiler, isFound, root } from "./steps.mjs";

const debug = "-DCMAKE_BUILD_TYPE=Debug";
const tests = (sanitize) => ["-DUT_TESTS=ON", `-DUT_SANITIZE=${sanitize}`, debug];
const builds = [
  { name: "address, undefined", folder: "build/ctest", options: tests("ON") },
  { name: "thread", folder: "build/ctest-thread", options: tests("thread") },
];
const fakes = { folder: "build/fakes", options: ["-DUT_FAKES=ON", debug] };

function run(programme, args, stdio = "inherit") {
  process.stdout.write(`$ ${programme} ${args.join(" ")}\n`);
  return spawnSync(programme, args, { cwd: root, stdio, encoding: "utf8" });
}

function build({ folder, options }) {
  const generator = isFound("ninja") ? ["-G", "Ninja"] : [];
  const configure = ["-S", "native", "-B", folder, ...generator, "-DUT_NODE=OFF", "-DUT_CUDA=OFF"];
  return (
    run("cmake", [...configure, ...options]).status === 0 &&
    run("cmake", ["--build", folder, "--parallel", "2"]).status === 0
  );
}

/** A sanitizer's runtime may not bear the addresses that its system deals out at random; then they are dealt in order. */
function inFixedPlaces(path) {
  const { stderr } = spawnSync(path, ["aligns up"], { encoding: "utf8" });
  if (!stderr?.includes("unexpected memory mapping")) return [path];
  return ["setarch", process.arch === "x64" ? "x86_64" : "aarch64", "-R", path];
}

/** Runs one test programme: a line `ok NAME` or `FAILED NAME` a test; an end without a line is a failure too. */
function runTests(path) {
  const [programme, ...args] = inFixedPlaces(path);
  const { status, signal, stdout } = run(programme, args, ["ignore", "pipe", "inherit"]);
  const lines = (stdout ?? "").split("\n");
  process.stdout.write(stdout ?? "");
  const passed = lines.filter((line) => line.startsWith("ok ")).length;
  const failures = lines.filter((line) => line.startsWith("FAILED ")).map((line) => line.slice(7));
  if (failures.length === 0 && (status !== 0 || passed === 0)) {
    failures.push(`ended with ${signal ?? status} after ${passed} tests`);
  }
  return { passed, failures };
}

/** @returns {{ passed: number, failures: string[] }} every test of every build; a build that fails is one failure */
export function nativeTests() {
  let passed = 0;
  const failures = [];
  if (!build(fakes)) failures.push("the fake backends do not build (see above)");
  for (const one of builds) {
    if (!build(one)) {
      failures.push(`native tests under ${one.name}: the build failed (see above)`);
      continue;
    }
    const programmes = readdirSync(join(root, one.folder)).filter((name) =>
      /_test(\.exe)?$/.test(name),
    );
    if (programmes.length === 0) failures.push(`native tests under ${one.name}: none was built`);
    for (const name of programmes.sort()) {
      const result = runTests(join(root, one.folder, name));
      passed += result.passed;
      failures.push(...result.failures.map((what) => `${name} under ${one.name}: ${what}`));
    }
  }
  return { passed, failures };
}

function main() {
  if (!isFound("cmake") || findCompiler() === undefined) {
    process.stderr.write("test:native needs CMake 3.20 or newer and a C++20 compiler\n");
    return 4;
  }
  const { passed, failures } = nativeTests();
  for (const failure of failures) process.stdout.write(`failed: ${failure}\n`);
  process.stdout.write(`${passed} passed, ${failures.length} failed\n`);
  return failures.length === 0 && passed > 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) process.exitCode = main();
