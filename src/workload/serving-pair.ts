// A prefill run and a decode run that exchange requests: two schedulers with an implementation each, in turns. The decode
// run takes places and asks, the prefill run computes and sends; what ends a transfer on one side ends it on the other.
import type { Answer } from "../base/operations.js";
import { ReceiverPeer } from "./serving-receiver.js";
import { SenderPeer } from "./serving-sender.js";
import { TransferLink } from "./serving-link.js";
import type { Peer } from "./serving-peer.js";
import { Scheduler } from "./serving-scheduler.js";
import type { Script } from "./serving-script.js";
import { ServingContext } from "./serving-script.js";
import { acceptedJobs, COUNTERS, servingFigures, servingParts } from "./serving.js";
import type { ServingOptions } from "./serving.js";
import type { GroupStep, WorkloadGroup, WorkloadRun } from "./workload.js";

/** The two runs of a pair; the same trace, configuration and answers give the same operations. @public */
export function servingPair(options: ServingOptions): WorkloadGroup {
  return new ServingPair(options);
}

type PairSide = 0 | 1; // index of the run
const SENDER = 0;
const RECEIVER = 1;

class ServingPair implements WorkloadGroup {
  readonly runs: readonly [WorkloadRun, WorkloadRun];
  readonly #link: TransferLink;
  readonly #contexts: readonly [ServingContext, ServingContext];
  readonly #scripts: readonly [Script, Script];
  readonly #clock = { step: 0 };
  readonly #hasEnded: [boolean, boolean] = [false, false];
  #side: PairSide = SENDER;

  constructor(options: ServingOptions) {
    const { config, form, trace } = options;
    const figures = servingFigures(options);
    const { serving, requests } = figures;
    const features = { ...figures.features, isPaired: true };
    const run = (role: string): WorkloadRun => ({
      run: `${figures.run}/${role}`,
      config: form ?? config,
      source: { ...figures.source, role },
    });
    this.runs = [run("prefill"), run("decode")];
    this.#link = new TransferLink(features.seed, this.#clock);
    const context = (): ServingContext =>
      new ServingContext(config, serving, features, this.#clock);
    this.#contexts = [context(), context()];
    const [sender, receiver] = this.#contexts;
    Object.assign(receiver.counters, COUNTERS);
    const sending = servingParts(sender, [], trace.blockTokens);
    const receiving = servingParts(receiver, acceptedJobs(receiver, requests), trace.blockTokens);
    const script = (parts: typeof sending, peer: Peer): Script =>
      new Scheduler({ ...parts, peer }).serve();
    this.#scripts = [
      script(sending, new SenderPeer(sending, this.#link)),
      script(receiving, new ReceiverPeer(receiving, this.#link)),
    ];
  }

  /** Those of both, added. */
  get counters(): Readonly<Record<string, number>> {
    const sums: Record<string, number> = {};
    for (const { counters } of [...this.#contexts].reverse())
      for (const [name, count] of Object.entries(counters)) sums[name] = (sums[name] ?? 0) + count;
    return sums;
  }

  next(answer: Answer | null): GroupStep | null {
    let given = answer ?? {};
    this.#notice(given);
    for (;;) {
      const side = this.#side;
      const { done, value } = this.#scripts[side].next(given);
      given = {};
      if (done === true) this.#hasEnded[side] = true;
      else if (value !== null) return { run: side, step: { operation: value } };
      this.#link.isClosed = this.#hasEnded[RECEIVER];
      if (this.#hasEnded[SENDER] && this.#hasEnded[RECEIVER]) return null;
      this.#turn(side);
    }
  }

  /** The other run's turn, if it goes on; a step is a turn of both. */
  #turn(side: PairSide): void {
    const other = side === SENDER ? RECEIVER : SENDER;
    if (side === RECEIVER || this.#hasEnded[other]) this.#clock.step += 1;
    if (!this.#hasEnded[other]) this.#side = other;
  }

  /** Transfers that an operation ended by itself end for the other run too. */
  #notice(answer: Answer): void {
    const ended = (
      answer.ok as { readonly ended?: { readonly transfers: readonly string[] } } | undefined
    )?.ended;
    if (ended !== undefined)
      this.#link.ended(ended.transfers, this.#side === SENDER ? "send" : "receive");
  }
}
