// Weight profiles of the seeded workload: which operations a run prefers, how much it asks for, how crowded its
// arena is. A profile's numbers are part of what a seed means: a change of them changes every recorded seed.
import type { KvOperationName } from "../base/operations.js";
import type { FeatureRanges, GeometryRanges } from "./layouts.js";

/** @internal */
export interface WeightProfile {
  readonly weights: Readonly<Partial<Record<KvOperationName, number>>>;
  /** Weights of a small demand, one near what is free, and one above it. */
  readonly appetite: readonly [small: number, near: number, over: number];
  readonly forwardsMost: number; // forwards launched and not yet processed
  readonly modes: readonly [extend: number, decode: number, verify: number, prebuilt: number];
  readonly unknownWrites: readonly [numerator: number, denominator: number]; // share of forwards
  readonly illegalPercent: number;
  readonly geometry: GeometryRanges;
  /** Tree, host, transfers and checkpoints; absent: none of them, as before they were there. */
  readonly features?: FeatureRanges;
  readonly hasStages?: boolean; // two pipeline stages of unequal geometry
  readonly isSubset?: boolean; // each run draws which kinds it leaves out
}

const MIXED: WeightProfile["weights"] = {
  "row.alloc": 8,
  "row.free": 1,
  "state.alloc": 12,
  "state.free": 5,
  "state.copy": 2,
  "tokens.extend": 26,
  "tokens.decode": 16,
  "tokens.free": 12,
  "group.begin": 2,
  "group.end": 6,
  "window.retire": 9,
  "request.finish": 5,
  "request.retract": 3,
  "forward.launch": 11,
  "forward.barrier": 2,
  "forward.process": 9,
  "event.fire": 2,
  "chain.flush": 2,
  "chain.relieve": 8,
  "ask.plan": 3,
  "ask.fits": 3,
  "ask.fits_after_frees": 2,
  "ask.prealloc": 2,
  "ask.translate": 2,
  "check.idle": 1,
};

const CROWDED: GeometryRanges = {
  fullPages: [14, 40],
  stateSlots: [4, 14],
  rows: [5, 10],
  moveCaps: [1, 2, 3, 8, 4096, 4096],
  overlap: true,
};

const DEFAULT: WeightProfile = {
  weights: MIXED,
  appetite: [4, 7, 1],
  forwardsMost: 3,
  modes: [6, 6, 2, 1],
  unknownWrites: [1, 8],
  illegalPercent: 5,
  geometry: CROWDED,
};

const TREE: WeightProfile["weights"] = {
  "tree.match": 6,
  "tree.insert": 14,
  "tree.lock": 2,
  "tree.unlock": 2,
  "tree.evict": 2,
  "state.donate": 8,
  "contents.discard": 1,
};
const HOST: WeightProfile["weights"] = {
  "host.backup": 6,
  "host.backup_done": 7,
  "host.load_reserve": 5,
  "host.load_bind": 6,
  "host.load_submit": 6,
  "host.load_cancel": 2,
  "host.load_done": 7,
  "host.evict": 2,
  "request.restore": 4,
};
const NET: WeightProfile["weights"] = {
  "net.send": 5,
  "net.receive": 5,
  "net.publish": 6,
  "net.stall": 1,
  "net.end": 9,
};
const FURTHER: WeightProfile["weights"] = {
  "admit.pass": 3,
  "ask.max_new_tokens": 1,
  "ask.estimates": 1,
  "arena.resize": 1,
};

const FEATURES: FeatureRanges = {
  sharingPercent: 90,
  checkpointPercent: 85,
  hostPercent: 85,
  hostPages: [4, 24],
};

/** Everything at once. */
const WHOLE: WeightProfile = {
  ...DEFAULT,
  weights: { ...MIXED, ...TREE, ...HOST, ...NET, ...FURTHER, "request.finish": 8, "event.fire": 3 },
  features: FEATURES,
};

