// Every check of the source tree, two at a time; goes on after a failure and exits 1 when any failed.
// `npm run check -- lint format` runs only the named ones.
import { checks, runChecks } from "./steps.mjs";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !checks.some((check) => check.name === name));
if (unknown.length > 0) {
  const known = checks.map((check) => `"${check.name}"`).join(", ");
  process.stderr.write(`no such check: ${unknown.join(", ")}; there are ${known}\n`);
  process.exitCode = 2;
} else {
  const failed = [];
  const chosen = checks.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  await runChecks(chosen, ({ name, isGood, text }) => {
    process.stdout.write(`== ${name}: ${isGood ? "passed" : "FAILED"}
${text}`);
    if (!isGood) failed.push(name);
  });
  process.stdout.write(
    failed.length === 0 ? "all checks passed\n" : `failed: ${failed.join(", ")}\n`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}
