// Everything the second allocator knows, as plain data: arrays, maps, records. Every operation works on a deep copy
// that replaces the world only when the operation is granted, so that a refusal changes nothing by construction.
import type { Effect } from "../base/effects.js";
import type { DirectConfig, StatePurpose } from "../base/operations.js";
import type { Bindings } from "./bindings.js";

/** One sub-pool's pages. `[low, high)` is its span in pages of its own grid, which starts at arena byte 0. @internal */
export interface Band {
  readonly name: string;
  readonly role: "owner" | "window" | "state";
  readonly isZeroed: boolean; // token pages are zeroed when handed out, states are not
  readonly window: number | null; // tokens; null: no window, or one of unknown length
  readonly grow: "up" | "down" | "float";
  readonly unitBytes: number;
  readonly pageBytes: number;
  readonly pages: number; // on the grid, reserved ones included
  readonly firstPage: number; // first usable page
  low: number;
  high: number;
  holes: number[]; // list order: the first is taken first
  pending: PendingBatch[]; // oldest first
  vacated: number[]; // sources of moves that a forward or a transfer may still read
  readonly bindings: Bindings; // virtual id (slot id) to page; all of these are live
  reserved: number[]; // live pages without an id: what a load holds before it is bound
  freeIds: number[]; // owner and state band; a window band has none
}

/** Pages freed while a forward ran; they return when it is processed. @internal */
export interface PendingBatch {
  readonly key: string; // the forward
  readonly pages: number[];
}

/** Bytes that somebody may still read although no live page lies there. @internal */
export interface Fence {
  readonly from: number;
  readonly to: number; // exclusive
  readonly reader: string; // signal
}

/** A launched forward that is not processed. Places are those at its launch. @internal */
export interface Forward {
  readonly name: string;
  readonly isPrebuilt: boolean;
  isRecorded: boolean;
  hasUnknownWrites: boolean;
  isRetired: boolean; // waited; it stays unprocessed
  readonly reads: Record<string, number[]>; // pages a band
  readonly writes: Record<string, number[]>;
}

/** A page of a band: the bytes where it lies, whatever moves there later. @internal */
export interface Place {
  readonly band: string;
  readonly page: number;
}

/** A host copy that is not done. @internal */
export interface Copy {
  readonly name: string;
  readonly direction: "out" | "in";
  readonly places: readonly Place[]; // at its submission
  isWaited: boolean; // over for later waits
  readonly work: CopyWork;
}

/** What ends with a copy. @internal */
export type CopyWork =
  | { readonly kind: "backup" } // the nodes name it
  | { readonly kind: "retraction"; readonly saved: SavedRequest }
  | { readonly kind: "load"; readonly load: Load }
  | { readonly kind: "restore"; readonly saved: SavedRequest; readonly load: Load };

/** Host pages a band. @internal */
export type HostPages = Record<string, number[]>;

/** A retracted request on the host. @internal */
export interface SavedRequest {
  readonly name: string;
  readonly allocated: number; // tokens
  readonly cursors: Record<string, number>;
  readonly full: boolean[]; // which pages of the row are there
  readonly windows: Record<string, boolean[]>;
  readonly checkpoint: number | null; // tokens
  readonly states: number; // main slots
  readonly hostPages: HostPages;
}

/** Pages that wait for a host copy into them. @internal */
export interface Load {
  readonly name: string;
  readonly path: readonly string[] | null; // labels of a key's path, one a page; null: a load of a stated demand
  readonly parts: readonly LoadPart[]; // by band, in token order
  req: string | null; // whose row took the ids of a demand
  from: number; // tokens, where they stand in it
  cursors: Record<string, { readonly before: number; readonly after: number }>; // of the row, where they changed
  isBound: boolean;
  reservedBands: string[]; // bands whose pages are still fixed
}

/** One band's part of a load. @internal */
export interface LoadPart {
  readonly band: string;
  units: LoadUnit[]; // in token order
}

/** A page or slot that a load holds. @internal */
export interface LoadUnit {
  readonly position: number; // page number on the path or in the load; a state: the tokens it stands at
  id: number; // 0: it has none
  page: number; // where it lies while it has no id
}

/** A send or receive that is not over. @internal */
export interface Transfer {
  readonly name: string;
  readonly serial: number; // transfers opened before it
  readonly direction: "send" | "receive";
  readonly req: string;
  units: readonly FreedUnit[]; // what it is about, by id
  places: readonly Place[]; // once published: the places it uses
  isPublished: boolean;
  isStalled: boolean;
  writers: string[]; // yet to end
  epoch: number;
  readonly firstPage: number; // of its row
  readonly endPage: number;
}

/** A node of the prefix tree: whole pages, whose first page tells siblings apart. @internal */
export interface TreeNode {
  readonly id: number; // order of creation
  parent: number | null;
  from: number; // tokens
  to: number;
  labels: string[]; // one a page
  ids: number[] | null; // virtual ids a page; null: not on the device
  windows: Record<string, boolean>; // a window band: on the device
  state: number | null; // slot
  used: Record<string, number>; // last use by band
  host: HostPages; // finished host copies by band
  copying: Record<string, HostPages>; // by copy under way
}

