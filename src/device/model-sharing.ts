// Rows and the tree: a match gives a row the tree's ids, an insertion gives the tree the row's and the row the tree's where
// both have a page. Which ids those are follows from the tokens alone.
import type { FreedOk, Key, KvArgs, KvOk, TreeCounts } from "../base/operations.js";
import { fail } from "./model-fault.js";
import { inferEvicted } from "./model-groups.js";
import { closeRequest } from "./model-frees.js";
import { FreedPages, giveBack, isHeld, takeId, takeVirtual } from "./model-give-back.js";
import { type Match, matchKey } from "./model-match.js";
import type { BandPages } from "./model-pages.js";
import type { ModelRun } from "./model-run.js";
import type { ModelRow } from "./model-rows.js";
import { Tokens } from "./model-tokens.js";
import type { ModelNode } from "./model-tree.js";

/** Follows `tree.match`: the answered length must be the longest one that is whole in every band. @internal */
export function match(run: ModelRun, args: KvArgs["tree.match"], ok: KvOk["tree.match"]): void {
  const tokens = Tokens.of(args.key);
  const found = matchKey(run, tokens, ok.len);
  if (found.len !== ok.len)
    fail("bad_effect", `the match answers ${ok.len} tokens, ${found.len} are cached`);
  if (!run.hidesEvictions) compareMatch(run, found, ok);
  const pages = ok.len / run.config.page_size;
  if (args.req === undefined || pages === 0) return;
  const end = run.tree.nodeAt(tokens, pages);
  if (end === null) fail("bad_effect", `the match ends at ${ok.len}, where no path leads`);
  const row = run.rows.require(args.req);
  if (row.pageCount > 0) fail("bad_effect", `${args.req} takes a match and holds pages already`);
  const path: ModelNode[] = [];
  for (let node: ModelNode | null = end; node !== null; node = node.parent) path.push(node);
  for (const node of path.reverse()) for (const id of node.virtual) row.push(id);
  row.allocated = ok.len;
  row.protected = ok.len;
  setCursors(run, row, ok.len);
  row.lock = run.tree.lock(end, args.req, run.arena.operation);
}

/** Holds what each band has alone, and what it has with the host, against the answer. */
function compareMatch(run: ModelRun, found: Match, ok: KvOk["tree.match"]): void {
  for (const [name, len] of Object.entries(ok.slots)) {
    const own = found.alone[run.arena.band(name).index];
    if (own !== len)
      fail("bad_effect", `the match answers ${len} tokens of ${name}, ${own} are cached`, name);
  }
  for (const [name, len] of Object.entries(ok.host)) {
    const most = found.host[run.arena.band(name).index]!; // one a band
    if (len <= most) continue;
    const message = `the match answers ${len} tokens of ${name} with the host, ${most} are there`;
    fail("bad_effect", message, name);
  }
}

/** Follows `tree.insert`. @internal */
export function insert(run: ModelRun, args: KvArgs["tree.insert"], ok: KvOk["tree.insert"]): void {
  const freed = new FreedPages(run);
  insertRow(run, run.rows.require(args.req), args, freed, ok);
  giveBack(run, freed, ok);
}

/** Follows `request.finish`, with or without an insertion first. @internal */
export function finish(
  run: ModelRun,
  args: KvArgs["request.finish"],
  ok: FreedOk & { readonly tree?: TreeCounts },
): void {
  const row = run.rows.require(args.req);
  const freed = new FreedPages(run);
  const cached = args.insert ? cachedState(run, row, args.len) : null;
  if (cached === null || args.key === undefined) {
    if (ok.tree !== undefined && ok.tree.new_pages + ok.tree.duplicates > 0)
      fail("bad_effect", `the finish of ${args.req} inserts pages, and nothing is to be inserted`);
  } else {
    const answered = ok.tree ?? fail("bad_effect", `the finish of ${args.req} does not insert`);
    const end = insertRow(run, row, { key: args.key, len: cached.len }, freed, answered);
    giveState(run, row, cached, end);
  }
  closeRequest(run, args.req, ok, freed);
}

/** What a finish inserts: up to where, and the slot that holds the state there (0 = none). Null for nothing at all. */
interface CachedState {
  readonly len: number; // tokens
  readonly slot: number;
}

