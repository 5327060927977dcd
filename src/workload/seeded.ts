// The seeded workload: a seed becomes operations whose preconditions hold, except for a small share that breaks a
// contract on purpose. A run goes through phases (fill, mix, empty) and drains over its last tenth.
import { UsageError } from "../base/errors.js";
import { nearestWord } from "../base/nearest.js";
import type {
  Answer,
  DirectConfig,
  InvalidRule,
  KvOperation,
  KvOperationName,
} from "../base/operations.js";
import { Prng } from "../base/prng.js";
import type { Layout } from "./layouts.js";
import { layoutConfig } from "./layouts.js";
import { SeededDraws } from "./seeded-draws.js";
import { illegalOperation } from "./seeded-illegal.js";
import { FREE_OF_OPEN_FORWARD, legalOperation } from "./seeded-legal.js";
import { SeededModel } from "./seeded-model.js";
import type { WeightProfile } from "./seeded-profiles.js";
import { profileNamed, WEIGHT_NAMES } from "./seeded-profiles.js";
import type { RunSource, Workload, WorkloadStep } from "./workload.js";

export { WEIGHT_NAMES } from "./seeded-profiles.js";

/** @public */
export interface SeededOptions {
  readonly seed: number; // integer in [0, 2^53)
  readonly ops: number; // operations in all, boot included; at least 1
  readonly layout: Layout;
  readonly pageSize: number; // tokens
  readonly weights?: string; // a name of WEIGHT_NAMES, default "default"
}

/** @public */
export interface SeededWorkload extends Workload {
  /** The rule that the operation yielded last breaks on purpose, null where it is legal. */
  readonly brokenRule: InvalidRule | null;
}

/** Run id `LAYOUT/pPS/seed-N`. The same options against the same answers give the same operations. @public */
export function seededWorkload(options: SeededOptions): SeededWorkload {
  const weights = options.weights ?? "default";
  const profile = profileNamed(weights);
  if (profile === undefined) {
    const nearest = nearestWord(weights, WEIGHT_NAMES);
    const hint = nearest === null ? WEIGHT_NAMES.join(", ") : `did you mean ${nearest}?`;
    throw new UsageError(`unknown weights "${weights}": ${hint}`, WEIGHT_NAMES.join(", "));
  }
  return new SeededRun({ ...options, weights }, profile);
}

type Phase = "fill" | "mix" | "empty";

// Streams of one seed, so that a change of one does not shift the other.
const GEOMETRY_STREAM = 1;
const OPERATION_STREAM = 2;

// What the last operations of a run may still do while it drains.
const DRAIN_KINDS: readonly KvOperationName[] = [
  "request.finish",
  "forward.process",
  "tokens.free",
  "window.retire",
  "state.free",
  "chain.flush",
  "ask.plan",
  "ask.fits",
  "ask.translate",
];
const TAIL_LENGTH = 3; // flush, flush, check.idle

class SeededRun implements SeededWorkload {
  readonly run: string;
  readonly config: DirectConfig;
  readonly source: RunSource;
  readonly #ops: number;
  readonly #profile: WeightProfile;
  readonly #prng: Prng;
  readonly #model: SeededModel;
  readonly #draws: SeededDraws;
  #last: KvOperation | null = null;
  #yielded = 0;
  #phase: Phase = "fill";
  #phaseLeft = 0;
  brokenRule: InvalidRule | null = null;

  constructor(options: Required<SeededOptions>, profile: WeightProfile) {
    const { seed, ops, layout, pageSize, weights } = options;
    this.run = `${layout}/p${String(pageSize)}/seed-${String(seed)}`;
    this.source = { type: "seed", seed, ops, weights };
    this.config = layoutConfig(layout, pageSize, profile.geometry, new Prng(seed, GEOMETRY_STREAM));
    this.#ops = ops;
    this.#profile = profile;
    this.#prng = new Prng(seed, OPERATION_STREAM);
    this.#model = new SeededModel(this.config);
    this.#draws = new SeededDraws(this.#model, this.#prng, profile);
  }

