// The first operation of a run with which a command of the user fails: the command gets the run as far as a prefix, as a
// trace, by halves. Its exit code says what it found, as in `git bisect run`.
import { foldDigests } from "../../base/digest.js";
import { InternalError, UsageError } from "../../base/errors.js";
import { FIXED_COMPONENTS } from "../../base/operations.js";
import { bandsOf } from "../../trace/digest-rules.js";
import type { HeaderLine, OpLine, RunLine } from "../../trace/lines.js";
import { openTrace } from "../../trace/reader.js";
import type { ReaderOptions } from "../../trace/reader.js";
import { createTraceWriter } from "../../trace/writer.js";
import { noSuchRun } from "../compare-results.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { TraceCursor } from "../trace-cursor.js";
import type { OperationBisection, TestedPoint } from "./outcome.js";
import { searchLine } from "./search.js";
import type { PointOutcome } from "./search.js";

const BATCH = 4096;
const SKIP = 125;
const STOP = 128; // from here on no outcome of the check itself

/** @public */
export interface BisectCheckOptions extends ToolControl {
  readonly trace: string;
  readonly prefix: string; // file that the prefix is written to
  /** Runs the command on the file; its exit code, and how it ended in words. */
  readonly check: () => Promise<{ readonly code: number | null; readonly problem: string | null }>;
  readonly run?: string;
  readonly reader?: ReaderOptions;
  readonly isTimeOver?: () => boolean;
  readonly onTested?: (tested: TestedPoint) => void;
}

/**
 * Looks at the first run with which the command fails, or at the one that is named. Throws `UsageError` where it never
 * fails, and where it ends in a way that says nothing. @public
 */
export async function bisectCheck(options: BisectCheckOptions): Promise<OperationBisection> {
  const { trace, run: wanted, reader } = options;
  const cursor = new TraceCursor(await openTrace(trace, reader ?? {}));
  const search = new CheckSearch(options);
  const names: string[] = [];
  try {
    for (let line = await cursor.nextRun(); line !== null; line = await cursor.nextRun()) {
      names.push(line.run);
      if (wanted !== undefined && line.run !== wanted) continue;
      const lines: OpLine[] = [];
      for (let more = await cursor.operations(BATCH); more.length > 0;) {
        lines.push(...more);
        more = await cursor.operations(BATCH);
      }
      if (cursor.header === null) throw new InternalError("a run without a first line");
      if ((line.starts_at ?? 0) > 0) {
        throw new UsageError(`run ${line.run} begins inside another, with a state`);
      }
      const found = await search.searchRun(cursor.header, line, lines);
      if (found !== null) return found;
      if (wanted !== undefined) break;
    }
  } finally {
    await cursor.close();
  }
  if (wanted !== undefined && !names.includes(wanted)) throw noSuchRun(wanted, trace, names);
  throw new UsageError(
    "--check: the command passes on every whole run, so there is nothing to find",
  );
}

class CheckSearch {
  readonly #options: BisectCheckOptions;
  readonly #pulse: Pulse;

  constructor(options: BisectCheckOptions) {
    this.#options = options;
    this.#pulse = new Pulse(options);
  }

  /** Null where the command passes on the whole run. */
  async searchRun(
    header: HeaderLine,
    run: RunLine,
    lines: readonly OpLine[],
  ): Promise<OperationBisection | null> {
    this.#pulse.run = run.run;
    if (lines.length === 0) return null;
    const tested: TestedPoint[] = [];
    const test = async (length: number): Promise<PointOutcome> => {
      const outcome = await this.#check(header, run, lines.slice(0, length));
      const word = outcome === "good" ? "equal" : outcome === "bad" ? "different" : "skipped";
      tested.push({ value: length, outcome: word });
      this.#options.onTested?.({ value: length, outcome: word });
      return outcome;
    };
    if ((await test(lines.length)) !== "bad") return null;
    const { isTimeOver } = this.#options;
    const end = await searchLine({
      good: 0, // a trace without operations is none
      bad: lines.length,
      test,
      ...(isTimeOver === undefined ? {} : { isTimeOver }),
    });
    const { n, op, args } = lines[end.bad - 1]!; // it was tested
    return {
      over: "operations",
      verdict: end.isOver ? (end.bad - end.good === 1 ? "found" : "several") : "incomplete",
      ...{ by: "check", run: run.run, n, op, args },
      agreed: end.good,
      ...{ fields: [], failure: null, answers: null },
      tested,
      runs: this.#pulse.runs,
      operations: this.#pulse.operations,
    };
  }

  async #check(header: HeaderLine, run: RunLine, lines: readonly OpLine[]): Promise<PointOutcome> {
    const writer = createTraceWriter(this.#options.prefix);
    writer.line(header);
    writer.line(run);
    for (const line of lines) writer.line(line);
    writer.end(run.run, lines.length, endDigest(lines));
    writer.commit();
    const { code, problem } = await this.#options.check();
    this.#pulse.runs += 1;
    this.#pulse.count(lines.length);
    await this.#pulse.breathe();
    if (code === null || code >= STOP) {
      const why = "a check ends with 0 (passes), 125 (cannot tell) or 1 to 127 (fails)";
      throw new UsageError(`--check: the command ${problem ?? ""}: ${why}`);
    }
    return code === 0 ? "good" : code === SKIP ? "skipped" : "bad";
  }
}

/** The digest at the end of a prefix: the fold of all components as they then stand; null in a run without digests. */
function endDigest(lines: readonly OpLine[]): string | null {
  const boot = lines[0];
  if (boot?.op !== "boot" || boot.ok === undefined || boot.digest === undefined) return null;
  const standing: Record<string, string> = {};
  for (const { digest } of lines) Object.assign(standing, digest);
  const order = [...bandsOf(boot.ok), ...FIXED_COMPONENTS];
  return foldDigests(order.map((component) => standing[component] ?? ""));
}
