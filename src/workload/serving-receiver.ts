// The decode run of a pair: it takes places for a prompt, tells the other run of them at once or some steps later, and
// decodes what arrived.
import type { DropReason, Job } from "./serving-jobs.js";
import { clearRow, restart } from "./serving-jobs.js";
import type { Exchange, TransferLink } from "./serving-link.js";
import { NameSource } from "./names.js";
import type { Peer, SchedulerParts } from "./serving-peer.js";
import { tellEnds } from "./serving-sender.js";
import type { Script, Take } from "./serving-script.js";

const DEFERRED_OF = 2; // one publication of so many waits
const DEFERRED_LONGEST = 3; // turns it waits at most
const GIVEN_UP_OF = 64; // a turn ends one of so many receives that nobody was told of
const TRIES = 3; // transfers of one request before it is given up

/** @internal */
export class ReceiverPeer implements Peer {
  readonly isPrefill = false;
  readonly #parts: Omit<SchedulerParts, "peer">;
  readonly #link: TransferLink;
  readonly #forwardNames = new NameSource("fp"); // prebuilt
  readonly #publishDue = new Map<Exchange, number>(); // step
  #arrived: Job[] = [];

  constructor(parts: Omit<SchedulerParts, "peer">, link: TransferLink) {
    this.#parts = parts;
    this.#link = link;
  }

  get isHolding(): boolean {
    return this.#parts.queue.hasApart;
  }
  get isOver(): boolean {
    return this.#link.open("receive").length === 0;
  }

  *turn(): Script {
    const { queue } = this.#parts;
    for (const exchange of this.#link.open("receive")) yield* this.#follow(exchange);
    yield* this.#takeIn();
    for (let job = queue.front; job !== undefined && job.copy === null; job = queue.front)
      if (!queue.mayAdmit || !(yield* this.#receive(job))) return;
  }

  *#follow(exchange: Exchange): Script {
    const { step } = this.#parts.context.clock;
    if (!exchange.isTold) {
      if (exchange.isGone || this.#link.chance(GIVEN_UP_OF)) yield* this.#giveUp(exchange);
      else if ((this.#publishDue.get(exchange) ?? 0) <= step) yield* this.#publish(exchange, true);
      return;
    }
    if (!exchange.hasStarted) {
      if (exchange.isGone) yield* this.#refuse(exchange);
      return;
    }
    yield* tellEnds(exchange, "receive", step);
    if (exchange.takeOver("receive")) yield* this.#over(exchange);
    if (exchange.isDone("receive")) this.#link.leave(exchange, "receive");
  }

  *#over(exchange: Exchange): Script {
    const { context } = this.#parts;
    context.count("transfers");
    const outcome = exchange.isOk ? "ok" : exchange.isTimeout ? "timeout" : "failed";
    context.count(`transfers_${outcome}`);
    if (exchange.isOk) this.#arrived.push(exchange.job);
    else yield* this.#close(exchange.job);
  }

  /** Nobody was told of its places: closing the request ends it. */
  *#giveUp(exchange: Exchange): Script {
    exchange.isGone = true;
    this.#publishDue.delete(exchange);
    this.#parts.context.count("transfers_given_up");
    yield* this.#close(exchange.job);
    this.#link.leave(exchange, "receive");
  }

  /** The sender gave up after it was told: nothing will be written. */
  *#refuse(exchange: Exchange): Script {
    const { name: transfer, writers } = exchange;
    for (const writer of writers.length === 0 ? [null] : writers) {
      const args = { transfer, ...(writer === null ? {} : { writer }), outcome: "failed" } as const;
      yield { op: "net.end", args };
    }
    this.#parts.context.count("transfers_given_up");
    yield* this.#close(exchange.job);
    this.#link.leave(exchange, "receive");
  }

  /** A request whose prompt did not arrive asks again, a few times. */
  *#close(job: Job): Script {
    const { context, queue } = this.#parts;
    const args = { req: job.name, len: job.allocated, insert: false };
    yield { op: "request.finish", args };
    queue.endApart(job);
    restart(job);
    job.tries += 1;
    if (job.tries < TRIES) {
      queue.pushFront(job);
      return;
    }
    const reason: DropReason = "transfer_failed";
    context.count("dropped");
    context.count(`dropped_${reason}`);
  }

  /** Those whose prompt arrived run from now on; the batch that says so has no forward of its own. */
  *#takeIn(): Script {
    const { queue } = this.#parts;
    const jobs = this.#arrived;
    if (jobs.length === 0) return;
    this.#arrived = [];
    const step = this.#forwardNames.fresh();
    const batch = jobs.map(({ name, prompt }) => ({ req: name, from: prompt, to: prompt }));
    yield { op: "forward.launch", args: { step, batch, mode: "prebuilt" } };
    yield { op: "forward.process", args: { step } };
    for (const job of jobs) {
      queue.resume(job);
      job.generated = Math.min(job.output, job.generated + 1); // the prefill run gave the first token
    }
  }

  /** Takes a row and places for a prompt. False where memory is short. */
  *#receive(job: Job): Take {
    const { cache, context, memory, queue } = this.#parts;
    if (!(yield* memory.take({ op: "row.alloc", args: { reqs: [job.name] } }))) return false;
    if (cache !== null) {
      yield* cache.match(job);
      job.branch = 0; // what arrives is not computed, so nothing is tracked on the way
      if (!(yield* cache.takeTrackSlots(job))) {
        yield* cache.giveUp(job);
        return false;
      }
    }
    const exchange = this.#link.make(job, job.allocated);
    const { name: transfer, from, to, writers } = exchange;
    const tail = Math.max(0, ...context.windows.map(({ window }) => window));
    const args = {
      ...{ transfer, req: job.name, from, to },
      ...(tail === 0 ? {} : { tail }),
      ...(context.stateBand === null ? {} : { state: 1 }),
      ...(writers.length === 0 ? {} : { writers }),
    };
    if (!(yield* memory.take({ op: "net.receive", args }))) {
      const close = { req: job.name, len: job.allocated, insert: false };
      yield { op: "request.finish", args: close };
      clearRow(job);
      return false;
    }
    this.#settle(job, from, to, tail);
    queue.holdFront();
    this.#link.offer(exchange);
    if (!this.#link.chance(DEFERRED_OF)) yield* this.#publish(exchange, false);
    else this.#publishDue.set(exchange, context.clock.step + 1 + (to % DEFERRED_LONGEST));
    return true;
  }

  /** The row's lengths after its places were taken. */
  #settle(job: Job, from: number, to: number, tail: number): void {
    const { page_size: pageSize } = this.#parts.context.config;
    job.allocated = to;
    job.computed = to;
    if (tail === 0) return;
    const first = Math.max(Math.ceil(from / pageSize), Math.floor((to - tail) / pageSize));
    job.cursors.fill(first * pageSize);
  }

  *#publish(exchange: Exchange, isLater: boolean): Script {
    const { context } = this.#parts;
    this.#publishDue.delete(exchange);
    const { name: transfer } = exchange;
    const isDeferred = isLater && context.config.overlap === true && this.#link.chance(2);
    const args = { transfer, ...(isDeferred ? { deferred: true } : {}) };
    yield { op: "net.publish", args };
    exchange.isTold = true;
    if (isLater) context.count("later_publications");
  }
}
