// Every check of the source tree, in order; goes on after a failure and exits 1 when any failed.
// `npm run check -- lint format` runs only the named ones.
import { checks } from "./steps.mjs";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !checks.some((check) => check.name === name));
if (unknown.length > 0) {
  const known = checks.map((check) => `"${check.name}"`).join(", ");
  process.stderr.write(`no such check: ${unknown.join(", ")}; there are ${known}\n`);
  process.exitCode = 2;
} else {
  const failed = [];
  for (const { name, run } of checks) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    process.stdout.write(`== ${name}\n`);
    if (!run()) failed.push(name);
  }
  process.stdout.write(
    failed.length === 0 ? "all checks passed\n" : `failed: ${failed.join(", ")}\n`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}
