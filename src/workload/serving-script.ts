// What the parts of one serving run share: its figures, its counters, its clock, and how they ask.
import type { Answer, DirectConfig, KvOperation } from "../base/operations.js";
import type { ServingParameters } from "./configs.js";

/** Null ends a turn: the other run of a pair goes on, and nothing is asked. @internal */
export type ScriptStep = KvOperation | null;

/** A stretch of operations that sees each answer. @internal */
export type Script<T = void> = Generator<ScriptStep, T, Answer>;

/** A stretch that tells whether it did what it was for. @internal */
export type Take = Script<boolean>;

/** Logical time: a step is one forward, in a pair one turn of both runs. @internal */
export interface Clock {
  step: number;
}

/** A window band. @internal */
export interface WindowBand {
  readonly name: string;
  readonly window: number; // tokens
}

/** What a run does beside serving alone. @internal */
export interface ServingFeatures {
  readonly shares: boolean; // prefixes, through the tree
  readonly usesHost: boolean;
  readonly isPaired: boolean; // with a run that it exchanges requests with
  readonly seed: number; // of what fails and how long copies and transfers take
}

/** @internal */
export class ServingContext {
  readonly config: DirectConfig;
  readonly serving: ServingParameters;
  readonly features: ServingFeatures;
  readonly clock: Clock;
  readonly windows: readonly WindowBand[]; // those of known length, configuration order
  readonly stateBand: string | null;
  readonly isSerial: boolean; // each result is taken in before the next forward
  readonly counters: Record<string, number> = {};

  constructor(
    config: DirectConfig,
    serving: ServingParameters,
    features: ServingFeatures,
    clock: Clock,
  ) {
    this.config = config;
    this.serving = serving;
    this.features = features;
    this.clock = clock;
    this.windows = config.sub_pools.flatMap(({ name, window }) =>
      typeof window === "number" ? [{ name, window }] : [],
    );
    this.stateBand = config.sub_pools.find(({ kind }) => kind === "state")?.name ?? null;
    const endsState = this.stateBand !== null && config.checkpoint?.strategy === "no_buffer";
    const isUnrecorded = features.isPaired && config.overlap !== true;
    this.isSerial = (features.shares && endsState) || isUnrecorded;
  }

  count(what: string, by = 1): void {
    this.counters[what] = (this.counters[what] ?? 0) + by;
  }

  /** `tokens` rounded down to whole pages, in tokens. */
  pageFloor(tokens: number): number {
    return Math.floor(tokens / this.config.page_size) * this.config.page_size;
  }
}
