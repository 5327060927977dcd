// Loads by key: what a path lacks on the device, where its host copies are read, and what the tree gets of it at the end.
import type { Key, OperationError } from "../../base/operations.js";
import { invalid, type KvCore } from "../core.js";
import {
  type Load,
  type LoadedWindow,
  type LoadPart,
  type LoadPath,
  REDUNDANT,
} from "./host-cache.js";
import { bindWindow, freeOwnId, isLoadsOwn, settleLoad } from "./host-loads.js";
import type { TreeSlot } from "./tree-slot.js";
import type { TreeNode } from "./tree-node.js";

/** First token whose window a load to `len` needs: the page in which the last `window` tokens begin. */
function windowStart(core: KvCore, slot: TreeSlot, len: number): number {
  const size = core.config.pageSize;
  return Math.max(0, Math.floor((len - slot.window) / size) * size);
}

/**
 * Pages by band index (slots for state) that the path to token `len` lacks on the device: full, each window over its
 * last tokens, the state at the end. `no_node_at_len` where the tree has no such path, or the host lacks some of it too.
 * Changes nothing. @internal
 */
export function lackingOf(core: KvCore, key: Key, len: number): number[] | OperationError {
  const { tree, config } = core;
  const end = tree.reach(key, len);
  if (end === null) return invalid("no_node_at_len");
  const lacking = core.chain.bands.map(() => 0);
  for (let node = end; !node.isRoot; node = node.parent!) {
    const to = Math.min(node.to, len);
    for (const slot of tree.slots) {
      const from =
        slot.kind === "window" ? Math.max(node.from, windowStart(core, slot, len)) : node.from;
      const isEnd = node === end && len > 0;
      const units =
        slot.kind === "state" ? (isEnd ? 1 : 0) : Math.max(0, to - from) / config.pageSize;
      const isAtEnd = slot.kind !== "state" || node.to === len; // no state lies inside a node
      if (units === 0 || (isAtEnd && tree.unitsOf(node, slot) > 0)) continue;
      if (!isAtEnd || node.host[slot.band] === null) return invalid("no_node_at_len");
      lacking[slot.band]! += units;
    }
  }
  return lacking;
}

/** Cuts the path where the load begins and ends, locks it on the device and what it reads on the host. @internal */
export function takePath(core: KvCore, key: Key, len: number): LoadPath {
  const { tree } = core;
  const end = tree.nodeAt(key, len)!; // reached before
  for (const slot of tree.windows) {
    const start = windowStart(core, slot, len);
    const node = tree.reach(key, start)!; // on the way
    if (node.to > start && tree.unitsOf(node, slot) === 0) tree.split(node, start);
  }
  const parts: LoadPart[] = [];
  for (let node = end; !node.isRoot; node = node.parent!) {
    const windows = core.chain.bands.map(() => false);
    for (const slot of tree.windows)
      windows[slot.band] =
        node.from >= windowStart(core, slot, len) && tree.unitsOf(node, slot) === 0;
    const isFull = !node.isOnDevice;
    const hasState = tree.state !== null && node === end && node.slot === 0;
    if (isFull || hasState || windows.includes(true))
      parts.unshift({ node, isFull, windows, hasState });
  }
  const sources = parts.map(({ node }) => node);
  for (const node of sources) tree.addHostLocks(node, 1);
  return { parts, sources, lock: tree.lock(end) };
}

/** Ends the locks of a load by key. @internal */
export function releasePath(core: KvCore, { sources, lock }: LoadPath): void {
  for (const node of sources) core.tree.addHostLocks(node, -1);
  core.tree.release(lock);
}

/** One part of a load with what it brings. */
interface FilledPart extends LoadPart {
  readonly ids: readonly number[]; // owner ids of its positions: the load's own, or the node's
  readonly loaded: readonly (readonly LoadedWindow[])[]; // by band index
}

/** Deals a load's ids and window pages out to its parts. */
function filled(core: KvCore, load: Load, path: LoadPath): readonly FilledPart[] {
  let nextId = 0;
  const next = core.chain.bands.map(() => 0);
  return path.parts.map((part) => {
    const pages = part.node.pageHashes.length;
    const ids = part.isFull ? load.ids.slice(nextId, nextId + pages) : part.node.pages!; // locked there
    if (part.isFull) nextId += pages;
    const loaded = load.windows.map((windows, band) => {
      if (!part.windows[band]!) return [];
      next[band]! += pages;
      return windows.slice(next[band]! - pages, next[band]);
    });
    return { ...part, ids, loaded };
  });
}

/** Names the window pages of a load by key; where a node got that window meanwhile they stay unnamed. Lists owner ids and
 * window pages by position, window lists aligned with the ids. @internal */
export function bindPath(core: KvCore, load: Load, path: LoadPath): void {
  const { lists, windowBands } = core;
  for (const { ids, loaded, windows } of filled(core, load, path)) {
    for (const [index, id] of ids.entries()) {
      const bound = windowBands.map((band) => {
        if (!windows[band.index]!) return 0;
        const window = loaded[band.index]![index]!; // one an id
        if (band.v2p[id]! > 0) window.id = REDUNDANT;
        else bindWindow(core, band, window, id);
        return window.id > 0 ? window.page : 0;
      });
      if (bound.every((page) => page === 0)) continue;
      lists.virtual.add(id);
      for (const [at, band] of windowBands.entries()) {
        if (bound[at]! > 0) lists.bands[band.index]!.add(bound[at]!);
        else if (load.windows[band.index]!.length > 0) lists.bands[band.index]!.addUnbound(1);
      }
    }
  }
}

/** Gives the tree what a load by key brought; what a node got from somebody else meanwhile is freed. @internal */
export function publishPath(core: KvCore, load: Load, path: LoadPath): void {
  const { tree, chain } = core;
  for (const part of filled(core, load, path)) {
    const { node, isFull, ids } = part;
    const isTaken = !isFull || !node.isOnDevice;
    if (isFull && isTaken) tree.attach(node, [...ids], tree.useOf(chain.steps.clock));
    for (const slot of tree.windows)
      if (part.windows[slot.band]!) publishWindow(core, load, part, slot, isTaken);
    if (!isTaken) for (const id of ids) freeOwnId(core, id);
    if (part.hasState) publishState(core, load, node);
  }
  settleLoad(core, load);
}

function publishWindow(
  core: KvCore,
  load: Load,
  { node, loaded }: FilledPart,
  slot: TreeSlot,
  isTaken: boolean,
): void {
  const band = core.chain.bands[slot.band]!; // a slot's band
  const windows = loaded[slot.band]!;
  if (isTaken && windows.every(({ id }) => id > 0)) {
    core.tree.setWindow(node, slot, true, core.tree.useOf(core.chain.steps.clock));
    return;
  }
  for (const { page, id } of windows) {
    if (id === REDUNDANT) core.freeReserved(band, page);
    else if (!isLoadsOwn(core, load, id)) core.freeBandPage(band, id); // others go with their id
  }
}

function publishState(core: KvCore, { slots }: Load, node: TreeNode): void {
  const [slot] = slots;
  if (slot === undefined) return;
  if (node.slot !== 0) core.freeSlot(slot);
  else core.tree.setState(node, slot, core.tree.useOf(core.chain.steps.clock));
}
