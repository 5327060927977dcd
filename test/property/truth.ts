// What a take really does, tried on a copy of a state, and whether any layout at all would serve it, worked out from the
// state alone without the allocator.
import { expect } from "vitest";
import { countOf } from "../../src/base/extents.js";
import type { BootOk, DirectConfig } from "../../src/base/operations.js";
import type { BandState, State } from "../../src/base/state.js";
import { chainConfig } from "../../src/kv/config.js";
import { KvCore } from "../../src/kv/core.js";
import { loadState } from "../../src/kv/state-io.js";

const NO_PARTS = { layout: false, deep: false };

interface BandFigures {
  readonly live: number;
  readonly vacated: number;
  readonly ids: number; // free ones; infinite where the band mints none
}

/** One state of a run, and what is true of it. */
export class Truth {
  readonly #config: DirectConfig;
  readonly #boot: BootOk;
  readonly #state: State;
  readonly #bands: readonly BandFigures[];
  #copy: KvCore | null = null; // made when first needed, and again after a take changed it

  constructor(config: DirectConfig, boot: BootOk, state: State) {
    this.#config = config;
    this.#boot = boot;
    this.#state = state;
    this.#bands = Object.keys(boot.bands).map((name) => {
      const band = state[name] as BandState;
      const vacated = band.vacated.reduce((sum, entry) => sum + countOf(entry.pages), 0);
      const mints = name === "full" || name === "mamba";
      return { live: band.live, vacated, ids: mints ? countOf(band.free_ids) : Infinity };
    });
  }

  /** The state in a core of its own; whoever changes it calls `spoil`. */
  get copy(): KvCore {
    if (this.#copy === null) {
      this.#copy = new KvCore(this.#config, chainConfig(this.#config), NO_PARTS);
      loadState(this.#copy, this.#state);
    }
    return this.#copy;
  }

  /** Takes a demand on the copy: the step it took, or null where it is refused. @param demand - [bands] pages */
  take(demand: readonly number[]): string | null {
    const { chain } = this.copy;
    const plan = chain.price(demand);
    if (!("step" in plan)) return null;
    this.#copy = null;
    const live = chain.bands.map((band) => band.live);
    const taken = chain.take(demand, plan);
    let below = 0;
    for (const band of chain.bands) {
      const pages = taken.pages[band.index]!;
      const end = band.spanFirst + band.spanCount;
      const isSound =
        pages.length === demand[band.index] &&
        new Set(pages).size === pages.length &&
        band.live === live[band.index]! + pages.length &&
        pages.every((page) => band.p2v[page] === 0 && page >= band.spanFirst && page < end) &&
        (band.spanCount === 0 || band.spanFirst * band.plan.page_bytes >= below);
      if (!isSound)
        expect.fail(`${band.plan.name}: a take of ${JSON.stringify(demand)} is unsound`);
      if (band.spanCount > 0) below = end * band.plan.page_bytes;
    }
    return taken.step;
  }

  /**
   * Whether any layout holds the live pages and the demand: ends packed, floats packed low one after the other. Each
   * float then starts at the lowest page that any layout could give it.
   */
  packs(demand: readonly number[]): boolean {
    let cursor = 0;
    for (const [index, grid] of Object.values(this.#boot.bands).entries()) {
      const { live, vacated, ids } = this.#bands[index]!;
      const wanted = demand[index]!;
      if (wanted > ids) return false;
      if (wanted > 0 && live + vacated + wanted > grid.pages - grid.first_page) return false;
      const pages = live + wanted;
      if (grid.grow === "float" && pages === 0) continue;
      let first = grid.first_page;
      if (grid.grow === "down") first = grid.pages - pages;
      if (grid.grow === "float") first = Math.max(Math.ceil(cursor / grid.page_bytes), first);
      if (first * grid.page_bytes < cursor || first + pages > grid.pages) return false;
      cursor = (first + pages) * grid.page_bytes;
    }
    return true;
  }
}
