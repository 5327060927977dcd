// Weight profiles of the seeded workload: which operations a run prefers, how much it asks for, how crowded its
// arena is. A profile's numbers are part of what a seed means: a change of them changes every recorded seed.
import type { KvOperationName } from "../base/operations.js";
import type { GeometryRanges } from "./layouts.js";

/** @internal */
export interface WeightProfile {
  readonly weights: Readonly<Partial<Record<KvOperationName, number>>>;
  /** Weights of a small demand, one near what is free, and one above it. */
  readonly appetite: readonly [small: number, near: number, over: number];
  readonly forwardsMost: number; // forwards launched and not yet processed
  readonly illegalPercent: number;
  readonly geometry: GeometryRanges;
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
  illegalPercent: 5,
  geometry: CROWDED,
};

const PROFILES: Readonly<Record<string, WeightProfile>> = {
  /** A crowded arena under overlap: refusals, relief and pending pages all the time. */
  default: DEFAULT,
  /** A handful of pages: every edge is near. */
  tight: {
    ...DEFAULT,
    appetite: [3, 7, 2],
    geometry: { ...CROWDED, fullPages: [3, 10], stateSlots: [1, 4], rows: [3, 5] },
  },
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
};

/** Names of the weight profiles. @public */
export const WEIGHT_NAMES: readonly string[] = Object.keys(PROFILES);

/** The profile of a name, undefined where there is none. @internal */
export function profileNamed(name: string): WeightProfile | undefined {
  return Object.hasOwn(PROFILES, name) ? PROFILES[name] : undefined;
}
