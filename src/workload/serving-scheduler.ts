// The scheduler of the serving model: continuous batching, chunked prefill before decode, one forward of overlap,
// retraction of the newest request when a take is refused; chunks into the tree, who gives way to the host and back.
import type { Answer, ExtendEntry, KvOperation } from "../base/operations.js";
import { NameSource } from "./names.js";
import type { PrefixCache } from "./serving-cache.js";
import type { HostTier } from "./serving-host.js";
import type { DropReason, InFlight, InFlightEntry, Job } from "./serving-jobs.js";
import { clearRow, restart } from "./serving-jobs.js";
import type { ServingMemory } from "./serving-memory.js";
import type { Peer, SchedulerParts } from "./serving-peer.js";
import type { PrefillEntry, ServingQueue } from "./serving-queue.js";
import type { Script, ServingContext, Take } from "./serving-script.js";
import { retireWindows } from "./serving-windows.js";

const STALLED_TURNS = 64; // that a launch waits at most
const BACKUP_OF_INSERTS = 2; // one insert of so many is followed by a backup
const BACKUP_OF_FINISHES = 4;

/** @internal */
export class Scheduler {
  readonly #context: ServingContext;
  readonly #queue: ServingQueue;
  readonly #memory: ServingMemory;
  readonly #cache: PrefixCache | null;
  readonly #host: HostTier | null;
  readonly #peer: Peer | null;
  readonly #forwardNames = new NameSource("f");
  #inFlight: InFlight | null = null;
  #refusedWhenIdle: Job | null = null;
  #isQuiet = false; // nothing runs, and it was said so

  constructor({ context, queue, memory, cache, host, peer }: SchedulerParts) {
    this.#context = context;
    this.#queue = queue;
    this.#memory = memory;
    this.#cache = cache;
    this.#host = host;
    this.#peer = peer;
  }

