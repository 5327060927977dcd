// The host cache: host pages a sub-pool, copies under way, load reservations, retracted requests that wait on the host.
// Data and digests only; what the operations do with them is in the files beside this one.
import { hashName, type LaneSum } from "../../base/digest.js";
import type { HostCopy } from "../alloc/signals.js";
import type { Component } from "../component.js";
import type { Request } from "../requests.js";
import { HostPools } from "./host-pools.js";
import type { PathLock } from "./tree-locks.js";
import type { TreeNode } from "./tree-node.js";

const FIELD = {
  copies: 2,
  loads: 3,
  kept: 4,
  copy: 16,
  load: 17,
  bound: 18,
  keptName: 19,
} as const;

/** A window page that a load took: fixed and unbound until it has an owner id. @internal */
export interface LoadedWindow {
  readonly page: number; // where it was taken; once bound it may move
  id: number; // 0 until bound, REDUNDANT where its node got that window meanwhile
}
/** @internal */
export const REDUNDANT = -1;

/** The row into which a load's ids went. @internal */
export interface LoadedRow {
  readonly request: Request;
  readonly positions: readonly number[]; // page index in the row, by loaded id
  readonly from: number; // tokens allocated before
  readonly cursors: readonly number[]; // tokens by band index, before
  readonly setCursors: number[]; // tokens by band index, as the load left them
}

/** What a load brings to one node of its path; ids, window pages and the state follow in the load's own lists. */
export interface LoadPart {
  readonly node: TreeNode;
  readonly isFull: boolean; // its pages, one id a page
  readonly windows: readonly boolean[]; // by band index: that window's pages
  readonly hasState: boolean; // the state at its end
}

/** The path that a load by key fills. @internal */
export interface LoadPath {
  readonly parts: LoadPart[]; // of the nodes that lack something, parents first
  readonly sources: TreeNode[]; // whose host copies are locked
  readonly lock: PathLock; // of the whole path
}

/** Host pages of one node under copy, `null` for slots that are not copied. @internal */
export interface BackupPart {
  readonly node: TreeNode;
  readonly host: readonly (readonly number[] | null)[]; // by band index
  readonly lock: PathLock | null; // null for what a split cut off: the lock of the end holds it
}

/** Device pages taken for a load, from their reservation to the end of the copy. Its ids and slots are listed as such
 * in the id spaces (`IdSpace.loading`), so that one that was freed meanwhile is not taken for the load's. @internal */
export interface Load {
  readonly name: string;
  readonly ids: readonly number[]; // virtual pages minted for it, token order
  readonly slots: readonly number[];
  readonly windows: readonly (readonly LoadedWindow[])[]; // by band index, token order
  isBound: boolean;
  isSubmitted: boolean;
  row: LoadedRow | null;
  readonly path: LoadPath | null; // of a load by key; it enters no row
}

/** A retracted request on the host: all that it takes to put its row back. @internal */
export interface KeptRequest {
  readonly positions: readonly number[]; // page index in the row of each full page
  readonly windows: readonly (readonly number[])[]; // by band index: places in `positions` with a window page
  readonly slots: number; // main states
  readonly allocated: number; // tokens
  readonly cursors: readonly number[]; // tokens by band index
  readonly checkpoint: number | null; // tokens
  readonly host: readonly (readonly number[])[]; // host pages by band index
}

/** A copy whose end is not announced yet. Its signal may be over before that: a stream waited it. @internal */
export type OpenCopy = { readonly name: string; readonly signal: HostCopy | null } & (
  | { readonly kind: "backup"; readonly parts: BackupPart[] } // parents first
  | { readonly kind: "retract"; readonly kept: KeptRequest }
  | { readonly kind: "load"; readonly load: Load }
  | { readonly kind: "restore"; readonly load: Load; readonly kept: KeptRequest }
);

/** @internal */
export class HostCache implements Component {
  readonly pools: HostPools;
  /** Reserved and not yet submitted, by name. */
  readonly loads = new Map<string, Load>();
  /** By name, in the order of their submission. */
  readonly copies = new Map<string, OpenCopy>();
  /** Retracted requests whose copy is complete, by the copy's name. */
  readonly kept = new Map<string, KeptRequest>();
  readonly #stateBand: number; // -1 without one
  #version = 0;

  constructor(
    names: readonly string[],
    sizes: readonly number[],
    stateBand: number,
    digesting: boolean,
  ) {
    this.#stateBand = stateBand;
    this.pools = new HostPools(names, sizes, digesting);
  }

  get version(): number {
    return this.#version;
  }
  /** Says that something of the cache changed. */
  touch(): void {
    this.#version += 1;
  }

  /** Whether a copy's name stands for something: under way, or a retracted request's. */
  isCopyName(name: string): boolean {
    return this.copies.has(name) || this.kept.has(name);
  }

  /** Reservations, and loads whose copy is under way. */
  *openLoads(): Generator<Load> {
    yield* this.loads.values();
    for (const copy of this.copies.values()) if ("load" in copy) yield copy.load;
  }

  /** Host pages of nodes that copies under way fill. */
  *openBackups(): Generator<BackupPart> {
    for (const copy of this.copies.values()) if (copy.kind === "backup") yield* copy.parts;
  }

  /** Follows a cut of a node: what is open on it goes on with both halves. */
  split(upper: TreeNode, lower: TreeNode): void {
    const isThere = ({ node }: { readonly node: TreeNode }): boolean => node === lower;
    const pages = upper.pageHashes.length;
    for (const copy of this.copies.values()) {
      const index = copy.kind === "backup" ? copy.parts.findIndex(isThere) : -1;
      if (copy.kind !== "backup" || index < 0) continue;
      const { host, lock } = copy.parts[index]!; // found there
      const state = this.#stateBand;
      const cut = (from: number, to?: number): BackupPart["host"] =>
        host.map((list, band) => (band === state ? list : (list?.slice(from, to) ?? null)));
      const above = cut(0, pages).map((list, band) => (band === state ? null : list));
      copy.parts.splice(
        index,
        1,
        { node: upper, host: above, lock: null },
        { node: lower, host: cut(pages), lock },
      );
    }
    for (const { path } of this.openLoads()) {
      if (path === null) continue;
      const index = path.parts.findIndex(isThere);
      if (index >= 0)
        path.parts.splice(index, 0, { ...path.parts[index]!, node: upper, hasState: false });
      const source = path.sources.indexOf(lower);
      if (source >= 0) path.sources.splice(source, 0, upper);
    }
  }

  /** Whether a load holds window pages that no owner id names: they cannot move. */
  get pinsWindows(): boolean {
    for (const { windows } of this.openLoads())
      if (windows.some((pages) => pages.some(({ id }) => id <= 0))) return true;
    return false;
  }

  digestInto(sum: LaneSum, layout: boolean): void {
    this.pools.digestInto(sum, layout);
    if (this.copies.size > 0) sum.add(FIELD.copies, 0, this.copies.size);
    if (this.loads.size > 0) sum.add(FIELD.loads, 0, this.loads.size);
    if (this.kept.size > 0) sum.add(FIELD.kept, 0, this.kept.size);
    if (!layout) return;
    let index = 0;
    for (const name of this.copies.keys()) sum.add(FIELD.copy, index++, hashName(name));
    for (const { name, isBound } of this.loads.values())
      sum.add(isBound ? FIELD.bound : FIELD.load, 0, hashName(name));
    for (const name of this.kept.keys()) sum.add(FIELD.keptName, 0, hashName(name));
  }
}
