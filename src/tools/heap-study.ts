// Runs of domain `heap` on the reference allocators: whether they fit, the most bytes in use, what lies idle between them,
// and how fast it goes. Answers are not compared; a log is read once, for all allocators together.
import type { HeapSpec } from "../adapter/heap-spec.js";
import { InputError } from "../base/errors.js";
import { HeapAllocator } from "../heap/heap-allocator.js";
import type { OpLine } from "../trace/lines.js";
import { openTrace } from "../trace/reader.js";
import type { ReaderOptions, TraceReader } from "../trace/reader.js";
import { foreignLog, openLog } from "../workload/import.js";
import { HeapCurve } from "./heap-curve.js";
import type { HeapPoint } from "./heap-curve.js";
import { Pulse } from "./pulse.js";
import type { ToolControl } from "./pulse.js";

/** @public */
export interface HeapStudyOptions extends ToolControl {
  readonly files: readonly string[]; // traces, or logs that `import` takes
  readonly allocators: readonly HeapSpec[];
  readonly arenaBytes: number | null; // of allocators that name none; null: of the run's configuration
  readonly run?: string;
  readonly reader?: ReaderOptions;
  readonly now: () => number; // ms
}

/** One run on one allocator. @public */
export interface HeapStudy {
  readonly file: string;
  readonly run: string;
  readonly allocator: string;
  readonly arenaBytes: number | null; // null: as large as need be
  readonly operations: number; // asked
  readonly failed: number; // requests that were refused
  readonly firstFailure: number | null; // operation
  readonly left: number; // operations on objects whose allocation was refused: not asked
  readonly peakObjects: number;
  readonly peakRequestedBytes: number; // that live objects asked for
  readonly peakUsedBytes: number; // of their blocks
  readonly peakBytes: number; // the farthest end of a block
  readonly idleShare: number; // of `peakBytes`, what no live object asked for, when they were reached first; 0 to 1
  readonly operationsPerSecond: number | null; // null: too few to tell
  readonly curve: readonly HeapPoint[];
}

const RATE_FROM = 10_000; // operations: fewer say more of the first ones than of the allocator

/** Throws `InputError` for a file without a run of domain `heap`. @public */
export async function studyHeap(options: HeapStudyOptions): Promise<HeapStudy[]> {
  const pulse = new Pulse(options);
  const studies: HeapStudy[] = [];
  for (const file of options.files) {
    const log = await foreignLog(file);
    const reader = options.reader ?? {};
    const lines = log === null ? await openTrace(file, reader) : openLog(log, reader);
    try {
      const found = await studyLines(lines, log?.file ?? file, options, pulse);
      if (found.length === 0) {
        const message = "holds no operation of domain heap, so nothing was asked";
        throw new InputError("trace_structure", message, { file: log?.file ?? file });
      }
      studies.push(...found);
    } finally {
      await lines.close();
    }
  }
  return studies;
}

async function studyLines(
  reader: TraceReader,
  file: string,
  options: HeapStudyOptions,
  pulse: Pulse,
): Promise<HeapStudy[]> {
  const studies: HeapStudy[] = [];
  let subjects: Subject[] = [];
  const close = (): void => {
    for (const subject of subjects) studies.push(subject.result(file));
    subjects = [];
  };
  for (;;) {
    const { lines } = await reader.readBatch();
    if (lines.length === 0) break;
    let batch: OpLine[] = [];
    const ask = (): void => {
      for (const subject of subjects) subject.ask(batch);
      batch = [];
    };
    for (const line of lines) {
      if (line.kind === "op") batch.push(line);
      if (line.kind !== "run") continue;
      ask();
      close();
      pulse.run = line.run;
      const isChosen = options.run === undefined || options.run === line.run;
      if (line.domain !== "heap" || !isChosen) continue;
      pulse.runs += 1;
      subjects = options.allocators.map(
        (spec) => new Subject(line.run, spec, line.config, options),
      );
    }
    ask();
    if (pulse.count(lines.length)) await pulse.breathe();
  }
  close();
  return studies.filter(({ operations }) => operations > 0);
}

/** One allocator over one run. */
class Subject {
  readonly #run: string;
  readonly #name: string;
  readonly #arenaBytes: number | null;
  readonly #heap: HeapAllocator;
  readonly #now: () => number;
  readonly #curve = new HeapCurve();
  readonly #refused = new Set<string>(); // objects that were never allocated
  #operations = 0;
  #failed = 0;
  #firstFailure: number | null = null;
  #left = 0;
  #ms = 0;
  #peakObjects = 0;
  #peakRequested = 0;
  #peakUsed = 0;
  #peakEnd = 0;
  #requestedAtPeak = 0;

  constructor(run: string, spec: HeapSpec, config: unknown, options: HeapStudyOptions) {
    this.#run = run;
    this.#name = spec.policy;
    const told = (config as Readonly<Record<string, unknown>>)["arena_bytes"];
    const ofRun = typeof told === "number" && told > 0 ? told : null;
    this.#arenaBytes = spec.arenaBytes ?? options.arenaBytes ?? ofRun;
    this.#heap = new HeapAllocator(spec.policy, this.#arenaBytes);
    this.#now = options.now;
  }

  ask(lines: readonly OpLine[]): void {
    for (const line of lines) this.#one(line);
  }

  result(file: string): HeapStudy {
    const seconds = this.#ms / 1000;
    const isTold = this.#operations >= RATE_FROM && seconds > 0;
    return {
      file,
      run: this.#run,
      allocator: this.#name,
      arenaBytes: this.#arenaBytes,
      operations: this.#operations,
      failed: this.#failed,
      firstFailure: this.#firstFailure,
      left: this.#left,
      peakObjects: this.#peakObjects,
      peakRequestedBytes: this.#peakRequested,
      peakUsedBytes: this.#peakUsed,
      peakBytes: this.#peakEnd,
      idleShare: this.#peakEnd === 0 ? 0 : 1 - this.#requestedAtPeak / this.#peakEnd,
      operationsPerSecond: isTold ? Math.round(this.#operations / seconds) : null,
      curve: this.#curve.points,
    };
  }

  #one(line: OpLine): void {
    const { id = "" } = line.args as { readonly id?: string };
    if (line.op !== "heap.alloc" && this.#refused.has(id)) {
      this.#left += 1;
      if (line.op === "heap.free") this.#refused.delete(id);
      return;
    }
    this.#operations += 1;
    const begin = this.#now();
    const { err } = this.#heap.apply(line);
    this.#ms += this.#now() - begin;
    if (err?.code === "refused_capacity") {
      this.#failed += 1;
      this.#firstFailure ??= line.n;
      if (line.op === "heap.alloc") this.#refused.add(id);
    }
    this.#look(line.n);
  }

  #look(n: number): void {
    const { live, requestedBytes, usedBytes, endBytes } = this.#heap.use;
    this.#peakObjects = Math.max(this.#peakObjects, live);
    this.#peakRequested = Math.max(this.#peakRequested, requestedBytes);
    this.#peakUsed = Math.max(this.#peakUsed, usedBytes);
    if (endBytes > this.#peakEnd) {
      this.#peakEnd = endBytes;
      this.#requestedAtPeak = requestedBytes;
    }
    this.#curve.add({ n, requestedBytes, usedBytes, endBytes });
  }
}
