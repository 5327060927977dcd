// Pricing and admission over the seeded corpus: what the snapshot answers, and what the take does on a copy.
import { expect, test } from "vitest";
import type {
  AdmitVerdict,
  Answer,
  BootOk,
  DirectConfig,
  KvOperation,
  QueueEntry,
} from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import { countOf } from "../../src/base/extents.js";
import type { BandState, State } from "../../src/base/state.js";
import { admitPass } from "../../src/kv/operations/admission.js";
import { KVStorage } from "../../src/kv/storage.js";
import { type Layout, LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { checkPass } from "./admission-truth.js";
import { type Counts, seedsOf, share, sweepPart, sweepTotal } from "./sweep.js";
import { Truth } from "./truth.js";

const SEEDS = 20;
const OPERATIONS = 400;
const QUERIES = 320_000;
const OBSERVATIONS = 270_000;
const MIXES = 2; // directions of demand a state
const STEPS = ["no_move", "flush_ends", "relayout", "none"];
const VERDICTS = ["admit", "chunk", "wait", "never_fits", "unschedulable"];

/** The states of one seeded run that the corpus looks at. */
class CorpusRun {
  readonly counts: Counts = {};
  readonly #config: DirectConfig;
  readonly #storage: KVStorage;
  readonly #prng: Prng;
  #boot: BootOk | null = null;
  #bootState: State | null = null;

  constructor(config: DirectConfig, storage: KVStorage, prng: Prng) {
    this.#config = config;
    this.#storage = storage;
    this.#prng = prng;
  }

  booted(boot: BootOk): void {
    this.#boot = boot;
    this.#bootState = this.#storage.state();
  }

  /** Asks about the state as it is. Called once a chain epoch, so that demands of one call are distinct in all. */
  look(): void {
    const state = this.#storage.state();
    if (state.forwards.open !== null) return; // nothing may be taken between a launch and its record
    const truth = new Truth(this.#config, this.#boot!, state);
    if (this.#prng.chance(5, 6)) this.#price(truth);
    const isIdle = Object.keys(state.rows).length === 0 && state.forwards.unprocessed.length === 0;
    for (let pass = 0; pass < (isIdle ? 12 : 1); pass++) this.#admit(state, truth, isIdle);
  }

  #count(name: string, by = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + by;
  }

  /** Along a few directions: doubled until refused, then halved to the bound between yes and no. */
  #price(truth: Truth): void {
    const asked = new Map<string, boolean>();
    for (let mix = 0; mix < MIXES; mix++) {
      const direction = Object.keys(this.#boot!.bands).map(() =>
        this.#prng.pick([0, 0, 1, 1, 2, 5]),
      );
      if (direction.every((weight) => weight === 0)) continue;
      const offset = direction.map((weight) => (weight === 0 ? this.#prng.below(2) : 0));
      const ask = (scale: number): boolean => {
        const demand = direction.map((weight, index) => weight * scale + offset[index]!);
        const key = demand.join();
        const known = asked.get(key) ?? this.#query(truth, demand);
        asked.set(key, known);
        return known;
      };
      let low = 0;
      let high = 1;
      while (ask(high)) {
        low = high;
        high *= 2;
      }
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (ask(middle)) low = middle;
        else high = middle;
      }
    }
  }

  #query(truth: Truth, demand: readonly number[]): boolean {
    const names = Object.keys(this.#boot!.bands);
    const args = { demand: Object.fromEntries(names.map((name, i) => [name, demand[i]!])) };
    const { step } = this.#storage.apply({ op: "ask.plan", args }).ok as { step: string };
    const { fits } = this.#storage.apply({ op: "ask.fits", args }).ok as { fits: boolean };
    const tried = truth.take(demand);
    const said = step === "none" ? null : step;
    if (fits !== (said !== null) || said !== tried)
      expect({ demand, fits, step: said }).toEqual({ demand, fits: tried !== null, step: tried });
    // No layout at all serves what is refused; one does where something has to move.
    if (tried !== "no_move" && truth.packs(demand) !== fits)
      expect.fail(`${JSON.stringify(demand)}: ${String(fits)}, but layouts say otherwise`);
    this.#count("queries");
    this.#count(step);
    return fits;
  }

  #admit(state: State, truth: Truth, isIdle: boolean): void {
    const config = this.#admissionConfig();
    const isPlain = config === this.#config;
    const now = isPlain ? truth : new Truth(config, this.#boot!, state);
    const empty = new Truth(config, this.#boot!, this.#bootState!);
    const names = Object.keys(this.#boot!.bands);
    const isReserving = this.#prng.chance(isIdle ? 9 : 1, 10);
    const reserve = Object.values(this.#boot!.bands).map(({ pages, first_page }) =>
      isReserving ? this.#prng.below(Math.max(1, pages - first_page)) : 0,
    );
    const queue = this.#drawQueue(state, isIdle);
    const isChunked = this.#prng.chance(9, 10);
    const interval = config.checkpoint?.interval ?? 1;
    const chunk = isChunked ? config.page_size * interval * this.#prng.between(1, 3) : null;
    const args = {
      queue,
      ...(chunk === null ? {} : { chunk }),
      reserve: Object.fromEntries(names.map((name, index) => [name, reserve[index]!])),
    };
    const answer = isPlain
      ? this.#storage.apply({ op: "admit.pass", args })
      : admitPass(now.copy, args);
    const freeRows = config.rows - Object.keys(state.rows).length;
    const willGiveBack =
      Object.keys(state.rows).length > 0 ||
      state.forwards.unprocessed.length > 0 ||
      state.forwards.open !== null ||
      now.copy.chain.steps.unrecorded.length > 0;
    const counts = checkPass(
      { config, queue, chunk, reserve, freeRows, willGiveBack, now, empty },
      answer.ok as Record<string, AdmitVerdict>,
    );
    for (const [kind, count] of Object.entries(counts)) {
      this.#count("observations", count);
      this.#count(kind, count);
    }
  }

  /** Now and then the same memory under a strategy that keeps checkpoints: admission charges more. */
  #admissionConfig(): DirectConfig {
    const config = this.#config;
    const hasState = config.sub_pools.some((pool) => pool.kind === "state");
    if (!hasState || this.#prng.chance(1, 2)) return config;
    const interval = config.page_size * this.#prng.between(1, 3);
    return {
      ...config,
      prefix_sharing: true,
      checkpoint: { strategy: "extra_buffer", interval },
    };
  }

  /** Prompts of about what is free, in all; now and then one that never fits. */
  #drawQueue(state: State, isIdle: boolean): QueueEntry[] {
    const free = countOf((state["full"] as BandState).free_ids) * this.#config.page_size;
    const length = isIdle ? this.#prng.between(1, 4) : this.#prng.between(3, 6);
    return Array.from({ length }, (_, index) => {
      const part = this.#prng.pick(isIdle ? [1, 2, 3] : [2, 4, 8, 8]);
      const isHuge = this.#prng.chance(1, 7);
      const most = isHuge ? this.#config.row_tokens : Math.max(1, Math.floor(free / part));
      const input = 1 + this.#prng.below(most);
      return { req: `q${String(index)}`, input, max_new: this.#prng.below(1 + (input >> 1)) };
    });
  }
}

function runSeed(layout: Layout, pageSize: number, seed: number): Counts {
  const workload = seededWorkload({ seed, ops: OPERATIONS, layout, pageSize });
  const config = workload.config as DirectConfig;
  const storage = new KVStorage(config, { digestDepth: "layout" });
  const run = new CorpusRun(config, storage, new Prng(seed, 23));
  const bands = [...config.sub_pools.map(({ name }) => name), "chain"];
  let answer: Answer | null = null;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation;
    answer = storage.apply(operation);
    if (operation.op === "boot") run.booted(answer.ok as BootOk);
    const digest = storage.takeDigest();
    const isNew = digest !== undefined && bands.some((name) => digest[name] !== undefined);
    if (isNew) run.look();
  }
  return run.counts;
}

test("the corpus answers as its takes do", () => {
  const total: Counts = {};
  let parts = 0;
  for (const layout of LAYOUTS) {
    for (const pageSize of [1, 3, 16, 64]) {
      for (const seed of seedsOf(SEEDS)) {
        const name = `pricing-corpus ${layout} p${String(pageSize)} seed ${String(seed)}`;
        const counts = sweepPart(name, () => runSeed(layout, pageSize, seed));
        for (const [kind, count] of Object.entries(counts))
          total[kind] = (total[kind] ?? 0) + count;
        parts += 1;
      }
    }
  }
  sweepTotal(`pricing corpus: ${JSON.stringify(total)}`);
  // Outside the full run, the same share of each.
  const part = parts / (LAYOUTS.length * 4 * SEEDS);
  expect(total["queries"]).toBeGreaterThanOrEqual(QUERIES * part);
  expect(total["observations"]).toBeGreaterThanOrEqual(OBSERVATIONS * part);
  for (const step of STEPS) expect(share(total, step, "queries"), step).toBeGreaterThanOrEqual(5);
  for (const kind of VERDICTS)
    expect(share(total, kind, "observations"), kind).toBeGreaterThanOrEqual(5);
});
