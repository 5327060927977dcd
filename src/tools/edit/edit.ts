// A trace with fewer runs or operations, other values, or the runs of several. A run that no operation of changes keeps
// its lines; any other is asked anew, so that what it says is what an implementation answers.
import { CandidateError, InputError, UsageError } from "../../base/errors.js";
import type { HeaderLine, RunLine, TraceLine } from "../../trace/lines.js";
import { openTrace } from "../../trace/reader.js";
import type { ReaderOptions } from "../../trace/reader.js";
import { runWords } from "../../trace/run-words.js";
import type { TraceWriter } from "../../trace/writer.js";
import { Candidate } from "../candidate.js";
import type { StartAdapter } from "../candidate.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { Chosen } from "./filters.js";
import type { Filter } from "./filters.js";
import { OperationEdit } from "./operation-edit.js";
import type { EditCounts, OperationEdits, Range } from "./operation-edit.js";
import { Rerecording } from "./rerecording.js";
import type { BrokenEdit } from "./rerecording.js";
import { Substitutions } from "./substitutions.js";
import type { Substitution } from "./substitutions.js";

/** @public */
export interface EditOptions extends ToolControl {
  readonly traces: readonly string[]; // the first gives the header; files, unless only runs are chosen or merged
  readonly writer: TraceWriter; // the caller commits it, or gives it up
  readonly start: StartAdapter; // who answers edited runs
  readonly filters?: readonly Filter[];
  readonly cut?: Range;
  readonly substitutions?: readonly Substitution[];
  readonly renamesRuns?: boolean; // a run of a name that was there gets another; else it is refused
  readonly reader?: ReaderOptions;
}

/** @public */
export interface EditResult extends EditCounts {
  readonly runs: number; // written
  readonly operations: number;
  readonly leftOut: number; // runs that the filters leave out, or of which nothing is left
  readonly answered: number; // runs asked anew
  readonly groundless: number; // operations left out because the edit took their ground
  readonly lostStates: number;
  readonly renamed: number; // runs
  readonly isPartial: boolean; // truncated input was accepted, or keys were ignored
  readonly broken: BrokenEdit | null; // the implementation broke: what was written is no use
}

/** Whether an edit speaks of operations, so that it reads its traces twice. @public */
export function editsOperations(
  options: Pick<EditOptions, "filters" | "cut" | "substitutions">,
): boolean {
  const { filters = [], cut, substitutions = [] } = options;
  return cut !== undefined || substitutions.length > 0 || filters.some(({ key }) => key !== "run");
}

/** Writes the edited trace. Throws `UsageError`, `InputError`, `CandidateError`. @public */
export async function editTrace(options: EditOptions): Promise<EditResult> {
  const editor = new Editor(options);
  try {
    return await editor.run();
  } finally {
    await editor.dispose();
  }
}

