// A trace with other names, hashes of keys and texts, and the same operations, answers and order. What it says stays
// provable: an implementation is asked the whole of it under both sets of names, and its digests are written anew.
import type { RunOpening } from "../../adapter/adapter.js";
import { InputError } from "../../base/errors.js";
import type { Digests } from "../../base/operations.js";
import { equalAnswers } from "../../trace/compare-values.js";
import type {
  EndLine,
  HeaderLine,
  OpLine,
  RunLine,
  StateLine,
  TraceLine,
} from "../../trace/lines.js";
import { openTrace } from "../../trace/reader.js";
import type { ReaderOptions } from "../../trace/reader.js";
import type { TraceWriter } from "../../trace/writer.js";
import { givesDepth } from "../candidate.js";
import type { StartAdapter } from "../candidate.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { AnonymousLines } from "./anonymous-lines.js";
import { DigestShift } from "./digest-shift.js";
import type { NameShift } from "./digest-shift.js";
import { KeyRanks } from "./key-ranks.js";
import { hashesOf } from "./key-hashes.js";
import { SaltedNames } from "./salted-names.js";
import { Twins } from "./twins.js";
import type { TwinAnswers } from "./twins.js";

const BATCH_LINES = 256;

/** @public */
export interface AnonymizeOptions extends ToolControl {
  readonly trace: string; // a file: it is read twice
  readonly writer: TraceWriter; // the caller commits it, or gives it up
  readonly salt: string;
  readonly implementation: { readonly spec: string; readonly start: StartAdapter } | null; // null: proves nothing
  readonly reader?: ReaderOptions;
}

/** What a bundle asks for beside. @internal */
export interface AnonymizeParts {
  readonly runs: ReadonlySet<string> | null; // those to keep; null: all
  readonly watched: ReadonlyMap<string, ReadonlySet<number>>; // by run: operations whose digests a report tells
}

/** What a report about the trace is renamed by. @internal */
export interface Renaming {
  readonly header: HeaderLine | null; // not written
  readonly lines: AnonymousLines;
  readonly names: SaltedNames;
  readonly shifts: ReadonlyMap<string, ReadonlyMap<number, NameShift>>; // by run and operation
}

/** @public */
export interface AnonymizeResult {
  readonly runs: number;
  readonly operations: number;
  readonly hashes: number; // different ones in keys
  readonly proved: number; // runs that the implementation replayed under both sets of names
  readonly differing: number; // operations that the implementation answers otherwise than recorded, before and after
  readonly undigested: number; // runs that lost their digests
  readonly leftOut: number; // runs that were not asked for
  readonly lostStates: number; // states of another form than this project's
  readonly isPartial: boolean; // truncated input was accepted
  readonly broken: { readonly run: string; readonly n: number; readonly op: string } | null; // an answer depends on a name
}

/**
 * Writes the anonymous trace into the writer. With `broken` what was written is no use. Throws `InputError` for a bad
 * trace, `CandidateError` for an implementation that breaks. @public
 */
export async function anonymizeTrace(options: AnonymizeOptions): Promise<AnonymizeResult> {
  if (options.trace === "-") {
    throw new InputError("input_unreadable", "anonymize reads a trace twice: name a file", {
      file: "-",
    });
  }
  const anonymizer = new Anonymizer(options, await ranksOf(options), null);
  try {
    return await anonymizer.run();
  } finally {
    await anonymizer.dispose();
  }
}

/** Writes the runs without the trace's first line, which is for the caller to write. @internal */
export async function anonymizeRuns(
  options: AnonymizeOptions,
  parts: AnonymizeParts,
): Promise<{ readonly result: AnonymizeResult; readonly renaming: Renaming }> {
  const anonymizer = new Anonymizer(options, await ranksOf(options), parts);
  try {
    return { result: await anonymizer.run(), renaming: anonymizer.renaming };
  } finally {
    await anonymizer.dispose();
  }
}

/** The first reading: every hash of every key. */
async function ranksOf({ trace, reader: choices, signal }: AnonymizeOptions): Promise<KeyRanks> {
  const ranks = new KeyRanks();
  const reader = await openTrace(trace, choices ?? {});
  try {
    for (;;) {
      const { lines } = await reader.readBatch();
      if (lines.length === 0) return ranks;
      signal?.throwIfAborted();
      for (const line of lines) hashesOf(line, (hash) => ranks.note(hash));
    }
  } finally {
    await reader.close();
  }
}

