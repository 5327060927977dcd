// What the recorded corpus asks of one run: about its states, what the snapshot answers and what the take does on a copy.
import { expect } from "vitest";
import type {
  AdmitVerdict,
  Answer,
  BootOk,
  Digests,
  DirectConfig,
  KvOperation,
  QueueEntry,
} from "../../src/base/operations.js";
import { countOf } from "../../src/base/extents.js";
import type { Prng } from "../../src/base/prng.js";
import type { BandState, State } from "../../src/base/state.js";
import { admitPass } from "../../src/kv/operations/admission.js";
import { KVStorage } from "../../src/kv/storage.js";
import type { Workload } from "../../src/workload/workload.js";
import { checkPass } from "./admission-truth.js";
import type { Counts } from "./sweep.js";
import { Truth } from "./truth.js";

const MIXES = 2; // directions of demand a state

/** How densely a run is looked at. */
export interface Looks {
  readonly share: number; // one of so many states
}

/** Drives a workload to its end and looks at states that it passes. Returns what was asked, by kind. */
export function lookAt(workload: Workload, looks: Looks, prng: Prng): Counts {
  const storage = new KVStorage(workload.config, { digestDepth: "layout" });
  const counts: Counts = {};
  let config = storage.direct;
  if (config === null) return counts; // refused at boot
  let run: CorpusRun | null = null; // made at boot, and again where the arena gets another size
  let answer: Answer | null = null;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    answer = null;
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation;
    answer = storage.apply(operation);
    const digest = storage.takeDigest();
    const isResized = operation.op === "arena.resize" && answer.ok !== undefined;
    if (isResized) config = { ...config, arena_bytes: operation.args.arena_bytes };
    if (run === null || isResized)
      run = new CorpusRun(config, answer.ok as BootOk, storage, prng, counts);
    if (digest !== undefined && run.isChanged(digest) && prng.chance(1, looks.share)) run.look();
  }
  return counts;
}

class CorpusRun {
  readonly #config: DirectConfig;
  readonly #boot: BootOk;
  readonly #bootState: State;
  readonly #storage: KVStorage;
  readonly #prng: Prng;
  readonly #counts: Counts;

  constructor(config: DirectConfig, boot: BootOk, storage: KVStorage, prng: Prng, counts: Counts) {
    this.#config = config;
    this.#boot = boot;
    this.#bootState = storage.state();
    this.#storage = storage;
    this.#prng = prng;
    this.#counts = counts;
  }

