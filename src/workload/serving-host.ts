// The serving model's use of the host cache: backups of what the tree holds, loads of what only the host has, and
// requests that were retracted with a backup. Copies end some steps after they began; now and then one fails.
import { Prng } from "../base/prng.js";
import type { Key, KvOk, PageLists } from "../base/operations.js";
import { NameSource } from "./names.js";
import type { PrefixCache } from "./serving-cache.js";
import type { Job } from "./serving-jobs.js";
import { restart } from "./serving-jobs.js";
import type { ServingMemory } from "./serving-memory.js";
import type { ServingQueue } from "./serving-queue.js";
import type { Script, ServingContext, Take } from "./serving-script.js";

const HOST_STREAM = 21;
const OPEN_BACKUPS = 4; // copies of tree nodes that run at once at most
const STEPS_LONGEST = 3; // a copy takes one step to so many
const FAILS_OF = 24; // one copy of so many fails
const CANCELS_OF = 16; // one load of so many is given up before it begins

const EVICTIONS_MOST = 4; // for one load

interface HostPrefix {
  readonly key: Key;
  readonly len: number; // tokens
  readonly deviceLen: number; // tokens of it that the device has
}

interface OpenCopy {
  readonly name: string;
  readonly kind: "backup" | "retraction" | "load" | "restore";
  readonly due: number; // step
  readonly fails: boolean;
  readonly job: Job | null; // who waits for it
}

/** @internal */
export class HostTier {
  readonly #context: ServingContext;
  readonly #memory: ServingMemory;
  readonly #queue: ServingQueue;
  readonly #cache: PrefixCache | null;
  readonly #prng: Prng;
  readonly #copyNames = new NameSource("c");
  readonly #loadNames = new NameSource("l");
  #copies: OpenCopy[] = []; // in the order in which they began

  constructor(
    context: ServingContext,
    memory: ServingMemory,
    queue: ServingQueue,
    cache: PrefixCache | null,
  ) {
    this.#context = context;
    this.#memory = memory;
    this.#queue = queue;
    this.#cache = cache;
    this.#prng = new Prng(context.features.seed, HOST_STREAM);
  }

