// Free groups: what operations give back between `group.begin` and `group.end` stays bound and live until the end lists
// it, where it then lies.
import type { FreedOk } from "../base/operations.js";
import { freeListed, Removal } from "./model-evictions.js";
import { fail } from "./model-fault.js";
import type { BandPages } from "./model-pages.js";
import type { ModelRun, OpenGroup } from "./model-run.js";

/** @internal */
export function beginGroup(run: ModelRun): void {
  if (run.group !== null) fail("bad_effect", "group.begin inside an open group");
  run.group = {
    virtual: new Set(),
    slots: new Set(),
    bands: run.arena.bands.map(() => new Set<number>()),
    evicts: false,
  };
}

/** Ends the group: every listed page must be one that an operation of the group gave back. @internal */
export function endGroup(run: ModelRun, ok: FreedOk): void {
  const { group } = run;
  if (group === null) fail("bad_effect", "group.end without an open group");
  run.group = null;
  const removal = new GroupRemoval(run, group);
  freeListed(run, ok, removal);
  removal.finish();
  for (const id of group.virtual) fail("bad_effect", `group.end leaves out virtual ${id}`);
  for (const slot of group.slots) fail("bad_effect", `group.end leaves out slot ${slot}`);
}

/** What a group gave back, and what an eviction inside it took. */
class GroupRemoval extends Removal {
  readonly #run: ModelRun;
  readonly #group: OpenGroup;

  constructor(run: ModelRun, group: OpenGroup) {
    super(run, "group.end");
    this.#run = run;
    this.#group = group;
  }

  override allow(band: BandPages, id: number, page: number): void {
    if (id !== 0 && this.#group.bands[band.index]!.has(id)) return; // one set a band
    if (this.#group.evicts) {
      super.allow(band, id, page);
      return;
    }
    const what = this.#run.arena.describe(band, page);
    fail("bad_effect", `group.end frees ${what}, which the group did not free`, band.name, page);
  }

  override take(kind: "virtual" | "slots", id: number): boolean {
    if (this.#group[kind].delete(id)) return true;
    return this.#group.evicts && super.take(kind, id);
  }
}
