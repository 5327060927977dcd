// The serving model's use of the prefix tree: matches at admission, finished chunks inserted, checkpoints of state.
import type { Key, KvOk } from "../base/operations.js";
import { checkpointGrid } from "./serving-features.js";
import type { InFlightEntry, Job } from "./serving-jobs.js";
import { clearRow } from "./serving-jobs.js";
import { keyOf } from "./serving-keys.js";
import type { ServingMemory } from "./serving-memory.js";
import type { Script, ServingContext, Take } from "./serving-script.js";

/** @internal */
export class PrefixCache {
  readonly #context: ServingContext;
  readonly #memory: ServingMemory;
  readonly #blockTokens: number;
  readonly #grid: number;
  readonly #isTracking: boolean;
  readonly #isLazy: boolean;

  constructor(context: ServingContext, memory: ServingMemory, blockTokens: number) {
    this.#context = context;
    this.#memory = memory;
    this.#blockTokens = blockTokens;
    this.#grid = checkpointGrid(context.config);
    const strategy = context.config.checkpoint?.strategy;
    this.#isTracking =
      context.stateBand !== null && strategy !== undefined && strategy !== "no_buffer";
    this.#isLazy = strategy === "extra_buffer_lazy";
  }

  /** The key of a job's first `len` tokens. */
  key(job: Job, len: number): Key {
    return keyOf(job, this.#blockTokens, len);
  }

  /** The row takes what the tree has of its prompt; the last token is always computed again. */
  *match(job: Job): Script {
    const key = this.key(job, job.prompt - 1);
    const answer = yield { op: "tree.match", args: { key, req: job.name } };
    const { len = 0, slots = {} } = (answer.ok ?? {}) as Partial<KvOk["tree.match"]>;
    job.allocated = len;
    job.computed = len;
    job.cursors.fill(len); // what the tree holds is not the row's to retire
    // Where state kept the match short: the next request that shares so much finds a checkpoint there.
    const branch = Math.floor((slots["full"] ?? 0) / this.#grid) * this.#grid;
    job.branch = this.#isTracking && branch > len ? branch : 0;
    this.#context.count("matches");
    if (len === 0) return;
    this.#context.count("hits");
    this.#context.count("hit_tokens", len);
  }

  /**
   * A slot for the state, one or two that checkpoints are tracked in, and the matched state copied in. False where memory
   * is short.
   */
  *takeSlots(job: Job): Take {
    const { stateBand } = this.#context;
    if (stateBand === null) return true;
    const main = { req: job.name, count: 1, purpose: "main" } as const;
    if (!(yield* this.#memory.take({ op: "state.alloc", args: main }))) return false;
    if (this.#isTracking && !(yield* this.takeTrackSlots(job))) return false;
    if (job.allocated === 0) return true;
    const from = { key: this.key(job, job.allocated), len: job.allocated };
    const to = { req: job.name, purpose: "main" } as const;
    return yield* this.#memory.take({ op: "state.copy", args: { from, to } });
  }

  /** Slots that checkpoints are tracked in; true where the strategy needs none. */
  *takeTrackSlots(job: Job): Take {
    if (!this.#isTracking) return true;
    const count = !this.#isLazy && this.#context.config.overlap === true ? 2 : 1;
    const args = { req: job.name, count, purpose: "track" } as const;
    if (!(yield* this.#memory.take({ op: "state.alloc", args }))) return false;
    job.ring.resize(count);
    return true;
  }

  /** A row that got no slots is closed again. */
  *giveUp(job: Job): Script {
    const args = { req: job.name, len: job.allocated, insert: false };
    yield { op: "request.finish", args };
    clearRow(job);
  }

  /**
   * Where a forward over `[from, to)` keeps the state: at the place where other requests part from this one, else at the
   * last point of the grid; null where the span has none.
   */
  trackedAt(job: Job, from: number, to: number): number | null {
    if (!this.#isTracking || job.ring.size === 0) return null;
    if (job.branch > from && job.branch <= to) return job.branch;
    const end = Math.min(to, job.input + job.output);
    const point = Math.floor(end / this.#grid) * this.#grid;
    return point > from ? point : null;
  }

  /** Before a decode that passes the grid a lazily tracked request gets a second slot, if there is one without eviction. */
  *prepareDecode(job: Job, from: number, to: number): Script {
    if (!this.#isLazy || job.ring.size !== 1 || this.trackedAt(job, from, to) === null) return;
    const args = { req: job.name, count: 1, purpose: "track" } as const;
    const answer = yield { op: "state.alloc", args };
    if (answer.err === undefined) job.ring.resize(2);
    else this.#context.count("tracked_in_place");
  }

  /**
   * How many tokens the tree can take after a forward of a request that goes on: the chunk, where state does not matter,
   * else as far as a checkpoint was tracked; 0 where nothing.
   */
  insertable({ job, to, tracked }: InFlightEntry, isPrefill: boolean): number {
    if (this.#context.stateBand === null) return isPrefill ? this.#context.pageFloor(to) : 0;
    if (tracked === null || job.ring.has(tracked)) return tracked ?? 0;
    this.#context.count("overwritten_checkpoints");
    return 0;
  }

  /** The tree takes a row's first `len` tokens, with the checkpoint that was tracked there. False where it does not. */
  *settle(job: Job, len: number, tracked: number | null): Take {
    const args = { req: job.name, key: this.key(job, len), len };
    const inserted = yield { op: "tree.insert", args };
    if (inserted.err !== undefined) return false;
    this.#context.count("inserts");
    for (const [index, cursor] of job.cursors.entries()) job.cursors[index] = Math.max(cursor, len);
    if (tracked !== null) yield* this.#donate(job, tracked);
    return true;
  }

  *#donate(job: Job, len: number): Script {
    const { stateBand } = this.#context;
    const operation = { op: "state.donate", args: { req: job.name, len } } as const;
    let answer = yield operation;
    const isShort = answer.err?.code === "checkpoint_stalled" && stateBand !== null;
    if (isShort && !this.#isLazy && (yield* this.#memory.evict({ [stateBand]: 1 })))
      answer = yield operation;
    if (answer.err !== undefined) {
      this.#context.count("checkpoint_stalls");
      return;
    }
    this.#context.count("checkpoints");
    job.ring.give(len);
    job.floors.fill(null); // what the windows keep is known again when they are retired
    if (len === job.branch) job.branch = 0;
  }
}
