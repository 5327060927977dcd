// Keeps the last operations of a run while it is recorded, and from time to time a full state, so that in the end the
// state before the first kept operation can be told: an implementation that begins with an earlier one is asked the few
// operations in between.
import type { Answer, Digests, Operation } from "../base/operations.js";
import type { State } from "../base/state.js";
import type { RunLine } from "../trace/lines.js";
import type { TraceWriter } from "../trace/writer.js";
import type { RecordSpill } from "./record-spill.js";

type LineSink = Pick<TraceWriter, "run" | "op" | "call" | "mark" | "state">;

/** What a run's recording writes into. @internal */
export type RunSink = Pick<TraceWriter, "run" | "op" | "call" | "mark" | "state" | "flush" | "end">;

/**
 * Answers operations behind a state (null: from the run's beginning) and gives the state then; null where that is not to
 * be had. @internal
 */
export type StateBehind = (
  state: State | null,
  operations: readonly Operation[],
) => Promise<State | null>;

/** A full state costs what is live: not after every few operations. */
const STRETCH_LEAST = 1024;

interface Entry {
  readonly n: number; // the operation that it is about
  readonly asked: { readonly operation: Operation; readonly digest: Digests | undefined } | null; // null: no `op` line
  readonly write: (sink: LineSink, digest?: Digests) => void;
}
/** A stretch of a run. */
interface Stretch {
  readonly state: State | null; // before it; null: the run's beginning
  readonly from: number; // first operation
  readonly digests: ReadonlyMap<string, string>; // before it, by component
  readonly entries: Entry[];
}

/** Takes the lines of one run and lets go of those that are too old. @internal */
export class RecordTail implements RunSink {
  readonly #sink: RunSink;
  readonly #most: number;
  readonly #spill: RecordSpill | null;
  #line: Omit<RunLine, "kind"> | null = null;
  #stretches: Stretch[] = [{ state: null, from: 0, digests: new Map(), entries: [] }];
  readonly #digests = new Map<string, string>(); // the last of each component
  #operations = 0;
  /** Operations written, once the run is over. */
  kept = 0;

  /**
   * @param most - operations that are kept, at least 1
   * @param spill - takes every line at once, null: nothing is written before the end
   */
  constructor(sink: RunSink, most: number, spill: RecordSpill | null = null) {
    this.#sink = sink;
    this.#most = most;
    this.#spill = spill;
  }

  run(line: Omit<RunLine, "kind">): void {
    this.#line = line;
    this.#spill?.run(line);
  }
  op(n: number, operation: Operation, answer: Answer): void {
    this.#operations = n + 1;
    this.#spill?.op(n, operation, answer);
    const { digest } = answer;
    for (const [name, value] of Object.entries(digest ?? {})) this.#digests.set(name, value);
    this.#add({
      n,
      asked: { operation, digest },
      write: (sink, all) => {
        sink.op(n, operation, all === undefined ? answer : { ...answer, digest: all });
      },
    });
  }
  call(n: number, operation: Operation): void {
    this.#spill?.call(n, operation);
    this.#add({ n, asked: null, write: (sink) => sink.call(n, operation) });
  }
  mark(n: number, text: string): void {
    this.#spill?.mark(n, text);
    this.#add({ n, asked: null, write: (sink) => sink.mark(n, text) });
  }
  state(n: number, state: State): void {
    this.#spill?.state(n, state);
    this.#add({ n, asked: null, write: (sink) => sink.state(n, state) });
  }
  /** Of what is kept on the disk; nothing else is written before the end. */
  flush(): void {
    this.#spill?.flush();
  }

  /** Whether a full state is wanted after this operation. */
  wants(n: number): boolean {
    return (n + 1) % Math.max(this.#most, STRETCH_LEAST) === 0;
  }

  /** The full state after operation `n`, the last one: what stands before the stretch before it is not needed any more. */
  checkpoint(n: number, state: State): void {
    const next = { state, from: n + 1, digests: new Map(this.#digests), entries: [] };
    this.#stretches = [...this.#stretches.slice(-1), next];
    const [kept] = this.#stretches;
    const line = this.#line;
    if (this.#spill === null || line === null || kept === undefined || kept.from === 0) return;
    const { entries, from } = kept;
    const begin = { from, state: kept.state, digests: digestsAt(kept, entries, from) };
    this.#spill.renew((writer) => {
      writeFrom(writer, line, begin, entries);
    });
  }

  /** Writes what is kept, but for the end; `dispose` lets go of what is on the disk until then. */
  async settle(behind: StateBehind): Promise<void> {
    const line = this.#line;
    if (line === null) return;
    const wanted = Math.max(0, this.#operations - this.#most);
    const stretch = this.#stretches.findLast(({ from }) => from <= wanted) ?? this.#stretches[0]!; // there is always one
    const entries = this.#stretches
      .slice(this.#stretches.indexOf(stretch))
      .flatMap((one) => one.entries);
    const begin = await this.#begin(stretch, entries, wanted, behind);
    this.kept = this.#operations - begin.from;
    writeFrom(this.#sink, line, begin, entries);
  }

  end(run: string, _ops: number, digest: string | null): void {
    this.#sink.end(run, this.kept, digest);
  }

  dispose(): void {
    this.#spill?.dispose();
  }

  /** The state before operation `wanted`, or the nearest earlier one that can be told. */
  async #begin(
    stretch: Stretch,
    entries: readonly Entry[],
    wanted: number,
    behind: StateBehind,
  ): Promise<Begin> {
    const { state, from } = stretch;
    if (from === wanted) return { from, state, digests: digestsAt(stretch, entries, from) };
    const between = entries.flatMap(({ n, asked }) =>
      asked !== null && n < wanted ? [asked.operation] : [],
    );
    const there = await behind(state, between);
    if (there === null) return { from, state, digests: digestsAt(stretch, entries, from) };
    return { from: wanted, state: there, digests: digestsAt(stretch, entries, wanted) };
  }

  #add(entry: Entry): void {
    this.#stretches.at(-1)!.entries.push(entry); // there is always one
  }
}

/** Where what is kept begins. */
interface Begin {
  readonly from: number; // first operation
  readonly state: State | null; // before it; null: the run's beginning
  readonly digests: Digests | undefined; // of every component after the first operation
}

/** A run from there on, but for its end. */
function writeFrom(
  sink: LineSink,
  line: Omit<RunLine, "kind">,
  { from, state, digests }: Begin,
  entries: readonly Entry[],
): void {
  sink.run(from === 0 ? line : { ...line, starts_at: from, dropped: from });
  if (state !== null) sink.state(from - 1, state);
  for (const { n, asked, write } of entries) {
    if (n < from) continue;
    // behind a state the first digest lists every component: nothing before it tells them
    const isFirst = n === from && asked !== null && from > 0;
    write(sink, isFirst ? digests : undefined);
  }
}

/** The digest of every component after operation `n`, in their order; undefined where there are none. */
function digestsAt(
  { digests }: Stretch,
  entries: readonly Entry[],
  n: number,
): Digests | undefined {
  const all = new Map(digests);
  for (const entry of entries) {
    if (entry.n > n) break;
    for (const [name, value] of Object.entries(entry.asked?.digest ?? {})) all.set(name, value);
  }
  return all.size === 0 ? undefined : Object.fromEntries(all);
}
