// Runs workloads on an implementation and writes what it was asked and what it answered. A generator sees each answer
// before it gives the next operation, so operations go one by one.
import { UsageError } from "../base/errors.js";
import type { Answer } from "../base/operations.js";
import type { AdapterInfo } from "../adapter/adapter.js";
import { producerBlock } from "../trace/header.js";
import type { TraceWriter } from "../trace/writer.js";
import { Spool } from "../trace/writer-spool.js";
import { groupOf } from "../workload/workload.js";
import type { WorkloadGroup } from "../workload/workload.js";
import { Candidate } from "./candidate.js";
import { Pulse } from "./pulse.js";
import type { RecordResult } from "./outcome.js";
import type { RecordOptions } from "./record-options.js";
import { RunRecording } from "./record-run.js";

export type { RecordOptions } from "./record-options.js";

/** Records every workload. A broken promise of the implementation ends it and is part of the result. @public */
export async function record(options: RecordOptions): Promise<RecordResult> {
  const recording = new Recording(options);
  try {
    return await recording.run();
  } finally {
    await recording.dispose();
  }
}

class Recording {
  readonly #options: RecordOptions;
  readonly #candidates: Candidate[]; // the first one serves all that run alone
  readonly #pulse: Pulse;
  readonly #counters = new Map<string, number>();
  #refusals = 0;
  #states = 0;
  #kept = 0;
  #failure: RecordResult["failure"] = null;

  constructor(options: RecordOptions) {
    this.#options = options;
    this.#candidates = [new Candidate(options.start)];
    this.#pulse = new Pulse(options);
  }

  async run(): Promise<RecordResult> {
    const { workloads, writer } = this.#options;
    const { info } = await this.#candidate(0).ready(); // one that cannot be started leaves no file
    this.#head(writer, info);
    const options = this.#optionsWith(info);
    for (const workload of workloads) {
      const group = groupOf(workload);
      await this.#record(group, options);
      this.#pulse.runs += group.runs.length;
      for (const [name, count] of Object.entries(group.counters ?? {})) {
        this.#counters.set(name, (this.#counters.get(name) ?? 0) + count);
      }
      if (this.#failure !== null || writer.closed) break;
    }
    if (this.#pulse.operations === 0 && this.#failure === null)
      throw new UsageError("nothing was selected to record");
    return {
      runs: this.#pulse.runs,
      operations: this.#pulse.operations,
      kept: this.#kept,
      refusals: this.#refusals,
      states: this.#states,
      failure: this.#failure,
      counters: Object.fromEntries(this.#counters),
    };
  }

  // The answers are the implementation's. Without a commit nothing is known that its sources could differ from.
  #head(writer: TraceWriter, { name, version, revision, dirty }: AdapterInfo): void {
    const { created = null, note = null } = this.#options;
    const isDirty = revision === null ? null : dirty;
    writer.header(producerBlock(name, version, revision, isDirty), { created, note });
  }

  /** The options, with a header on each file of what is kept. */
  #optionsWith(info: AdapterInfo): RecordOptions {
    const { openSpill } = this.#options;
    if (openSpill === undefined) return this.#options;
    const opened = (): TraceWriter => {
      const writer = openSpill();
      this.#head(writer, info);
      return writer;
    };
    return { ...this.#options, openSpill: opened };
  }

  async dispose(): Promise<void> {
    for (const candidate of this.#candidates) await candidate.dispose();
  }

  #candidate(index: number): Candidate {
    const candidate = this.#candidates[index] ?? new Candidate(this.#options.start);
    this.#candidates[index] = candidate;
    return candidate;
  }

  /** Records a group: its first run straight into the trace, the others beside it until their turn comes. */
  async #record(group: WorkloadGroup, options: RecordOptions): Promise<void> {
    const { writer, openSpill } = options;
    const spools = new Map<RunRecording, Spool>();
    const recordings: RunRecording[] = [];
    try {
      for (const [index, run] of group.runs.entries()) {
        const spool = index === 0 ? null : new Spool();
        const to = spool?.writer ?? writer;
        const candidate = this.#candidate(index);
        const recording = new RunRecording(run, candidate, to, options, this.#pulse);
        recordings.push(recording);
        if (spool !== null) spools.set(recording, spool);
        await recording.open();
      }
      await this.#operations(group, recordings);
      for (const recording of recordings) {
        if (recording.operations === 0 && recording.failure === null) continue; // another was refused at boot
        await recording.settle();
        this.#kept += recording.kept;
        if (recording.failure === null) await recording.close();
        this.#refusals += recording.refusals;
        this.#states += recording.states;
        spools.get(recording)?.appendTo(writer);
        if (openSpill !== undefined) writer.flush();
        recording.dispose();
        this.#failure = recording.failure;
        if (this.#failure !== null) break; // the file ends inside the run that broke
      }
    } finally {
      for (const recording of recordings) recording.dispose();
      for (const spool of spools.values()) spool.dispose();
    }
  }

  async #operations(group: WorkloadGroup, recordings: readonly RunRecording[]): Promise<void> {
    let answer: Answer | null = null;
    for (;;) {
      const next = group.next(answer);
      const recording = next === null ? undefined : recordings[next.run];
      if (next === null || recording === undefined || this.#options.writer.closed) return;
      answer = null;
      if ("mark" in next.step) {
        recording.mark(next.step.mark);
        continue;
      }
      answer = await recording.apply(next.step.operation);
      if (answer === null) return;
      if (this.#pulse.count(1)) await this.#pulse.breathe();
      if (recording.isRefused) return; // at boot: nothing more can be asked
    }
  }
}
