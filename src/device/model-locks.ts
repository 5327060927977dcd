// Locks of the simulated device's tree: what a row or a named holder keeps in place, and what an eviction must leave alone.
import type { KvArgs } from "../base/operations.js";
import { fail } from "./model-fault.js";
import type { BandPages } from "./model-pages.js";
import type { ModelRun } from "./model-run.js";
import type { ModelRow } from "./model-rows.js";
import { Tokens } from "./model-tokens.js";
import type { ModelLock } from "./model-tree.js";

/** @internal */
export function lockPath(run: ModelRun, { key, len, req }: KvArgs["tree.lock"]): void {
  const end = run.tree.nodeAt(Tokens.of(key), len / run.config.page_size);
  if (end === null) fail("bad_effect", `${req} locks ${len} tokens, which the tree does not hold`);
  run.locks.add(run.tree.lock(end, req, run.arena.operation));
}

/** @internal */
export function unlockPath(run: ModelRun, { key, len, req }: KvArgs["tree.unlock"]): void {
  const end = run.tree.nodeAt(Tokens.of(key), len / run.config.page_size);
  const lock = end === null ? undefined : run.locks.take(req, end);
  if (lock === undefined) fail("bad_effect", `${req} unlocks ${len} tokens, which it did not lock`);
  run.tree.unlock(lock);
}

/** Undoes the lock of a row and every lock under its request's name. @internal */
export function unlockAll(run: ModelRun, row: ModelRow): void {
  if (row.lock !== null) run.tree.unlock(row.lock);
  row.lock = null;
  for (const lock of run.locks.takeAll(row.req)) run.tree.unlock(lock);
}

/**
 * Refuses to take a page or state away that the tree does not hold or somebody locked.
 * @param before - locks of this operation and later ones do not count: the page was taken by then
 * @internal
 */
export function requireEvictable(
  run: ModelRun,
  band: BandPages,
  id: number,
  before: number = Infinity,
): void {
  const lock = band.isState ? lockOfState(run, id, before) : lockOfPage(run, band, id, before);
  if (lock === null) return;
  const page = band.placeOf(id);
  const what = run.arena.describe(band, page);
  if (lock === undefined)
    fail("bad_effect", `frees ${what}, which is not the tree's`, band.name, page);
  fail("bad_effect", `frees ${what}, which ${lock.holder} locks`, band.name, page);
}

/** A lock on a cached state, null for none, undefined where the tree has no such state. */
function lockOfState(run: ModelRun, slot: number, before: number): ModelLock | null | undefined {
  const node = run.tree.nodeOfState(slot);
  if (node === undefined) return undefined;
  for (const lock of node.locks) if (lock.end === node && lock.operation < before) return lock;
  return null;
}

/** The same of a cached page. A window is locked over its last tokens only. */
function lockOfPage(
  run: ModelRun,
  band: BandPages,
  id: number,
  before: number,
): ModelLock | null | undefined {
  const at = run.tree.pageOf(id);
  if (at === undefined) return undefined;
  const size = run.config.page_size;
  for (const lock of at.node.locks) {
    if (lock.operation >= before) continue;
    if (!band.isWindow || (at.page + 1) * size > lock.pages * size - band.window) return lock;
  }
  return null;
}
