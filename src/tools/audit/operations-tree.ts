// The prefix tree: matches, insertions, locks, evictions, checkpoints.
import type { FreedOk, Key, KvArgs, KvOk, TreeCounts } from "../../base/operations.js";
import type { Books } from "./books.js";
import { openRow } from "./contract.js";
import { checkStep, type Shown } from "./effects.js";
import { Eviction } from "./eviction.js";
import { FreeList } from "./free-list.js";
import { giveBack } from "./give-back.js";
import { markReads } from "./hazards.js";
import { type PageNode, pageLabels } from "./page-tree.js";
import { removeSlot, type RowBook, setId, trackedIndex } from "./row-book.js";
import { takeId, checkZeroing } from "./takes.js";

/** @internal */
export function treeMatch(
  books: Books,
  { key, req }: KvArgs["tree.match"],
  ok: KvOk["tree.match"],
): void {
  const path = books.tree.walk(pageLabels(key, books.pageSize));
  const longest = longestMatch(books, path);
  const pages = Math.floor(ok.len / books.pageSize);
  if (ok.len !== longest * books.pageSize && !(books.hidesEvictions && pages <= longest))
    books.report(
      "tree.match",
      `matches ${ok.len} tokens, ${longest * books.pageSize} are cached in every slot`,
      { component: "tree" },
    );
  const row = req === undefined ? null : openRow(books, req);
  if (row === null || req === undefined) return;
  for (const [page, node] of path.slice(0, pages).entries()) setId(row, page, node.id, books.n);
  row.allocated = ok.len;
  row.checkpoint = ok.len;
  protect(books, row, path[pages - 1], ok.len);
}

/** Pages of a path up to which every slot is cached. @internal */
export function longestMatch(books: Books, path: readonly PageNode[]): number {
  const runs = books.bands.map(() => Infinity); // tokens with the window present; unbroken from the root it is enough
  let longest = 0;
  for (const node of path) {
    if (node.id === 0) break;
    let isValid = true;
    for (const band of books.bands) {
      if (band.isState) isValid &&= node.state !== 0;
      else if (band.isWindow) {
        const isThere = band.isHeld(node.id) && !band.unpublished.has(node.id);
        runs[band.index] = isThere ? runs[band.index]! + books.pageSize : 0; // one a band
        isValid &&= runs[band.index]! >= band.window;
      }
    }
    if (isValid) longest = node.page + 1;
  }
  return longest;
}

/** The tree's part of a row and its lock move to a node; never back. */
function protect(books: Books, row: RowBook, node: PageNode | undefined, len: number): void {
  if (node === undefined || len <= row.protected) return;
  const before = row.lock;
  row.lock = books.tree.lock(node);
  if (before !== null) books.tree.unlock(before);
  row.protected = len;
  for (const band of books.windows)
    row.cursors[band.index] = Math.max(len, row.cursors[band.index]!); // one a band
}

/** @internal */
export function treeInsert(
  books: Books,
  args: KvArgs["tree.insert"],
  ok: KvOk["tree.insert"],
): void {
  const row = openRow(books, args.req);
  if (row === null) return;
  const list = new FreeList();
  insertRow(books, row, args.key, args.len, list, ok);
  giveBack(books, list, ok);
}

/** Puts a row's first whole pages into the tree; returns the node at their end. @internal */
export function insertRow(
  books: Books,
  row: RowBook,
  key: Key,
  len: number,
  list: FreeList,
  counts: TreeCounts,
): PageNode | undefined {
  const pages = Math.floor(len / books.pageSize);
  const labels = pageLabels(key, books.pageSize, pages);
  if (
    len > row.allocated ||
    labels.length < pages ||
    row.ids.slice(0, pages).some((id) => id === 0)
  ) {
    books.report("contract.length", `${row.req} inserts ${len} tokens, its row or key has fewer`, {
      component: "tree",
    });
    return undefined;
  }
  markReads(books, row);
  const path = books.tree.reach(labels);
  hideEvicted(books, path, pages - counts.new_pages);
  const own = { new_pages: 0, duplicates: 0, rehomed: {} as Record<string, number> };
  for (const [page, node] of path.entries()) {
    const id = row.ids[page]!; // checked above
    if (node.id === 0) {
      own.new_pages += 1;
      books.tree.setPage(node, id);
      // A window's page behind the cursor is no longer the row's to keep.
      for (const band of books.windows)
        if (page * books.pageSize < row.cursors[band.index]!) list.page(band, id);
    } else if (node.id !== id) {
      own.duplicates += 1;
      yieldPage(books, row, page, node.id, list, own.rehomed);
    }
  }
  compareCounts(books, row.req, own, counts);
  protect(books, row, path.at(-1), pages * books.pageSize);
  return path.at(-1);
}

