// Drives the host cache together with the prefix tree. What a page of a key holds follows from the key alone, so that
// whoever computed it, copied it or loaded it back must find the same.
import { expect } from "vitest";
import { countOf, expand, expandHost, hostExtents, toExtents } from "../../src/base/extents.js";
import type { DirectConfig, Extents, PageLists } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import type { RowState, State } from "../../src/base/state.js";
import { configOf, type Expected, HostDriver } from "./host-driver.js";
import type { Counts } from "./sweep.js";

/** One node of a state's tree with its whole path. */
interface Node {
  readonly path: readonly number[]; // tokens from the root to the node's end
  readonly from: number;
  readonly to: number;
  readonly slots: Readonly<Record<string, { readonly pages: Extents; readonly host: Extents }>>;
}
interface KeyLoad {
  readonly path: readonly number[]; // tokens
  readonly positions: Readonly<Record<string, readonly number[]>>; // page positions by band; of state none
  readonly hasState: boolean;
  isDisturbed: boolean; // something else changed the tree meanwhile
}

function treeConfigOf(seed: number): DirectConfig {
  const prng = new Prng(seed, 3);
  const { host: _host, ...config } = configOf(seed);
  const hasState = config.sub_pools.some(({ kind }) => kind === "state");
  return {
    ...config,
    arena_bytes: prng.between(500, 1500),
    rows: 9,
    prefix_sharing: true,
    ...(hasState ? { checkpoint: { strategy: "no_buffer" as const } } : {}),
    host: {
      full: prng.between(4, 30),
      window_8: prng.between(3, 20),
      window_4: prng.between(3, 12),
      mamba: prng.between(1, 6),
    },
  };
}

export class HostTreeDriver extends HostDriver {
  readonly keyed = new Map<string, readonly number[]>(); // request → its tokens
  readonly keyLoads = new Map<string, KeyLoad>(); // by load, later by copy
  readonly locks: { key: [number, number][]; len: number; req: string }[] = [];
  readonly #stamps = new Map<string, number>();
  readonly #bases: readonly (readonly number[])[];

  constructor(seed: number, counts: Counts) {
    super(seed, counts, treeConfigOf(seed));
    this.#bases = Array.from({ length: 3 }, () => this.#tokens([], 40));
  }