  /** Whether something that pricing depends on changed. */
  isChanged(digest: Digests): boolean {
    return "chain" in digest || Object.keys(this.#boot.bands).some((name) => name in digest);
  }

  /** Asks about the state as it is. Called once a chain epoch, so that demands of one call are distinct in all. */
  look(): void {
    const state = this.#storage.state();
    if (state.forwards.open !== null) return; // nothing may be taken between a launch and its record
    const isBare = this.#isBare(state);
    const truth = new Truth(this.#config, this.#boot, state);
    if (this.#prng.chance(5, 6)) this.#price(truth, isBare);
    if (!isBare) return;
    const isIdle = Object.keys(state.rows).length === 0 && state.forwards.unprocessed.length === 0;
    for (let pass = 0; pass < (isIdle ? 12 : 1); pass++) this.#admit(state, truth, isIdle);
  }

  /** Whether counts of pages tell which layouts there are, and nothing can be evicted or is fixed. */
  #isBare(state: State): boolean {
    const { stages } = state.forwards["x_more"] as { readonly stages: object | null };
    const fixed = Object.keys(this.#boot.bands).flatMap((name) => (state[name] as BandState).fixed);
    return stages === null && state.tree.length === 0 && fixed.length === 0;
  }

  #count(name: string, by = 1): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + by;
  }

  /** Along a few directions: doubled until refused, then halved to the bound between yes and no. */
  #price(truth: Truth, isBare: boolean): void {
    const asked = new Map<string, boolean>();
    for (let mix = 0; mix < MIXES; mix++) {
      const direction = Object.keys(this.#boot.bands).map(() =>
        this.#prng.pick([0, 0, 1, 1, 2, 5]),
      );
      if (direction.every((weight) => weight === 0)) continue;
      const offset = direction.map((weight) => (weight === 0 ? this.#prng.below(2) : 0));
      const ask = (scale: number): boolean => {
        const demand = direction.map((weight, index) => weight * scale + offset[index]!);
        const key = demand.join();
        const known = asked.get(key) ?? this.#query(truth, demand, isBare);
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

  #query(truth: Truth, demand: readonly number[], isBare: boolean): boolean {
    const names = Object.keys(this.#boot.bands);
    const args = { demand: Object.fromEntries(names.map((name, i) => [name, demand[i]!])) };
    const { step } = this.#storage.apply({ op: "ask.plan", args }).ok as { step: string };
    const { fits } = this.#storage.apply({ op: "ask.fits", args }).ok as { fits: boolean };
    const tried = truth.take(demand);
    const said = step === "none" ? null : step;
    if (fits !== (said !== null) || said !== tried)
      expect({ demand, fits, step: said }).toEqual({ demand, fits: tried !== null, step: tried });
    // No layout at all serves what is refused; one does where something has to move.
    if (isBare && tried !== "no_move" && truth.packs(demand) !== fits)
      expect.fail(`${JSON.stringify(demand)}: ${String(fits)}, but layouts say otherwise`);
    this.#count("queries");
    this.#count(step);
    return fits;
  }

  #admit(state: State, truth: Truth, isIdle: boolean): void {
    const config = this.#admissionConfig();
    const isPlain = config === this.#config;
    const now = isPlain ? truth : new Truth(config, this.#boot, state);
    const empty = new Truth(config, this.#boot, this.#bootState);
    const names = Object.keys(this.#boot.bands);
    const isReserving = this.#prng.chance(isIdle ? 9 : 1, 10);
    const reserve = Object.values(this.#boot.bands).map(({ pages, first_page }) =>
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
    const counts = checkPass(
      { config, state, queue, chunk, reserve, now, empty },
      answer.ok as Record<string, AdmitVerdict>,
    );
    for (const [kind, count] of Object.entries(counts)) {
      if (kind.startsWith("open_")) this.#count("open_observations", count);
      else this.#count("observations", count);
      this.#count(kind, count);
    }
  }

  /** Now and then the same memory under a strategy that keeps checkpoints: admission charges more. */
  #admissionConfig(): DirectConfig {
    const config = this.#config;
    const hasState = config.sub_pools.some((pool) => pool.kind === "state");
    if (!hasState || config.checkpoint !== undefined || this.#prng.chance(1, 2)) return config;
    const interval = config.page_size * this.#prng.between(1, 3);
    const strategy = this.#prng.pick(["extra_buffer", "extra_buffer_lazy"] as const);
    return { ...config, prefix_sharing: true, checkpoint: { strategy, interval } };
  }

  /** Prompts of about what is free, in all; now and then one that never fits. Some are open requests mid-prompt. */
  #drawQueue(state: State, isIdle: boolean): QueueEntry[] {
    const free = countOf((state["full"] as BandState).free_ids) * this.#config.page_size;
    const length = isIdle ? this.#prng.between(1, 4) : this.#prng.between(3, 6);
    const open = Object.keys(state.rows);
    return Array.from({ length }, (_, index) => {
      const part = this.#prng.pick(isIdle ? [1, 2, 3] : [2, 4, 8, 8]);
      const isHuge = this.#prng.chance(1, 7);
      const most = isHuge ? this.#config.row_tokens : Math.max(1, Math.floor(free / part));
      const more = 1 + this.#prng.below(most);
      const max_new = this.#prng.below(1 + (more >> 1));
      const isOpen = open.length > 0 && this.#prng.chance(1, 3);
      if (!isOpen) return { req: `q${String(index)}`, input: more, max_new };
      const [req] = open.splice(this.#prng.below(open.length), 1);
      const { allocated } = state.rows[req!]!; // just drawn from these
      return { req: req!, input: allocated + more, max_new };
    });
  }
}
