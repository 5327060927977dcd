// Goal 10: an echo adapter of each kit, there and back, with 256 operations in flight and with one. What this machine
// lacks is left out aloud.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const kits = fileURLToPath(new URL("../examples/kits/", import.meta.url));

/** The command of each echo adapter, null with the reason where it cannot be made here. */
function echoes(folder) {
  const python = ["python3", "python"].find((name) => works(name, ["--version"]));
  const compiler = ["c++", "g++", "clang++"].find((name) => works(name, ["--version"]));
  const program = join(folder, "echo");
  const source = join(kits, "cpp", "echo.cpp");
  const isBuilt =
    compiler !== undefined && works(compiler, ["-std=c++17", "-O2", "-o", program, source]);
  return [
    {
      name: "plain",
      command: `"${process.execPath}" "${join(kits, "..", "adapters", "echo.mjs")}"`,
      ...{ least: 120_000, times: 8 },
    },
    {
      name: "TypeScript kit",
      command: `"${process.execPath}" "${join(kits, "typescript", "echo.mjs")}"`,
      ...{ least: 120_000, times: 8 },
    },
    {
      name: "C++ kit",
      command: isBuilt ? `"${program}"` : null,
      missing: "no C++ compiler",
      ...{ least: 250_000, times: 8 },
    },
    {
      name: "Python kit",
      command: python === undefined ? null : `${python} "${join(kits, "python", "echo.py")}"`,
      missing: "no python3",
      ...{ least: 40_000, times: 4 },
    },
  ];
}

function works(program, args) {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}

/** Prints one row an adapter; `bench` has what the other rows are measured with. */
export function adapterRows(goal, { measure, inTurn, median, folder }) {
  for (const { name, command, missing, least, times } of echoes(folder)) {
    if (command === null) {
      console.log(`skipped goal 10, ${name}: ${missing}`);
      continue;
    }
    const found = inTurn({
      one: () => measure("adapter", 20_000, 1, command),
      many: () => measure("adapter", 400_000, 256, command),
    });
    const rate = (list) => median(list.map((m) => m.events / m.seconds));
    const [one, many] = [rate(found.one), rate(found.many)];
    // what one processor would carry: the tool's own share of the work
    const ceiling = median(found.many.map((m) => m.events / m.workCpuSeconds));
    goal(
      10,
      `echo adapter (${name}) at window 256 against window 1`,
      `${(many / one).toFixed(2)}x, ${Math.round(many / 1000)}k/s, the tool's side alone ${Math.round(ceiling / 1000)}k/s`,
      `>= ${times}x and >= ${least / 1000}k/s`,
      many / one >= times && many >= least,
    );
  }
}