const PROFILES: Readonly<Record<string, WeightProfile>> = {
  /** A crowded arena under overlap: refusals, relief and pending pages all the time. No tree, host or transfers. */
  default: DEFAULT,
  /** Room for everything: takes that need no move, long rows, hardly a refusal. */
  roomy: {
    ...DEFAULT,
    appetite: [20, 1, 0],
    geometry: { ...CROWDED, fullPages: [200, 400], stateSlots: [40, 80], rows: [12, 24] },
  },
  /** Short lives: much freed, much compacted. */
  churn: {
    ...DEFAULT,
    weights: {
      ...MIXED,
      "tokens.free": 24,
      "window.retire": 16,
      "request.finish": 12,
      "request.retract": 6,
      "row.alloc": 20,
      "chain.flush": 10,
    },
  },
  /** Several forwards in flight, and groups, so that most frees wait. */
  forwards: {
    ...DEFAULT,
    weights: {
      ...MIXED,
      "forward.launch": 26,
      "forward.process": 16,
      "forward.barrier": 4,
      "event.fire": 6,
      "group.begin": 5,
      "group.end": 9,
    },
    forwardsMost: 6,
  },
  /** Without overlap: nothing is recorded and nothing pends. */
  serial: { ...DEFAULT, geometry: { ...CROWDED, overlap: false } },
  /** Twice as many broken contracts as usual. */
  hostile: { ...DEFAULT, illegalPercent: 20 },
  /** A scheduler at work: prompts that share prefixes, small steps, everything now and then. */
  steady: {
    ...WHOLE,
    appetite: [8, 4, 1],
    geometry: { ...CROWDED, fullPages: [24, 64], stateSlots: [8, 20], rows: [6, 12] },
  },
  /** Each run leaves out a random half of the kinds, so that the others meet more often. */
  swarm: { ...WHOLE, isSubset: true, illegalPercent: 8 },
  /** A handful of pages: every edge is near. */
  tight: {
    ...WHOLE,
    appetite: [3, 7, 2],
    geometry: { ...CROWDED, fullPages: [4, 12], stateSlots: [2, 5], rows: [3, 5] },
    features: { ...FEATURES, hostPages: [1, 8] },
  },
  /** Sends and receives in every phase, and copies to and from the host. */
  transfers: {
    ...WHOLE,
    weights: {
      ...WHOLE.weights,
      "net.send": 14,
      "net.receive": 14,
      "net.publish": 16,
      "net.stall": 2,
      "net.end": 18,
      "host.backup": 9,
      "host.load_reserve": 9,
      "request.retract": 6,
      "request.restore": 7,
    },
  },
  /** Windows that retire, are inserted with and without their pages, and are rehomed. */
  windows: {
    ...WHOLE,
    weights: {
      ...WHOLE.weights,
      "window.retire": 26,
      "tree.match": 9,
      "tree.insert": 22,
      "tokens.free": 18,
      "tree.evict": 4,
    },
  },
  /** Verifying forwards whose writes nobody knows in advance, with tracked states. */
  speculative: {
    ...WHOLE,
    weights: {
      ...WHOLE.weights,
      "forward.launch": 24,
      "forward.process": 15,
      "forward.barrier": 4,
      "state.donate": 12,
      "event.fire": 6,
    },
    forwardsMost: 4,
    modes: [2, 2, 10, 1],
    unknownWrites: [5, 6],
  },
  /** Two pipeline stages of unequal geometry: every answer holds for both. No transfers. */
  stages: {
    ...WHOLE,
    weights: { ...MIXED, ...TREE, ...HOST, ...FURTHER, "stages.digest": 3 },
    hasStages: true,
  },
};

/** Names of the weight profiles. @public */
export const WEIGHT_NAMES: readonly string[] = Object.keys(PROFILES);

/** The profile of a name, undefined where there is none. @internal */
export function profileNamed(name: string): WeightProfile | undefined {
  return Object.hasOwn(PROFILES, name) ? PROFILES[name] : undefined;
}
