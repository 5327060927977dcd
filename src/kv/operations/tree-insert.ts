// Putting a row's first pages into the tree: new nodes take the row's ids; where nodes stand the row takes theirs, and
// its own pages are freed or serve a window that the node lacks.
import type { Key, OperationError, TreeCounts } from "../../base/operations.js";
import type { Band } from "../alloc/band.js";
import { reservedPage } from "../cache/host-loads.js";
import { KeyReader } from "../cache/tree-key.js";
import type { TreeNode } from "../cache/tree-node.js";
import { invalid, type KvCore } from "../core.js";
import type { Request } from "../requests.js";

/** The rules that an insert of the row's first `len` tokens breaks, in their order; `open` is found between them. @internal */
export function brokenInsert(
  core: KvCore,
  request: Request,
  key: Key,
  len: number,
): OperationError | null {
  const req = request.name;
  if (len > request.allocated) return invalid("beyond_row", { req });
  const pages = Math.floor(len / core.config.pageSize);
  for (let page = 0; page < pages; page++) {
    if ((request.pages[page] ?? 0) > 0) continue;
    return invalid("free_of_unbound_page", { req, band: core.chain.owner.plan.name, page });
  }
  const open = core.launchOpen();
  if (open !== null) return open;
  if (
    new KeyReader(key).tokens < pages * core.config.pageSize ||
    !isOnPath(core, request, key, len)
  )
    return invalid("no_node_at_len", { req });
  // Nothing has arrived yet in pages that a load reserved.
  return reservedPage(core, request, 0, pages) === null ? null : invalid("name_state", { req });
}

/** Whether a key keeps to the path of the row's protected part, as far as it reaches. */
function isOnPath(core: KvCore, request: Request, key: Key, len: number): boolean {
  const { tree } = core;
  const size = core.config.pageSize;
  const shared = Math.min(Math.floor(len / size) * size, request.protected);
  const reached = tree.reach(key, shared);
  const own = tree.locks.own(request.name)?.node ?? tree.root;
  for (let node = own; ; node = node.parent!) {
    if (node === reached) return true;
    if (node.isRoot) return false;
  }
}

/** Inserts the row's first whole pages of `len` tokens; the checks have passed. Returns the counts and the end node. @internal */
export function insertRow(
  core: KvCore,
  request: Request,
  key: Key,
  len: number,
): { readonly counts: TreeCounts; readonly end: TreeNode } {
  const insert = new Insert(core, request, key);
  const to = Math.floor(len / core.config.pageSize) * core.config.pageSize;
  const end = insert.run(to);
  const { tree, requests, chain } = core;
  if (to > request.protected) {
    requests.setProtected(request, to);
    for (const { band } of tree.windows)
      requests.setCursor(request, band, Math.max(to, request.cursors[band]!));
    tree.locks.setOwn(request.name, end);
  }
  tree.touch(end, tree.useOf(chain.steps.clock));
  return { counts: insert.counts(), end };
}

/** One walk along the key. */
class Insert {
  readonly #core: KvCore;
  readonly #request: Request;
  readonly #reader: KeyReader;
  readonly #size: number;
  readonly #windows: readonly Band[]; // tree order
  #newPages = 0;
  #duplicates = 0;
  readonly #rehomed: number[]; // pages by band

  constructor(core: KvCore, request: Request, key: Key) {
    this.#core = core;
    this.#request = request;
    this.#reader = new KeyReader(key);
    this.#size = core.config.pageSize;
    this.#windows = core.tree.windows.map(({ band }) => core.chain.bands[band]!);
    this.#rehomed = core.chain.bands.map(() => 0);
  }