/** The second reading. */
class Anonymizer {
  readonly #options: AnonymizeOptions;
  readonly #ranks: KeyRanks;
  readonly #lines: AnonymousLines;
  readonly #names: SaltedNames;
  readonly #parts: AnonymizeParts | null;
  readonly #shifts = new Map<string, Map<number, NameShift>>();
  #header: HeaderLine | null = null;
  #isKept = true; // the run at hand
  readonly #met = new Set<string>();
  readonly #twins: Twins | null;
  readonly #pulse: Pulse;
  #pending: OpLine[] = [];
  #run: RunLine | null = null; // not written yet: its digests are not decided on
  #held: TraceLine[] = []; // of that run, renamed, before its first operation
  #waiting = false; // the run goes on from a state that has not come
  #isAsked = false; // the twins follow the run at hand
  #digests: DigestShift | "undecided" | null = null; // null: the run has none
  readonly #counts = {
    runs: 0,
    operations: 0,
    proved: 0,
    differing: 0,
    undigested: 0,
    leftOut: 0,
    lost: 0,
  };
  #broken: AnonymizeResult["broken"] = null;

  constructor(options: AnonymizeOptions, ranks: KeyRanks, parts: AnonymizeParts | null) {
    const { implementation, salt } = options;
    this.#options = options;
    this.#ranks = ranks;
    this.#parts = parts;
    this.#names = new SaltedNames(salt);
    this.#lines = new AnonymousLines(this.#names, ranks);
    this.#twins =
      implementation && new Twins(implementation.spec, implementation.start, this.#lines);
    this.#pulse = new Pulse(options);
  }

  async run(): Promise<AnonymizeResult> {
    const reader = await openTrace(this.#options.trace, this.#options.reader ?? {});
    try {
      while (this.#broken === null) {
        const { lines } = await reader.readBatch(BATCH_LINES);
        if (lines.length === 0) break;
        for (const line of lines) await this.#take(line);
        await this.#flush();
        if (this.#pulse.count(lines.length)) await this.#pulse.breathe();
      }
      if (this.#broken === null) await this.#leave();
      this.#refuseUnmet();
      if (this.#broken === null && this.#counts.operations === 0) {
        const message = "holds no operation, so nothing was anonymized";
        throw new InputError("trace_structure", message, { file: this.#options.trace });
      }
    } finally {
      await reader.close();
    }
    const { lost, ...counts } = this.#counts;
    return {
      ...counts,
      lostStates: lost,
      hashes: this.#ranks.size,
      isPartial: reader.truncated !== null || reader.ignoredKeys > 0,
      broken: this.#broken,
    };
  }

  async dispose(): Promise<void> {
    await this.#twins?.dispose();
  }

  get renaming(): Renaming {
    return { header: this.#header, lines: this.#lines, names: this.#names, shifts: this.#shifts };
  }

  #refuseUnmet(): void {
    const [missing] = [...(this.#parts?.runs ?? [])].filter((run) => !this.#met.has(run));
    if (missing === undefined || this.#broken !== null) return;
    const message = `has no run ${missing}, which the report is about`;
    throw new InputError("input_format", message, { file: this.#options.trace });
  }

  async #take(line: TraceLine): Promise<void> {
    if (line.kind === "op") {
      if (this.#isKept) this.#pending.push(line);
      return;
    }
    await this.#flush();
    if (line.kind === "run") {
      await this.#leave();
      this.#met.add(line.run);
      this.#isKept = this.#parts?.runs?.has(line.run) ?? true;
      if (this.#isKept) await this.#startRun(line);
      else this.#counts.leftOut += 1;
    } else if (this.#isKept) await this.#structure(line);
  }

  async #structure(line: Exclude<TraceLine, OpLine | RunLine>): Promise<void> {
    const { writer } = this.#options;
    switch (line.kind) {
      case "trace":
        this.#header = this.#lines.header(line);
        if (this.#parts === null) writer.line(this.#header);
        return;
      case "state":
        await this.#state(line);
        return;
      case "end":
        this.#writeRun(false);
        writer.line(this.#lines.end(line, this.#endDigest(line)));
        await this.#leave();
        return;
      case "call":
        this.#write(this.#lines.call(line));
        return;
      case "mark":
        this.#write(this.#lines.mark(line));
    }
  }

  #write(line: TraceLine): void {
    if (this.#run === null) this.#options.writer.line(line);
    else this.#held.push(line);
  }

  async #startRun(line: RunLine): Promise<void> {
    this.#run = line;
    this.#pulse.run = line.run;
    this.#counts.runs += 1;
    this.#digests = (line.digest_depth ?? null) === null ? null : "undecided";
    this.#waiting = (line.starts_at ?? 0) > 0;
    if (!this.#waiting) await this.#open(line, null);
  }

  // A run without an `end` may stand before the next one, in a truncated trace.
  async #leave(): Promise<void> {
    this.#writeRun(false);
    if (this.#isAsked) {
      await this.#twins?.leave();
      this.#counts.proved += 1;
    }
    this.#isAsked = false;
    this.#digests = null;
  }

  async #open(line: RunLine, from: { state: StateLine; renamed: StateLine } | null): Promise<void> {
    const info = await this.#twins?.info();
    if (info === undefined || !info.domains.includes(line.domain)) return;
    if (from !== null && !info.fromState) return;
    const recorded = line.digest_depth ?? null;
    const digestDepth = recorded !== null && givesDepth(info.digest, recorded) ? recorded : null;
    const opening = (run: RunLine, state: StateLine | undefined): RunOpening => ({
      run: run.run,
      domain: run.domain,
      config: run.config,
      digestDepth,
      ...(state && { state: state.state }),
    });
    await this.#twins?.open(
      opening(line, from?.state),
      opening(this.#lines.run(line), from?.renamed),
    );
    this.#isAsked = true;
    // In the middle of a run an operation may list no digest though there are some.
    if (from !== null && digestDepth !== null) this.#digests = new DigestShift();
  }

  async #state(line: StateLine): Promise<void> {
    const state = this.#lines.state(line.state);
    const isStart = this.#waiting;
    this.#waiting = false;
    if (state === null) {
      this.#counts.lost += 1;
      if (!isStart) return;
      const message = `run ${this.#pulse.run ?? ""} begins with a state of another allocator, in which names cannot be told from other words`;
      throw new InputError("input_format", message, { file: this.#options.trace });
    }
    const renamed: StateLine = { kind: "state", n: line.n, state };
    if (isStart && this.#run !== null) await this.#open(this.#run, { state: line, renamed });
    this.#write(renamed);
  }

  async #flush(): Promise<void> {
    const lines = this.#pending;
    if (lines.length === 0) return;
    this.#pending = [];
    const answers = this.#isAsked ? ((await this.#twins?.apply(lines)) ?? null) : null;
    for (const [index, line] of lines.entries()) {
      const twin = answers?.[index] ?? null;
      if (answers !== null && twin === null) {
        this.#broken = { run: this.#pulse.run ?? "", n: line.n, op: line.op };
        return;
      }
      this.#operation(line, twin);
    }
  }

  #operation(line: OpLine, twin: TwinAnswers | null): void {
    this.#counts.operations += 1;
    if (twin !== null && !equalAnswers(line.op, line, twin.original, { digest: false })) {
      this.#counts.differing += 1;
    }
    this.#decideOnDigests(line, twin);
    this.#writeRun(true);
    const digest = this.#digestOf(line, twin);
    this.#options.writer.line({
      ...this.#lines.op(line),
      ...(digest === undefined ? {} : { digest }),
    }); // with a digest more
  }

  // A run has all its digests or none, and its first operation tells which.
  #decideOnDigests(line: OpLine, twin: TwinAnswers | null): void {
    if (this.#digests !== "undecided") return;
    const asked = twin?.original.digest;
    const fits =
      line.digest === undefined || (asked !== undefined && DigestShift.fits(line.digest, asked));
    this.#digests = fits ? new DigestShift() : null;
  }

  #digestOf(line: OpLine, twin: TwinAnswers | null): Digests | undefined {
    if (!(this.#digests instanceof DigestShift) || twin === null) return undefined;
    const digest = this.#digests.next(line.digest, twin.original.digest, twin.renamed.digest);
    const run = this.#pulse.run ?? "";
    if (this.#parts?.watched.get(run)?.has(line.n) === true) {
      const shifts = this.#shifts.get(run) ?? new Map<number, NameShift>();
      this.#shifts.set(run, shifts.set(line.n, this.#digests.now()));
    }
    return digest;
  }

  #endDigest({ digest }: EndLine): string | null {
    const shift = this.#digests instanceof DigestShift && this.#isAsked ? this.#digests : null;
    return shift === null || typeof digest !== "string" ? null : shift.end(digest);
  }

  #writeRun(isDecided: boolean): void {
    const line = this.#run;
    if (line === null) return;
    this.#run = null;
    const renamed = this.#lines.run(line);
    const hadDigests = (line.digest_depth ?? null) !== null;
    const isWithout = hadDigests && isDecided && this.#digests === null;
    if (isWithout) this.#counts.undigested += 1;
    const { writer } = this.#options;
    writer.line(isWithout ? { ...renamed, digest_depth: null } : renamed);
    for (const held of this.#held) writer.line(held);
    this.#held = [];
  }
}
