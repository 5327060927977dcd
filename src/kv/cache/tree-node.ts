// A node of the prefix tree: a run of whole pages below its parent's, with one slot a sub-pool. A node holds virtual ids
// and slot ids only, so pages move without the tree's knowing.
import { type KeyPiece, KeyReader, textOf } from "./tree-key.js";

/** One node. `[bands]` lists are by the band's place in the chain. Only the tree changes a node (`PrefixTree`). @internal */
export class TreeNode {
  key: readonly KeyPiece[]; // tokens [from, to)
  from: number; // tokens, page-aligned
  readonly to: number; // tokens, page-aligned, above `from`; the root has 0
  readonly pageHashes: number[]; // by page: hash of the whole path up to its end; digests name pages and nodes by it
  parent: TreeNode | null;
  readonly children = new Map<string, TreeNode>(); // by the text of the child's first page
  readonly made: number; // number of the use that made it; both halves of a split keep it
  /** Virtual ids, one a page; null where the node is not on the device. On the device its parent is too. */
  pages: number[] | null = null;
  readonly windows: boolean[]; // [bands] whether the window's pages are bound to `pages`; false for other bands
  slot = 0; // state slot id, 0 = none; the state at `to`
  readonly locks: number[]; // [bands] lock counts
  readonly used: number[]; // [bands] number of the last use of this slot
  /** [bands] Host pages, one a page, for the state band one; null = no host copy, or one not finished. */
  readonly host: (readonly number[] | null)[];
  hostLocks = 0; // holders of its host copies
  readonly previous: (TreeNode | null)[]; // [bands] neighbours in the order of last use
  readonly next: (TreeNode | null)[];

  constructor(shape: {
    readonly bands: number;
    readonly key: readonly KeyPiece[];
    readonly from: number;
    readonly to: number;
    readonly pageHashes: number[];
    readonly parent: TreeNode | null;
    readonly made: number;
  }) {
    const each = <T>(value: T): T[] => new Array<T>(shape.bands).fill(value);
    this.key = shape.key;
    this.from = shape.from;
    this.to = shape.to;
    this.pageHashes = shape.pageHashes;
    this.parent = shape.parent;
    this.made = shape.made;
    this.windows = each(false);
    this.locks = each(0);
    this.used = each(0);
    this.host = each<readonly number[] | null>(null);
    this.previous = each<TreeNode | null>(null);
    this.next = each<TreeNode | null>(null);
  }

  /** Names the node in digests: a hash of the path up to its end. */
  get pathHash(): number {
    return this.pageHashes.at(-1) ?? 0;
  }
  get isRoot(): boolean {
    return this.parent === null;
  }
  get isOnDevice(): boolean {
    return this.pages !== null;
  }
  /** Whether any slot has a host copy. */
  get hasHost(): boolean {
    return this.host.some((pages) => pages !== null);
  }
  /** Whether any slot is locked. */
  get isLocked(): boolean {
    return this.locks.some((count) => count > 0);
  }
  /** Whether no child is on the device. */
  get isDeviceLeaf(): boolean {
    for (const child of this.children.values()) if (child.isOnDevice) return false;
    return true;
  }

  /** The child that shares at least the key's next page, or null. */
  childFor(key: KeyReader, pageTokens: number): TreeNode | null {
    if (key.left < pageTokens) return null;
    return this.children.get(textOf(key.slice(pageTokens))) ?? null;
  }

  /**
   * Cuts the node at token `at`, a page's start inside it. The upper half is a new node between the parent and this one,
   * which keeps its end. Only keys and pages are cut here; slots and locks are the tree's (`PrefixTree.split`).
   */
  split(at: number, pageTokens: number): TreeNode {
    const reader = new KeyReader(this.key);
    const key = reader.slice(at - this.from);
    const pages = (at - this.from) / pageTokens;
    const upper = new TreeNode({
      bands: this.locks.length,
      key,
      from: this.from,
      to: at,
      pageHashes: this.pageHashes.splice(0, pages),
      parent: this.parent,
      made: this.made,
    });
    this.parent?.children.set(textOf(reader.slice(pageTokens)), upper);
    reader.skip(at - this.from);
    this.key = reader.slice(this.to - at);
    this.from = at;
    this.parent = upper;
    upper.children.set(textOf(reader.slice(pageTokens)), this);
    if (this.pages !== null) upper.pages = this.pages.splice(0, pages);
    return upper;
  }
}
