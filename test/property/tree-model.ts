// A prefix tree written from the rules, as plainly as can be: nodes in one list, tokens one by one, everything searched
// anew each time. It knows virtual ids and slot ids only.
import type { Key } from "../../src/base/operations.js";

export interface ModelWindow {
  readonly name: string;
  readonly window: number; // tokens
}
export interface ModelNode {
  path: readonly string[]; // every token from the root to its end
  from: number;
  to: number;
  ids: number[];
  windows: Set<string>;
  slot: number; // 0 = none
  readonly used: Map<string, number>;
  made: number;
}
interface ModelLock {
  readonly holder: string;
  readonly isOwn: boolean;
  readonly path: readonly string[];
  readonly windowFrom: Map<string, number>;
}
export interface ModelRow {
  readonly name: string;
  ids: number[]; // by page, 0 = none
  allocated: number;
  protected: number;
  readonly cursors: Map<string, number>;
  main: number[];
  track: { slot: number; len: number | null }[];
  trackCursor: number;
  checkpoint: number | null;
}
export interface InsertCounts {
  new_pages: number;
  duplicates: number;
  rehomed: Record<string, number>;
}

export function tokensOf(key: Key): string[] {
  return key.flatMap(([hash, count]) =>
    Array.from({ length: count }, (_, offset) => `${typeof hash}:${hash}@${offset}`),
  );
}

export class TreeModel {
  nodes: ModelNode[] = [];
  locks: ModelLock[] = [];
  readonly rows = new Map<string, ModelRow>();
  /** Ids whose window page is there and not freed, by window; and those that wait for a group's end. */
  readonly bound = new Map<string, Set<number>>();
  readonly waiting = new Map<string, Set<number>>();
  inGroup = false;
  readonly size: number;
  readonly windows: readonly ModelWindow[]; // tree order
  readonly hasState: boolean;
  readonly isJoint: boolean;

  constructor(size: number, windows: readonly ModelWindow[], hasState: boolean, isJoint: boolean) {
    this.size = size;
    this.windows = windows;
    this.hasState = hasState;
    this.isJoint = isJoint;
    for (const { name } of windows) {
      this.bound.set(name, new Set());
      this.waiting.set(name, new Set());
    }
  }

  get slots(): readonly string[] {
    return [
      ...["full"],
      ...this.windows.map(({ name }) => name),
      ...(this.hasState ? ["mamba"] : []),
    ];
  }
  has(node: ModelNode, slot: string): boolean {
    if (slot === "full") return true;
    return slot === "mamba" ? node.slot !== 0 : node.windows.has(slot);
  }

  /** Nodes that a key meets, from the root on, each with the whole pages of tokens up to which it agrees. */
  along(tokens: readonly string[]): { node: ModelNode; to: number }[] {
    return this.nodes
      .map((node) => {
        let agreed = 0;
        while (agreed < node.to && node.path[agreed] === tokens[agreed]) agreed += 1;
        return { node, to: agreed - (agreed % this.size) };
      })
      .filter(({ node, to }) => to > node.from)
      .sort((left, right) => left.node.from - right.node.from);
  }

  /** Whether a slot alone validates at `len` of a key. */
  validates(tokens: readonly string[], slot: string, len: number): boolean {
    const path = this.along(tokens).filter(({ node }) => node.from < len);
    if (slot === "full") return path.some(({ to }) => to >= len);
    if (slot === "mamba")
      return path.some(({ node, to }) => to === len && node.to === len && node.slot !== 0);
    const { window } = this.windows.find(({ name }) => name === slot)!;
    for (let at = Math.max(0, len - window); at < len; at++) {
      const there = path.find(({ node, to }) => node.from <= at && at < to);
      if (there === undefined || !there.node.windows.has(slot)) return false;
    }
    return true;
  }

  match(key: Key): { len: number; slots: Record<string, number> } {
    const tokens = tokensOf(key);
    const ends = [0, ...this.along(tokens).map(({ to }) => to)];
    const best = (slots: readonly string[]): number =>
      Math.max(
        ...ends.filter(
          (len) => len === 0 || slots.every((slot) => this.validates(tokens, slot, len)),
        ),
      );
    return {
      len: best(this.slots),
      slots: Object.fromEntries(this.slots.map((slot) => [slot, best([slot])])),
    };
  }