class Editor {
  readonly #options: EditOptions;
  readonly #runs: Chosen;
  readonly #edits: OperationEdits;
  readonly #candidate: Candidate;
  readonly #pulse: Pulse;
  readonly #changed = new Set<string>(); // runs by place and name
  readonly #names = new Set<string>();
  readonly #totals = { dropped: 0, changed: 0, stayed: 0 };
  readonly #counts = {
    ...{ runs: 0, operations: 0, leftOut: 0, answered: 0 },
    ...{ groundless: 0, lostStates: 0, renamed: 0 },
  };
  #header: HeaderLine | null = null;
  #isKept = false; // the run at hand
  #name = ""; // its name as it is written
  #edited: EditedRun | null = null; // null: it keeps its lines
  #hasCut = false;
  #isPartial = false;
  #broken: BrokenEdit | null = null;

  constructor(options: EditOptions) {
    const { filters = [], cut, substitutions = [] } = options;
    this.#options = options;
    this.#runs = new Chosen(filters, "run");
    this.#edits = {
      cut: cut ?? null,
      kinds: new Chosen(filters, "op"),
      requests: new Chosen(filters, "req"),
      substitutions: new Substitutions(substitutions),
    };
    this.#candidate = new Candidate(options.start);
    this.#pulse = new Pulse(options);
  }

  async run(): Promise<EditResult> {
    const { traces } = this.#options;
    if (editsOperations(this.#options)) {
      for (const trace of traces) await this.#look(trace);
      this.#refuseUnmet();
    }
    for (const trace of traces) if (this.#broken === null) await this.#write(trace);
    if (this.#broken === null) this.#refuseUnmet();
    if (this.#broken === null && this.#counts.operations === 0)
      throw new UsageError(
        "the edit leaves no operation: nothing was written (runs are kept by --filter run=…)",
      );
    return {
      ...this.#totals,
      ...this.#counts,
      isPartial: this.#isPartial,
      broken: this.#broken,
    };
  }

  async dispose(): Promise<void> {
    await this.#candidate.dispose();
  }

  #refuseUnmet(): void {
    const { requests, substitutions, cut } = this.#edits;
    // a kind is one of the table's; that a trace has none of it is no mistake
    for (const chosen of [this.#runs, requests]) {
      const unmet = chosen.unmet();
      if (unmet !== null)
        throw new UsageError(`--filter ${unmet.text}: nothing in the trace is ${unmet.word}`);
    }
    const put = substitutions.unmet();
    if (put !== null)
      throw new UsageError(`--substitute ${put.text}: nothing in the trace has such a place`);
    if (cut !== null && !this.#hasCut)
      throw new UsageError(`--cut: no run has an operation ${cut.from} or later in that range`);
  }

  /** The first reading: which runs change. */
  async #look(trace: string): Promise<void> {
    let name = "";
    let edit: OperationEdit | null = null;
    await this.#lines(trace, async (line) => {
      if (line.kind === "run") {
        name = line.run;
        edit = this.#runs.keeps(name) ? this.#editOf(line) : null;
        if (edit !== null && this.#edits.substitutions.config(line) !== line.config)
          this.#changed.add(keyOf(trace, name));
      } else if (line.kind === "op" && edit !== null) {
        edit.next(line);
        this.#hasCut ||= edit.hasCut;
        if (edit.isChanged) this.#changed.add(keyOf(trace, name));
      }
    });
  }

  #editOf(line: RunLine): OperationEdit {
    return new OperationEdit(this.#edits, runWords(line.domain, line.config, line.derived));
  }

  /** The second reading. */
  async #write(trace: string): Promise<void> {
    await this.#lines(trace, async (line) => {
      if (line.kind === "trace") {
        if (this.#header === null) this.#options.writer.line(line);
        this.#header ??= line;
      } else if (line.kind === "run") {
        this.#isKept = this.#runs.keeps(line.run);
        if (this.#isKept) await this.#begin(trace, line);
        else this.#counts.leftOut += 1;
      } else if (this.#isKept) await this.#inside(line);
    });
  }

  async #inside(line: Exclude<TraceLine, HeaderLine | RunLine>): Promise<void> {
    const edited = this.#edited;
    if (edited === null) {
      if (line.kind === "op") this.#counts.operations += 1;
      this.#options.writer.line(line.kind === "end" ? { ...line, run: this.#name } : line);
      return;
    }
    await edited.take(line);
    if (line.kind === "end" || edited.broken !== null) this.#finish(edited);
  }

  async #begin(trace: string, line: RunLine): Promise<void> {
    this.#edited = null;
    this.#pulse.run = line.run;
    this.#name = this.#nameOf(trace, line.run);
    const opening: RunLine = this.#name === line.run ? line : { ...line, run: this.#name };
    if (!this.#changed.has(keyOf(trace, line.run))) {
      this.#counts.runs += 1;
      this.#options.writer.line(opening);
      return;
    }
    const config = this.#edits.substitutions.config(line);
    const recording = new Rerecording(this.#options.writer, this.#candidate, {
      ...opening,
      config,
    });
    this.#edited = new EditedRun(recording, this.#editOf(line), this.#header, line);
    await this.#edited.begin();
  }

  #nameOf(trace: string, run: string): string {
    let name = run;
    if (this.#names.has(run)) {
      if (this.#options.renamesRuns !== true)
        throw new UsageError(
          `run ${run} of ${trace} has a name that was there before: --rename-runs gives it another`,
        );
      for (let next = 2; this.#names.has(name); next++) name = `${run}#${next}`;
      this.#counts.renamed += 1;
    }
    this.#names.add(name);
    return name;
  }

  #isOver(): boolean {
    return this.#broken !== null || this.#options.writer.closed;
  }

  #finish({ recording, edit, broken }: EditedRun): void {
    const { operations, groundless, lostStates } = recording;
    this.#broken ??= broken;
    this.#counts.answered += 1;
    this.#counts.groundless += groundless;
    this.#counts.lostStates += lostStates;
    this.#counts.operations += operations;
    if (operations > 0) this.#counts.runs += 1;
    else this.#counts.leftOut += 1;
    this.#totals.dropped += edit.counts.dropped;
    this.#totals.changed += edit.counts.changed;
    this.#totals.stayed += edit.counts.stayed;
  }

  async #lines(trace: string, take: (line: TraceLine) => Promise<void>): Promise<void> {
    const reader = await openTrace(trace, this.#options.reader ?? {});
    try {
      while (!this.#isOver()) {
        const { lines } = await reader.readBatch();
        if (lines.length === 0) break;
        for (const line of lines) {
          await take(line);
          if (this.#isOver()) return;
          if (this.#pulse.count(line.kind === "op" ? 1 : 0)) await this.#pulse.breathe();
        }
      }
      if (reader.truncated !== null) {
        const message = `${reader.truncated.message}; convert --recover closes its runs`;
        throw new InputError("trace_truncated", message, { file: trace });
      }
      this.#isPartial ||= reader.ignoredKeys > 0;
    } finally {
      await reader.close();
    }
  }
}

/** A run that is asked anew, line by line. */
class EditedRun {
  readonly recording: Rerecording;
  readonly edit: OperationEdit;
  readonly #header: HeaderLine | null;
  #isWaiting: boolean; // for the state that it begins with

  constructor(
    recording: Rerecording,
    edit: OperationEdit,
    header: HeaderLine | null,
    line: RunLine,
  ) {
    this.recording = recording;
    this.edit = edit;
    this.#header = header;
    this.#isWaiting = (line.starts_at ?? 0) > 0;
  }

  get broken(): BrokenEdit | null {
    return this.recording.broken;
  }

  async begin(): Promise<void> {
    if (!this.#isWaiting) await this.recording.open(this.#header?.producer ?? null, null);
  }

  async take(line: Exclude<TraceLine, HeaderLine | RunLine>): Promise<void> {
    switch (line.kind) {
      case "state":
        if (this.#isWaiting) {
          this.#isWaiting = false;
          await this.recording.open(this.#header?.producer ?? null, line);
        } else await this.recording.state();
        return;
      case "op": {
        if (this.#isWaiting)
          throw new CandidateError(
            "candidate_handshake",
            "a run begins with no state to go on from",
          );
        const left = this.edit.next(line);
        if (left === null) this.recording.isWritten = false;
        else await this.recording.operation(line, left);
        return;
      }
      case "mark":
        if (!this.#isWaiting) this.recording.mark(line.text);
        return;
      case "end":
        await this.recording.end();
        return;
      case "call":
        return; // whoever is asked now is asked without intents
    }
  }
}

function keyOf(trace: string, run: string): string {
  return `${trace}\0${run}`;
}
