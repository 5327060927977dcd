// Every kernel of the CUDA backend beside its ceiling: node bench/device/kernels.mjs [--sweep] [--gib 24]
// Runs the standalone programme that `npm run build:device` makes, on the machine that has the GPU; without one it says so and
// exits with 3. Exit code 1: a kernel gave a wrong result.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../build/device/cuda/device_bench", import.meta.url));
if (!existsSync(program)) {
  console.error("device_bench is not built: npm run build:device (needs CMake and nvcc)");
  process.exitCode = 2;
} else {
  const run = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
  if (run.error !== undefined) console.error(`device_bench: ${run.error.message}`);
  process.exitCode = run.status ?? 2;
}
