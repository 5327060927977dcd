// Runs a law over seeds. `npm test` takes a tenth of the seeds by a fixed stride; `npm run test:full` takes them all,
// notes each finished part in build/test-full.json and goes on from there after an interrupt, as long as no source
// changed in between. The log build/test-full.log keeps one line a finished part.
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";

const FULL = process.env["UT_FULL"] === "1";
const BUILD = new URL("../../build/", import.meta.url);
const STRIDE = 10;

/** Seeds `0 … count - 1`, or every tenth of them outside the full run. */
export function seedsOf(count: number): number[] {
  const seeds: number[] = [];
  for (let seed = 0; seed < count; seed += FULL ? 1 : STRIDE) seeds.push(seed);
  return seeds;
}

/** Numbers a part of a sweep adds up. */
export type Counts = Record<string, number>;

/**
 * Runs `part` unless an earlier full run of the same sources finished it, and returns its counts. The counts are
 * printed, so that a run says what it looked at.
 */
export function sweepPart(name: string, part: () => Counts): Counts {
  if (!FULL) {
    const counts = part();
    console.log(`${name}: ${describe(counts)}`);
    return counts;
  }
  const key = `${sourcesHash()} ${name}`;
  const done = readDone();
  const known = done[key];
  if (known !== undefined) {
    console.log(`${name}: ${describe(known)} (finished earlier)`);
    return known;
  }
  const counts = part();
  mkdirSync(BUILD, { recursive: true });
  writeFileSync(new URL("test-full.json", BUILD), JSON.stringify({ ...readDone(), [key]: counts }));
  const line = `${name}: ${describe(counts)}`;
  appendFileSync(new URL("test-full.log", BUILD), `${line}\n`);
  console.log(line);
  return counts;
}

/** `part` of `whole` in percent, for assertions on shares. */
export function share(counts: Counts, part: string, whole: string): number {
  return (100 * (counts[part] ?? 0)) / Math.max(1, counts[whole] ?? 0);
}

function describe(counts: Counts): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${String(count)}`)
    .join(", ");
}

function readDone(): Record<string, Counts> {
  const file = new URL("test-full.json", BUILD);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, Counts>) : {};
}

function sourcesHash(): string {
  const hash = createHash("sha256");
  for (const root of [
    "../../src/base/",
    "../../src/kv/",
    "../../src/device/",
    "../../src/workload/",
    "./",
  ]) {
    const folder = new URL(root, import.meta.url);
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
      if (name.endsWith(".ts")) hash.update(name).update(readFileSync(new URL(name, folder)));
    }
  }
  return hash.digest("hex").slice(0, 16);
}
