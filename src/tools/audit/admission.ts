// A pass of admission, worked out anew: what each request is charged, whether that fits beside what the pass has admitted,
// and whether something gives memory back.
import type { AdmitVerdict, DirectConfig, KvArgs, QueueEntry } from "../../base/operations.js";
import type { BandBook } from "./band-book.js";
import type { Books } from "./books.js";
import { longestMatch } from "./operations-tree.js";
import { type PageNode, pageLabels } from "./page-tree.js";
import { holds, holdsEmpty } from "./room.js";
import type { RowBook } from "./row-book.js";

/** Judges the verdicts of one pass, in the order of its queue. @internal */
export function checkPass(
  books: Books,
  args: KvArgs["admit.pass"],
  verdicts: Readonly<Record<string, AdmitVerdict>>,
): void {
  const pass = new Pass(books, args);
  for (const entry of args.queue) {
    const verdict = verdicts[entry.req];
    const wrong = verdict === undefined ? "no verdict" : pass.judge(entry, verdict);
    if (wrong === null) continue;
    books.report("admit.verdict", `${entry.req}: ${wrong}`, {
      actors: [entry.req],
      component: "chain",
    });
    return; // what follows is judged beside it
  }
}

class Pass {
  readonly #books: Books;
  readonly #taken: number[]; // [bands] pages of the reserve and of what the pass admitted
  readonly #kept: Set<PageNode>[]; // [bands] pages of the tree that its requests match
  #freeRows: number;
  #admitted = 0;
  #isWaiting = false;

  constructor(books: Books, { reserve }: KvArgs["admit.pass"]) {
    this.#books = books;
    this.#taken = books.bands.map(({ name }) => reserve?.[name] ?? 0);
    this.#kept = books.bands.map(() => new Set());
    this.#freeRows = books.freeRows.length;
  }

  /** What is wrong with a verdict, null for nothing. */
  judge(entry: QueueEntry, { verdict, tokens, reason }: AdmitVerdict): string | null {
    const row = this.#books.rows.get(entry.req);
    if (this.#isWaiting) return verdict === "wait" ? null : "overtakes a request that waits";
    if (verdict === "admit" || verdict === "chunk") return this.#admit(entry, row, tokens);
    if (tokens !== 0) return `${verdict} with ${tokens} tokens`;
    if (verdict === "wait") {
      this.#isWaiting = true;
      const hasRow = row !== undefined || this.#freeRows > 0;
      return hasRow && this.#givesBack(row) === null
        ? "waits, and nothing will give memory back"
        : null;
    }
    if (reason === "never_fits") return this.#neverFits(entry);
    const source = this.#givesBack(row);
    return source === null ? null : `is given up, and ${source} will give memory back`;
  }

  #admit(entry: QueueEntry, row: RowBook | undefined, tokens: number): string | null {
    const books = this.#books;
    const { input, max_new } = entry;
    if (row === undefined && this.#freeRows <= 0) return "is admitted, and no row is free";
    if (input + max_new > books.config.row_tokens) return "is admitted, and its row cannot hold it";
    const matched = row === undefined || row.allocated === 0 ? this.#matchOf(entry) : null;
    if (matched !== null) this.#keep(matched);
    const done = Math.min(
      input,
      matched === null ? row!.allocated : matched.length * books.pageSize,
    );
    if (tokens > input - done) return `is admitted with ${tokens} tokens, ${input - done} are left`;
    const demand = demandOf(books, entry, row, matched?.length ?? null, tokens);
    for (const [index, pages] of demand.entries()) this.#taken[index]! += pages;
    this.#admitted += 1;
    if (row === undefined) this.#freeRows -= 1;
    if (holds(books, this.#taken, this.#credit())) return null;
    return `is admitted with ${tokens} tokens, no layout holds ${this.#taken.join(", ")} pages`;
  }

  /** Pages of the match that count: whole ones before the prompt's last token. */
  #matchOf({ key, input }: QueueEntry): readonly PageNode[] {
    const books = this.#books;
    const path = books.tree.walk(pageLabels(key ?? [], books.pageSize));
    const most = Math.floor(Math.max(0, input - 1) / books.pageSize);
    return path.slice(0, Math.min(longestMatch(books, path), most));
  }

  #keep(path: readonly PageNode[]): void {
    const end = path.length * this.#books.pageSize;
    for (const band of this.#books.bands)
      for (const node of path) {
        const isKept = band.isState
          ? node === path.at(-1)
          : !band.isWindow || (node.page + 1) * this.#books.pageSize > end - band.window;
        if (isKept) this.#kept[band.index]!.add(node);
      }
  }

  /** [bands] the most that evictions could free while the matches stay. */
  #credit(): readonly number[] {
    const { bands, tree } = this.#books;
    return bands.map((band) => {
      const isFree = (node: PageNode): boolean =>
        node.locks[band.index] === 0 && this.#kept[band.index]?.has(node) !== true;
      let pages = 0;
      if (band.isState) {
        for (const node of tree.stateOf.values()) if (isFree(node)) pages += 1;
      } else for (const [id, node] of tree.pageOf) if (band.isHeld(id) && isFree(node)) pages += 1;
      return pages;
    });
  }

  #neverFits({ input, max_new }: QueueEntry): string | null {
    const books = this.#books;
    if (input + max_new > books.config.row_tokens) return null;
    const grid = gridOf(books.config);
    const demand = demandOf(books, { input, max_new }, undefined, 0, grid);
    return holdsEmpty(books, demand) ? "never fits, and the empty arena holds it" : null;
  }