  next(answer: Answer | null): WorkloadStep | null {
    if (this.#last !== null && answer !== null) this.#model.learn(this.#last, answer);
    if (this.#yielded >= this.#ops) return null;
    this.brokenRule = null;
    const operation: KvOperation = this.#yielded === 0 ? { op: "boot", args: {} } : this.#choose();
    this.#last = operation;
    this.#yielded += 1;
    return { operation };
  }

  /** Operations that ending everything would take now. */
  get #drainLength(): number {
    const model = this.#model;
    const open = model.forwards.filter((forward) => !forward.recorded && !forward.prebuilt).length;
    return (
      open + Number(model.isGroupOpen) + model.forwards.length + model.requests.size + TAIL_LENGTH
    );
  }

  #choose(): KvOperation {
    const left = this.#ops - this.#yielded;
    const spare = left - this.#drainLength;
    if (spare <= 0) return this.#drainStep(left);
    if (this.#prng.chance(this.#profile.illegalPercent, 100)) {
      const broken = illegalOperation(this.#draws);
      if (broken !== null) {
        this.brokenRule = broken.rule;
        return broken.operation;
      }
    }
    const forced = this.#recordSoon();
    if (forced !== null) return forced;
    if (this.#yielded >= this.#ops - Math.ceil(this.#ops / 10)) return this.#whileDraining();
    this.#advancePhase();
    // Opening something must leave enough operations to end it.
    return (
      this.#drawLegal(spare >= 4) ?? { op: "ask.fits", args: { demand: this.#draws.demand() } }
    );
  }

  /** A launched forward is recorded at once as a rule; now and then something else comes between. */
  #recordSoon(): KvOperation | null {
    const { openForward, forwards } = this.#model;
    const waiting =
      openForward ?? forwards.find((forward) => !forward.recorded && !forward.prebuilt);
    if (waiting === undefined || this.#prng.chance(1, 6)) return null;
    return legalOperation("forward.record", this.#draws);
  }

  #whileDraining(): KvOperation {
    for (let attempt = 0; attempt < 8; attempt++) {
      const kind = this.#prng.pick(DRAIN_KINDS);
      if (this.#isBarred(kind)) continue;
      const operation = legalOperation(kind, this.#draws);
      if (operation !== null) return operation;
    }
    return { op: "ask.plan", args: { demand: this.#draws.demand() } };
  }

  #isBarred(kind: KvOperationName): boolean {
    return this.#model.openForward !== undefined && !FREE_OF_OPEN_FORWARD.has(kind);
  }

  #advancePhase(): void {
    this.#phaseLeft -= 1;
    const isEmptied = this.#phase === "empty" && this.#model.requests.size === 0;
    if (this.#phaseLeft > 0 && !isEmptied) return;
    if (this.#phase === "fill" || isEmptied) this.#phase = isEmptied ? "fill" : "mix";
    else this.#phase = this.#prng.chance(1, 4) ? "empty" : this.#prng.chance(1, 4) ? "fill" : "mix";
    this.#phaseLeft = this.#prng.between(...PHASE_LENGTHS[this.#phase]);
  }

  #drawLegal(mayOpen: boolean): KvOperation | null {
    const factors = PHASE_FACTORS[this.#phase];
    const pressure = this.#model.freeBytes * 8 < this.#model.usableBytes ? PRESSURE_FACTORS : {};
    const kinds: KvOperationName[] = [];
    const weights: number[] = [];
    for (const [name, weight] of Object.entries(this.#profile.weights)) {
      // the keys of a profile are operation names
      const kind = name as KvOperationName;
      if (this.#isBarred(kind) || (!mayOpen && OPENING.has(kind))) continue;
      kinds.push(kind);
      weights.push(weight * (factors[kind] ?? 2) * (pressure[kind] ?? 2));
    }
    for (let attempt = 0; attempt < 12; attempt++) {
      const operation = legalOperation(
        kinds[this.#prng.weighted(weights)] ?? "ask.fits",
        this.#draws,
      );
      if (operation !== null) return operation;
    }
    return null;
  }

  #drainStep(left: number): KvOperation {
    const draws = this.#draws;
    const ending =
      legalOperation("forward.record", draws) ??
      legalOperation("group.end", draws) ??
      legalOperation("forward.process", draws) ??
      legalOperation("request.finish", draws);
    if (ending !== null) return ending;
    return left === 1 ? { op: "check.idle", args: {} } : { op: "chain.flush", args: {} };
  }
}

const OPENING: ReadonlySet<KvOperationName> = new Set<KvOperationName>([
  "row.alloc",
  "forward.launch",
  "group.begin",
]);

const PHASE_LENGTHS: Readonly<Record<Phase, readonly [number, number]>> = {
  fill: [10, 30],
  mix: [30, 90],
  empty: [15, 40],
};

// Where hardly anything is free, takes would only be refused; frees make holes for the next ones.
const PRESSURE_FACTORS: Readonly<Partial<Record<KvOperationName, number>>> = {
  "tokens.extend": 1,
  "tokens.decode": 1,
  "state.alloc": 1,
  "chain.relieve": 1,
  "tokens.free": 6,
  "window.retire": 4,
  "state.free": 5,
  "request.finish": 4,
};

// Halves: 2 is the profile's own weight.
const PHASE_FACTORS: Readonly<Record<Phase, Readonly<Partial<Record<KvOperationName, number>>>>> = {
  fill: {
    "row.alloc": 5,
    "tokens.extend": 4,
    "state.alloc": 3,
    "request.finish": 1,
    "request.retract": 1,
  },
  mix: {},
  empty: {
    "row.alloc": 0,
    "tokens.extend": 0,
    "tokens.decode": 1,
    "state.alloc": 0,
    "request.finish": 8,
    "forward.launch": 1,
    "forward.process": 6,
    "chain.flush": 4,
  },
};
