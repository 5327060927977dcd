// Steps of CI that take something away and look at what is left: a compiler, the CUDA compiler, a GPU. Each holds on a machine
// that has the thing as well as on one that lacks it.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { findCompiler, isFound, root } from "./steps.mjs";

const work = join(root, "build", "ci", "lacking");
const bin = join(work, "bin");

/** Runs a programme, shows what it says, and returns it: `{ status, text }`. */
function run(programme, args, options) {
  process.stdout.write(`$ ${programme} ${args.join(" ")}\n`);
  const done = spawnSync(programme, args, { cwd: root, encoding: "utf8", ...options });
  const text = `${done.stdout ?? ""}${done.stderr ?? ""}`;
  process.stdout.write(text);
  return { status: done.status, text };
}

/** Runs a script of Node with nothing else in reach but a shell: no compiler, no driver's programmes. */
function runBare(args, options = {}) {
  const { cwd = root, variables = {} } = options;
  mkdirSync(bin, { recursive: true });
  const isWindows = process.platform === "win32";
  for (const [name, path] of isWindows
    ? []
    : [
        ["node", process.execPath],
        ["sh", "/bin/sh"],
      ]) {
    if (!existsSync(join(bin, name))) symlinkSync(path, join(bin, name));
  }
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(path|cc|cxx|cudacxx|cuda_path|npm_.*)$/i.test(name),
  );
  const path = isWindows ? dirname(process.execPath) : bin;
  const env = { ...Object.fromEntries(kept), PATH: path, ...variables };
  return run(process.execPath, args, { cwd, env });
}

/** The script behind `npm`. */
function findNpm() {
  const places = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "npm"));
  const beside = join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js");
  const found = [...places, beside].find((path) => existsSync(path) && isScript(path));
  if (found === undefined) throw new Error("npm is not found");
  return realpathSync(found);
}
const isScript = (path) => realpathSync(path).endsWith(".js");

/** Whether all of `claims` hold; says which do not. */
function holds(claims) {
  const broken = Object.entries(claims).filter(([, isTrue]) => !isTrue);
  for (const [claim] of broken) process.stdout.write(`does not hold: ${claim}\n`);
  return broken.length === 0;
}

/** A fresh copy of the package installs and does its work; what needs a compiler says so. */
function withoutCompiler() {
  rmSync(work, { recursive: true, force: true });
  const tree = join(work, "tree");
  mkdirSync(tree, { recursive: true });
  for (const name of ["package.json", "package-lock.json", ".npmrc", "bin", "dist", "schemas"])
    cpSync(join(root, name), join(tree, name), { recursive: true });
  const options = ["--prefer-offline", "--no-audit", "--no-fund", "--include=dev"];
  const installed = runBare([findNpm(), "ci", ...options], { cwd: tree });
  const main = (...args) => runBare(["bin/unified-trace.js", ...args], { cwd: tree });
  const recorded = main("record", "--out", "base.jsonl");
  const compared = main("compare", "--trace", "base.jsonl");
  const doctor = main("doctor");
  const native = runBare(["scripts/test-native.mjs"]);
  rmSync(work, { recursive: true, force: true });
  return holds({
    "npm ci passes": installed.status === 0,
    "record passes": recorded.status === 0,
    "compare passes": compared.status === 0,
    "doctor passes and says that the addon is not built":
      doctor.status === 0 && /^missing +native addon .*not built/m.test(doctor.text),
    "test:native ends with 4 and names what it needs":
      native.status === 4 && /needs CMake .* and a C\+\+20 compiler/.test(native.text),
  });
}

/** Configures the addon as a plain build does, with a CUDA compiler that is not there. */
function withoutCudaCompiler() {
  const configure = (folder, ...options) => {
    const path = join(work, folder);
    rmSync(path, { recursive: true, force: true });
    const env = { ...process.env, CUDACXX: join(work, "no-such-nvcc") };
    return run("cmake", ["-S", "native", "-B", path, ...options], { env });
  };
  const automatic = configure("automatic");
  const required = configure("required", "-DUT_CUDA=ON");
  rmSync(work, { recursive: true, force: true });
  return holds({
    "a plain build goes on without CUDA and says so":
      automatic.status === 0 &&
      /CUDA backend: skipped, no CUDA compiler found/.test(automatic.text),
    "a build that demands CUDA fails and says why":
      required.status !== 0 && /no CUDA compiler was found/.test(required.text),
  });
}

/** Every device is hidden, so that this holds on a machine with a GPU too. */
function withoutGpu() {
  const variables = { CUDA_VISIBLE_DEVICES: "" };
  const doctor = runBare(["bin/unified-trace.js", "doctor"], { variables });
  const test = runBare(["bin/unified-trace.js", "doctor", "--self-test", "cuda"], { variables });
  rmSync(work, { recursive: true, force: true });
  return holds({
    "doctor passes": doctor.status === 0,
    "doctor says what is missing for the CUDA device": /^missing +device cuda +\S/m.test(
      doctor.text,
    ),
    "the self-test of cuda ends with 4 and one line":
      test.status === 4 && /^[^\n]*device cuda: [^\n]+\n$/.test(test.text),
  });
}

/** @type {{ name: string, missing: () => string | undefined, run: () => boolean }[]} */
export const lacking = [
  { name: "without a compiler", missing: () => undefined, run: withoutCompiler },
  {
    name: "without a CUDA compiler",
    missing: () =>
      isFound("cmake") && findCompiler() !== undefined ? undefined : "no CMake or no C++ compiler",
    run: withoutCudaCompiler,
  },
  { name: "without a GPU", missing: () => undefined, run: withoutGpu },
];
