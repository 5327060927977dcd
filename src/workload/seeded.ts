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
import { layoutConfig, otherStage, withFeatures } from "./layouts.js";
import { drainLength, drainStep } from "./seeded-drain.js";
import { SeededDraws } from "./seeded-draws.js";
import { illegalOperation } from "./seeded-illegal.js";
import { FREE_OF_OPEN_FORWARD, legalOperation } from "./seeded-legal.js";
import { SeededModel } from "./seeded-model.js";
import { SeededPhases } from "./seeded-phases.js";
import { isBindDue, SeededPlans } from "./seeded-plans.js";
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

// Streams of one seed, so that a change of one does not shift the other.
const GEOMETRY_STREAM = 1;
const OPERATION_STREAM = 2;
const FEATURE_STREAM = 3;
const SUBSET_STREAM = 4;
const STAGE_STREAM = 5;

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
const FURTHER_DRAIN_KINDS: readonly KvOperationName[] = [
  ...DRAIN_KINDS,
  "tree.evict",
  "tree.unlock",
  "host.backup_done",
  "host.load_done",
  "host.load_cancel",
  "host.evict",
  "net.end",
  "contents.discard",
];

class SeededRun implements SeededWorkload {
  readonly run: string;
  readonly config: DirectConfig;
  readonly source: RunSource;
  readonly #ops: number;
  readonly #profile: WeightProfile;
  readonly #prng: Prng;
  readonly #model: SeededModel;
  readonly #draws: SeededDraws;
  readonly #plans: SeededPlans;
  readonly #phases = new SeededPhases();
  readonly #install: KvOperation | null; // of stages
  #last: KvOperation | null = null;
  #yielded = 0;
  brokenRule: InvalidRule | null = null;

  constructor(options: Required<SeededOptions>, profile: WeightProfile) {
    const { seed, ops, layout, pageSize, weights } = options;
    this.run = `${layout}/p${String(pageSize)}/seed-${String(seed)}`;
    this.source = { type: "seed", seed, ops, weights };
    const drawn = layoutConfig(layout, pageSize, profile.geometry, new Prng(seed, GEOMETRY_STREAM));
    this.config =
      profile.features === undefined
        ? drawn
        : withFeatures(drawn, profile.features, new Prng(seed, FEATURE_STREAM));
    this.#ops = ops;
    this.#profile = subsetOf(profile, new Prng(seed, SUBSET_STREAM));
    this.#prng = new Prng(seed, OPERATION_STREAM);
    this.#model = new SeededModel(this.config);
    this.#draws = new SeededDraws(this.#model, this.#prng, this.#profile);
    this.#plans = new SeededPlans(this.#draws);
    this.#install =
      profile.hasStages === true ? installOf(this.config, new Prng(seed, STAGE_STREAM)) : null;
  }

