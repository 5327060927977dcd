// Compares two recorded traces, run by run and operation by operation. Runs belong together by their id, whatever their
// order; what only one file holds is a difference.
import { InputError, InternalError, UnifiedTraceError, UsageError } from "../base/errors.js";
import { isReadAgain } from "../trace/reader-input.js";
import type { OpLine, RunLine } from "../trace/lines.js";
import { openTrace } from "../trace/reader.js";
import { areLargeFiles, readEqualPart } from "../trace/reader-equal.js";
import type { EqualPart, TraceResume } from "../trace/reader-equal.js";
import { foreignLog, openLog } from "../workload/import.js";
import type { ForeignLog } from "../workload/import.js";
import { PairComparison } from "./compare-pair.js";
import { ResultList } from "./compare-results.js";
import { RunComparer } from "./compare-run.js";
import { examineFiles } from "./examine/examine-files.js";
import type { ComparedParts } from "./answered-line.js";
import type { CompareChoices } from "./compare-options.js";
import { operationsPast } from "./past.js";
import { Pulse } from "./pulse.js";
import { configDifference, sideDifferences, TraceSide } from "./sides.js";
import { TraceCursor } from "./trace-cursor.js";
import type { CompareResult, RunComparison, SideDifference } from "./outcome.js";

const KEEP = 5;
const BLOCKS_FROM = 16 * 1024 * 1024; // bytes

/** @public */
export interface CompareFilesOptions extends CompareChoices {
  readonly base: string; // a trace, or the log of another allocator (`umpire:FILE`, or recognised)
  readonly candidate: string;
  readonly blocksFrom?: number; // bytes, default 16 MiB: from this size on runs are first compared as bytes
}

/** Compares two traces, foreign logs as they are imported. @public */
export async function compareFiles(options: CompareFilesOptions): Promise<CompareResult> {
  const comparison = new FileComparison(options);
  try {
    return await comparison.run();
  } finally {
    await comparison.close();
  }
}

class FileComparison {
  readonly #options: CompareFilesOptions;
  readonly #results: ResultList;
  readonly #pulse: Pulse;
  readonly #baseSide: TraceSide;
  readonly #candidateSide: TraceSide;
  #orderError: InputError | null = null; // damage in the candidate, behind which there may be runs
  readonly #differences: SideDifference[] = [];
  readonly #open = new Set<TraceCursor>();
  readonly #partsOf = new Map<string, ComparedParts>(); // by run, of divergent ones
  readonly #logs = new Map<string, ForeignLog | null>(); // by what the user named; null: a trace
  #candidate: TraceCursor | null = null;
  #order: ReadonlyMap<string, number> | null = null; // run → position in the candidate, once it matters
  #comparer: RunComparer | null = null;
  #isStopped = false;

  constructor(options: CompareFilesOptions) {
    this.#options = options;
    this.#results = new ResultList(options);
    this.#pulse = new Pulse(options);
    this.#baseSide = new TraceSide(options.base);
    this.#candidateSide = new TraceSide(options.candidate);
  }

