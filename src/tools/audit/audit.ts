// Audits traces: every run from its lines alone, with memory that does not grow with the trace.
import { InputError, type UnifiedTraceError } from "../../base/errors.js";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../base/operations.js";
import type { EndLine, OpLine, RunLine, StateLine, TraceLine } from "../../trace/lines.js";
import { openTrace } from "../../trace/reader.js";
import type { ReaderOptions, TraceReader } from "../../trace/reader.js";
import { noSuchRun } from "../compare-results.js";
import type { Finding } from "../findings.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { RunAuditor, unauditable } from "./auditor.js";

const BATCH_LINES = 256;
const DEFAULT_MOST = 5;

/** @public */
export interface AuditOptions extends ToolControl {
  readonly trace: string;
  readonly run?: string; // only this run
  readonly most?: number; // findings kept a run, default 5
  readonly reader?: ReaderOptions;
}

/** A finding with its place in the file. @public */
export interface PlacedFinding extends Finding {
  readonly run: string;
  readonly line: number; // 1-based
}

/** What an audit of one trace found. @public */
export interface AuditResult {
  readonly trace: string;
  readonly runs: number; // audited
  readonly operations: number;
  readonly findings: readonly PlacedFinding[];
  readonly more: number; // findings beyond those kept
  readonly broken: number; // runs with a finding
  readonly unchecked: readonly {
    readonly rules: string;
    readonly why: string;
    readonly runs: number;
  }[];
  readonly skipped: readonly { readonly run: string; readonly why: string }[];
  readonly isPartial: boolean; // something was not looked at
  readonly error: UnifiedTraceError | null; // what ended the audit early
}

/** Audits a trace. @public */
export async function auditTrace(options: AuditOptions): Promise<AuditResult> {
  const reader = await openTrace(options.trace, options.reader ?? {});
  const audit = new TraceAudit(options, reader);
  try {
    return await audit.run();
  } finally {
    await reader.close();
  }
}

class TraceAudit {
  readonly #options: AuditOptions;
  readonly #reader: TraceReader;
  readonly #pulse: Pulse;
  readonly #findings: PlacedFinding[] = [];
  readonly #unchecked = new Map<string, { rules: string; why: string; runs: number }>();
  readonly #skipped: { readonly run: string; readonly why: string }[] = [];
  readonly #seen: string[] = [];
  #run: RunLine | null = null; // chosen and not skipped
  #auditor: RunAuditor | null = null;
  #kept = 0; // findings of the run
  #more = 0;
  #broken = 0;
  #lacksMost = false;
  #lastLine = 0;

  constructor(options: AuditOptions, reader: TraceReader) {
    this.#options = options;
    this.#reader = reader;
    this.#pulse = new Pulse(options);
  }

  async run(): Promise<AuditResult> {
    const error = await this.#pulse.endOf(() => this.#readAll());
    this.#endRun(null);
    if (this.#pulse.operations === 0 && this.#skipped.length === 0) this.#refuseEmpty();
    const { truncated, ignoredKeys } = this.#reader;
    return {
      trace: this.#options.trace,
      runs: this.#pulse.runs,
      operations: this.#pulse.operations,
      findings: this.#findings,
      more: this.#more,
      broken: this.#broken,
      unchecked: [...this.#unchecked.values()],
      skipped: this.#skipped,
      isPartial:
        truncated !== null || ignoredKeys > 0 || this.#lacksMost || this.#skipped.length > 0,
      error,
    };
  }

  #refuseEmpty(): never {
    const { trace, run } = this.#options;
    if (run !== undefined && !this.#seen.includes(run)) throw noSuchRun(run, trace, this.#seen);
    const message = "holds no operation, so nothing was audited";
    throw new InputError("trace_structure", message, { file: trace });
  }

  async #readAll(): Promise<void> {
    for (;;) {
      const { lines, numbers } = await this.#reader.readBatch(BATCH_LINES);
      if (lines.length === 0) return;
      let operations = 0;
      for (const [index, line] of lines.entries()) {
        this.#lastLine = numbers[index] ?? this.#lastLine;
        if (line.kind === "op" && this.#run !== null) operations += 1;
        this.#line(line);
      }
      if (this.#pulse.count(operations)) await this.#pulse.breathe();
    }
  }

  #line(line: TraceLine): void {
    switch (line.kind) {
      case "run":
        this.#startRun(line);
        return;
      case "op":
        this.#operation(line);
        return;
      case "state":
        this.#state(line);
        return;
      case "end":
        this.#endRun(line);
        return;
      case "trace":
      case "call":
      case "mark":
        return;
    }
  }

  #startRun(line: RunLine): void {
    this.#endRun(null); // a run without an end, in a truncated trace
    this.#seen.push(line.run);
    if (this.#options.run !== undefined && line.run !== this.#options.run) return;
    const why =
      line.domain === "kv"
        ? (line.starts_at ?? 0) > 0
          ? "it begins after its boot: what was bound before is not told"
          : null
        : `domain ${line.domain} has no pages to own`;
    if (why !== null) {
      this.#skipped.push({ run: line.run, why });
      return;
    }
    this.#run = line;
    this.#pulse.run = line.run;
    this.#kept = 0;
  }

  #operation(line: OpLine): void {
    if (this.#run === null) return;
    // an operation's name and arguments belong together as they stood on one line, and so does the answer
    const { op, args, ...answer } = line as unknown as KvOperation & Answer;
    if (this.#auditor === null) {
      if (op !== "boot" || answer.ok === undefined) return; // a refused boot leaves nothing to own
      const config = (this.#run.derived ?? this.#run.config) as DirectConfig; // one of the two is direct
      const boot = answer.ok as BootOk; // of a boot
      const why = unauditable(config, boot);
      if (why !== null) {
        this.#skipped.push({ run: this.#run.run, why });
        this.#run = null;
        return;
      }
      this.#auditor = new RunAuditor(config, boot);
    }
    this.#keep(this.#auditor.line(line.n, { op, args } as KvOperation, answer));
  }

  #state({ n, state }: StateLine): void {
    if (this.#auditor !== null) this.#keep(this.#auditor.state(n, state));
  }

  #endRun(line: EndLine | null): void {
    const auditor = this.#auditor;
    if (auditor !== null) {
      // What a cut run leaves open is no leak.
      if (line !== null) this.#keep(auditor.end(line.digest ?? null));
      for (const { rules, why, isMost } of auditor.unchecked) {
        const known = this.#unchecked.get(why) ?? { rules, why, runs: 0 };
        known.runs += 1;
        this.#unchecked.set(why, known);
        this.#lacksMost ||= isMost;
      }
    }
    if (this.#run !== null) {
      this.#pulse.runs += 1;
      if (this.#kept > 0) this.#broken += 1;
    }
    this.#run = null;
    this.#auditor = null;
  }

  #keep(found: readonly Finding[]): void {
    for (const finding of found) {
      this.#kept += 1;
      if (this.#kept > (this.#options.most ?? DEFAULT_MOST)) this.#more += 1;
      else this.#findings.push({ ...finding, run: this.#run?.run ?? "", line: this.#lastLine });
    }
  }
}