  /** All operations of a run. */
  *serve(): Script {
    const { clock } = this.#context;
    yield { op: "boot", args: {} };
    for (;;) {
      this.#queue.arrive(clock.step);
      if (this.#host !== null) yield* this.#host.ends();
      if (this.#peer !== null) yield* this.#peer.turn();
      if (this.#host !== null) yield* this.#restore(this.#host);
      const launched = yield* this.#launchNext();
      if (launched === null) {
        if (this.#inFlight !== null) yield* this.#processPrevious();
        else if (!(yield* this.#idle())) break;
      } else {
        if (this.#peer === null) clock.step += 1;
        this.#refusedWhenIdle = null;
        this.#isQuiet = false;
        this.#context.count("steps");
        const previous = this.#inFlight;
        yield { op: "forward.barrier", args: { step: launched.step } };
        if (previous !== null) yield* this.#process(previous);
        this.#inFlight = launched;
        if (this.#context.isSerial) yield* this.#processPrevious();
      }
      if (this.#peer !== null) yield null;
    }
    yield* this.#end();
  }

  /** Comes to rest. A tree is looked at as it is, and once more when it is empty. */
  *#end(): Script {
    for (const isLast of this.#cache === null ? [true] : [false, true]) {
      if (isLast && this.#cache !== null) yield { op: "contents.discard", args: {} };
      yield { op: "chain.flush", args: {} };
      yield { op: "chain.flush", args: {} };
      yield { op: "check.idle", args: {} };
    }
  }

  *#launchNext(): Script<InFlight | null> {
    const { continuing } = this.#queue;
    const isReceiver = this.#peer?.isPrefill === false;
    const isPrefill = !isReceiver && (continuing !== null || this.#queue.mayAdmit);
    if (isPrefill && this.#inFlight?.isPrefill === true) {
      // Two prefills in a row do not overlap, unless nothing else ever runs: the result first, then the quiet moment to compact.
      if (this.#peer === null || continuing !== null) {
        yield* this.#processPrevious();
        yield { op: "chain.flush", args: {} };
      }
    }
    const prefill = isPrefill ? yield* this.#prefill() : null;
    if (prefill !== null || this.#peer?.isPrefill === true) return prefill;
    return yield* this.#decode();
  }

  /** Nothing runs: a flush and a look, then on to the next arrival. False where there is none. */
  *#idle(): Take {
    const queue = this.#queue;
    const { clock } = this.#context;
    queue.isFull = false;
    const due = this.#host?.nextDue ?? null;
    if (due !== null) {
      if (this.#peer === null) clock.step = Math.max(clock.step, due);
      return true;
    }
    if (this.#peer?.isHolding === true) return true;
    const { front } = queue;
    if (front !== undefined) {
      // Refused on an empty arena, and once more: it will never be served.
      const isHopeless = this.#refusedWhenIdle === front;
      if (isHopeless) {
        queue.dropFront();
        this.#drop(front, "outgrew_arena");
      }
      this.#refusedWhenIdle = isHopeless ? null : front;
      return true;
    }
    const next = queue.nextArrival;
    if (next === null && this.#peer?.isOver !== false) return false;
    if (!this.#isQuiet) {
      this.#context.count("idle_times");
      yield { op: "chain.flush", args: {} };
      yield { op: "check.idle", args: {} };
    }
    if (this.#peer !== null) this.#isQuiet = true;
    else clock.step = Math.max(clock.step, next ?? 0);
    return true;
  }

  #drop(job: Job, reason: DropReason): void {
    if (this.#peer?.dropped !== undefined) {
      this.#peer.dropped(job); // the other run counts it
      return;
    }
    this.#context.count("dropped");
    this.#context.count(`dropped_${reason}`);
  }

  /** Launches a prefill batch; null where nobody got memory for it. */
  *#prefill(): Script<InFlight | null> {
    const queue = this.#queue;
    let entries: readonly PrefillEntry[] = queue.choosePrefill();
    const newcomers = entries.filter(({ job }) => !queue.running.includes(job));
    const opened = yield* this.#open(newcomers);
    entries = entries.flatMap((entry) => {
      const { job } = entry;
      if (!opened.has(job)) return queue.running.includes(job) ? [entry] : [];
      const tokens = queue.chunkOf(job, entry.tokens); // what it matched is not computed
      return tokens > 0 ? [{ job, tokens }] : [];
    });
    for (const { job } of entries) yield* retireWindows(this.#context, job, 1);
    while (entries.length > 0) {
      const batch = entries.map(({ job, tokens }) => ({
        req: job.name,
        from: job.allocated,
        to: job.allocated + tokens,
      }));
      if (yield* this.#memory.take({ op: "tokens.extend", args: { batch } })) break;
      if (!(yield* this.#giveWay())) return null;
      entries = entries.filter(({ job }) => queue.running.includes(job));
    }
    if (entries.length === 0) return null;
    queue.continuing = null;
    for (const { job, tokens } of entries) {
      job.allocated += tokens;
      this.#context.count("prefill_tokens", tokens);
      if (job.allocated < job.prompt) queue.continuing = job;
    }
    return yield* this.#launch(
      entries.map(({ job }) => job),
      "extend",
    );
  }

  /** Gives newcomers rows and state slots; those that got them, in order. The rest stay at the queue's front. */
  *#open(entries: readonly PrefillEntry[]): Script<ReadonlySet<Job>> {
    const newcomers = entries.map(({ job }) => job);
    return this.#cache === null
      ? yield* this.#openRows(newcomers)
      : yield* this.#openMatched(newcomers, this.#cache);
  }

  *#openRows(newcomers: readonly Job[]): Script<ReadonlySet<Job>> {
    const opened = new Set<Job>();
    if (newcomers.length === 0) return opened;
    const reqs = newcomers.map((job) => job.name);
    if (!(yield* this.#memory.take({ op: "row.alloc", args: { reqs } }))) return opened;
    const hasState = this.#context.stateBand !== null;
    for (const job of newcomers) {
      const args = { req: job.name, count: 1, purpose: "main" } as const;
      const slot = { op: "state.alloc", args } as const;
      if (this.#queue.isFull || (hasState && !(yield* this.#memory.take(slot)))) {
        yield { op: "row.free", args: { req: job.name } };
        continue;
      }
      opened.add(job);
      this.#queue.admitFront();
    }
    return opened;
  }

  /** As `openRows`, one by one, since a match decides what a newcomer needs. Who waits for the host is left out. */
  *#openMatched(newcomers: readonly Job[], cache: PrefixCache): Script<ReadonlySet<Job>> {
    const opened = new Set<Job>();
    for (const job of newcomers) {
      if (this.#host !== null && (yield* this.#host.fetch(job))) continue;
      if (this.#queue.isFull) break;
      if (!(yield* this.#memory.take({ op: "row.alloc", args: { reqs: [job.name] } }))) break;
      yield* cache.match(job);
      if (!(yield* cache.takeSlots(job))) {
        yield* cache.giveUp(job);
        break;
      }
      opened.add(job);
      this.#queue.admitFront();
    }
    return opened;
  }

  /** Brings back those at the queue's front that have a backup. */
  *#restore(host: HostTier): Script {
    for (;;) {
      const { front } = this.#queue;
      if (front === undefined || front.copy === null || !this.#queue.mayAdmit) return;
      const isPrefill = front.computed < front.prompt;
      if (isPrefill && this.#queue.continuing !== null) return; // one prompt at a time is in pieces
      if (!(yield* host.restore(front))) return;
      if (this.#queue.newest !== front) continue; // it waits for a copy that fails
      if (isPrefill) this.#queue.continuing = front;
      // Without slots it goes on, and keeps no checkpoints.
      if (this.#cache !== null) yield* this.#cache.takeTrackSlots(front);
    }
  }

  /**
   * Launches a decode batch of all that run; null where nothing does. The token that is due is taken by
   * `tokens.decode`, room for those that the same forward decodes after it by one `tokens.extend`.
   */
  *#decode(): Script<InFlight | null> {
    const { decode_tokens: tokens, retire_tokens: retireTokens } = this.#context.serving;
    for (const job of this.#queue.running) yield* retireWindows(this.#context, job, retireTokens);
    const due = ({ name, allocated }: Job): { req: string; len: number } => ({
      req: name,
      len: allocated + 1,
    });
    const decode = (jobs: readonly Job[]): KvOperation => ({
      op: "tokens.decode",
      args: { batch: jobs.map(due) },
    });
    if (!(yield* this.#grow(1, decode))) return null;
    const room = ({ name, allocated }: Job): ExtendEntry => ({
      req: name,
      from: allocated,
      to: allocated + tokens - 1,
    });
    const extend = (jobs: readonly Job[]): KvOperation => ({
      op: "tokens.extend",
      args: { batch: jobs.map(room) },
    });
    if (tokens > 1 && !(yield* this.#grow(tokens - 1, extend))) return null;
    if (this.#cache !== null)
      for (const job of this.#queue.running)
        yield* this.#cache.prepareDecode(job, job.computed, job.allocated);
    return yield* this.#launch([...this.#queue.running], "decode");
  }

  /** Takes tokens for all that run, the newest giving way until it is granted. False where nobody is left. */
  *#grow(tokens: number, take: (jobs: readonly Job[]) => KvOperation): Take {
    for (;;) {
      if (!this.#queue.isRunning) return false;
      if (yield* this.#memory.take(take(this.#queue.running))) break;
      if (!(yield* this.#giveWay())) return false;
    }
    for (const job of this.#queue.running) job.allocated += tokens;
    this.#context.count("decode_tokens", tokens * this.#queue.running.length);
    return true;
  }

  *#launch(jobs: readonly Job[], mode: "extend" | "decode"): Script<InFlight> {
    const step = this.#forwardNames.fresh();
    const tracked = jobs.map(
      (job) => this.#cache?.trackedAt(job, job.computed, job.allocated) ?? null,
    );
    const batch = jobs.map((job, index) => {
      const track = tracked[index] ?? null;
      const entry = { req: job.name, from: job.computed, to: job.allocated };
      return track === null ? entry : { ...entry, track };
    });
    yield* this.#send({ op: "forward.launch", args: { step, batch, mode } });
    yield { op: "forward.record", args: { step, writes: "known" } };
    const entries = jobs.map((job, index): InFlightEntry => {
      // The chunk that ends a prompt gives the first token.
      const tokens =
        mode === "decode" ? job.allocated - job.computed : job.allocated < job.prompt ? 0 : 1;
      job.computed = job.allocated;
      job.hasRun = true;
      const kept = tracked[index] ?? null;
      if (kept !== null) job.ring.keep(kept);
      return { job, attempt: job.attempt, tokens, to: job.computed, tracked: kept };
    });
    return { step, isPrefill: mode === "extend", entries };
  }

  /** Launches; behind a transfer that stalls it waits for that one's end, turn by turn. */
  *#send(launch: KvOperation): Script {
    for (let turns = 0; turns < STALLED_TURNS; turns++) {
      const answer = yield launch;
      if (answer.err?.code !== "deadline" || this.#peer === null) return;
      this.#context.count("stalled_launches");
      yield null;
      yield* this.#peer.turn();
    }
  }

  /**
   * A take was refused: the newest of those running goes back to the queue's front. Alone, it first gets what the
   * forward in flight holds back, and is dropped if even that does not do. False where nobody is left.
   */
  *#giveWay(): Take {
    const queue = this.#queue;
    const isLast = queue.running.length === 1;
    if (isLast && this.#inFlight !== null) {
      yield* this.#processPrevious();
      return queue.isRunning;
    }
    const isAlone = isLast && !this.#isHeld;
    const job = queue.newest;
    if (job === undefined) return false;
    const mayReturn = this.#peer?.isPrefill !== true && job.hasRun;
    if (this.#host !== null && !isAlone && mayReturn) {
      const generated = job.generated + this.#tokensInFlight(job);
      if (generated >= job.output) {
        yield* this.#processPrevious(); // it has ended
        return queue.isRunning;
      }
      if (yield* this.#host.retract(job)) {
        this.#context.count("retractions");
        job.generated = generated; // what the copy waits for is in it
        queue.popNewest();
        return true;
      }
    }
    queue.popNewest();
    yield { op: "request.retract", args: { req: job.name } };
    if (isAlone) {
      clearRow(job);
      this.#drop(job, "outgrew_arena");
      return false;
    }
    this.#context.count("retractions");
    restart(job);
    queue.pushFront(job);
    return true;
  }

  /** Whether memory is held by others than those running, so that waiting helps. */
  get #isHeld(): boolean {
    return (this.#host?.nextDue ?? null) !== null || this.#peer?.isHolding === true;
  }

  #tokensInFlight(job: Job): number {
    const entries = this.#inFlight?.entries ?? [];
    return entries.find((at) => at.job === job && at.attempt === job.attempt)?.tokens ?? 0;
  }

  *#processPrevious(): Script {
    const previous = this.#inFlight;
    this.#inFlight = null;
    if (previous !== null) yield* this.#process(previous);
  }

  /** Takes in a result: requests that ended are freed, in a group where there are several; then the forward is done. */
  *#process({ step, isPrefill, entries }: InFlight): Script {
    const ended: Job[] = [];
    const goingOn: InFlightEntry[] = [];
    for (const entry of entries) {
      const { job, attempt, tokens } = entry;
      if (job.attempt !== attempt || !this.#queue.running.includes(job)) continue;
      job.generated = Math.min(job.output, job.generated + tokens);
      if (job.generated === job.output && this.#peer?.isPrefill !== true) ended.push(job);
      else goingOn.push(entry);
    }
    if (ended.length > 1) yield { op: "group.begin", args: {} };
    for (const job of ended) yield* this.#finish(job);
    if (ended.length > 1) yield { op: "group.end", args: {} };
    for (const entry of goingOn) {
      if (this.#cache !== null) yield* this.#settle(entry, isPrefill, this.#cache);
      if (this.#peer?.computed !== undefined && entry.to >= entry.job.prompt)
        yield* this.#peer.computed(entry.job);
    }
    yield { op: "forward.process", args: { step } };
  }

  *#finish(job: Job): Script {
    // A state is that of all tokens computed; without one the tree takes no more than was asked for.
    const { isSerial } = this.#context;
    const len = isSerial ? job.computed : Math.min(job.allocated, job.input + job.output);
    const { name: req } = job;
    if (this.#cache === null) yield { op: "request.finish", args: { req, len, insert: false } };
    else {
      const key = this.#cache.key(job, len);
      const answer: Answer = yield { op: "request.finish", args: { req, len, insert: true, key } };
      const hasNodes = answer.ok !== undefined && this.#context.stateBand === null;
      if (hasNodes && this.#host !== null)
        yield* this.#host.backUp(key, this.#context.pageFloor(len), BACKUP_OF_FINISHES);
    }
    this.#queue.end(job);
    this.#context.count("served");
  }

  *#settle(entry: InFlightEntry, isPrefill: boolean, cache: PrefixCache): Script {
    const { job } = entry;
    const len = cache.insertable(entry, isPrefill);
    if (len === 0) return;
    yield* retireWindows(this.#context, job, 1);
    if ((yield* cache.settle(job, len, entry.tracked)) && this.#host !== null)
      yield* this.#host.backUp(cache.key(job, len), len, BACKUP_OF_INSERTS);
  }
}
