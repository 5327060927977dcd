// What the scheduler is made of, and what the other run of a pair does beside it.
import type { PrefixCache } from "./serving-cache.js";
import type { HostTier } from "./serving-host.js";
import type { Job } from "./serving-jobs.js";
import type { ServingMemory } from "./serving-memory.js";
import type { ServingQueue } from "./serving-queue.js";
import type { Script, ServingContext } from "./serving-script.js";

/** What a run of a pair does beside scheduling: it exchanges requests with the other one. @internal */
export interface Peer {
  readonly isPrefill: boolean; // it computes prompts and sends them; the other one receives and decodes
  /** Whether requests under way hold memory, so that waiting helps. */
  readonly isHolding: boolean;
  /** Whether nothing will come any more. */
  readonly isOver: boolean;
  /** At the start of a turn: transfers that end, places that are published, requests that arrive. */
  turn(): Script;
  /** A prompt is computed; only where this run computes them. */
  computed?(job: Job): Script;
  /** A job that waited or ran is given up; only where the other run waits for it. */
  dropped?(job: Job): void;
}

/** @internal */
export interface SchedulerParts {
  readonly context: ServingContext;
  readonly queue: ServingQueue;
  readonly memory: ServingMemory;
  readonly cache: PrefixCache | null;
  readonly host: HostTier | null;
  readonly peer: Peer | null;
}
