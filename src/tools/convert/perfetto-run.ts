// One run as a process of the viewer: a lane of operations, requests by row, forwards and copies, counters.
import type { OpLine, RunLine, StateLine } from "../../trace/lines.js";
import { countOf } from "../../base/extents.js";
import type { Extents } from "../../base/operations.js";
import { countEffects } from "./columns.js";
import { BandFollower } from "../band-follower.js";
import { valuesOf, valuesOfState } from "./perfetto-bands.js";
import type { BandValues } from "./perfetto-bands.js";
import type { EventWriter } from "./perfetto-events.js";
import { ObjectFollower } from "./perfetto-objects.js";

/** A run's events. @internal */
export class RunEvents {
  readonly #events: EventWriter;
  readonly #pid: number;
  readonly #tid: number;
  readonly #objects: ObjectFollower;
  readonly #bands: BandFollower | null; // null: another domain
  readonly #heap: HeapValues | null;
  readonly #last = new Map<string, string>(); // counters as they were told
  readonly #totals = {
    refused: 0,
    moved_pages: 0,
    wait_effects: 0,
    retired_pages: 0,
    retractions: 0,
  };

  constructor(events: EventWriter, pid: number, line: RunLine, isAudited: boolean) {
    this.#events = events;
    this.#pid = pid;
    this.#tid = events.thread(pid, "operations", 0);
    this.#objects = new ObjectFollower(events, pid, line.starts_at ?? 0);
    this.#bands = line.domain === "kv" ? new BandFollower(line, isAudited) : null;
    this.#heap = line.domain === "heap" ? new HeapValues() : null;
  }

  /** Where the counts of bands end to be whole; null: they are whole. */
  get parted(): number | null {
    return this.#bands?.parted ?? null;
  }

  operation(line: OpLine): void {
    const { n, op, err, ok } = line;
    const flow = ok === undefined ? null : this.#objects.follow(line);
    const counts = countEffects(line.fx ?? []);
    const { step } = (ok ?? {}) as { readonly step?: string };
    this.#events.slice(
      { pid: this.#pid, tid: this.#tid },
      op,
      n,
      n + 1,
      {
        n,
        ...(err === undefined ? {} : { refused: err.rule ?? err.code }),
        ...(step === undefined || step === "no_move" ? {} : { step }),
        ...(counts.movedPages === 0 ? {} : { moved_pages: counts.movedPages }),
      },
      flow,
    );
    this.#total(line, counts.movedPages, counts.waits + counts.hostWaits);
    this.#counter("total", n, this.#totals);
    if (this.#bands !== null) {
      this.#tellBands(n, valuesOf(this.#bands.after(line)));
      this.#counter("requests", n, { open: this.#objects.openRequests });
    }
    if (this.#heap !== null) this.#counter("heap", n, this.#heap.after(line));
  }

  state({ n, state }: StateLine): void {
    this.#objects.at(n, state);
    if (this.#bands === null) return;
    const reading = this.#bands.at(n, state);
    this.#tellBands(n, reading === null ? valuesOfState(state) : valuesOf(reading));
  }

  mark(n: number, text: string): void {
    this.#events.instant(this.#pid, this.#tid, text, n);
  }

  end(): void {
    this.#objects.end();
  }

  #tellBands(n: number, values: BandValues): void {
    for (const [band, counts] of values) this.#counter(band, n, counts);
  }

  /** Tells counters where one of them is new. */
  #counter(name: string, n: number, values: Readonly<Record<string, number>>): void {
    const text = Object.values(values).join();
    if (this.#last.get(name) === text) return;
    this.#last.set(name, text);
    this.#events.counter(this.#pid, name, n, values);
  }

  #total({ op, ok, err }: OpLine, movedPages: number, waits: number): void {
    const totals = this.#totals;
    if (err !== undefined && err.code !== "invalid") totals.refused += 1;
    totals.moved_pages += movedPages;
    totals.wait_effects += waits;
    if (ok === undefined) return;
    if (op === "request.retract") totals.retractions += 1;
    if (op !== "window.retire") return;
    const windows = ok as Readonly<Record<string, { readonly freed: Extents }>>;
    for (const { freed } of Object.values(windows)) totals.retired_pages += countOf(freed);
  }
}

/** The objects of a heap, by what was granted. */
class HeapValues {
  readonly #sizes = new Map<string, number>(); // bytes of live objects
  #requested = 0;

  after({ op, args, ok }: OpLine): Readonly<Record<string, number>> {
    const { id, size_bytes: bytes } = args as { readonly id?: string; size_bytes?: number };
    if (ok !== undefined && id !== undefined) {
      if (op === "heap.free" || bytes !== undefined) {
        this.#requested -= this.#sizes.get(id) ?? 0;
        this.#sizes.delete(id);
      }
      if (bytes !== undefined) {
        this.#requested += bytes;
        this.#sizes.set(id, bytes);
      }
    }
    return { objects: this.#sizes.size, requested_bytes: this.#requested };
  }
}
