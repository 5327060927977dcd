// A planted defect: a small patch of the allocator or of the simulated device that a test puts in and takes out again.

/** One slip of a programmer, in code. Production code has no switch for it. */
export interface Defect {
  readonly name: string;
  readonly about: string; // what is wrong, one sentence
  readonly row: number | null; // the hazard of the design's list that it falls into, null: none of the list
  readonly where: "kv" | "device";
  /** Puts the defect in; returns what takes it out. */
  plant(): () => void;
}
