// Writes traces in another form, line by line: memory follows what is open and not the length of the file.
import { InputError, InternalError } from "../../base/errors.js";
import { openTrace } from "../../trace/reader.js";
import type { LineBatch, ReaderOptions, Truncation } from "../../trace/reader.js";
import { RecoveringReader } from "../../trace/reader-recover.js";
import type { Recovery } from "../../trace/reader-recover.js";
import { isReadAgain } from "../../trace/reader-input.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { noSuchRun } from "../compare-results.js";
import type { PerfettoTarget as PerfettoTargetType } from "./perfetto.js";
import type { ConvertFormat, ConvertTarget } from "./target.js";

/** @public */
export interface ConvertOptions extends ToolControl {
  readonly traces: readonly string[]; // one, or for Perfetto the sides
  readonly out: string;
  readonly format: ConvertFormat;
  readonly recover?: boolean; // keep what is whole of a damaged trace
  readonly run?: string; // only this run
  readonly reader?: ReaderOptions;
}

/** @public */
export interface ConvertResult {
  readonly format: ConvertFormat;
  readonly traces: readonly string[];
  readonly runs: number;
  readonly operations: number;
  readonly bytes: number; // written, before packing
  readonly recovery: Recovery | null; // null: not asked for
  readonly truncated: Truncation | null; // where a truncated trace that was accepted stops
  readonly ignoredKeys: number;
  readonly notes: readonly string[]; // what the output could not be told
  readonly isClosed: boolean; // nobody reads any more: the output is not whole
}

/** What both readers are to a conversion. */
interface Lines {
  readBatch(): Promise<Pick<LineBatch, "lines">>;
  close(): Promise<void>;
}

/** Converts. The output gets its name when it is whole. Throws `InputError`, `EnvironmentError`. @public */
export async function convertTrace(options: ConvertOptions): Promise<ConvertResult> {
  return options.format === "perfetto" ? perfetto(options) : into(await targetOf(options), options);
}

// A format's code is loaded where it is asked for.
async function targetOf({ format, out }: ConvertOptions): Promise<ConvertTarget> {
  switch (format) {
    case "jsonl":
      return new (await import("./jsonl.js")).JsonlTarget(out);
    case "csv":
      return new (await import("./csv.js")).CsvTarget(out);
    case "parquet":
      return new (await import("./parquet.js")).ParquetTarget(out);
    case "perfetto":
      throw new InternalError("the sides of Perfetto are read by a function of their own");
  }
}

/** Where this checkout answers a run otherwise, that run needs books from its beginning: all is read once more. */
async function perfetto(options: ConvertOptions): Promise<ConvertResult> {
  const { PerfettoTarget } = await import("./perfetto.js");
  const { traces, out } = options;
  const isNamed = traces.length > 1;
  const isOnce = !isReadAgain(out) || !traces.every(isReadAgain);
  let audited: ReadonlySet<number> | "all" = isOnce ? "all" : new Set();
  for (;;) {
    const notes: string[] = [];
    const target: PerfettoTargetType = new PerfettoTarget(out, { isNamed, audited, notes });
    const isFirst: boolean = audited !== "all" && audited.size === 0;
    const result = await into(target, options, () => isFirst && target.settle() > 0);
    if (result !== null) return { ...result, notes };
    audited = target.parted;
  }
}

async function into(target: ConvertTarget, options: ConvertOptions): Promise<ConvertResult>;
async function into(
  target: ConvertTarget,
  options: ConvertOptions,
  isUseless: () => boolean,
): Promise<ConvertResult | null>;
async function into(
  target: ConvertTarget,
  options: ConvertOptions,
  isUseless: () => boolean = () => false,
): Promise<ConvertResult | null> {
  try {
    const result = await new Conversion(options, target).run();
    if (isUseless()) return null;
    if (!target.closed) target.commit();
    return { ...result, notes: [], bytes: target.bytes, isClosed: target.closed };
  } finally {
    target.abort();
  }
}

class Conversion {
  readonly #options: ConvertOptions;
  readonly #target: ConvertTarget;
  readonly #pulse: Pulse;
  #recovery: Recovery | null = null;
  #truncated: Truncation | null = null;
  #ignoredKeys = 0;

  constructor(options: ConvertOptions, target: ConvertTarget) {
    this.#options = options;
    this.#target = target;
    this.#pulse = new Pulse(options);
  }

  async run(): Promise<Omit<ConvertResult, "notes" | "bytes" | "isClosed">> {
    const { traces, format } = this.#options;
    for (const trace of traces) {
      if (this.#target.closed) break;
      this.#target.begin(trace);
      if (this.#options.recover === true) await this.#recover(trace);
      else await this.#read(trace);
    }
    return {
      format,
      traces,
      runs: this.#pulse.runs,
      operations: this.#pulse.operations,
      recovery: this.#recovery,
      truncated: this.#truncated,
      ignoredKeys: this.#ignoredKeys,
    };
  }

  async #read(trace: string): Promise<void> {
    const reader = await openTrace(trace, this.#options.reader ?? {});
    await this.#lines(reader, trace);
    this.#truncated ??= reader.truncated;
    this.#ignoredKeys += reader.ignoredKeys;
  }

  async #recover(trace: string): Promise<void> {
    const reader = new RecoveringReader(trace, this.#options.reader);
    await this.#lines(reader, trace);
    this.#recovery = reader.recovery;
    this.#ignoredKeys += reader.ignoredKeys;
  }

  async #lines(reader: Lines, trace: string): Promise<void> {
    const { run: wanted } = this.#options;
    const seen: string[] = [];
    let isChosen = true;
    let operations = 0;
    try {
      while (!this.#target.closed) {
        const { lines } = await reader.readBatch();
        if (lines.length === 0) break;
        let count = 0;
        for (const line of lines) {
          if (line.kind === "run") {
            isChosen = wanted === undefined || wanted === line.run;
            if (wanted !== undefined) seen.push(line.run);
            if (isChosen) this.#pulse.runs += 1;
            this.#pulse.run = line.run;
          } else if (line.kind === "op" && isChosen) count += 1;
          if (isChosen || line.kind === "trace") this.#target.line(line);
        }
        operations += count;
        if (this.#pulse.count(count)) await this.#pulse.breathe();
      }
    } finally {
      await reader.close();
    }
    if (this.#target.closed) return;
    if (wanted !== undefined && !seen.includes(wanted)) throw noSuchRun(wanted, trace, seen);
    if (operations > 0) return;
    throw new InputError("trace_structure", "holds no operation, so nothing was converted", {
      file: trace,
    });
  }
}
