// The serving model: a scheduler driven by a request trace. Time is logical: a step is one forward, and arrivals are
// mapped to steps by a fixed rate.
import type { Answer, DirectConfig, RunConfig } from "../base/operations.js";
import type { ServingParameters } from "./configs.js";
import type { RequestTrace, TracedRequest } from "./request-trace.js";
import { PrefixCache } from "./serving-cache.js";
import { checkpointGrid } from "./serving-features.js";
import { HostTier } from "./serving-host.js";
import type { Job } from "./serving-jobs.js";
import { newJob, reasonToDrop } from "./serving-jobs.js";
import { ServingMemory } from "./serving-memory.js";
import { ServingQueue } from "./serving-queue.js";
import type { SchedulerParts } from "./serving-peer.js";
import { Scheduler } from "./serving-scheduler.js";
import type { Script, ServingFeatures } from "./serving-script.js";
import { ServingContext } from "./serving-script.js";
import type { RunSource, Workload, WorkloadStep } from "./workload.js";

/** @public */
export interface ServingOptions {
  readonly trace: RequestTrace;
  readonly config: DirectConfig; // what the scheduler knows of the memory
  readonly form?: RunConfig; // what runs, where that is the model form that `config` was derived from
  readonly configName: string; // stands in the run id `CONFIG/LAYOUT/pPS/TRACE`
  readonly layout: string;
  readonly pageSize: number; // tokens
  readonly limit?: number; // requests of the trace that are used, default all
  readonly serving?: Partial<ServingParameters>;
  readonly sharesPrefixes?: boolean; // through the prefix tree; the configuration says `prefix_sharing` too
  readonly usesHost?: boolean; // the configuration has host pools
}

/** The figures where a configuration gives none. @public */
export const SERVING_DEFAULTS: ServingParameters = {
  batch: 64,
  chunk: 8192,
  decode_tokens: 1,
  retire_tokens: 64,
  steps_per_second: 10,
};

/** A workload of one run; the same trace, configuration and answers give the same operations. @public */
export function servingWorkload(options: ServingOptions): Workload {
  return new ServingRun(options);
}

/** @internal */
export interface ServingFigures {
  readonly run: string; // `CONFIG/LAYOUT/pPS/TRACE`
  readonly serving: ServingParameters; // the batch no larger than the rows
  readonly requests: readonly TracedRequest[];
  readonly source: Extract<RunSource, { readonly type: "workload" }>;
  readonly features: ServingFeatures;
}

/** What follows from the options alone. @internal */
export function servingFigures(options: ServingOptions): ServingFigures {
  const { trace, config, configName, layout, pageSize, limit } = options;
  const suffix = trace.seed === null ? "" : `-${String(trace.seed)}`;
  const figures = { ...SERVING_DEFAULTS, ...options.serving };
  const serving = { ...figures, batch: Math.min(figures.batch, config.rows) };
  const requests = trace.requests.slice(0, limit);
  const invented = Object.keys(trace.account.invented).join(", ");
  return {
    run: `${configName}/${layout}/p${String(pageSize)}/${trace.name}${suffix}`,
    serving,
    requests,
    source: {
      type: "workload",
      name: trace.name,
      ...(trace.seed === null ? {} : { seed: trace.seed }),
      config: configName,
      requests: requests.length,
      ...(invented === "" ? {} : { invented }),
      ...serving,
    },
    features: {
      shares: options.sharesPrefixes === true,
      usesHost: options.usesHost === true,
      isPaired: false,
      seed: trace.seed ?? 0,
    },
  };
}

/** Jobs for the requests that can be served at all; the others are counted under a reason. @internal */
export function acceptedJobs(context: ServingContext, requests: readonly TracedRequest[]): Job[] {
  const { config, serving, windows } = context;
  const jobs: Job[] = [];
  for (const [index, request] of requests.entries()) {
    context.count("requests");
    const reason = reasonToDrop(request, config, serving);
    if (reason === null) {
      jobs.push(newJob(request, index, serving.steps_per_second, windows.length));
      continue;
    }
    context.count("dropped");
    context.count(`dropped_${reason}`);
  }
  return jobs;
}

/** The parts of one run that work together. @internal */
export function servingParts(
  context: ServingContext,
  jobs: readonly Job[],
  blockTokens: number,
): Omit<SchedulerParts, "peer"> {
  const { batch, chunk } = context.serving;
  const queue = new ServingQueue(
    jobs,
    batch,
    chunk,
    context.features.shares ? checkpointGrid(context.config) : 1,
  );
  const memory = new ServingMemory(context, () => {
    queue.isFull = true;
  });
  const { shares, usesHost } = context.features;
  const cache = shares ? new PrefixCache(context, memory, blockTokens) : null;
  const host = usesHost ? new HostTier(context, memory, queue, cache) : null;
  return { context, queue, memory, cache, host };
}

/** The counters that every run has; what else happens is added as it does. @internal */
export const COUNTERS: Readonly<Record<string, number>> = {
  requests: 0,
  served: 0,
  dropped: 0,
  steps: 0,
  prefill_tokens: 0,
  decode_tokens: 0,
  refusals: 0,
  retractions: 0,
  idle_times: 0,
};

class ServingRun implements Workload {
  readonly run: string;
  readonly config: RunConfig;
  readonly source: RunSource;
  readonly counters: Readonly<Record<string, number>>;
  readonly #script: Script;

  constructor(options: ServingOptions) {
    const { config, form, trace } = options;
    const { run, serving, requests, source, features } = servingFigures(options);
    this.run = run;
    this.config = form ?? config;
    this.source = source;
    const context = new ServingContext(config, serving, features, { step: 0 });
    Object.assign(context.counters, COUNTERS);
    this.counters = context.counters;
    const parts = servingParts(context, acceptedJobs(context, requests), trace.blockTokens);
    this.#script = new Scheduler({ ...parts, peer: null }).serve();
  }

  next(answer: Answer | null): WorkloadStep | null {
    // The first call starts the script, which takes no answer; every later one has the answer to what it yielded.
    for (;;) {
      const { done, value } = this.#script.next(answer ?? {});
      if (done === true) return null;
      if (value !== null) return { operation: value };
    }
  }
}
