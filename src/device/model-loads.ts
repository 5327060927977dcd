// Loads of the simulated device: device pages that are taken for a copy from the host, and what of a retracted request
// waits there.
import { fail } from "./model-fault.js";
import type { HostPage } from "./model-host.js";
import type { BandPages } from "./model-pages.js";
import type { ModelRow } from "./model-rows.js";
import type { Tokens } from "./model-tokens.js";
import type { ModelLock } from "./model-tree.js";
import type { ModelUse } from "./model-uses.js";

/** A page under the id that it was taken with. @internal */
export interface LoadedPage {
  readonly id: number;
  readonly generation: number; // of the binding that the load made
}

/** A window page of a load. @internal */
export interface LoadedWindow {
  id: number; // a placeholder until it has its owner's id
  isNamed: boolean;
  readonly generation: number; // of the binding that the load made; an owner's id takes it over
}

/** Where a load by key brings its pages, counted from the root. @internal */
export interface LoadedPath {
  readonly tokens: Tokens;
  readonly pages: number; // of the path
  readonly full: readonly number[]; // positions of the full pages
  readonly windows: readonly (readonly number[])[]; // positions by band index
  readonly sources: readonly (readonly HostPage[])[]; // by band index
  readonly lock: ModelLock;
}

/** The row that took a load's ids, and what it was before. @internal */
export interface LoadedRow {
  readonly row: ModelRow;
  readonly positions: readonly number[]; // page index in the row, by loaded id
  readonly from: number; // tokens allocated before
  readonly cursors: readonly (number | undefined)[]; // pages by band index, before
  setCursors: readonly (number | undefined)[]; // as the load left them
}

/** One load, from its reservation to the end of its copy. @internal */
export class ModelLoad {
  readonly name: string;
  readonly pages: readonly LoadedPage[]; // full pages, in the order of their positions
  readonly slots: readonly LoadedPage[];
  readonly windows: readonly (readonly LoadedWindow[])[]; // by band index
  /** Reservations by band index: they end at different times. */
  readonly reservations: (ModelUse | null)[];
  row: LoadedRow | null = null;
  path: LoadedPath | null = null; // null: for a stated demand
  kept: { readonly name: string; readonly row: KeptRow } | null = null; // the retracted request that it restores

  constructor(
    name: string,
    pages: readonly LoadedPage[],
    slots: readonly LoadedPage[],
    windows: readonly (readonly LoadedWindow[])[],
    reservations: (ModelUse | null)[],
  ) {
    this.name = name;
    this.pages = pages;
    this.slots = slots;
    this.windows = windows;
    this.reservations = reservations;
  }
}

/** A retracted request on the host. @internal */
export interface KeptRow {
  readonly positions: readonly number[]; // page index in the row of each full page
  readonly windows: readonly (readonly number[])[]; // by band index: places in `positions` with a window page
  readonly slots: number; // main states
  readonly allocated: number; // tokens
  readonly retired: readonly (number | undefined)[]; // window cursors in pages, by band index
  readonly host: readonly (readonly HostPage[])[]; // by band index
}

/** Loads by name, and by the name of their copy once it is submitted. @internal */
export class ModelLoads {
  readonly reserved = new Map<string, ModelLoad>();
  readonly submitted = new Map<string, ModelLoad>();
  readonly #unpublished = new Map<number, Set<number>>(); // by band index, ids of the tree
  readonly #placeholders: number[] = []; // that are free again
  #made = 0;

  /** The reserved load of a name; none is a violation. */
  require(name: string): ModelLoad {
    return this.reserved.get(name) ?? fail("bad_effect", `load ${name} is not reserved`);
  }

  /** An id behind all ids of the owner, for a window page that has none yet. */
  placeholder(owner: BandPages): number {
    return this.#placeholders.pop() ?? owner.pages + this.#made++;
  }
  /** A placeholder that is no longer bound may be used again. */
  recycle(id: number): void {
    this.#placeholders.push(id);
  }

  /** Whether a window page lies under an id of the tree for a load that has not given it to the tree yet. */
  isUnpublished(band: BandPages, id: number): boolean {
    return this.#unpublished.get(band.index)?.has(id) === true;
  }
  setUnpublished(band: BandPages, id: number, isUnpublished: boolean): void {
    const ids = this.#unpublished.get(band.index) ?? new Set();
    if (isUnpublished) ids.add(id);
    else ids.delete(id);
    if (ids.size > 0) this.#unpublished.set(band.index, ids);
    else this.#unpublished.delete(band.index);
  }

  /** `reserved for l1`, or nothing. */
  nameHolder(band: BandPages, id: number): string {
    for (const load of this.reserved.values()) {
      const list = band.isState
        ? load.slots
        : band.isWindow
          ? load.windows[band.index]!
          : load.pages;
      if (list.some((page) => page.id === id)) return `reserved for ${load.name}`;
    }
    return "";
  }
}