  next(answer: Answer | null): WorkloadStep | null {
    if (this.#last !== null && answer !== null) {
      this.#model.learn(this.#last, answer);
      this.#plans.learn(this.#last, answer);
    }
    if (this.#yielded >= this.#ops) return null;
    this.brokenRule = null;
    const operation: KvOperation = this.#yielded === 0 ? { op: "boot", args: {} } : this.#choose();
    this.#last = operation;
    this.#yielded += 1;
    return { operation };
  }

  #choose(): KvOperation {
    const left = this.#ops - this.#yielded;
    const spare = left - drainLength(this.#model);
    if (spare <= 0) return drainStep(this.#draws, left);
    if (this.#install !== null && this.#yielded === 1) return this.#install;
    const mayOpen = spare >= (this.#draws.isWhole ? WHOLE_SPARE : SPARE);
    this.#draws.mayFail = mayOpen;
    if (isBindDue(this.#draws)) return this.#bindOrCancel();
    if (this.#prng.chance(this.#profile.illegalPercent, 100)) {
      const broken = illegalOperation(this.#draws);
      if (broken !== null) {
        this.brokenRule = broken.rule;
        return broken.operation;
      }
    }
    const forced = this.#recordSoon() ?? (mayOpen ? this.#plans.next() : null);
    if (forced !== null) return forced;
    if (this.#yielded >= this.#ops - Math.ceil(this.#ops / 10)) return this.#whileDraining();
    this.#phases.advance(this.#prng, this.#model.requests.size);
    return this.#drawLegal(mayOpen) ?? { op: "ask.fits", args: { demand: this.#draws.demand() } };
  }

  /** A launched forward is recorded at once as a rule; now and then something else comes between. */
  #recordSoon(): KvOperation | null {
    const { openForward, forwards } = this.#model;
    const waiting =
      openForward ?? forwards.find((forward) => !forward.recorded && !forward.prebuilt);
    if (waiting === undefined || this.#prng.chance(1, 6)) return null;
    return legalOperation("forward.record", this.#draws);
  }

  /** With stages nothing may be taken between a reservation and its binding. */
  #bindOrCancel(): KvOperation {
    const bind = legalOperation("host.load_bind", this.#draws);
    const cancel = legalOperation("host.load_cancel", this.#draws);
    return bind ?? cancel ?? { op: "check.idle", args: {} };
  }

  #whileDraining(): KvOperation {
    const kinds = this.#draws.isWhole ? FURTHER_DRAIN_KINDS : DRAIN_KINDS;
    for (let attempt = 0; attempt < 8; attempt++) {
      const kind = this.#prng.pick(kinds);
      if (this.#isBarred(kind)) continue;
      const operation = legalOperation(kind, this.#draws);
      if (operation !== null) return operation;
    }
    return { op: "ask.plan", args: { demand: this.#draws.demand() } };
  }

  #isBarred(kind: KvOperationName): boolean {
    return this.#model.openForward !== undefined && !FREE_OF_OPEN_FORWARD.has(kind);
  }

  #drawLegal(mayOpen: boolean): KvOperation | null {
    const isPressed = this.#model.freeBytes * 8 < this.#model.usableBytes;
    const kinds: KvOperationName[] = [];
    const weights: number[] = [];
    for (const [name, weight] of Object.entries(this.#profile.weights)) {
      // the keys of a profile are operation names
      const kind = name as KvOperationName;
      if (this.#isBarred(kind) || (!mayOpen && this.#opens(kind))) continue;
      kinds.push(kind);
      weights.push(weight * this.#phases.factor(kind, isPressed));
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

  /** Whether a kind makes the drain longer. */
  #opens(kind: KvOperationName): boolean {
    return OPENING.has(kind) || (this.#draws.isWhole && OPENING_FURTHER.has(kind));
  }
}

// Opening something must leave enough operations to end it.
const SPARE = 4;
const WHOLE_SPARE = 8;

const OPENING: ReadonlySet<KvOperationName> = new Set<KvOperationName>([
  "row.alloc",
  "forward.launch",
  "group.begin",
]);
const OPENING_FURTHER: ReadonlySet<KvOperationName> = new Set<KvOperationName>([
  "request.retract",
  "request.restore",
  "tree.insert",
  "tree.lock",
  "host.backup",
  "host.load_reserve",
  "host.load_submit",
  "net.send",
  "net.receive",
]);

/** The profile with a random half of its kinds, where it asks for that; what ends things always stays. */
function subsetOf(profile: WeightProfile, prng: Prng): WeightProfile {
  if (profile.isSubset !== true) return profile;
  const kept = Object.entries(profile.weights).filter(
    ([kind]) => prng.chance(1, 2) || ALWAYS.has(kind),
  );
  return { ...profile, weights: Object.fromEntries(kept) };
}

const ALWAYS: ReadonlySet<string> = new Set(["row.alloc", "tokens.extend", "request.finish"]);

function installOf(config: DirectConfig, prng: Prng): KvOperation {
  const { arena_bytes, sub_pools } = config;
  const stages = [{ arena_bytes, sub_pools }, otherStage(config, prng)];
  return { op: "stages.install", args: { stages, self: 0 } };
}
