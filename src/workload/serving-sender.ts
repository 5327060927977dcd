// The prefill run of a pair: it computes the prompts for which the other run has taken places, sends each when it is
// computed, and frees it when the transfer is over, or before.
import type { Job } from "./serving-jobs.js";
import { prefillCopy } from "./serving-jobs.js";
import type { Exchange, TransferLink } from "./serving-link.js";
import type { Peer, SchedulerParts } from "./serving-peer.js";
import type { Script } from "./serving-script.js";

const EARLY_OF = 5; // one request of so many is freed while its pages are on their way
const GIVEN_UP_OF = 32; // a turn ends one of so many sends that wait for places

/** @internal */
export class SenderPeer implements Peer {
  readonly isPrefill = true;
  readonly #parts: Omit<SchedulerParts, "peer">;
  readonly #link: TransferLink;
  readonly #jobs = new Map<string, { readonly exchange: Exchange; readonly job: Job }>(); // by request, while it is open or waits

  constructor(parts: Omit<SchedulerParts, "peer">, link: TransferLink) {
    this.#parts = parts;
    this.#link = link;
  }

  get isHolding(): boolean {
    return this.#parts.queue.hasApart;
  }
  get isOver(): boolean {
    return this.#link.isClosed && this.#link.open("send").length === 0;
  }

  *turn(): Script {
    for (const exchange of this.#link.open("send")) yield* this.#follow(exchange);
    for (const exchange of this.#link.takeOffers((req) => !this.#jobs.has(req))) {
      if (exchange.isGone) {
        this.#link.leave(exchange, "send");
        continue;
      }
      const job = prefillCopy(exchange.job);
      this.#jobs.set(job.name, { exchange, job });
      this.#parts.queue.pushBack(job);
    }
  }

  *#follow(exchange: Exchange): Script {
    const { queue, context } = this.#parts;
    const { step } = context.clock;
    const own = this.#jobs.get(exchange.job.name);
    const job = own?.exchange === exchange ? own.job : null;
    if (!exchange.hasStarted) {
      if (job === null) return; // an offer
      if (exchange.isGone && queue.remove(job)) this.#forget(exchange, job);
      if (!queue.isApart(job)) return;
      if (exchange.isTold) {
        yield { op: "net.publish", args: { transfer: exchange.name } };
        this.#link.start(exchange);
      } else if (exchange.isGone || this.#link.chance(GIVEN_UP_OF)) {
        exchange.isGone = true;
        yield* this.#close(job);
        this.#link.leave(exchange, "send");
      }
      return;
    }
    yield* tellEnds(exchange, "send", step);
    if (exchange.takeOver("send") && job !== null) yield* this.#close(job);
    if (exchange.isDone("send")) this.#link.leave(exchange, "send");
  }

  *computed(job: Job): Script {
    const { context, queue } = this.#parts;
    const exchange = this.#jobs.get(job.name)?.exchange;
    if (exchange === undefined) return;
    queue.setApart(job);
    if (exchange.isGone) {
      yield* this.#close(job);
      this.#link.leave(exchange, "send");
      return;
    }
    const { name: transfer, from, to, writers, isTold } = exchange;
    const args = {
      ...{ transfer, req: job.name, from, to },
      ...(context.stateBand === null ? {} : ({ state: "main" } as const)),
      ...(isTold ? {} : { held: true }),
      ...(writers.length === 0 ? {} : { writers }),
    };
    yield { op: "net.send", args };
    context.count("sends");
    if (!isTold) {
      context.count("held_sends");
      return;
    }
    this.#link.start(exchange);
    if (!this.#link.chance(EARLY_OF)) return;
    context.count("early_finishes");
    yield* this.#close(job);
  }

  /** Frees a request that was apart; the tree takes its prompt. */
  *#close(job: Job): Script {
    const { cache, queue } = this.#parts;
    const { name: req, prompt: len } = job;
    const args =
      cache === null
        ? { req, len, insert: false }
        : { req, len, insert: true, key: cache.key(job, len) };
    yield { op: "request.finish", args };
    this.#jobs.delete(req);
    queue.endApart(job);
  }

  #forget(exchange: Exchange, job: Job): void {
    this.#jobs.delete(job.name);
    this.#link.leave(exchange, "send");
  }

  /** A prompt that will never be computed: the receiver must not wait for it. */
  dropped(job: Job): void {
    const own = this.#jobs.get(job.name);
    if (own === undefined) return;
    own.exchange.isGone = true;
    this.#forget(own.exchange, job);
  }
}

/** Tells an allocator what is due of a transfer: that it stalls, and the ends of its writers. @internal */
export function* tellEnds(exchange: Exchange, side: "send" | "receive", step: number): Script {
  const { name: transfer } = exchange;
  if (exchange.takeStall(side, step)) yield { op: "net.stall", args: { transfer } };
  for (let end = exchange.takeEnd(side, step); end !== null; end = exchange.takeEnd(side, step)) {
    const { writer, outcome } = end;
    const args = { transfer, ...(writer === null ? {} : { writer }), outcome };
    yield { op: "net.end", args };
  }
}
