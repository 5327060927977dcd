// Evictions: an allocator chooses what leaves the tree; whatever it lists must be the tree's, unlocked, complete, and leave
// no page behind whose prefix is gone.
import type { Extents, FreedOk } from "../base/operations.js";
import { fail } from "./model-fault.js";
import { defer, endBinding, requireEmpty } from "./model-give-back.js";
import { requireEvictable } from "./model-locks.js";
import type { BandPages } from "./model-pages.js";
import { eachId, type ModelRun, requireUsable } from "./model-run.js";
import type { ModelNode } from "./model-tree.js";
import { revealListed } from "./model-placing.js";

/** Says which listed pages and ids an operation may free. @internal */
export interface Allowed {
  readonly word: string; // the operation
  /** Refuses a page that must not be freed. */
  allow(band: BandPages, id: number, page: number): void;
  /** Takes an id from whoever gives it back; false if nobody does. */
  take(kind: "virtual" | "slots", id: number): boolean;
}

/** Frees what an answer lists, in an order that only the allocator knows. @internal */
export function freeListed(run: ModelRun, ok: FreedOk, allowed: Allowed): void {
  const { freed, deferred = {} } = ok;
  for (const lists of [freed, deferred]) {
    for (const name of Object.keys(lists))
      if (name !== "virtual" && name !== "slots") run.arena.band(name);
    revealListed(run, lists);
  }
  for (const band of run.arena.bands) {
    freePages(run, band, freed[band.name] ?? [], allowed, false);
    freePages(run, band, deferred[band.name] ?? [], allowed, true);
  }
  freeIds(run, ok, "virtual", allowed);
  freeIds(run, ok, "slots", allowed);
}

function freePages(
  run: ModelRun,
  band: BandPages,
  listed: Extents,
  allowed: Allowed,
  later: boolean,
): void {
  eachId(listed, (page) => {
    requireUsable(band, page, allowed.word);
    const id = band.holderOf(page);
    allowed.allow(band, id, page);
    const touched = run.arena.uses.transfersAt(band, page).length > 0;
    if (touched !== later) {
      const what = run.arena.describe(band, page);
      const does = later
        ? `defers ${what}, which no transfer touches`
        : `frees ${what}, which a transfer still touches`;
      fail("bad_effect", `${allowed.word} ${does}`, band.name, page);
    }
    if (later) defer(run, band, id);
    else endBinding(run, band, id);
  });
}

function freeIds(run: ModelRun, ok: FreedOk, kind: "virtual" | "slots", allowed: Allowed): void {
  const { tokenBands, stateBand } = run.arena;
  const bands = kind === "virtual" ? tokenBands : stateBand === null ? [] : [stateBand];
  const { word } = allowed;
  const noun = kind === "virtual" ? "virtual" : "slot";
  const take = (id: number): void => {
    if (!allowed.take(kind, id))
      fail("bad_effect", `${word} frees ${noun} ${id}, which nobody gave back to it`);
  };
  eachId(ok.freed[kind] ?? [], (id) => {
    take(id);
    for (const band of bands) {
      const page = band.placeOf(id);
      if (page === 0) continue;
      const what = run.arena.describe(band, page);
      fail("bad_effect", `${word} frees ${noun} ${id} and leaves ${what} bound`, band.name, page);
    }
  });
  eachId(ok.deferred?.[kind] ?? [], (id) => {
    take(id);
    if (!bands.some((band) => run.deferred.has(band, id)))
      fail("bad_effect", `${word} defers ${noun} ${id}, which no transfer touches`);
    run.deferred[kind].add(id);
  });
}

/** Follows `tree.evict`; inside a group what it took is told at the group's end. @internal */
export function evict(run: ModelRun, ok: FreedOk): void {
  if (run.group !== null) {
    requireEmpty(ok.freed);
    run.group.evictsFrom = Math.min(run.group.evictsFrom, run.arena.operation);
    return;
  }
  const removal = new Removal(run, "the eviction");
  freeListed(run, ok, removal);
  removal.finish();
}

/** Follows `contents.discard`: nothing may stay. @internal */
export function discard(run: ModelRun, ok: FreedOk): void {
  evict(run, ok);
  if (run.group !== null) {
    run.releaseHost(); // at once; what the tree had on the device shows at the group's end
    return;
  }
  for (const id of run.tree.heldPages())
    fail("bad_effect", `the discard leaves virtual ${id} in the tree`);
  for (const slot of run.tree.heldStates())
    fail("bad_effect", `the discard leaves slot ${slot} in the tree`);
  run.forgetCached(); // on the host too, and retracted requests
}

/** What one operation takes out of the tree. @internal */
export class Removal implements Allowed {
  readonly word: string;
  readonly #before: number; // locks of this operation and later ones do not count
  readonly #run: ModelRun;
  readonly #owners = new Set<number>(); // ids whose owner page was listed
  readonly #touched = new Set<ModelNode>();

  constructor(run: ModelRun, word: string, before: number = Infinity) {
    this.#before = before;
    this.#run = run;
    this.word = word;
  }

  allow(band: BandPages, id: number, page: number): void {
    if (id <= 0) {
      const what = this.#run.arena.describe(band, page);
      fail("bad_effect", `${this.word} frees ${what}, which is not bound`, band.name, page);
    }
    requireEvictable(this.#run, band, id, this.#before);
    if (band === this.#run.arena.owner) this.#owners.add(id);
  }

  take(kind: "virtual" | "slots", id: number): boolean {
    const { tree } = this.#run;
    const node = kind === "virtual" ? tree.dropPage(id)?.node : tree.dropState(id);
    if (node === undefined) return false;
    if (kind === "virtual") this.#owners.delete(id);
    this.#touched.add(node);
    return true;
  }

  /** Checks what is left in the places that something was taken from. */
  finish(): void {
    for (const id of this.#owners)
      fail(
        "bad_effect",
        `${this.word} frees the page of virtual ${id} and keeps the id in the tree`,
      );
    for (const node of this.#touched) {
      const orphan = this.#run.tree.orphanBelow(node);
      if (orphan !== 0)
        fail("bad_effect", `${this.word} leaves virtual ${orphan} in the tree without its prefix`);
    }
    const { tree, host, arena } = this.#run;
    for (const node of this.#touched)
      for (const page of tree.unreachableHost(node, arena.owner)) host.release(page);
    for (const node of this.#touched) tree.prune(node);
  }
}
