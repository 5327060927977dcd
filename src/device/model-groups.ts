// Free groups: what operations give back between `group.begin` and `group.end` stays bound and live until the end lists
// it, where it then lies.
import { append } from "../base/append.js";
import type { FreedOk } from "../base/operations.js";
import { freeListed, Removal } from "./model-evictions.js";
import { fail } from "./model-fault.js";
import type { BandPages } from "./model-pages.js";
import { isHeld } from "./model-give-back.js";
import type { ModelRun, OpenGroup } from "./model-run.js";
import type { Places } from "./model-places.js";
import type { Tokens } from "./model-tokens.js";

/** @internal */
export function beginGroup(run: ModelRun): void {
  if (run.group !== null) fail("bad_effect", "group.begin inside an open group");
  run.group = {
    virtual: new Set(),
    slots: new Set(),
    bands: run.arena.bands.map(() => new Set<number>()),
    evictsFrom: Infinity,
    doubtful: new Map(),
  };
  // A window page of the tree may have been evicted in the group already.
  run.arena.letGo = (band, id) =>
    run.group?.bands[band.index]!.has(id) === true || // one set a band
    (run.hidesEvictions && band.isWindow && run.tree.pageOf(id) !== undefined);
}

/** Ends the group: every listed page must be one that an operation of the group gave back. @internal */
export function endGroup(run: ModelRun, ok: FreedOk): void {
  const { group } = run;
  if (group === null) fail("bad_effect", "group.end without an open group");
  run.group = null;
  run.arena.letGo = null;
  const removal = new GroupRemoval(run, group);
  freeListed(run, ok, removal);
  for (const [slot, node] of group.doubtful) {
    if (node.state === 0 && group.slots.delete(slot)) run.tree.setState(node, slot);
  }
  removal.finish();
  for (const id of group.virtual) fail("bad_effect", `group.end leaves out virtual ${id}`);
  for (const slot of group.slots) fail("bad_effect", `group.end leaves out slot ${slot}`);
}

/** What a group gave back, and what an eviction inside it took. */
class GroupRemoval extends Removal {
  readonly #run: ModelRun;
  readonly #group: OpenGroup;

  constructor(run: ModelRun, group: OpenGroup) {
    super(run, "group.end", group.evictsFrom);
    this.#run = run;
    this.#group = group;
  }

  override allow(band: BandPages, id: number, page: number): void {
    if (id !== 0 && this.#group.bands[band.index]!.has(id)) return; // one set a band
    if (this.#group.evictsFrom < Infinity) {
      super.allow(band, id, page);
      return;
    }
    const what = this.#run.arena.describe(band, page);
    fail("bad_effect", `group.end frees ${what}, which the group did not free`, band.name, page);
  }

  override take(kind: "virtual" | "slots", id: number): boolean {
    if (this.#group[kind].delete(id)) return true;
    return this.#group.evictsFrom < Infinity && super.take(kind, id);
  }
}

/**
 * Takes out of the tree what an eviction inside the open group must have taken, since an insertion found no more than
 * `left` of the first `pages` pages of a key there: those behind, and all below them.
 * @internal
 */
export function inferEvicted(run: ModelRun, tokens: Tokens, pages: number, left: number): void {
  const { path, pages: found } = run.tree.walk(tokens, pages);
  const first = path.find((node) => node.endPage > left);
  if (found <= left || first === undefined) return;
  const node = first.firstPage >= left ? first : run.tree.endingAt(first, left);
  const below = node === first ? [first] : [...node.children.values()];
  for (let at = below.pop(); at !== undefined; at = below.pop()) {
    append(below, at.children.values());
    for (const id of at.virtual) if (id !== 0) evictId(run, id);
    if (at.state !== 0) evictState(run, at.state);
  }
}

function evictId(run: ModelRun, id: number): void {
  const { group, tree, arena } = run;
  if (group === null) return;
  for (const band of arena.tokenBands) if (isHeld(run, band, id)) group.bands[band.index]!.add(id); // one set a band
  group.virtual.add(id);
  tree.dropPage(id);
}

/** The same for a state that an operation of the open group must have found gone. @internal */
export function evictState(run: ModelRun, slot: number): void {
  const { group, tree, arena } = run;
  if (group === null || arena.stateBand === null) return;
  group.bands[arena.stateBand.index]!.add(slot); // one set a band
  group.slots.add(slot);
  tree.dropState(slot);
}

/** True places without those that an eviction inside the open group may have taken, where the answer leaves them out. @internal */
export function withoutDoubtful(run: ModelRun, own: Places, named: Places): Places {
  if (!run.hidesEvictions) return own;
  return run.arena.bands.map((band) => {
    const said = new Set(named[band.index]); // one list a band, as below
    const isSure = (page: number): boolean =>
      !band.isWindow || said.has(page) || run.tree.pageOf(band.holderOf(page)) === undefined;
    return own[band.index]!.filter(isSure);
  });
}
