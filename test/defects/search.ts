// Looks for a planted defect: run after run until the stress harness and each observer have found it.
import { LAYOUTS } from "../../src/workload/layouts.js";
import {
  type StressSeedOptions,
  type StressSeedResult,
  profileOf,
  stressSeed,
} from "../../src/tools/stress/seed.js";
import type { SeededOptions } from "../../src/workload/seeded.js";
import type { Defect } from "./defect.js";
import { observe, type Observer, OBSERVERS } from "./observed.js";

/** What an observer found, and after how many runs. */
export interface Sight {
  readonly what: string;
  readonly runs: number;
}

/** Where and how a defect was found. */
export interface Found {
  /** The stress harness's first finding; null: in no run. */
  readonly stress: {
    readonly check: string;
    readonly checks: readonly string[]; // all that told in the first runs that found it
    readonly runs: number; // up to that one, it included
  } | null;
  /** By observer: what it found, and after how many runs; those that found nothing are left out. */
  readonly observers: Partial<Record<Observer, Sight>>;
}

const OPERATIONS = 400;
const FINDING_RUNS = 5; // that are looked through for the checks that tell
const FINDING_WITHIN = 20; // runs behind the first
const OBSERVED = 40;
const COMPARED = 35; // runs that are compared, where nothing else finds a defect
const PAGE_SIZES = [1, 3, 4, 16, 64]; // as the command takes them in turn

/** Run number `run` of the search: seed by seed, each on every layout, the profiles and page sizes in turn. */
export function runNumber(run: number): StressSeedOptions {
  const seed = Math.floor(run / LAYOUTS.length);
  return {
    seed,
    ops: OPERATIONS,
    layout: LAYOUTS[run % LAYOUTS.length]!, // in range
    pageSize: PAGE_SIZES[seed % PAGE_SIZES.length]!, // in range
  };
}

/** The same run, for those who look on by themselves. */
export function observedRun(run: number): SeededOptions {
  const options = runNumber(run);
  return { ...options, weights: profileOf("mixed", options.seed) };
}

/** One run with a defect in. */
export function stressWith({ plant }: Defect, run: number): StressSeedResult {
  const undo = plant();
  try {
    return stressSeed(runNumber(run));
  } finally {
    undo();
  }
}

/** Goes through the first `runs` runs; the observers see the first of them only. */
export function search(defect: Defect, runs: number): Found {
  const stress = searchUnderStress(defect, runs);
  const observers =
    defect.where === "kv" ? searchByObservers(defect, Math.min(runs, OBSERVED)) : {};
  if (stress === null && observers.audit === undefined && defect.where === "kv") {
    const compared = searchByComparison(defect, Math.min(runs, COMPARED));
    if (compared !== null) observers.compare = compared;
  }
  return { stress, observers };
}

function searchUnderStress(defect: Defect, runs: number): Found["stress"] {
  let first: { readonly check: string; readonly runs: number } | null = null;
  const checks = new Set<string>();
  let finding = 0;
  for (let run = 0; run < runs && finding < FINDING_RUNS; run++) {
    if (first !== null && run > first.runs + FINDING_WITHIN) break;
    const found = stressWith(defect, run).findings.map(({ signature }) => signature.check);
    if (found[0] === undefined) continue;
    first ??= { check: found[0], runs: run + 1 };
    finding += 1;
    for (const check of found) checks.add(check);
  }
  return first === null ? null : { ...first, checks: [...checks] };
}

function searchByObservers(defect: Defect, runs: number): Found["observers"] {
  const observers: Found["observers"] = {};
  const left = new Set<Observer>(OBSERVERS);
  for (let run = 0; run < runs && left.size > 0; run++) {
    const undo = defect.plant();
    try {
      for (const [observer, what] of Object.entries(observe(observedRun(run), left))) {
        observers[observer as Observer] = { what, runs: run + 1 }; // the keys are observers
        left.delete(observer as Observer);
      }
    } finally {
      undo();
    }
  }
  return observers;
}

/** Runs in which the second allocator agrees with the sound one, but not with the planted one. */
function searchByComparison({ plant }: Defect, runs: number): Sight | null {
  const wanted = new Set<Observer>(["compare"]);
  for (let run = 0; run < runs; run++) {
    const observed = observedRun(run);
    const undo = plant();
    let what: string | undefined;
    try {
      what = observe(observed, wanted).compare;
    } finally {
      undo();
    }
    if (what !== undefined && observe(observed, wanted).compare === undefined)
      return { what, runs: run + 1 };
  }
  return null;
}
