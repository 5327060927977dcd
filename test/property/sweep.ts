// Runs a law over seeds. `npm test` takes a tenth of the seeds by a fixed stride; `npm run test:full` takes them all,
// notes each finished part in build/test-full.jsonl and goes on from there after an interrupt, as long as no source
// changed in between. The log build/test-full.log keeps one line a finished part.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";

const FULL = process.env["UT_FULL"] === "1";
/** Whether all seeds are taken. */
export const isFullRun: boolean = FULL;
const BUILD = new URL("../../build/", import.meta.url);
const STATE = new URL("test-full.jsonl", BUILD);
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
 * Runs `part` unless an earlier full run of the same sources finished it, and returns its counts.
 */
export function sweepPart(name: string, part: () => Counts): Counts {
  if (!FULL) return part();
  const key = `${sourcesHash()} ${name}`;
  const known = finished().get(key);
  if (known !== undefined) return known;
  const counts = part();
  mkdirSync(BUILD, { recursive: true });
  // One short append a part: several test files run at once.
  appendFileSync(STATE, `${JSON.stringify([key, counts])}\n`);
  appendFileSync(new URL("test-full.log", BUILD), `${name}: ${describe(counts)}\n`);
  return counts;
}

/** Prints and logs what a whole sweep found: the last lines of the log. */
export function sweepTotal(line: string): void {
  console.log(line);
  if (!FULL) return;
  mkdirSync(BUILD, { recursive: true });
  appendFileSync(new URL("test-full.log", BUILD), `TOTAL ${line}\n`);
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

let doneParts: Map<string, Counts> | null = null;

/** Parts that an earlier run finished; a line cut by an interrupt is a part to do again. */
function finished(): Map<string, Counts> {
  if (doneParts !== null) return doneParts;
  doneParts = new Map();
  if (!existsSync(STATE)) return doneParts;
  for (const line of readFileSync(STATE, "utf8").split("\n")) {
    try {
      const [key, counts] = JSON.parse(line) as [string, Counts];
      doneParts.set(key, counts);
    } catch {
      continue;
    }
  }
  return doneParts;
}

let hashed: string | null = null;

function sourcesHash(): string {
  if (hashed !== null) return hashed;
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
  hashed = hash.digest("hex").slice(0, 16);
  return hashed;
}