  #tokens(start: readonly number[], length: number): number[] {
    return [
      ...start,
      ...Array.from({ length: length - start.length }, () => this.prng.between(1, 3)),
    ];
  }
  /** A key that shares a beginning with others. */
  #drawKey(): readonly number[] {
    const base = this.pick(this.#bases)!;
    return this.prng.chance(1, 2) ? base : this.#tokens(base.slice(0, this.prng.below(30)), 40);
  }
  #key(tokens: readonly number[]): [number, number][] {
    return tokens.map((token): [number, number] => [token, 1]);
  }

  /** What a band holds of the path: the page that ends behind `tokens`, or the state there. */
  #stampOf(band: string, tokens: readonly number[]): number {
    const name = `${band}:${tokens.join("")}`;
    let stamp = this.#stamps.get(name);
    if (stamp === undefined) this.#stamps.set(name, (stamp = this.memory.stamp()));
    return stamp;
  }
  #pageStamp(band: string, path: readonly number[], position: number): number {
    return this.#stampOf(band, path.slice(0, (position + 1) * this.size));
  }

  /** The tree's nodes of a state, parents before children. */
  #nodes(state: State): Node[] {
    const nodes: Node[] = [];
    let path: number[] = [];
    for (const entry of state.tree as readonly {
      key: readonly (readonly [number, number, number])[];
      from: number;
      to: number;
      slots: Node["slots"];
    }[]) {
      path = path.slice(0, entry.from);
      for (const [hash] of entry.key) path.push(hash);
      if (entry.to > 0) nodes.push({ ...entry, path: [...path] });
    }
    return nodes;
  }

  protected override cachedHost(state: State): readonly PageLists[] {
    return this.#nodes(state).map(({ slots }) =>
      Object.fromEntries(Object.entries(slots).map(([band, { host }]) => [band, host])),
    );
  }

  override check(where: string): void {
    super.check(where);
    const state = this.storage.state();
    const placed = this.placed(state);
    const parents = new Map<string, Node>();
    for (const node of this.#nodes(state)) {
      for (const [band, { pages, host }] of Object.entries(node.slots)) {
        const first = node.from / this.size;
        const wanted = (index: number): number =>
          band === "mamba"
            ? this.#stampOf(band, node.path)
            : this.#pageStamp(band, node.path, first + index);
        for (const [index, id] of expand(pages).entries())
          expect(
            this.memory.settled(band, placed.get(band)!.get(id)!),
            `${where}: tree ${band} ${node.path.join("")}`,
          ).toBe(wanted(index));
        for (const [index, page] of expandHost(host).entries())
          expect(
            this.memory.read(this.memory.host, band, page),
            `${where}: host ${band} ${node.path.join("")}`,
          ).toBe(wanted(index));
      }
      const parent = parents.get(node.path.slice(0, node.from).join(""));
      if (parent !== undefined && countOf(node.slots["full"]!.pages) > 0)
        expect(
          countOf(parent.slots["full"]!.pages),
          `${where}: a parent off the device`,
        ).toBeGreaterThan(0);
      parents.set(node.path.join(""), node);
    }
    for (const [req, path] of this.keyed) {
      const row = state.rows[req]!;
      for (const [position, id] of expand(row["x_pages"] as Extents).entries()) {
        if (id === 0) continue;
        const isOwn = position >= row.protected / this.size;
        for (const band of isOwn ? [...this.windows, "full"] : ["full"]) {
          const page = placed.get(band)!.get(id);
          if (page !== undefined)
            expect(this.memory.settled(band, page), `${where}: ${req} ${band} ${position}`).toBe(
              this.#pageStamp(band, path, position),
            );
        }
      }
    }
  }

  openKeyed(): void {
    const req = this.name("r");
    if (this.do("row.alloc", { reqs: [req] }).ok === undefined) return;
    this.keyed.set(req, this.#drawKey());
    if (this.prng.chance(2, 3)) this.match(req);
  }

  match(req: string | null): void {
    const path = req === null ? this.#drawKey() : this.keyed.get(req)!;
    if (req !== null && this.allocatedOf(req) > 0) return;
    const key = this.#key(path.slice(0, this.prng.between(1, 40)));
    this.do("tree.match", { key, ...(req === null ? {} : { req }) });
  }

  extendKeyed(req = this.pick(this.keyed.keys()), end = 0): void {
    if (req === undefined) return;
    const path = this.keyed.get(req)!;
    const from = this.allocatedOf(req);
    const to = Math.max(end, Math.min(40, from + this.prng.between(1, 12)));
    const answer = this.do("tokens.extend", { batch: [{ req, from, to }] });
    const pages = (answer.ok as { pages: Record<string, PageLists> } | undefined)?.pages[req];
    if (pages === undefined) return;
    for (const [index] of expand(pages["virtual"]!).entries()) {
      const position = Math.ceil(from / this.size) + index;
      for (const band of [...this.windows, "full"]) {
        const page = expand(pages[band]!)[index]!;
        this.memory.write(this.memory.device, band, page, this.#pageStamp(band, path, position));
      }
    }
  }

  retireKeyed(): void {
    const req = this.pick(this.keyed.keys());
    if (req === undefined || this.windows.length === 0) return;
    this.do("window.retire", { req, len: this.allocatedOf(req) });
  }

  slotKeyed(req = this.pick(this.keyed.keys())): void {
    if (req === undefined || !this.hasState) return;
    if (((this.storage.state().rows[req] as RowState).slots["main"] ?? []).length > 0) return;
    const answer = this.do("state.alloc", { req, count: 1, purpose: "main" });
    if (answer.ok === undefined) return;
    const [[page]] = (answer.ok as unknown as { mamba: [[number]] }).mamba;
    this.memory.write(this.memory.device, "mamba", page, this.memory.stamp());
  }

  insertKeyed(): void {
    const req = this.pick(this.keyed.keys());
    if (req === undefined) return;
    const key = this.#key(this.keyed.get(req)!);
    const len = this.allocatedOf(req);
    if (this.do("tree.insert", { req, key, len }).ok !== undefined) this.#disturb();
  }

  finishKeyed(req = this.pick(this.keyed.keys())): void {
    if (req === undefined) return;
    const path = this.keyed.get(req)!;
    const len = this.allocatedOf(req);
    const state = this.storage.state();
    const slots = expand((state.rows[req] as RowState).slots["main"] ?? []);
    // The last forward left the state at `len` in the main slot.
    if (slots.length > 0)
      this.memory.write(
        this.memory.device,
        "mamba",
        this.placed(state).get("mamba")!.get(slots[0]!)!,
        this.#stampOf("mamba", path.slice(0, len)),
      );
    const answer = this.do("request.finish", {
      req,
      len,
      insert: this.prng.chance(4, 5),
      key: this.#key(path),
    });
    if (answer.ok === undefined) return;
    this.keyed.delete(req);
    this.#disturb();
  }

  /** A keyed request retracts like any other: what its row holds now must come back. */
  retractKeyed(): void {
    const req = this.pick(this.keyed.keys());
    if (req === undefined) return;
    const state = this.storage.state();
    const placed = this.placed(state);
    const row = state.rows[req] as RowState;
    const expected: Expected = { pages: new Map(), slots: [] };
    for (const [position, id] of expand(row["x_pages"] as Extents).entries()) {
      const stamps = new Map<string, number>();
      for (const band of [...this.windows, "full"]) {
        const page = placed.get(band)!.get(id);
        if (page !== undefined) stamps.set(band, this.memory.settled(band, page));
      }
      expected.pages.set(position, stamps);
    }
    for (const slot of expand(row.slots["main"] ?? []))
      expected.slots.push(this.memory.settled("mamba", placed.get("mamba")!.get(slot)!));
    if (this.#isUnsettled(req, state)) return;
    const copy = this.name("c");
    const answer = this.do("request.retract", { req, backup: copy });
    if (answer.ok === undefined) return;
    this.keyed.delete(req);
    const { host } = answer.ok as { host: PageLists };
    this.copies.set(copy, { kind: "retract", host, row: expected, req });
  }

  /** Whether a load or a group leaves some window page of the row in between. */
  #isUnsettled(req: string, state: State): boolean {
    const { protected: shared } = state.rows[req] as RowState;
    return this.isGroupOpen || (shared > 0 && this.keyLoads.size > 0);
  }

  lock(): void {
    const path = this.#drawKey();
    const key = this.#key(path);
    const len = this.prng.below(14) * this.size;
    const req = this.pick(["a", "b"])!;
    if (this.do("tree.lock", { key, len, req }).ok !== undefined)
      this.locks.push({ key, len, req });
  }
  unlock(): void {
    const lock = this.locks.splice(this.prng.below(this.locks.length + 1), 1)[0];
    if (lock !== undefined) expect(this.do("tree.unlock", lock).err).toBeUndefined();
  }

  evict(): void {
    const units: Record<string, number | "all"> = {};
    for (const { name } of this.config.sub_pools)
      if (this.prng.chance(1, 2))
        units[name] = this.prng.chance(1, 3) ? "all" : this.prng.between(1, 6);
    this.do("tree.evict", { units });
    this.#disturb();
  }

  backup(): void {
    const nodes = this.#nodes(this.storage.state());
    const lacking = nodes.filter(({ slots }) => countOf(slots["full"]!.host) === 0);
    const node = this.pick(lacking.length > 0 && this.prng.chance(4, 5) ? lacking : nodes);
    const path = this.prng.chance(1, 6) ? this.#drawKey() : (node?.path ?? []);
    const pages = Math.floor(path.length / this.size);
    const len = (this.prng.chance(1, 4) ? this.prng.between(0, pages) : pages) * this.size;
    const copy = this.name("c");
    const answer = this.do("host.backup", { copy, key: this.#key(path), len });
    if (answer.ok === undefined) return;
    this.#expectChildrenFirst(nodes);
    const { host } = answer.ok as { host: PageLists };
    this.copies.set(copy, { kind: "backup", host, row: null, req: null });
  }

  /** What the path to `len` lacks on the device, from the tree's state alone. */
  #lacking(path: readonly number[], len: number): KeyLoad | null {
    const nodes = this.#nodes(this.storage.state()).filter(
      (node) => node.from < len && node.path.slice(0, len).every((token, at) => token === path[at]),
    );
    if (Math.max(0, ...nodes.map(({ to }) => to)) < len) return null;
    const positions: Record<string, number[]> = {};
    let hasState = false;
    for (const { name, window, kind } of this.config.sub_pools) {
      positions[name] = [];
      for (const node of nodes) {
        const { pages, host } = node.slots[name]!;
        if (kind === "state") {
          if (node.to < len || (node.to === len && countOf(pages) > 0)) continue;
          if (node.to > len || countOf(host) === 0) return null;
          hasState = true;
          continue;
        }
        const start = window === undefined ? 0 : Math.floor((len - (window ?? 0)) / this.size);
        for (let at = node.from / this.size; at < Math.min(node.to, len) / this.size; at++) {
          if (at < start || countOf(pages) > 0) continue;
          if (countOf(host) === 0) return null;
          positions[name].push(at);
        }
      }
    }
    return { path: path.slice(0, len), positions, hasState, isDisturbed: false };
  }

  reserveKey(): void {
    const nodes = this.#nodes(this.storage.state());
    const hosted = nodes.filter(
      ({ slots }) => countOf(slots["full"]!.pages) === 0 || this.prng.chance(1, 6),
    );
    const node = this.pick(hosted.length > 0 && this.prng.chance(5, 6) ? hosted : nodes);
    const path = node?.path ?? this.#drawKey();
    const pages = Math.floor(path.length / this.size);
    const len = (this.prng.chance(1, 4) ? this.prng.between(0, pages) : pages) * this.size;
    const lacking = this.#lacking(path, len);
    const load = this.name("l");
    const answer = this.do("host.load_reserve", { load, key: this.#key(path), len });
    if (lacking === null) {
      const rule = answer.err?.rule;
      expect(["no_node_at_len", "take_between_launch_and_record"]).toContain(rule);
    }
    if (answer.ok === undefined) return;
    const { pages: taken } = answer.ok as { pages: PageLists };
    for (const [band, wanted] of Object.entries(lacking!.positions))
      expect(countOf(taken[band] ?? []), `${load} ${band}`).toBe(
        band === "mamba" ? (lacking!.hasState ? 1 : 0) : wanted.length,
      );
    expect(countOf(taken["virtual"] ?? [])).toBe(lacking!.positions["full"]!.length);
    this.keyLoads.set(load, lacking!);
    this.loads.set(load, { pages: taken, req: null, from: 0 });
  }

  protected override isKeyLoad(load: string): boolean {
    return this.keyLoads.has(load);
  }

  override bind(): void {
    const load = this.pick(
      [...this.keyLoads.keys()].filter((name) => this.loads.get(name)?.req === null),
    );
    if (load === undefined || this.prng.chance(1, 3)) {
      super.bind();
      return;
    }
    const answer = this.do("host.load_bind", { load });
    if (answer.ok === undefined) return;
    const { bound } = answer.ok as { bound: PageLists };
    const record = this.loads.get(load)!;
    // Window pages that found no name stay fixed; for the books of this driver they are taken as they are.
    const left: Record<string, Extents> = {};
    for (const band of this.windows) {
      const named = new Set(expand(bound[band] ?? []));
      left[band] = toExtents(expand(record.pages[band] ?? []).filter((page) => !named.has(page)));
    }
    this.loads.set(load, { ...record, req: `key ${load}`, fixed: left });
  }

  override submit(load = this.pick(this.loads.keys())): void {
    const path = load === undefined ? undefined : this.keyLoads.get(load);
    if (load === undefined || path === undefined) {
      super.submit(load);
      return;
    }
    const copy = this.name("c");
    const record = this.loads.get(load)!;
    const nodes = this.#nodes(this.storage.state());
    const host: Record<string, Extents> = {};
    for (const [band, positions] of Object.entries(path.positions)) {
      const pages = positions.map((position) => this.#hostPage(nodes, path.path, band, position));
      host[band] = hostExtents(pages);
    }
    if (path.hasState) {
      const node = nodes.find((entry) => entry.path.join("") === path.path.join(""))!;
      host["mamba"] = node.slots["mamba"]!.host;
    }
    const answer = this.do("host.load_submit", { load, copy }, host);
    const isBound =
      record.req !== null || this.windows.every((band) => path.positions[band]!.length === 0);
    if (!isBound) expect(answer.err?.rule).toBe("name_state");
    if (answer.ok === undefined) return;
    this.loads.delete(load);
    this.keyLoads.delete(load);
    this.keyLoads.set(copy, path);
    this.copies.set(copy, {
      kind: "load",
      host: {},
      row: null,
      req: null,
      fixed: record.fixed ?? {},
    });
  }

  #hostPage(
    nodes: readonly Node[],
    path: readonly number[],
    band: string,
    position: number,
  ): number {
    const at = position * this.size;
    const node = nodes.find(
      (entry) =>
        entry.from <= at &&
        entry.to > at &&
        entry.path
          .slice(0, Math.min(entry.to, path.length))
          .every((token, index) => token === path[index]),
    )!;
    return expandHost(node.slots[band]!.host)[position - node.from / this.size]!;
  }

  override cancel(load: string, before: State | null = null): void {
    super.cancel(load, before);
    if (!this.loads.has(load)) this.keyLoads.delete(load);
  }

  override endCopyIn(outcome: "ok" | "failed"): void {
    const before = new Set(this.copies.keys());
    super.endCopyIn(outcome);
    for (const name of before) {
      const path = this.keyLoads.get(name);
      if (this.copies.has(name) || path === undefined) continue;
      this.keyLoads.delete(name);
      if (outcome === "ok" && !path.isDisturbed) {
        const answer = this.do("tree.match", { key: this.#key(path.path) });
        expect((answer.ok as { len: number }).len, `${name} is loaded`).toBe(path.path.length);
        this.counts["loaded"] = (this.counts["loaded"] ?? 0) + 1;
      }
      if (outcome === "ok") this.#disturb();
    }
  }

  #disturb(): void {
    for (const load of this.keyLoads.values()) load.isDisturbed = true;
  }

  evictHost(): void {
    const demand: Record<string, number> = {};
    for (const band of Object.keys(this.config.host!))
      if (this.prng.chance(1, 2)) demand[band] = this.prng.between(0, 8);
    const nodes = this.#nodes(this.storage.state());
    if (this.do("host.evict", { demand }).ok !== undefined) this.#expectChildrenFirst(nodes);
  }

  /** No host copy went while a child's stayed. @param before - the nodes before the eviction */
  #expectChildrenFirst(before: readonly Node[]): void {
    const isHosted = ({ slots }: Node): boolean => countOf(slots["full"]!.host) > 0;
    const left = this.#nodes(this.storage.state()).filter(isHosted);
    for (const gone of before.filter(isHosted)) {
      const text = gone.path.join(",");
      if (left.some(({ path }) => path.join(",") === text)) continue;
      const below = left.find(({ path }) => path.join(",").startsWith(`${text},`));
      expect(below, `the copy of ${text} went before one below it`).toBeUndefined();
    }
  }

  /** Somebody computes anew what is being loaded, and is first to put it into the tree. */
  rival(): void {
    const load = this.pick(this.keyLoads.values());
    const req = this.name("r");
    if (load === undefined || this.do("row.alloc", { reqs: [req] }).ok === undefined) return;
    this.keyed.set(req, load.path.length === 40 ? load.path : this.#tokens(load.path, 40));
    this.extendKeyed(req, Math.min(40, load.path.length + this.prng.below(3)));
    this.slotKeyed(req);
    this.finishKeyed(req);
  }

  discard(): void {
    const answer = this.do("contents.discard", {});
    if (answer.ok === undefined) return;
    expect(this.storage.state().tree).toEqual([]);
    this.kept.clear();
  }

  protected override empty(): void {
    for (const req of this.keyed.keys()) this.do("request.finish", { req, len: 0, insert: false });
    while (this.locks.length > 0) this.unlock();
    expect(this.do("contents.discard", {}).err).toBeUndefined();
    this.kept.clear();
  }

  protected override moves(): readonly (readonly [number, () => void])[] {
    return [
      ...super.moves(),
      [25, () => this.openKeyed()],
      [50, () => this.extendKeyed()],
      [6, () => this.retireKeyed()],
      [25, () => this.slotKeyed()],
      [5, () => this.insertKeyed()],
      [25, () => this.finishKeyed()],
      [5, () => this.retractKeyed()],
      [6, () => this.match(null)],
      [12, () => this.rival()],
      [3, () => this.lock()],
      [3, () => this.unlock()],
      [14, () => this.evict()],
      [35, () => this.backup()],
      [40, () => this.reserveKey()],
      [30, () => this.bind()],
      [30, () => this.submit()],
      [25, () => this.endCopyOut(this.prng.chance(1, 5) ? "failed" : "ok")],
      [25, () => this.endCopyIn(this.prng.chance(1, 4) ? "failed" : "ok")],
      [5, () => this.evictHost()],
      [1, () => this.discard()],
    ];
  }
}
