// What is cached under which tokens, page by page: a node is one page of a path. Where an allocator cuts its nodes does not
// show, so nothing here is ever split. A node without an id stands for what is on the host alone, or for nothing.
import type { Key } from "../../base/operations.js";
import type { BandBook } from "./band-book.js";

/** One page of a path. @internal */
export interface PageNode {
  readonly parent: PageNode | null;
  readonly label: string;
  readonly page: number; // from 0; the root has -1
  readonly children: Map<string, PageNode>;
  id: number; // virtual id cached here, 0 = none
  state: number; // slot with the state after this page, 0 = none
  readonly locks: number[]; // by band index
  pins: number; // by locks and open loads: the node stays, whatever it holds
}

/** A lock of the path to a node. @internal */
export interface PathLock {
  readonly node: PageNode;
}

/** One label a whole page: two keys share a page exactly if its labels agree. @internal */
export function pageLabels(key: Key, pageSize: number, most: number = Infinity): string[] {
  const labels: string[] = [];
  if (most <= 0) return labels;
  let label = "";
  let room = pageSize;
  for (const [hash, tokens] of key) {
    const name = JSON.stringify(hash);
    for (let offset = 0; offset < tokens;) {
      const run = Math.min(room, tokens - offset);
      label += `${name}:${offset}+${run},`;
      offset += run;
      room -= run;
      if (room > 0) continue;
      labels.push(label);
      if (labels.length >= most) return labels;
      label = "";
      room = pageSize;
    }
  }
  return labels;
}

/** The tree. @internal */
export class PageTree {
  readonly root: PageNode;
  readonly pageOf: Map<number, PageNode> = new Map(); // by virtual id
  readonly stateOf: Map<number, PageNode> = new Map(); // by slot
  readonly #bands: readonly BandBook[];
  readonly #pageSize: number;

  constructor(bands: readonly BandBook[], pageSize: number) {
    this.#bands = bands;
    this.#pageSize = pageSize;
    this.root = this.#node(null, "");
  }

  /** Nodes on the way of the labels that are known here. */
  walk(labels: readonly string[]): PageNode[] {
    const path: PageNode[] = [];
    let node = this.root;
    for (const label of labels) {
      const child = node.children.get(label);
      if (child === undefined) break;
      path.push(child);
      node = child;
    }
    return path;
  }
  /** The whole way, with nodes made where there is none. */
  reach(labels: readonly string[]): PageNode[] {
    const path = this.walk(labels);
    let node = path.at(-1) ?? this.root;
    for (const label of labels.slice(path.length)) {
      const child = this.#node(node, label);
      node.children.set(label, child);
      path.push(child);
      node = child;
    }
    return path;
  }

  setPage(node: PageNode, id: number): void {
    node.id = id;
    this.pageOf.set(id, node);
  }
  dropPage(id: number): PageNode | undefined {
    const node = this.pageOf.get(id);
    if (node === undefined) return undefined;
    this.pageOf.delete(id);
    node.id = 0;
    return node;
  }
  setState(node: PageNode, slot: number): void {
    node.state = slot;
    this.stateOf.set(slot, node);
  }
  dropState(slot: number): PageNode | undefined {
    const node = this.stateOf.get(slot);
    if (node === undefined) return undefined;
    this.stateOf.delete(slot);
    node.state = 0;
    return node;
  }

  /** Locks full to the root, each window over its last tokens, the state at the end. */
  lock(node: PageNode): PathLock {
    this.#count({ node }, 1);
    return { node };
  }
  unlock(lock: PathLock): void {
    this.#count(lock, -1);
    this.prune(lock.node);
  }
  #count({ node }: PathLock, sign: 1 | -1): void {
    const end = (node.page + 1) * this.#pageSize;
    for (let at: PageNode | null = node; at !== null; at = at.parent) {
      at.pins += sign;
      for (const band of this.#bands) {
        const isLocked = band.isState
          ? at === node
          : !band.isWindow || (at.page + 1) * this.#pageSize > end - band.window;
        if (isLocked) at.locks[band.index]! += sign; // one count a band
      }
    }
  }

  /** Forgets the end of a branch that holds nothing. */
  prune(node: PageNode): void {
    let at = node;
    while (at.parent !== null && isEmptyLeaf(at)) {
      at.parent.children.delete(at.label);
      at = at.parent;
    }
  }

  #node(parent: PageNode | null, label: string): PageNode {
    const page = parent === null ? -1 : parent.page + 1;
    const locks = this.#bands.map(() => 0);
    return { parent, label, page, children: new Map(), id: 0, state: 0, locks, pins: 0 };
  }
}

function isEmptyLeaf(node: PageNode): boolean {
  return node.children.size === 0 && node.id === 0 && node.state === 0 && node.pins === 0;
}
