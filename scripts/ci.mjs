// The whole of CI, the same on a laptop and on a server: build, checks, native build and tests, tests.
// Goes on after a failure where it can. The last line is `N passed, N failed`: every check is one, every test is one.
// Exit: 0 when nothing failed and at least one test ran, else 1.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { lacking } from "./lacking.mjs";
import { checks, command, findCompiler, isFound, root, runChecks, runNode } from "./steps.mjs";
import { nativeTests } from "./test-native.mjs";

let passed = 0;
let failed = 0;
const failures = [];

const say = (text) => process.stdout.write(`${text}\n`);

function step(name, run) {
  say(`\n== ${name}`);
  const started = performance.now();
  let isGood = false;
  try {
    isGood = run();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
  count(name, isGood, (performance.now() - started) / 1000);
  return isGood;
}

function count(name, isGood, seconds) {
  say(`-- ${name}: ${isGood ? "passed" : "FAILED"} (${seconds.toFixed(1)} s)`);
  if (isGood) passed += 1;
  else {
    failed += 1;
    failures.push(name);
  }
}

function nativeSteps() {
  if (findCompiler() === undefined) {
    say("\n== native: skipped: no C++ compiler");
    return;
  }
  if (!isFound("cmake")) {
    say("\n== native: skipped: no CMake");
    return;
  }
  step("native build", () => buildNative("build/native-cpu", "--CDUT_CUDA=OFF"));
  if (isFound("nvcc")) step("native build with CUDA", () => buildNative("build/native"));
  else say("\n== native build with CUDA: skipped: no nvcc");
  say("\n== native tests");
  const result = nativeTests();
  passed += result.passed;
  failed += result.failures.length;
  failures.push(...result.failures);
}

function buildNative(folder, ...options) {
  return runNode([
    command("cmake-js"),
    ...["build", "--directory", "native", "--out", folder, ...options],
  ]);
}

function lackingSteps() {
  for (const { name, missing, run } of lacking) {
    const reason = missing();
    if (reason === undefined) step(name, run);
    else say(`\n== ${name}: skipped: ${reason}`);
  }
}

/** A failure's message without the runner's part of the stack; the whole stands further up in the output. */
function brief(message) {
  const lines = message.split("\n");
  const ours = lines.filter((line) => !/^\s+at /.test(line) || !line.includes("node_modules"));
  return ours.slice(0, 30).join("\n");
}

/** Counts single tests from vitest's own report; a run without a report, or without a test, is a failure. */
function tests() {
  say("\n== tests");
  const report = join(root, "build", "ci", "vitest.json");
  rmSync(report, { force: true });
  const isGood = runNode([
    command("vitest"),
    ...["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
  ]);
  if (!existsSync(report)) {
    failed += 1;
    failures.push("tests: vitest wrote no report");
    return;
  }
  const result = JSON.parse(readFileSync(report, "utf8"));
  const failedBefore = failed;
  let ran = 0;
  let skipped = 0;
  for (const file of result.testResults) {
    for (const test of file.assertionResults) {
      if (test.status === "passed") {
        passed += 1;
        ran += 1;
      } else if (test.status === "failed") {
        failed += 1;
        ran += 1;
        const where = relative(root, file.name);
        failures.push(`${where}: ${test.fullName}\n${test.failureMessages.map(brief).join("\n")}`);
      } else {
        skipped += 1;
      }
    }
    const hasFailedTest = file.assertionResults.some((test) => test.status === "failed");
    if (file.status === "failed" && !hasFailedTest) {
      failed += 1; // the file itself could not be loaded
      failures.push(`${relative(root, file.name)}\n${brief(file.message)}`);
    }
  }
  if (ran === 0) {
    failed += 1;
    failures.push("tests: no test ran");
  } else if (!isGood && failed === failedBefore) {
    failed += 1;
    failures.push("tests: vitest failed outside any test (see above)");
  }
  if (skipped > 0) say(`-- tests: ${skipped} skipped (reasons above)`);
}

step("build", () => runNode(["scripts/build.mjs"]));
await runChecks(checks, ({ name, isGood, text, seconds }) => {
  say(`\n== ${name}\n${text}`.trimEnd());
  count(name, isGood, seconds);
});
nativeSteps();
lackingSteps();
tests();

if (failures.length > 0) {
  say("\nFailed:");
  for (const failure of failures) say(`  ${failure.replaceAll("\n", "\n    ")}`);
}
say(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