// The row takes the tree's id; a window that the tree lacks goes on with the row's page.
function yieldPage(
  books: Books,
  row: RowBook,
  page: number,
  cached: number,
  list: FreeList,
  rehomed: Record<string, number>,
): void {
  const own = row.ids[page]!; // the caller checked
  for (const band of books.windows) {
    const isKept = page * books.pageSize >= row.cursors[band.index]! && band.isHeld(own); // one a band
    if (!isKept || band.placeOf(cached) !== 0) continue;
    band.rename(own, cached, books.n);
    rehomed[band.name] = (rehomed[band.name] ?? 0) + 1;
  }
  list.whole(books, own);
  setId(row, page, cached, books.n);
}

// In a group that evicted, the answer tells how much of a path was still there: evictions begin at its end.
function hideEvicted(books: Books, path: readonly PageNode[], present: number): void {
  if (!books.hidesEvictions) return;
  for (const node of path.slice(Math.max(0, present)))
    if (node.id !== 0) books.tree.dropPage(node.id);
}

function compareCounts(books: Books, req: string, own: TreeCounts, told: TreeCounts): void {
  for (const field of ["new_pages", "duplicates"] as const) {
    if (own[field] !== told[field])
      books.report(
        "tree.counts",
        `the insertion of ${req} counts ${told[field]} ${field}, there are ${own[field]}`,
        { component: "tree" },
      );
  }
  for (const { name } of books.windows) {
    const [mine, theirs] = [own.rehomed[name] ?? 0, told.rehomed[name] ?? 0];
    if (mine !== theirs)
      books.report(
        "tree.counts",
        `the insertion of ${req} counts ${theirs} rehomed pages of ${name}, there are ${mine}`,
        { component: "tree" },
      );
  }
}

/** Gives a finished request's last state to the node at its end, if that has none. @internal */
export function giveState(
  books: Books,
  row: RowBook,
  slot: number,
  len: number,
  end: PageNode | undefined,
): void {
  if (slot === 0 || end === undefined || (end.page + 1) * books.pageSize !== len) return;
  if (end.state === 0) {
    removeSlot(row, slot);
    books.tree.setState(end, slot);
  } else if (books.hidesEvictions) {
    removeSlot(row, slot);
    books.group?.doubtful.set(slot, end);
  }
}

/** How far a finish inserts, and the slot with the state there. @internal */
export function lastState(
  books: Books,
  row: RowBook,
  len: number,
): { readonly len: number; readonly slot: number } {
  const strategy = books.config.checkpoint?.strategy;
  if (books.stateBand === null || strategy === undefined) return { len, slot: 0 };
  if (strategy === "no_buffer") return { len, slot: row.slots.main[0] ?? 0 };
  const index = trackedIndex(row, (tokens) => tokens <= len);
  return index < 0
    ? { len: 0, slot: 0 }
    : { len: row.tracked[index] ?? 0, slot: row.slots.track[index] ?? 0 };
}