  counts(): TreeCounts {
    const rehomed: Record<string, number> = {};
    for (const { plan, index } of this.#core.windowBands)
      if (this.#rehomed[index]! > 0) rehomed[plan.name] = this.#rehomed[index]!;
    return { new_pages: this.#newPages, duplicates: this.#duplicates, rehomed };
  }

  run(to: number): TreeNode {
    const { tree } = this.#core;
    let node = tree.root;
    while (node.to < to) {
      let child = node.childFor(this.#reader, this.#size);
      if (child === null) return this.#plant(node, to);
      const agreed = Math.min(this.#reader.agreement(child.key), to - child.from);
      const end = child.from + agreed - (agreed % this.#size);
      if (end < child.to) child = tree.split(child, end);
      this.#reader.skip(end - child.from);
      this.#meet(child);
      node = child;
    }
    return node;
  }

  /** Grows new nodes for the rest of the way, cut where the row's windows begin or end. */
  #plant(parent: TreeNode, to: number): TreeNode {
    const { tree, chain } = this.#core;
    let node = parent;
    for (const [from, end] of this.#runs(parent.to, to, (index) => this.#windowsAt(index))) {
      node = tree.grow(
        node,
        this.#reader.slice(end - from),
        end - from,
        tree.useOf(chain.steps.clock),
      );
      this.#reader.skip(end - from);
      this.#adopt(node);
    }
    return node;
  }

  /** The row meets a node that stands. */
  #meet(node: TreeNode): void {
    const { pages } = node;
    const first = node.from / this.#size;
    if (pages === null) {
      this.#inPieces(
        node,
        (index) => this.#windowsAt(index),
        (piece) => this.#adopt(piece),
      );
      return;
    }
    if (pages[0] === this.#request.pages[first]) return; // the row's already
    const lacking = this.#windows.filter((band) => !node.windows[band.index]!);
    // A page that waits for a group's end or a transfer is still bound under the node's id: nothing takes its place.
    const serves = (index: number): number =>
      this.#windowsAt(
        index,
        lacking.filter((band) => band.v2p[pages[index - first]!] === 0),
      );
    this.#inPieces(node, serves, (piece, mask) => this.#replace(piece, mask));
  }

  /** A node without pages takes the row's. */
  #adopt(node: TreeNode): void {
    const { tree, chain, config } = this.#core;
    const first = node.from / config.pageSize;
    const pages = this.#request.pages.slice(first, node.to / config.pageSize);
    const mask = this.#windowsAt(first);
    for (const [index, virtual] of pages.entries()) {
      chain.virtual.share(virtual, first + index);
      // A window's pages below its cursor are no longer the row's to keep.
      for (const [at, band] of this.#windows.entries())
        if ((mask & (1 << at)) === 0 && this.#core.isWindowBound(band, virtual))
          this.#core.freeBandPage(band, virtual);
    }
    tree.attach(node, pages, tree.useOf(chain.steps.clock));
    for (const [at, slot] of tree.windows.entries())
      tree.setWindow(node, slot, (mask & (1 << at)) !== 0, tree.useOf(chain.steps.clock));
    this.#newPages += pages.length;
  }

  /** The row takes a node's pages in place of its own. `mask` tells the windows that its own go on serving. */
  #replace(node: TreeNode, mask: number): void {
    const { tree, chain } = this.#core;
    const request = this.#request;
    const first = node.from / this.#size;
    for (const [index, virtual] of (node.pages ?? []).entries()) {
      const at = first + index;
      const own = request.pages[at]!; // checked: bound
      for (const [place, band] of this.#windows.entries()) {
        if ((mask & (1 << place)) === 0) continue;
        band.rename(own, virtual, chain.steps.clock, { request, position: at });
        this.#rehomed[band.index]! += 1;
      }
      this.#core.freeRowPage(request, at);
      request.pages[at] = virtual;
      this.#core.noteShared(request, at);
      this.#duplicates += 1;
    }
    for (const [place, slot] of tree.windows.entries())
      if ((mask & (1 << place)) !== 0)
        tree.setWindow(node, slot, true, tree.useOf(chain.steps.clock));
  }

  /** Windows of the row at one page, a bit each in the tree's order. */
  #windowsAt(index: number, among: readonly Band[] = this.#windows): number {
    let mask = 0;
    for (const [at, band] of this.#windows.entries()) {
      if (!among.includes(band)) continue;
      const isKept = index * this.#size >= this.#request.cursors[band.index]!;
      if (isKept && this.#core.isWindowBound(band, this.#request.pages[index]!)) mask |= 1 << at;
    }
    return mask;
  }

  /** Visits a node in pieces of one mask each, cutting it between them. */
  #inPieces(
    node: TreeNode,
    maskAt: (index: number) => number,
    visit: (piece: TreeNode, mask: number) => void,
  ): void {
    const { tree } = this.#core;
    for (const [, end, mask] of this.#runs(node.from, node.to, maskAt))
      visit(end < node.to ? tree.split(node, end) : node, mask);
  }

  /** Runs of pages with one mask: tokens [from, end) and the mask. */
  #runs(
    from: number,
    to: number,
    maskAt: (index: number) => number,
  ): readonly (readonly [from: number, end: number, mask: number])[] {
    const runs: [number, number, number][] = [];
    for (let at = from; at < to; at += this.#size) {
      const mask = maskAt(at / this.#size);
      const last = runs.at(-1);
      if (last?.[2] === mask) last[1] = at + this.#size;
      else runs.push([at, at + this.#size, mask]);
    }
    return runs;
  }
}
