// The simulated device's own prefix tree: which virtual pages and state slots are cached under which tokens. It is
// written from the contract alone and decides nothing: rows that take ids of the tree are followed through it, and what
// an allocator evicts is held against it.
//
// Nodes split where a match, a lock, an insertion or a state ends; where an allocator splits besides that does not show,
// since what is cached is kept page by page.
import type { HostPage } from "./model-host.js";
import type { BandPages } from "./model-pages.js";
import type { Tokens } from "./model-tokens.js";
import { type ModelLock, ModelNode } from "./model-tree-node.js";

export type { ModelLock, ModelNode } from "./model-tree-node.js";

/** Where a cached page stands. @internal */
export interface TreePage {
  node: ModelNode;
  readonly page: number; // counted from the root
}

/** Is told of every page on the way of an insertion. @internal */
export interface InsertVisitor {
  /** The tree has a page there. */
  meet(page: number, cached: number): void;
  /** The given page was cached. */
  add(page: number): void;
}

/** The tree. @internal */
export class ModelTree {
  readonly root: ModelNode;
  readonly #pageSize: number;
  readonly #pages = new Map<number, TreePage>(); // by virtual page
  readonly #states = new Map<number, ModelNode>(); // by slot

  constructor(pageSize: number, none: Tokens) {
    this.#pageSize = pageSize;
    this.root = new ModelNode(null, none, 0, []);
  }

  /** Where the tree holds a virtual page. */
  pageOf(virtual: number): TreePage | undefined {
    return this.#pages.get(virtual);
  }
  /** The node whose end state lies in a slot. */
  nodeOfState(slot: number): ModelNode | undefined {
    return this.#states.get(slot);
  }
  /** Virtual pages that the tree holds. */
  heldPages(): IterableIterator<number> {
    return this.#pages.keys();
  }
  /** Slots that the tree holds. */
  heldStates(): IterableIterator<number> {
    return this.#states.keys();
  }

