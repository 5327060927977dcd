// An adapter with one planted mistake, and recordings to try it on.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  Adapter,
  AdapterFailure,
  AdapterInfo,
  ApplyResult,
  RunOpening,
} from "../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import type { Answer, Operation } from "../../src/base/operations.js";
import type { State } from "../../src/base/state.js";
import { record } from "../../src/tools/record.js";
import { createTraceWriter } from "../../src/trace/writer.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import type { Workload } from "../../src/workload/workload.js";

/** Gives an answer in place of the right one, a failure, or null for the right one. */
export type Mistake = (
  n: number,
  operation: Operation,
  right: Answer,
) => Answer | AdapterFailure | null;

/** The allocator of this project with one mistake in one run. */
export class FaultyAdapter implements Adapter {
  readonly windowSize = 256;
  readonly #inner = new InProcessAdapter({ device: "none" });
  readonly #mistake: Mistake;
  readonly #run: string | null; // null: in every run
  readonly #info: Partial<AdapterInfo>;
  #isWrong = false;
  #n = 0;
  openings: RunOpening[] = [];

  constructor(mistake: Mistake, run: string | null = null, info: Partial<AdapterInfo> = {}) {
    this.#mistake = mistake;
    this.#run = run;
    this.#info = info;
  }

  get info(): AdapterInfo {
    return { ...this.#inner.info, ...this.#info };
  }
  async open(opening: RunOpening): Promise<void> {
    this.openings.push(opening);
    this.#isWrong = this.#run === null || opening.run === this.#run;
    this.#n = 0;
    await this.#inner.open(opening);
  }
  async apply(operations: readonly Operation[]): Promise<ApplyResult> {
    const answers: Answer[] = [];
    for (const operation of operations) {
      const right = (await this.#inner.apply([operation])).answers[0]!;
      const given = this.#isWrong ? this.#mistake(this.#n, operation, right) : null;
      this.#n += 1;
      if (given !== null && "kind" in given) return { answers, failure: given };
      answers.push(given ?? right);
    }
    return { answers, failure: null };
  }
  async state(): Promise<State | null> {
    return this.#inner.state();
  }
  async close(): ReturnType<Adapter["close"]> {
    return this.#inner.close();
  }
  async dispose(): Promise<void> {
    await this.#inner.dispose();
  }
}

export const right: Mistake = () => null;

/** A mistake at one operation only. */
export function at(n: number, make: (right: Answer) => Answer | AdapterFailure): Mistake {
  return (index, _operation, answer) => (index === n ? make(answer) : null);
}

export const folder: string = mkdtempSync(join(tmpdir(), "unified-trace-tools-"));
let files = 0;

/** A fresh path in the tests' folder. */
export function freshPath(name = "trace.jsonl"): string {
  files += 1;
  return join(folder, `${files}-${name}`);
}

export const OPERATIONS = 120; // of a seeded run here

/** Seeded workloads of a few runs. */
export function seeds(from: number, to: number, ops = OPERATIONS): Workload[] {
  const found: Workload[] = [];
  for (let seed = from; seed < to; seed++) {
    const layout = seed % 2 === 0 ? "full+window" : "full+state";
    found.push(seededWorkload({ seed, ops, layout, pageSize: 16 }));
  }
  return found;
}

/** Records workloads on an adapter; gives the path. */
export async function recorded(
  workloads: Iterable<Workload>,
  adapter: Adapter = new InProcessAdapter({ device: "none" }),
): Promise<string> {
  const path = freshPath();
  const writer = createTraceWriter(path);
  await record({
    workloads,
    start: async () => adapter,
    writer,
    digestDepth: "layout",
  });
  writer.commit();
  return path;
}

/** A line of a trace as data. */
export type Line = ReturnType<typeof JSON.parse>;

export function readLines(path: string): Line[] {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Writes lines as a trace; gives its path. */
export function writeLines(lines: readonly Line[]): string {
  const path = freshPath();
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}