  /** The step at which the next copy ends, null where none is open. */
  get nextDue(): number | null {
    return this.#copies.reduce<number | null>(
      (first, { due }) => (first === null || due < first ? due : first),
      null,
    );
  }

  /** Whether loads hold memory that nobody runs on yet. */
  get isLoading(): boolean {
    return this.#copies.some(({ kind }) => kind === "load");
  }

  /** Ends the copies that are due; who waited for one goes to the queue's front. */
  *ends(): Script {
    const { step } = this.#context.clock;
    for (const copy of this.#copies.filter(({ due }) => due <= step)) {
      this.#copies = this.#copies.filter((other) => other !== copy);
      if (copy.fails) this.#context.count("failed_copies");
      const args = { copy: copy.name, outcome: copy.fails ? "failed" : "ok" } as const;
      const isOut = copy.kind === "backup" || copy.kind === "retraction";
      yield isOut ? { op: "host.backup_done", args } : { op: "host.load_done", args };
      if (copy.job !== null) yield* this.#goOn(copy, copy.job);
    }
  }

  /** Who waited for a copy is the queue's next. */
  *#goOn({ name, kind, fails }: OpenCopy, job: Job): Script {
    if (kind === "restore") {
      // What the host has may be read again, into a row that is empty again.
      yield { op: "row.free", args: { req: job.name } };
      job.copy = name;
    } else if (kind === "retraction") {
      if (fails) restart(job);
      else job.copy = name;
    }
    this.#queue.pushFront(job);
  }

  /** Starts a backup of what the tree holds of a prefix, `one` time of so many and not too many at once. */
  *backUp(key: Key, len: number, one: number): Script {
    if (!this.#prng.chance(1, one)) return;
    if (this.#copies.filter(({ kind }) => kind === "backup").length >= OPEN_BACKUPS) return;
    const copy = this.#copyNames.fresh();
    const answer = yield { op: "host.backup", args: { copy, key, len } };
    if (answer.err !== undefined) {
      this.#context.count("refused_backups");
      return;
    }
    this.#context.count("backups");
    this.#begin(copy, "backup", null);
  }

  /**
   * Looks for a prefix of the queue's front that only the host has, and fetches it. True where a load began: the job waits
   * for it beside the queue.
   */
  *fetch(job: Job): Take {
    if (this.#cache === null || job.hasLoaded || job.prompt < 2) return false;
    job.hasLoaded = true;
    const load = this.#loadNames.fresh();
    const pages = yield* this.#reserve(this.#cache, job, load);
    if (pages === null) return false;
    if (this.#prng.chance(1, CANCELS_OF)) {
      yield { op: "host.load_cancel", args: { load } };
      this.#context.count("cancelled_loads");
      return false;
    }
    const { windows } = this.#context;
    if (windows.some(({ name }) => (pages[name] ?? []).length > 0))
      yield { op: "host.load_bind", args: { load } };
    const copy = this.#copyNames.fresh();
    yield { op: "host.load_submit", args: { load, copy } };
    this.#context.count("loads");
    this.#queue.dropFront();
    this.#begin(copy, "load", job);
    return true;
  }

  /** Takes places for a prefix that only the host has whole; null where there is none, or no memory. */
  *#reserve(cache: PrefixCache, job: Job, load: string): Script<PageLists | null> {
    for (let tries = 0; tries < EVICTIONS_MOST; tries++) {
      // An eviction may take of the path itself, so it is looked for again.
      const found = yield* this.#hostPrefix(cache, job);
      if (found === null) return null;
      const { key, len, deviceLen } = found;
      const held = { key: cache.key(job, deviceLen), len: deviceLen, req: load };
      if (deviceLen > 0) yield { op: "tree.lock", args: held };
      const answer = yield { op: "host.load_reserve", args: { load, key, len } };
      const hasRoom = answer.err !== undefined && (yield* this.#memory.evictFor(answer.err));
      if (deviceLen > 0) yield { op: "tree.unlock", args: held };
      if (answer.err === undefined)
        return ((answer.ok ?? {}) as Partial<KvOk["host.load_reserve"]>).pages ?? {};
      if (!hasRoom) break;
    }
    this.#memory.refuse();
    return null;
  }

  /** The longest prefix that device and host together have in every slot, where it is longer than the device's. */
  *#hostPrefix(cache: PrefixCache, job: Job): Script<HostPrefix | null> {
    let most = job.prompt - 1;
    for (;;) {
      const key = cache.key(job, most);
      const answer = yield { op: "tree.match", args: { key } };
      const { len = 0, host = {} } = (answer.ok ?? {}) as Partial<KvOk["tree.match"]>;
      const least = Math.min(most, ...Object.values(host));
      if (Object.keys(host).length === 0 || least <= len) return null;
      // Each slot answers for itself alone: what they have in common is found by asking for less.
      if (least === most) return { key, len: most, deviceLen: len };
      most = least;
    }
  }

  /** Retracts a job that decodes with a backup. False where the host has no room: nothing has changed. */
  *retract(job: Job): Take {
    const backup = this.#copyNames.fresh();
    const operation = { op: "request.retract", args: { req: job.name, backup } } as const;
    let answer = yield operation;
    if (answer.err?.code === "refused_host" && (yield* this.#makeRoom(job)))
      answer = yield operation;
    if (answer.err !== undefined) return false;
    this.#context.count("retractions_backed_up");
    job.attempt += 1;
    this.#begin(backup, "retraction", job);
    return true;
  }

  /** Makes room on the host for a row: all its full pages, its windows at their widest, its state. */
  *#makeRoom(job: Job): Take {
    const { config, windows, stateBand } = this.#context;
    const pages = (tokens: number): number => Math.ceil(tokens / config.page_size);
    const demand: Record<string, number> = stateBand === null ? {} : { [stateBand]: 1 };
    for (const [index, { name }] of windows.entries())
      demand[name] = pages(job.allocated) - pages(job.cursors[index] ?? 0);
    demand["full"] = pages(job.allocated);
    const answer = yield { op: "host.evict", args: { demand } };
    if (answer.err !== undefined) return false;
    this.#context.count("host_evictions");
    return true;
  }

  /**
   * Brings the queue's front back from its backup. It runs at once, its forward behind the copy; where the copy will fail
   * it waits beside the queue. False where memory is short.
   */
  *restore(job: Job): Take {
    const { copy } = job;
    if (copy === null) return false;
    const operation = { op: "request.restore", args: { req: job.name, copy } } as const;
    if (!(yield* this.#memory.take(operation))) return false;
    job.copy = null;
    job.ring.resize(0);
    job.floors.fill(null);
    const fails = this.#prng.chance(1, FAILS_OF);
    this.#begin(copy, "restore", fails ? job : null, fails);
    if (fails) {
      this.#queue.dropFront();
      return true;
    }
    this.#queue.admitFront();
    this.#context.count("restores");
    return true;
  }

  #begin(
    name: string,
    kind: OpenCopy["kind"],
    job: Job | null,
    fails = this.#prng.chance(1, FAILS_OF),
  ): void {
    const due = this.#context.clock.step + this.#prng.between(1, STEPS_LONGEST);
    this.#copies.push({ name, kind, due, fails, job });
  }
}
