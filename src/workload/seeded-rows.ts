// A request as the seeded workload knows it: which pages of its row are bound, what the tree owns of it, its slots.
import type { Key, StatePurpose } from "../base/operations.js";

/** A page row's residency and lengths. @internal */
export interface ModelRequest {
  readonly name: string;
  readonly pageSize: number; // tokens
  allocated: number; // tokens
  readonly full: boolean[]; // per page of the row: bound in the full band
  readonly windows: boolean[][]; // per window band, per page; false where the tree owns the page
  readonly cursors: number[]; // tokens, per window band
  readonly slots: Map<StatePurpose, number>; // slots held per purpose, none = absent
  protected: number; // tokens that the tree owns
  key: Key | null; // what its tokens are, as far as a row reaches; null until the tree is asked
  tracked: number | null; // tokens of the newest tracked state that was not donated
  readonly loaded: Map<number, string>; // page → the load that brought it
  readonly loadedSlots: Map<string, number>; // load → main slots that it brought
}

/** Opens a request with an empty row. @internal */
export function emptyRequest(name: string, pageSize: number, windows: number): ModelRequest {
  return {
    name,
    pageSize,
    allocated: 0,
    full: [],
    windows: Array.from({ length: windows }, () => []),
    cursors: new Array<number>(windows).fill(0),
    slots: new Map(),
    protected: 0,
    key: null,
    tracked: null,
    loaded: new Map(),
    loadedSlots: new Map(),
  };
}

/** Pages of a row that the tree owns. @internal */
export function protectedPages(request: ModelRequest): number {
  return Math.floor(request.protected / request.pageSize);
}

/** Whether the request holds nothing but its row. @internal */
export function holdsNothing(request: ModelRequest): boolean {
  const isBound =
    request.full.includes(true) || request.windows.some((pages) => pages.includes(true));
  return !isBound && request.slots.size === 0;
}

/** Adds slots of a purpose; a negative count takes some away. @internal */
export function addSlots(request: ModelRequest, purpose: StatePurpose, count: number): void {
  const slots = (request.slots.get(purpose) ?? 0) + count;
  if (slots > 0) request.slots.set(purpose, slots);
  else request.slots.delete(purpose);
}

/** Frees a purpose's slots; what a load brought is gone with the main ones. @internal */
export function dropSlots(request: ModelRequest, purpose: StatePurpose): void {
  request.slots.delete(purpose);
  if (purpose === "main") request.loadedSlots.clear();
  if (purpose === "track") request.tracked = null;
}

/** The row grows to `to` tokens; with `tail` windows from the page that its tail begins in. @internal */
export function extendRow(request: ModelRequest, to: number, tail: number | undefined): void {
  const { pageSize } = request;
  const first = Math.ceil(request.allocated / pageSize);
  const end = Math.ceil(to / pageSize);
  const firstWindow =
    tail === undefined ? first : Math.max(first, Math.floor((to - tail) / pageSize));
  for (let page = first; page < end; page++) {
    request.full[page] = true;
    for (const pages of request.windows) pages[page] = page >= firstWindow;
  }
  if (tail !== undefined) request.cursors.fill(firstWindow * pageSize);
  request.allocated = to;
}

/** The tree owns the row's first `tokens` tokens from now on. @internal */
export function protectRow(request: ModelRequest, tokens: number): void {
  if (tokens <= request.protected) return;
  request.protected = tokens;
  for (const [index, cursor] of request.cursors.entries())
    request.cursors[index] = Math.max(cursor, tokens);
  for (let page = 0; page < protectedPages(request); page++) {
    request.full[page] = true;
    for (const pages of request.windows) pages[page] = false;
    request.loaded.delete(page);
  }
}

/** Unbinds pages `[from, to)` in the windows of these indices, and in full where asked. @internal */
export function unbindPages(
  request: ModelRequest,
  from: number,
  to: number,
  isFull: boolean,
  windows: readonly number[],
): void {
  for (let page = from; page < to; page++) {
    if (isFull && request.full[page] === true) {
      request.full[page] = false;
      request.loaded.delete(page);
    }
    for (const index of windows) {
      const pages = request.windows[index];
      if (pages?.[page] === true) pages[page] = false;
    }
  }
}

/** The row ends at `tokens` from now on. @internal */
export function shortenRow(request: ModelRequest, tokens: number): void {
  request.allocated = tokens;
  if (request.tracked !== null && request.tracked > tokens) request.tracked = null;
  request.full.length = Math.ceil(tokens / request.pageSize);
  for (const pages of request.windows) pages.length = request.full.length;
  for (const page of [...request.loaded.keys()]) {
    if (page >= request.full.length) request.loaded.delete(page);
  }
}

/** What a load did to its row. @internal */
export interface LoadedRow {
  readonly from: number; // tokens: the row's length before
  readonly before: readonly number[]; // cursors before
  readonly set: readonly number[]; // cursors as the load left them
}

/** A load gave up: its pages and slots leave the row, which is shortened to `from` where it is the tail. @internal */
export function dropLoad(request: ModelRequest, load: string, row: LoadedRow): void {
  let last = -1;
  for (const [page, name] of [...request.loaded]) {
    if (name !== load) continue;
    last = Math.max(last, page);
    unbindPages(request, page, page + 1, true, [...request.windows.keys()]);
  }
  addSlots(request, "main", -(request.loadedSlots.get(load) ?? 0));
  request.loadedSlots.delete(load);
  const isTail = last >= 0 && last + 1 === request.full.length;
  const left = isTail ? Math.max(row.from, request.protected) : request.allocated;
  for (const [index, cursor] of request.cursors.entries()) {
    const before = row.before[index] ?? 0;
    if (cursor === row.set[index]) request.cursors[index] = before;
    else if (cursor > left) request.cursors[index] = Math.max(left, before);
  }
  if (isTail) shortenRow(request, left);
}