  /** The nodes from the root to `len`, the last one cut there; null without such a path. */
  pathTo(tokens: readonly string[], len: number): ModelNode[] | null {
    const path = this.along(tokens.slice(0, len));
    if (len % this.size !== 0 || (path.at(-1)?.to ?? 0) !== len) return null;
    const last = path.at(-1)?.node;
    if (last !== undefined && last.to > len) this.split(last, len);
    return this.along(tokens.slice(0, len)).map(({ node }) => node);
  }

  split(node: ModelNode, at: number): void {
    this.nodes.push({
      path: node.path.slice(0, at),
      from: node.from,
      to: at,
      ids: node.ids.slice(0, (at - node.from) / this.size),
      windows: new Set(node.windows),
      slot: 0,
      used: new Map(node.used),
      made: node.made,
    });
    node.ids = node.ids.slice((at - node.from) / this.size);
    node.from = at;
  }

  touch(path: readonly ModelNode[], clock: number): void {
    const end = path.at(-1)?.to ?? 0;
    for (const node of path) {
      node.used.set("full", clock);
      for (const { name, window } of this.windows)
        if (node.to > end - window - this.size) node.used.set(name, clock);
      if (node.to === end) node.used.set("mamba", clock);
    }
  }

  lock(holder: string, path: readonly ModelNode[], isOwn: boolean): void {
    const end = path.at(-1)?.to ?? 0;
    const windowFrom = new Map<string, number>();
    for (const { name, window } of this.windows) {
      const covered = path.filter((node) => node.to > end - window);
      windowFrom.set(name, Math.min(end, ...covered.map(({ from }) => from)));
    }
    this.locks.push({ holder, isOwn, path: path.at(-1)?.path ?? [], windowFrom });
  }
  unlock(holder: string, tokens: readonly string[], len: number): boolean {
    const at = this.locks.findLastIndex(
      (lock) =>
        !lock.isOwn &&
        lock.holder === holder &&
        lock.path.length === len &&
        isPrefix(lock.path, tokens),
    );
    if (at < 0) return false;
    this.locks.splice(at, 1);
    return true;
  }
  count(node: ModelNode, slot: string): number {
    return this.locks.filter(({ path, windowFrom }) => {
      if (!isPrefix(node.path, path)) return false;
      if (slot === "full") return true;
      return slot === "mamba" ? node.to === path.length : node.from >= windowFrom.get(slot)!;
    }).length;
  }

  /** The oldest entry of some slots that may go; of one use the deepest, then the slot that comes first. */
  victim(slots: readonly string[]): { node: ModelNode; slot: string } | null {
    const entries = this.nodes.flatMap((node) =>
      slots
        .filter((slot) => this.has(node, slot) && this.mayGo(node, slot))
        .map((slot) => ({ node, slot })),
    );
    entries.sort(
      (left, right) =>
        left.node.used.get(left.slot)! - right.node.used.get(right.slot)! ||
        right.node.to - left.node.to ||
        left.node.made - right.node.made ||
        this.slots.indexOf(left.slot) - this.slots.indexOf(right.slot),
    );
    return entries[0] ?? null;
  }
  mayGo(node: ModelNode, slot: string): boolean {
    if (slot !== "full") return this.count(node, slot) === 0;
    const isLeaf = !this.nodes.some((other) => other !== node && isPrefix(node.path, other.path));
    return isLeaf && this.slots.every((each) => this.count(node, each) === 0);
  }

  /** Lets an entry go; returns units freed by slot. */
  evict({ node, slot }: { node: ModelNode; slot: string }): Record<string, number> {
    const freed: Record<string, number> = {};
    for (const { name } of this.windows) {
      if ((slot !== "full" && slot !== name) || !node.windows.has(name)) continue;
      freed[name] = node.ids.length;
      for (const id of node.ids) this.freeWindow(name, id);
      node.windows.delete(name);
    }
    if ((slot === "full" || slot === "mamba") && node.slot !== 0) {
      freed["mamba"] = 1;
      node.slot = 0;
    }
    if (slot === "full") {
      freed["full"] = node.ids.length;
      this.nodes.splice(this.nodes.indexOf(node), 1);
    }
    return freed;
  }
  freeWindow(window: string, id: number): void {
    this.bound.get(window)!.delete(id);
    if (this.inGroup) this.waiting.get(window)!.add(id);
  }
  endGroup(): void {
    this.inGroup = false;
    for (const ids of this.waiting.values()) ids.clear();
  }