function cachedState(run: ModelRun, row: ModelRow, len: number): CachedState | null {
  const strategy = run.arena.stateBand === null ? undefined : run.config.checkpoint?.strategy;
  if (strategy === undefined) return { len, slot: 0 };
  if (strategy === "no_buffer") return { len, slot: row.slots.main[0] ?? 0 };
  return row.newestTracked(len);
}

function giveState(run: ModelRun, row: ModelRow, { len, slot }: CachedState, end: ModelNode): void {
  const isWhole = len % run.config.page_size === 0;
  if (slot === 0 || !isWhole || end.parent === null) return;
  if (end.state === 0) {
    row.removeSlot(slot);
    run.tree.setState(end, slot);
  } else if (run.hidesEvictions) run.group?.doubtful.set(slot, end);
}

/** Puts a row's first whole pages into the tree; what the row gives back for it goes to `freed`. Returns the end. */
function insertRow(
  run: ModelRun,
  row: ModelRow,
  { key, len }: { readonly key: Key; readonly len: number },
  freed: FreedPages,
  answered: TreeCounts,
): ModelNode {
  const pages = Math.floor(len / run.config.page_size);
  const tokens = Tokens.of(key);
  if (pages > row.pageCount || pages * run.config.page_size > tokens.count)
    fail("bad_effect", `${row.req} inserts ${len} tokens, more than its row or key has`);
  if (run.hidesEvictions) inferEvicted(run, tokens, pages, pages - answered.new_pages);
  const ids = Array.from(row.virtual.subarray(0, pages));
  const rehomed = new Map<BandPages, number>();
  const windows = run.arena.tokenBands.filter((band) => band.isWindow);
  const isKept = (band: BandPages, page: number): boolean =>
    page >= (row.retired[band.index] ?? 0) && isHeld(run, band, ids[page]!); // one id a page
  let duplicates = 0;
  const { end, added } = run.tree.insert(tokens, ids, {
    meet(page, cached) {
      const own = ids[page]!; // one id a page
      if (own === cached) return;
      duplicates += 1;
      row.put(page, cached);
      for (const band of windows) {
        // One that waits for a group's end or a transfer still lies there.
        if (band.placeOf(cached) !== 0 || !isKept(band, page)) continue;
        band.rename(own, cached);
        rehomed.set(band, (rehomed.get(band) ?? 0) + 1);
      }
      takeVirtual(run, own, freed);
    },
    // A window's pages behind its cursor are no longer the row's to give.
    add(page) {
      for (const band of windows) if (!isKept(band, page)) takeId(run, band, ids[page]!, freed);
    },
  });
  protect(run, row, end);
  const counted = [...rehomed].map(([band, count]) => [band.name, count] as const);
  const counts = { new_pages: added, duplicates, rehomed: Object.fromEntries(counted) };
  compareCounts(counts, answered);
  return end;
}

/** The tree's part of a row and its lock move to the end of what was inserted; never back. */
function protect(run: ModelRun, row: ModelRow, end: ModelNode): void {
  const len = end.endPage * run.config.page_size;
  if (len <= row.protected) return;
  if (row.lock !== null) run.tree.unlock(row.lock);
  row.lock = run.tree.lock(end, row.req, run.arena.operation);
  row.protected = len;
  setCursors(run, row, len);
}

/** What the tree owns is behind every window's cursor: it is not the row's to retire. */
function setCursors(run: ModelRun, row: ModelRow, len: number): void {
  const page = len / run.config.page_size;
  for (const band of run.arena.tokenBands)
    if (band.isWindow) row.retired[band.index] = Math.max(row.retired[band.index] ?? 0, page);
}

function compareCounts(own: TreeCounts, answered: TreeCounts): void {
  for (const field of ["new_pages", "duplicates"] as const) {
    if (own[field] === answered[field]) continue;
    const word = field === "new_pages" ? "new pages" : field;
    fail("bad_effect", `the answer counts ${answered[field]} ${word}, there are ${own[field]}`);
  }
  for (const band of new Set([...Object.keys(own.rehomed), ...Object.keys(answered.rehomed)])) {
    const [did, said] = [own.rehomed[band] ?? 0, answered.rehomed[band] ?? 0];
    if (did !== said)
      fail(
        "bad_effect",
        `the answer counts ${said} rehomed pages in ${band}, there are ${did}`,
        band,
      );
  }
}
