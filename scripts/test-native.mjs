// Builds the C++ core without Node and runs its tests under the address and undefined-behaviour sanitizers.
import { spawnSync } from "node:child_process";
import { findCompiler, isFound, root } from "./steps.mjs";

const folder = "build/ctest";

function run(programme, args) {
  process.stdout.write(`$ ${programme} ${args.join(" ")}\n`);
  return spawnSync(programme, args, { cwd: root, stdio: "inherit" }).status === 0;
}

function main() {
  if (!isFound("cmake") || findCompiler() === undefined) {
    process.stderr.write("test:native needs CMake 3.20 or newer and a C++20 compiler\n");
    return 4;
  }
  const generator = isFound("ninja") ? ["-G", "Ninja"] : [];
  const options = ["-DUT_NODE=OFF", "-DUT_CUDA=OFF", "-DUT_TESTS=ON", "-DUT_SANITIZE=ON"];
  const passed =
    run("cmake", [
      "-S",
      "native",
      "-B",
      folder,
      ...generator,
      ...options,
      "-DCMAKE_BUILD_TYPE=Debug",
    ]) &&
    run("cmake", ["--build", folder]) &&
    run("ctest", ["--test-dir", folder, "--output-on-failure", "--no-tests=error"]);
  return passed ? 0 : 1;
}

process.exitCode = main();
