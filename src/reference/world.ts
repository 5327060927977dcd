// Everything the second allocator knows, as plain data: arrays, maps, records. Every operation works on a deep copy
// that replaces the world only when the operation is granted, so that a refusal changes nothing by construction.
import type { Effect } from "../base/effects.js";
import type { DirectConfig, Key, StatePurpose } from "../base/operations.js";

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
  vacated: VacatedPage[];
  bindings: Map<number, number>; // virtual id (slot id) to page; all of these are live
  reserved: number[]; // live pages without an id: a load's window pages
  freeIds: number[]; // owner and state band; a window band has none
}

/** Pages freed while a forward ran; they return when it is processed. @internal */
export interface PendingBatch {
  readonly key: string; // the forward
  readonly pages: number[];
}

/** The source of a move that somebody may still read. @internal */
export interface VacatedPage {
  readonly page: number;
  readers: string[]; // signals, none of them over
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
  tracked: { slot: number; len: number } | null; // what the last tracking launch wrote
  key: Key | null; // of the tree node that the row hangs on
}

/** What a free names: an owner's id, a window page by its owner's id, or a slot. @internal */
export interface FreedUnit {
  readonly band: string;
  readonly id: number;
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
  return [...band.bindings.values(), ...band.reserved].sort(ascending);
}

/** @internal */
export function pendingCount(band: Band): number {
  return band.pending.reduce((sum, batch) => sum + batch.pages.length, 0);
}

/** Whether forwards run beside the operations; otherwise nothing is ever recorded. @internal */
export function hasOverlap(world: World): boolean {
  return world.config.overlap === true;
}

/** @internal */
export function ascending(left: number, right: number): number {
  return left - right;
}
