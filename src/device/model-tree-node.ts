// A node of the simulated device's prefix tree: what is cached of a run of pages, on the device and on the host.
import { append } from "../base/append.js";
import type { HostHome, HostPage } from "./model-host.js";
import type { BandPages } from "./model-pages.js";
import type { Tokens } from "./model-tokens.js";

/** Keeps a path in the tree, from the root to `end`. @internal */
export interface ModelLock {
  readonly holder: string;
  readonly pages: number; // of the path
  readonly end: ModelNode;
  readonly operation: number; // that took it
}

/** A run of pages. @internal */
export class ModelNode implements HostHome {
  parent: ModelNode | null;
  tokens: Tokens;
  firstPage: number; // pages before this node
  virtual: number[]; // virtual page by page, 0 where the device holds none
  state = 0; // slot that holds the state after the node's last token, 0 = none
  readonly children = new Map<string, ModelNode>(); // by the name of the first page
  readonly locks = new Set<ModelLock>(); // of all paths that run through this node to its end

  readonly #host = new Map<number, Map<number, HostPage>>(); // by band index, by page from the root

  constructor(parent: ModelNode | null, tokens: Tokens, firstPage: number, virtual: number[]) {
    this.parent = parent;
    this.tokens = tokens;
    this.firstPage = firstPage;
    this.virtual = virtual;
  }
  /** Pages from the root to this node's end. */
  get endPage(): number {
    return this.firstPage + this.virtual.length;
  }

  /** The host copy of a page in a band (the state's: at the last page), undefined where there is none. */
  hostAt(band: BandPages, page: number): HostPage | undefined {
    const host = this.#host.get(band.index)?.get(page);
    return host?.isGone === false ? host : undefined;
  }
  setHost(page: number, host: HostPage): void {
    host.home = this;
    host.position = page;
    const pages = this.#host.get(host.band.index);
    if (pages === undefined) this.#host.set(host.band.index, new Map([[page, host]]));
    else pages.set(page, host);
  }
  /** Every host copy from a page on. */
  hostFrom(page: number): readonly HostPage[] {
    const found: HostPage[] = [];
    for (const pages of this.#host.values())
      for (const [at, host] of pages) if (at >= page && !host.isGone) found.push(host);
    return found;
  }
  hostBehind(page: number): readonly HostPage[] {
    const found = [...this.hostFrom(page)];
    for (const child of this.children.values()) append(found, child.hostBehind(0));
    return found;
  }
  get hasHost(): boolean {
    return this.#host.size > 0 && this.hostFrom(this.firstPage).length > 0;
  }
  /** Hands the host copies of the first `count` pages over. */
  splitHost(upper: ModelNode, count: number): void {
    const end = this.firstPage + count;
    for (const pages of this.#host.values()) {
      for (const [at, host] of pages) {
        if (at >= end) continue;
        upper.setHost(at, host);
        pages.delete(at);
      }
    }
  }
}