  /** What will free memory beside the request's own row, null for nothing. */
  #givesBack(row: RowBook | undefined): string | null {
    const { uses, copies, rows } = this.#books;
    if (this.#admitted > 0) return "an earlier request of the pass";
    if (uses.forwards.length > 0) return `forward ${uses.forwards[0]!.name}`;
    if (copies.open.size > 0) return "a host copy";
    return rows.size > (row === undefined ? 0 : 1) ? "another row" : null;
  }
}

/** Slots that the tracking of states takes beside the main one. */
function trackingOf({ checkpoint, overlap }: DirectConfig): number {
  if (checkpoint?.strategy === "extra_buffer") return overlap === true ? 2 : 1;
  return checkpoint?.strategy === "extra_buffer_lazy" ? 1 : 0;
}

/** The checkpoint interval, in tokens, where a floor keeps window pages, else 0. */
function intervalOf({ sub_pools, prefix_sharing, checkpoint }: DirectConfig): number {
  const hasState = sub_pools.some(({ kind }) => kind === "state");
  const isKept = prefix_sharing === true && hasState && checkpoint?.strategy !== "no_buffer";
  return isKept ? (checkpoint?.interval ?? 0) : 0;
}

/** Tokens on whose multiples every chunk but a prompt's last ends. */
function gridOf(config: DirectConfig): number {
  const hasWindow = config.sub_pools.some(
    ({ kind, window }) => kind !== "state" && window !== undefined,
  );
  const interval = hasWindow ? intervalOf(config) : 0;
  let [a, b] = [config.page_size, interval];
  while (b !== 0) [a, b] = [b, a % b];
  return interval === 0 ? config.page_size : (config.page_size / a) * interval;
}

/**
 * [bands] pages that a request is charged beside what it has, for a chunk of its prompt.
 * @param row - of an open request
 * @param matched - pages that an empty row finds in the tree; null: the row has tokens of its own
 */
function demandOf(
  books: Books,
  { input, max_new }: Pick<QueueEntry, "input" | "max_new">,
  row: RowBook | undefined,
  matched: number | null,
  chunk: number,
): readonly number[] {
  const { config, pageSize } = books;
  const allocated = matched === null ? (row?.allocated ?? 0) : matched * pageSize;
  const pages = matched ?? row?.ids.length ?? 0;
  const left = Math.max(0, books.pagesOf(input + max_new) - pages);
  const next = Math.max(0, books.pagesOf(allocated + chunk) - pages);
  const computed = Math.floor(Math.max(0, Math.min(allocated, input - 1)) / pageSize) * pageSize;
  return books.bands.map((band) => {
    if (band.isState) {
      const { main, track } = row?.slots ?? { main: [], track: [] };
      return Math.max(0, 1 - main.length) + Math.max(0, trackingOf(config) - track.length);
    }
    if (!band.isWindow || band.window === Infinity) return left;
    const kept = config.prefix_sharing === true ? Math.max(band.window, pageSize) : band.window;
    const peak = kept + intervalOf(config) + Math.max(1, Math.min(chunk, input - computed));
    const beyond = Math.ceil((peak - 1) / pageSize) + 1 - boundOf(books, band, row);
    return Math.min(left, Math.max(next, beyond));
  });
}

/** Window pages that are bound for the row's own positions. */
function boundOf(books: Books, band: BandBook, row: RowBook | undefined): number {
  if (row === undefined) return 0;
  const own = row.ids.slice(books.pagesOf(row.protected));
  return own.filter((id) => id !== 0 && band.isHeld(id)).length;
}
