// What leaves the tree: an allocator chooses it, so it is learned from the lists, and each page must be the tree's, unlocked,
// and complete; no page stays whose prefix is gone.
import { expand } from "../../base/extents.js";
import type { FreedOk } from "../../base/operations.js";
import type { BandBook } from "./band-book.js";
import { type Books, listOf } from "./books.js";
import { FreeList } from "./free-list.js";
import { release } from "./give-back.js";
import type { PageNode } from "./page-tree.js";
import { reveal } from "./unplaced.js";

/** One operation's evictions. @internal */
export class Eviction {
  readonly #books: Books;
  readonly #touched = new Set<PageNode>();
  #hasLocks = true;

  constructor(books: Books) {
    this.#books = books;
  }

  /** Follows an answer all of whose frees are evictions. */
  follow(ok: FreedOk): void {
    const list = new FreeList();
    this.add(list, ok, new Set());
    release(this.#books, list, ok, "any");
    this.finish();
  }

  /** In a group's end nobody knows which locks held at the eviction. */
  withoutLocks(): this {
    this.#hasLocks = false;
    return this;
  }

  /** Adds what the lists name beyond `known` to a list, if it is the tree's. `known`: pages as `band page`, ids as `kind id`. */
  add(list: FreeList, { freed, deferred }: FreedOk, known: ReadonlySet<string>): void {
    const { tree, stateBand } = this.#books;
    this.#revealStates(freed);
    for (const lists of [freed, deferred]) {
      for (const kind of ["virtual", "slots"] as const) {
        for (const id of expand(listOf(lists, kind))) {
          if (known.has(`${kind} ${id}`)) continue;
          const node = kind === "virtual" ? tree.pageOf.get(id) : tree.stateOf.get(id);
          if (node === undefined) continue; // the comparison names it
          this.#touched.add(node);
          (kind === "virtual" ? list.virtual : list.slots).push(id);
        }
      }
      for (const band of this.#books.bands) {
        for (const page of expand(listOf(lists, band.name))) {
          if (known.has(`${band.name} ${page}`)) continue;
          this.#addPage(list, band, page);
        }
      }
    }
    for (const id of list.virtual) if (tree.pageOf.has(id)) tree.dropPage(id);
    for (const id of list.slots) if (tree.stateOf.has(id)) tree.dropState(id);
    // A slot that no answer placed goes with the page listed beside it.
    if (stateBand !== null)
      for (const id of list.slots)
        if (this.#books.unplaced.has(id)) list.pages.push({ band: stateBand, id });
  }

  #revealStates(freed: FreedOk["freed"]): void {
    const { stateBand } = this.#books;
    if (stateBand === null || this.#books.unplaced.size === 0) return;
    const pages = expand(listOf(freed, stateBand.name));
    const slots = expand(listOf(freed, "slots"));
    if (pages.length !== slots.length) return;
    for (const [at, slot] of slots.entries()) reveal(this.#books, slot, pages[at]!); // as many
  }

  #addPage(list: FreeList, band: BandBook, page: number): void {
    const { tree } = this.#books;
    const id = band.idAt(page);
    const node = band.isState ? tree.stateOf.get(id) : tree.pageOf.get(id);
    if (id === 0 || node === undefined || !band.isHeld(id)) return; // the comparison names it
    if (this.#hasLocks && node.locks[band.index]! > 0)
      this.#books.report("tree.evict", `evicts ${band.name} page ${page}, which is locked`, {
        band,
        page,
      });
    if (list.pages.some((other) => other.band === band && other.id === id)) return;
    list.pages.push({ band, id });
  }

  /** Checks what is left in the places that something was taken from. */
  finish(): void {
    for (const node of this.#touched) {
      for (const child of node.children.values()) {
        if (node.id === 0 && child.id !== 0)
          this.#books.report(
            "tree.evict",
            `evicts the prefix of virtual ${child.id}, which stays cached`,
            { component: "tree" },
          );
      }
      this.#books.tree.prune(node);
    }
  }
}