/** Nodes whose slots a holder keeps. @internal */
export interface Lock {
  readonly holder: string;
  readonly kind: "own" | "named" | "backup" | "load";
  readonly path: string; // the labels down to the node, joined: names the lock again
  readonly nodes: Record<string, number[]>; // by band
  readonly hostNodes: number[]; // their host copies stay
}

/** An open request. `virtual[i]` is the owner's id of page i of the row, 0 where none. @internal */
export interface Request {
  readonly name: string;
  readonly row: number;
  allocated: number; // tokens
  protected: number; // tokens
  checkpoint: number | null; // tokens
  virtual: number[];
  windows: Record<string, boolean[]>; // a window band: whether page i of the row is bound there
  cursors: Record<string, number>; // tokens, a window band
  slots: Record<StatePurpose, number[]>; // slot ids
  ring: number; // current place among the tracking slots
  tracked: { slot: number; len: number }[]; // what tracking launches wrote, the latest last
  labels: string[]; // of the protected rows' path in the tree
}

/** What a free names: an owner's id, a window page by its owner's id, a slot, or a page that has no id yet. @internal */
export interface FreedUnit {
  readonly band: string;
  readonly id: number; // 0: none
  readonly page?: number; // where it lies, without an id
}

/** What waits to be freed until none of these transfers uses it. @internal */
export interface DeferredUnit extends FreedUnit {
  readonly transfers: readonly string[];
}

/** A question of capacity and its answer. @internal */
export interface Asked {
  readonly kind: "take" | "fits" | "plan" | "fits_after_frees" | "reclaim" | "admit";
  readonly amounts: readonly number[]; // pages by chain place; of an admission the tokens alone
  readonly isYes: boolean;
}

/** One pipeline stage as capacity sees it: empty bands. @internal */
export interface StageShape {
  readonly arenaBytes: number;
  readonly bands: readonly Band[];
}

/** @internal */
export interface World {
  readonly config: DirectConfig;
  bands: Band[]; // chain order
  arenaBytes: number;
  sinkBytes: number;
  moveEpoch: number; // move effects so far
  fences: Fence[];
  forwards: Forward[]; // launch order
  retired: string | null; // newest retired forward
  freeRows: number[];
  marked: number[]; // rows to be reset, hand-out order
  requests: Map<string, Request>;
  group: FreedUnit[] | null; // what waits for the group's end
  deferred: DeferredUnit[]; // frees that wait for a transfer
  letGo: FreedUnit[]; // ids that their owners gave up while something is still bound to them, oldest first
  copies: Copy[]; // submission order
  loads: Load[]; // not submitted
  transfers: Transfer[]; // in order of opening
  transferCount: number;
  closedTransfers: string[];
  saved: Map<string, SavedRequest>; // by their copy's name
  hostFree: Record<string, number[]>; // by band, oldest first
  tree: TreeNode[];
  nodeCount: number; // nodes made so far
  locks: Lock[];
  clock: number; // operations so far
  uses: number; // operations so far that used the tree
  stages: StageShape[] | null;
  asked: Asked[]; // since the last digest of stages
  ended: string[]; // transfers that this operation ended by itself
  hostNeeds: string[] | null; // while a plan is tried: transfers it would have to wait for
  fx: Effect[]; // effects of the operation in hand
}

/** @internal */
export const PURPOSES: readonly StatePurpose[] = ["main", "track", "replace", "cow"];

/** @internal */
export function bandNamed(world: World, name: string): Band {
  const band = world.bands.find((candidate) => candidate.name === name);
  if (band === undefined) throw new Error(`no band ${name}`);
  return band;
}

/** The full band, which mints the virtual ids. @internal */
export function ownerOf(world: World): Band {
  return world.bands.at(-1)!; // the chain ends with the owner; a world without one is refused at boot
}

/** @internal */
export function stateBandOf(world: World): Band | null {
  return world.bands.find((band) => band.role === "state") ?? null;
}

/** Window bands, chain order. @internal */
export function windowsOf(world: World): Band[] {
  return world.bands.filter((band) => band.role === "window");
}

/** @internal */
export function tokenBandsOf(world: World): Band[] {
  return world.bands.filter((band) => band.role !== "state");
}

/** Number of live pages: bound to an id, or reserved without one. @internal */
export function liveCount(band: Band): number {
  return band.bindings.size + band.reserved.length;
}

/** Live pages, ascending. @internal */
export function livePages(band: Band): number[] {
  return [...band.bindings.pages(), ...band.reserved].sort(ascending);
}

/** @internal */
export function pendingCount(band: Band): number {
  return band.pending.reduce((sum, batch) => sum + batch.pages.length, 0);
}

/** Whether forwards run beside the operations; otherwise nothing is ever recorded. @internal */
export function hasOverlap(world: World): boolean {
  return world.config.overlap === true || world.stages !== null;
}

/** @internal */
export function ascending(left: number, right: number): number {
  return left - right;
}