  async run(): Promise<CompareResult> {
    const equal = await this.#equalPart();
    try {
      if (equal?.isWhole !== true) await this.#runsBehind(equal);
    } catch (thrown) {
      if (!(thrown instanceof UnifiedTraceError) || thrown instanceof InternalError) throw thrown;
      if (this.#results.isEmpty && (this.#comparer?.operations ?? 0) === 0) throw thrown;
      this.#results.fail(thrown, this.#comparer);
    }
    for (const cursor of this.#open) {
      if (cursor.truncated !== null) this.#results.truncate(cursor.truncated, null);
      if (cursor.ignoredKeys > 0) this.#results.lenient();
    }
    this.#results.checkSelection(`${this.#options.base} and ${this.#options.candidate}`);
    await this.#examine();
    const [left, right] = [this.#baseSide.info(), this.#candidateSide.info()];
    return this.#results.finish({
      base: left,
      candidate: right,
      differences: [...sideDifferences(left, right), ...this.#differences],
      isUnread: this.#isStopped,
    });
  }

  async close(): Promise<void> {
    for (const cursor of this.#open) await cursor.close();
  }

  async #examine(): Promise<void> {
    const { base, candidate, mode = "exact" } = this.#options;
    if (!this.#results.isDivergent || !isReadAgain(base) || !isReadAgain(candidate)) return;
    const found = await examineFiles({
      open: async (side) => {
        const cursor = await this.#cursor(this.#options[side]);
        this.#open.delete(cursor); // closed by who asked for it
        return cursor;
      },
      runs: this.#results.runs,
      parts: (run) => this.#partsOf.get(run) ?? { fx: true, digest: false },
      mode,
      past: operationsPast(this.#options),
    });
    this.#results.examined(found);
  }

  /** Large traces that begin with the same bytes need not be parsed as far as that; null: nothing was looked at so. */
  async #equalPart(): Promise<EqualPart | null> {
    const { base, candidate, run, reader = {}, blocksFrom = BLOCKS_FROM, signal } = this.#options;
    const { mode = "exact" } = this.#options;
    // the others say of each run what they looked at
    if (mode !== "exact" && mode !== "renamed") return null;
    const isOther = run !== undefined || reader.lenient === true || reader.validate === false;
    if (isOther || !areLargeFiles([base, candidate], blocksFrom)) return null;
    const onOperations = (count: number, name: string | null): void => {
      this.#pulse.run = name;
      this.#pulse.count(count);
      this.#options.onProgress?.(this.#pulse.progress());
    };
    const part = await readEqualPart(base, candidate, { signal, onOperations });
    if (part === null) return null;
    [this.#baseSide.header, this.#candidateSide.header] = part.headers;
    for (const { line, operations, refusals } of part.runs) {
      this.#results.saw(line.run);
      this.#baseSide.run(line);
      this.#candidateSide.run(line);
      this.#results.push(equalRun(line.run, operations, refusals));
    }
    this.#pulse.runs = part.runs.length;
    for (const side of [this.#baseSide, this.#candidateSide]) side.part(part);
    return part;
  }

  async #runsBehind(equal: EqualPart | null): Promise<void> {
    const [left, right] = equal?.resume ?? [];
    const base = await this.#cursor(this.#options.base, left);
    if (right !== undefined) {
      this.#candidate = await this.#cursor(this.#options.candidate, right);
      this.#candidate.runsPassed = right.runs.length;
    }
    await this.#runs(base, new Set(left?.runs));
  }

  async #cursor(spec: string, resume?: TraceResume): Promise<TraceCursor> {
    let log = this.#logs.get(spec);
    if (log === undefined) this.#logs.set(spec, (log = await foreignLog(spec)));
    const reader = { ...this.#options.reader, ...(resume === undefined ? {} : { resume }) };
    const cursor = new TraceCursor(
      log === null ? await openTrace(spec, reader) : openLog(log, reader),
    );
    this.#open.add(cursor);
    return cursor;
  }

  /** @param inBase - runs of the base that are compared already */
  async #runs(base: TraceCursor, inBase: Set<string>): Promise<void> {
    try {
      await this.#runsOf(base, inBase);
    } catch (thrown) {
      // runs that only a damaged candidate has are told as those are that only a damaged base has
      if (thrown instanceof InputError && this.#order !== null)
        await this.#extraBehind(base, inBase);
      throw thrown;
    }
    if (!this.#isStopped) await this.#extraRuns(inBase);
  }

  async #extraBehind(base: TraceCursor, inBase: Set<string>): Promise<void> {
    try {
      for (let line = await base.nextRun(); line !== null; line = await base.nextRun())
        inBase.add(line.run);
      await this.#extraRuns(inBase);
    } catch (error) {
      if (!(error instanceof InputError)) throw error; // else the base is damaged, or both are
    }
  }

  async #runsOf(base: TraceCursor, inBase: Set<string>): Promise<void> {
    for (;;) {
      const line = await base.nextRun();
      this.#baseSide.header ??= base.header;
      if (line === null) return;
      inBase.add(line.run);
      this.#results.saw(line.run);
      if (this.#options.run !== undefined && line.run !== this.#options.run) continue;
      this.#baseSide.run(line);
      await this.#oneRun(base, line);
      if (this.#isStopped) return;
    }
  }

  async #oneRun(base: TraceCursor, line: RunLine): Promise<void> {
    this.#pulse.run = line.run;
    const other = await this.#findRun(line.run);
    const candidate = this.#candidate;
    if (other === null || candidate === null) {
      this.#onlyIn("missing operation", line.run, (await base.operations(1))[0] ?? null);
    } else {
      this.#candidateSide.run(other);
      await this.#pair(base, line, candidate, other);
    }
    this.#pulse.runs += 1;
  }

  /** Goes to the candidate's run of that name; null when it has none. */
  async #findRun(run: string): Promise<RunLine | null> {
    this.#candidate ??= await this.#cursor(this.#options.candidate);
    if (this.#order === null) {
      const next = await this.#candidate.nextRun();
      this.#candidateSide.header ??= this.#candidate.header;
      if (next?.run === run) return next;
      this.#order = await this.#readOrder();
    }
    const position = this.#order.get(run);
    if (position === undefined && this.#orderError !== null) throw this.#orderError;
    if (position === undefined) return null;
    if (this.#candidate.runsPassed > position) {
      await this.#candidate.close();
      this.#open.delete(this.#candidate);
      this.#candidate = await this.#cursor(this.#options.candidate);
    }
    for (;;) {
      const line = await this.#candidate.nextRun();
      if (line === null || line.run === run) return line;
    }
  }

  async #readOrder(): Promise<ReadonlyMap<string, number>> {
    const { candidate } = this.#options;
    if (!isReadAgain(candidate)) {
      const what = "the runs of the two traces differ in order or number";
      const name = candidate === "-" ? "standard input" : candidate;
      throw new UsageError(`${what}, and ${name} can be read only once: give two files`);
    }
    const order = new Map<string, number>();
    const cursor = await this.#cursor(this.#options.candidate);
    try {
      for (let line = await cursor.nextRun(); line !== null; line = await cursor.nextRun())
        order.set(line.run, order.size);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.#orderError = error; // thrown where a run may stand behind it
    }
    this.#candidateSide.header ??= cursor.header;
    return order;
  }

  // Runs that only the candidate has.
  async #extraRuns(inBase: ReadonlySet<string>): Promise<void> {
    if (this.#order !== null) {
      for (const run of this.#order.keys()) {
        const isChosen = this.#options.run === undefined || this.#options.run === run;
        if (isChosen && !inBase.has(run)) await this.#extraRun(run);
      }
      return;
    }
    const cursor = (this.#candidate ??= await this.#cursor(this.#options.candidate));
    for (let line = await cursor.nextRun(); line !== null; line = await cursor.nextRun()) {
      if (this.#options.run !== undefined && this.#options.run !== line.run) continue;
      if (inBase.has(line.run)) continue;
      this.#onlyIn("extra operation", line.run, (await cursor.operations(1))[0] ?? null);
    }
  }

  async #extraRun(run: string): Promise<void> {
    const line = await this.#findRun(run);
    const first = line === null ? undefined : (await this.#candidate?.operations(1))?.[0];
    this.#onlyIn("extra operation", run, first ?? null);
  }

  #onlyIn(kind: "missing operation" | "extra operation", run: string, first: OpLine | null): void {
    const comparer = new RunComparer(run, { fx: true, digest: false }, KEEP);
    if (first === null) comparer.invalid = "the run holds no operation";
    else if (kind === "missing operation") comparer.misalign(kind, first, null);
    else comparer.misalign(kind, null, first);
    this.#results.add(comparer);
    this.#isStopped ||= this.#options.first === true;
  }

  async #pair(
    base: TraceCursor,
    line: RunLine,
    candidate: TraceCursor,
    other: RunLine,
  ): Promise<void> {
    const { keep, mode, masks } = this.#options;
    const how = { ...(mode && { mode }), ...(masks && { masks }) };
    const comparer = new RunComparer(line.run, this.#parts(line, other), keep ?? KEEP, how);
    comparer.followsNames = (line.starts_at ?? 0) === 0;
    this.#comparer = comparer;
    const pair = new PairComparison(comparer, base, candidate, this.#options);
    try {
      await pair.run(async (left, right) => {
        this.#baseSide.kinds(left);
        this.#candidateSide.kinds(right);
        if (this.#pulse.count(left.length)) await this.#pulse.breathe();
      });
    } finally {
      // a second look takes the same, behind damage too
      if (comparer.divergence !== null) this.#partsOf.set(line.run, comparer.parts);
    }
    if (!comparer.isOver) await this.#ends(comparer, base, candidate);
    this.#comparer = null;
    this.#results.add(comparer);
    this.#isStopped = comparer.divergence !== null && this.#options.first === true;
  }

  async #ends(comparer: RunComparer, base: TraceCursor, candidate: TraceCursor): Promise<void> {
    const [left, right] = [await base.end(), await candidate.end()];
    if (left === null || right === null) {
      comparer.incomplete = "a trace is truncated";
      return;
    }
    if (comparer.mode !== "exact" || !comparer.parts.digest) return;
    if (left.digest === right.digest) return;
    const fields = [{ path: "/end/digest", base: left.digest, candidate: right.digest }];
    comparer.differInState(left.ops - 1, "end", fields);
  }

  #parts(line: RunLine, other: RunLine): ComparedParts {
    const run = line.run;
    const difference = configDifference(line.config, other.config);
    if (difference !== null) {
      this.#differences.push({ what: `configuration of run ${run}`, ...difference, isLoss: false });
      this.#results.mismatch();
    }
    const [left, right] = [line.digest_depth ?? null, other.digest_depth ?? null];
    if (left !== right) {
      const what = `digests of run ${run}`;
      const sides = { base: left ?? "none", candidate: right ?? "none" };
      this.#differences.push({ what, ...sides, isLoss: true });
    }
    return { fx: true, digest: left !== null && left === right };
  }
}

function equalRun(run: string, operations: number, agreedRefusals: number): RunComparison {
  return {
    ...{ run, verdict: "equal", agreed: operations, operations, skipped: 0, agreedRefusals },
    ...{ divergence: null, examination: null, alignment: null, unstable: null, accepted: null },
    ...{ reproduce: null, note: null },
  };
}