/** @internal */
export function stateDonate(
  books: Books,
  args: KvArgs["state.donate"],
  ok: KvOk["state.donate"],
  shown: Shown,
): void {
  checkStep(books, ok.step, shown);
  checkZeroing(books, shown, null);
  const row = openRow(books, args.req);
  const band = books.stateBand;
  if (row === null || band === null) return;
  const index = trackedIndex(row, (tokens) => tokens === args.len);
  let node: PageNode | null = row.lock?.node ?? null;
  while (node !== null && (node.page + 1) * books.pageSize > args.len) node = node.parent;
  const tracked = index < 0 ? 0 : (row.slots.track[index] ?? 0);
  if (tracked === 0 || node === null || (node.page + 1) * books.pageSize !== args.len) {
    books.report(
      "tree.state",
      `${args.req} donates a state at ${args.len} tokens that it did not track or has no node`,
      { component: "tree" },
    );
    return;
  }
  if (ok.slot === null) {
    if (node.state === 0)
      books.report(
        "tree.state",
        `nothing is donated to the node at ${args.len} tokens, which has no state`,
        { component: "tree" },
      );
    return;
  }
  if (node.state !== 0) {
    if (!books.hidesEvictions)
      books.report(
        "tree.state",
        `slot ${ok.slot} is donated to a node that has slot ${node.state}`,
        { component: "tree" },
      );
    books.tree.dropState(node.state);
  }
  if (ok.slot !== tracked)
    books.report(
      "tree.state",
      `slot ${ok.slot} is donated, ${tracked} has the state at ${args.len} tokens`,
      { component: "tree" },
    );
  books.tree.setState(node, tracked);
  row.tracked[index] = null;
  row.checkpoint = args.len;
  if (ok.replacement === null) {
    books.report("take.pages", `${args.req} donates a slot and gets no replacement`, { band });
    row.slots.track.splice(index, 1);
    row.tracked.splice(index, 1);
    return;
  }
  takeId(books, band, ok.replacement);
  // Its page may have pended: which batches settled for it does not show.
  for (const batch of band.batches) batch.isTouched = true;
  row.slots.track[index] = ok.replacement;
  books.unplaced.set(ok.replacement, books.n);
}

/** @internal */
export function treeLock(books: Books, { key, len, req }: KvArgs["tree.lock"]): void {
  const node = books.tree.reach(pageLabels(key, books.pageSize, len / books.pageSize)).at(-1);
  if (node === undefined) return;
  const locks = books.namedLocks.get(req) ?? [];
  locks.push(books.tree.lock(node));
  books.namedLocks.set(req, locks);
}

/** @internal */
export function treeUnlock(books: Books, { key, len, req }: KvArgs["tree.unlock"]): void {
  const node = books.tree.walk(pageLabels(key, books.pageSize, len / books.pageSize)).at(-1);
  const locks = books.namedLocks.get(req) ?? [];
  const at = locks.findLastIndex((lock) => lock.node === node);
  if (at < 0) {
    books.report("contract.name", `${req} unlocks ${len} tokens that it does not lock`, {
      actors: [req],
      component: "tree",
    });
    return;
  }
  for (const lock of locks.splice(at, 1)) books.tree.unlock(lock);
  if (locks.length === 0) books.namedLocks.delete(req);
}

/** Every lock under a request's name ends. @internal */
export function dropLocks(books: Books, row: RowBook): void {
  if (row.lock !== null) books.tree.unlock(row.lock);
  row.lock = null;
  for (const lock of books.namedLocks.get(row.req) ?? []) books.tree.unlock(lock);
  books.namedLocks.delete(row.req);
}

/** `tree.evict`; in an open group what it took is told at the group's end. @internal */
export function treeEvict(books: Books, ok: FreedOk): void {
  if (books.group !== null) {
    books.group.evicts = true;
    giveBack(books, new FreeList(), ok);
    return;
  }
  new Eviction(books).follow(ok);
}

/** `contents.discard`: nothing of the tree may stay. @internal */
export function discard(books: Books, ok: KvOk["contents.discard"]): void {
  treeEvict(books, ok);
  books.copies.kept.clear();
  if (books.group !== null) return;
  const [id] = books.tree.pageOf.keys();
  const [slot] = books.tree.stateOf.keys();
  if (id !== undefined || slot !== undefined)
    books.report(
      "tree.evict",
      `the discard leaves ${id === undefined ? `slot ${slot ?? 0}` : `virtual ${id}`} in the tree`,
      { component: "tree" },
    );
}