  /** What evicting everything would free, by slot. */
  evictable(): Record<string, number> {
    const sums = Object.fromEntries(this.slots.map((slot) => [slot, 0]));
    for (const node of this.nodes)
      for (const slot of this.slots) {
        const isFree =
          slot === "full"
            ? this.slots.every((each) => this.count(node, each) === 0)
            : this.count(node, slot) === 0;
        if (this.has(node, slot) && isFree) sums[slot]! += slot === "mamba" ? 1 : node.ids.length;
      }
    return sums;
  }

  /** An insert whose rules hold. Returns counts and the virtual ids freed, in order. */
  insert(
    row: ModelRow,
    key: Key,
    len: number,
    clock: number,
  ): InsertCounts & { freed: number[]; path: ModelNode[] } {
    const to = len - (len % this.size);
    const tokens = tokensOf(key).slice(0, to);
    const result: InsertCounts & { freed: number[] } = {
      new_pages: 0,
      duplicates: 0,
      rehomed: {},
      freed: [],
    };
    const known = this.along(tokens).at(-1)?.to ?? 0;
    if (known > 0) this.pathTo(tokens, known);
    for (const { node } of this.along(tokens)) this.#replace(row, node, result, clock);
    let last: { node: ModelNode; mask: string } | null = null;
    for (let at = known; at < to; at += this.size) {
      const id = row.ids[at / this.size]!;
      const windows = this.#kept(row, at);
      for (const { name } of this.windows)
        if (!windows.includes(name) && this.bound.get(name)!.has(id)) this.freeWindow(name, id);
      const path = tokens.slice(0, at + this.size);
      if (last?.mask === windows.join()) {
        Object.assign(last.node, { path, to: at + this.size });
        last.node.ids.push(id);
      } else {
        const used = new Map(this.slots.map((slot) => [slot, clock]));
        const node: ModelNode = {
          path,
          from: at,
          to: at + this.size,
          ids: [id],
          windows: new Set(windows),
          slot: 0,
          used,
          made: clock,
        };
        this.nodes.push(node);
        last = { node, mask: windows.join() };
      }
      result.new_pages += 1;
    }
    const path = this.pathTo(tokens, to)!;
    if (to > row.protected) {
      this.locks = this.locks.filter(({ holder, isOwn }) => !isOwn || holder !== row.name);
      this.lock(row.name, path, true);
      row.protected = to;
      for (const [name, cursor] of row.cursors) row.cursors.set(name, Math.max(cursor, to));
    }
    this.touch(path, clock);
    return { ...result, path };
  }

  #replace(
    row: ModelRow,
    node: ModelNode,
    result: InsertCounts & { freed: number[] },
    clock: number,
  ): void {
    if (row.ids[node.from / this.size] === node.ids[0]) return;
    const masks = node.ids.map((id, index) => {
      const at = node.from + index * this.size;
      return this.#kept(row, at).filter(
        (name) => !node.windows.has(name) && !this.waiting.get(name)!.has(id),
      );
    });
    for (const [index, id] of node.ids.entries()) {
      const place = node.from / this.size + index;
      const own = row.ids[place]!;
      for (const name of masks[index]!) {
        this.bound.get(name)!.delete(own);
        this.bound.get(name)!.add(id);
        result.rehomed[name] = (result.rehomed[name] ?? 0) + 1;
      }
      for (const { name } of this.windows)
        if (this.bound.get(name)!.has(own)) this.freeWindow(name, own);
      result.freed.push(own);
      result.duplicates += 1;
      row.ids[place] = id;
    }
    const from = node.from;
    for (let index = 1; index < masks.length; index++)
      if (masks[index]!.join() !== masks[index - 1]!.join())
        this.split(node, from + index * this.size);
    for (const piece of this.nodes) {
      if (!isPrefix(piece.path, node.path) || piece.from < from) continue;
      for (const name of masks[(piece.from - from) / this.size]!) {
        piece.windows.add(name);
        piece.used.set(name, clock);
      }
    }
  }

  /** Windows that a row keeps at a page: bound, and not below its cursor. */
  #kept(row: ModelRow, at: number): string[] {
    return this.windows
      .map(({ name }) => name)
      .filter(
        (name) =>
          at >= row.cursors.get(name)! && this.bound.get(name)!.has(row.ids[at / this.size]!),
      );
  }
}

function isPrefix(prefix: readonly string[], tokens: readonly string[]): boolean {
  return prefix.length <= tokens.length && prefix.every((token, index) => token === tokens[index]);
}