  /** Nodes that share tokens with a key, from the root's child down; of the last one perhaps only its first pages. */
  walk(
    tokens: Tokens,
    limit: number,
  ): { readonly path: readonly ModelNode[]; readonly pages: number } {
    const path: ModelNode[] = [];
    let node = this.root;
    let pages = 0;
    for (;;) {
      const child = pages < limit ? node.children.get(this.#pageName(tokens, pages)) : undefined;
      if (child === undefined) return { path, pages };
      const shared = Math.floor(
        tokens.common(pages * this.#pageSize, child.tokens) / this.#pageSize,
      );
      path.push(child);
      pages = Math.min(pages + shared, limit);
      if (pages < child.endPage) return { path, pages };
      node = child;
    }
  }

  /** The node that ends after the first `pages` pages of a key; splits one that goes on. Null where no path goes there. */
  nodeAt(tokens: Tokens, pages: number): ModelNode | null {
    const { path, pages: found } = this.walk(tokens, pages);
    if (found < pages) return null;
    const last = path.at(-1);
    return last === undefined ? this.root : this.endingAt(last, pages);
  }

  /** The node on the path to `node` that ends after `pages` pages; splits one that goes on. */
  endingAt(node: ModelNode, pages: number): ModelNode {
    let at = node;
    while (at.parent !== null && at.firstPage >= pages) at = at.parent;
    return at.endPage === pages ? at : this.#split(at, pages - at.firstPage);
  }

  /** Cuts a node in two; the new upper half has the first `count` pages, the lower one stays who it was. */
  #split(node: ModelNode, count: number): ModelNode {
    const { parent } = node;
    if (parent === null) throw new Error("the root has no pages to split");
    const name = this.#pageName(node.tokens, 0);
    const cut = count * this.#pageSize;
    const upper = new ModelNode(
      parent,
      node.tokens.slice(0, cut),
      node.firstPage,
      node.virtual.slice(0, count),
    );
    parent.children.set(name, upper);
    node.tokens = node.tokens.slice(cut, node.tokens.count);
    node.virtual = node.virtual.slice(count);
    node.splitHost(upper, count);
    node.firstPage += count;
    node.parent = upper;
    upper.children.set(this.#pageName(node.tokens, 0), node);
    for (const lock of node.locks) upper.locks.add(lock);
    for (const virtual of upper.virtual) {
      const page = this.#pages.get(virtual);
      if (page !== undefined) page.node = upper;
    }
    return upper;
  }

  /**
   * Puts the first `ids.length` pages of a key in. Where the tree has a page already, its id stays; elsewhere the given
   * one is cached. Returns the node at the end and how many pages are new.
   */
  insert(
    tokens: Tokens,
    ids: readonly number[],
    visitor: InsertVisitor,
  ): { readonly end: ModelNode; readonly added: number } {
    const { path, pages } = this.walk(tokens, ids.length);
    let added = 0;
    for (const node of path) {
      for (let page = node.firstPage; page < Math.min(node.endPage, pages); page++) {
        const cached = node.virtual[page - node.firstPage]!; // within the node
        if (cached !== 0) visitor.meet(page, cached);
        else {
          this.#setPage(node, page, ids[page]!); // one id a page
          visitor.add(page);
          added += 1;
        }
      }
    }
    const last = path.at(-1);
    const parent = last === undefined ? this.root : this.endingAt(last, pages);
    if (pages === ids.length) return { end: parent, added };
    const rest = tokens.slice(pages * this.#pageSize, ids.length * this.#pageSize);
    const node = new ModelNode(parent, rest, pages, ids.slice(pages));
    parent.children.set(this.#pageName(rest, 0), node);
    for (let page = pages; page < ids.length; page++) {
      this.#setPage(node, page, ids[page]!); // as above
      visitor.add(page);
    }
    return { end: node, added: added + ids.length - pages };
  }

  /** Puts a page in where the device held none. */
  fill({ node, page }: TreePage, virtual: number): void {
    this.#setPage(node, page, virtual);
  }

  setState(node: ModelNode, slot: number): void {
    node.state = slot;
    this.#states.set(slot, node);
  }
  /** Takes a state out; where it stood. */
  dropState(slot: number): ModelNode | undefined {
    const node = this.#states.get(slot);
    this.#states.delete(slot);
    if (node !== undefined) node.state = 0;
    return node;
  }

  /** Takes a page out; where it stood. */
  dropPage(virtual: number): TreePage | undefined {
    const at = this.#pages.get(virtual);
    if (at === undefined) return undefined;
    this.#pages.delete(virtual);
    at.node.virtual[at.page - at.node.firstPage] = 0;
    return at;
  }

  lock(end: ModelNode, holder: string, operation: number): ModelLock {
    const lock = { holder, pages: end.endPage, end, operation };
    for (let node: ModelNode | null = end; node !== null; node = node.parent) node.locks.add(lock);
    return lock;
  }
  unlock(lock: ModelLock): void {
    for (let node: ModelNode | null = lock.end; node !== null; node = node.parent)
      node.locks.delete(lock);
  }

  /** A page that is cached although the one before it, in or under this node, is gone; 0 = none. */
  orphanBelow(node: ModelNode): number {
    const gap = node.virtual.indexOf(0);
    if (gap < 0) return 0;
    const behind = node.virtual.slice(gap).find((virtual) => virtual !== 0);
    if (behind !== undefined) return behind;
    for (const child of node.children.values())
      if (child.virtual[0]! !== 0) return child.virtual[0]!; // a node has pages
    return 0;
  }

  /** Host copies that nothing reaches any more: behind a page of this node that is nowhere. */
  unreachableHost(node: ModelNode, owner: BandPages): readonly HostPage[] {
    const gap = node.virtual.findIndex(
      (virtual, at) => virtual === 0 && node.hostAt(owner, node.firstPage + at) === undefined,
    );
    return gap < 0 ? [] : node.hostBehind(node.firstPage + gap);
  }

  /** Forgets the end of a branch that holds nothing any more. */
  prune(node: ModelNode): void {
    let at = node;
    while (at.parent !== null && isEmptyLeaf(at)) {
      const { parent } = at;
      parent.children.delete(this.#pageName(at.tokens, 0));
      at = parent;
    }
  }

  #setPage(node: ModelNode, page: number, virtual: number): void {
    node.virtual[page - node.firstPage] = virtual;
    this.#pages.set(virtual, { node, page });
  }

  #pageName(tokens: Tokens, page: number): string {
    const from = page * this.#pageSize;
    return tokens.slice(from, Math.min(from + this.#pageSize, tokens.count)).name;
  }
}

function isEmptyLeaf(node: ModelNode): boolean {
  return (
    node.children.size === 0 &&
    node.locks.size === 0 &&
    node.state === 0 &&
    !node.hasHost &&
    node.virtual.every((virtual) => virtual === 0)
  );
}
