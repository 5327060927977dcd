// A seeded story of requests that share prefixes, played on the allocator and on the plain model side by side: every
// answer and the whole tree are compared after every operation.
import { expect } from "vitest";
import { expand } from "../../src/base/extents.js";
import type {
  Answer,
  BootOk,
  Demand,
  DirectConfig,
  Extents,
  Key,
  KvOperation,
  PageLists,
} from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import type { BandState, State } from "../../src/base/state.js";
import { ModelDevice } from "../../src/device/model.js";
import { KVStorage } from "../../src/kv/storage.js";
import { type Layout, layoutConfig } from "../../src/workload/layouts.js";
import { type ModelNode, type ModelRow, tokensOf, TreeModel } from "./tree-model.js";

const RANGES = {
  fullPages: [14, 44],
  stateSlots: [3, 9],
  rows: [3, 6],
  moveCaps: [1, 4096],
  overlap: true,
} as const;
type Counts = Record<string, number>;

export function storyConfig(layout: Layout, pageSize: number, seed: number): DirectConfig {
  const prng = new Prng(seed, 5);
  const config = layoutConfig(layout, pageSize, RANGES, prng);
  const strategy = prng.pick(["no_buffer", "extra_buffer", "extra_buffer_lazy"] as const);
  const isTracked = layout.includes("state") && prng.chance(5, 6);
  return {
    ...config,
    prefix_sharing: true,
    invariants: 2,
    eviction: prng.chance(1, 3) ? "joint_lru" : "lru",
    ...(isTracked ? { checkpoint: { strategy, interval: pageSize * prng.between(1, 3) } } : {}),
  };
}

export class Story {
  readonly config: DirectConfig;
  readonly storage: KVStorage;
  readonly device = new ModelDevice({ verify: "touched" }); // follows the bytes
  readonly model: TreeModel;
  readonly counts: Counts;
  readonly boot: State;
  readonly keys = new Map<string, Key>();
  readonly forwards: string[] = []; // recorded, oldest first
  open: string | null = null; // launched, not recorded
  readonly locks: { readonly holder: string; readonly key: Key; readonly len: number }[] = [];
  uses = 0;
  transcript: string[] = [];
  #names = 0;
  readonly #prng: Prng;
  readonly #windows: readonly string[]; // chain order

  constructor(config: DirectConfig, seed: number, counts: Counts) {
    this.config = config;
    this.counts = counts;
    this.#prng = new Prng(seed, 9);
    this.storage = new KVStorage(config, { digestDepth: "deep" });
    const pools = config.sub_pools.filter(
      ({ kind, window }) => kind !== "state" && window !== undefined,
    );
    const windows = pools.map(({ name, window }) => ({ name, window: window! }));
    const hasState = config.sub_pools.some(({ kind }) => kind === "state");
    this.#windows = windows.map(({ name }) => name);
    const isJoint = config.eviction === "joint_lru" && windows.length === 1 && !hasState;
    this.model = new TreeModel(config.page_size, windows, hasState, isJoint);
    this.play({ op: "boot", args: {} });
    this.boot = this.storage.state();
  }

  /** Plays one operation and checks what holds after every one. */
  play(operation: KvOperation): Answer {
    const answer = this.storage.apply(operation);
    const digest = this.storage.takeDigest();
    const where = `${String(this.transcript.length)} ${JSON.stringify(operation)}`;
    if (operation.op === "boot") this.device.open(this.config, answer.ok as BootOk);
    expect(this.device.apply(operation, answer)?.message ?? null, where).toBeNull();
    this.transcript.push(`${where} => ${JSON.stringify(answer)}`);
    this.count(answer.err === undefined ? operation.op : `${operation.op} refused`);
    if (
      answer.err !== undefined ||
      operation.op.startsWith("ask.") ||
      operation.op === "admit.pass"
    ) {
      expect(digest, where).toBeUndefined();
      expect(answer.fx, where).toBeUndefined();
    }
    return answer;
  }
  count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
  /** The number of the next use of the tree: matches, inserts and given states count, nothing else does. */
  #use(): number {
    return ++this.uses;
  }

  /** Compares the tree and the books; `where` names the last operation. */
  check(): void {
    const where = this.transcript.at(-1) ?? "";
    const idle = this.storage.apply({ op: "check.idle", args: {} });
    expect((idle.ok as { violations: unknown[] }).violations, where).toEqual([]);
    const state = this.storage.state();
    const shown = (state.tree as readonly ShownNode[]).filter(({ to }) => to > 0);
    const sortKey = (node: { from: number; to: number; path: string }): string =>
      `${node.path}|${String(node.to).padStart(6, "0")}`;
    const actual = shownPaths(shown).map((node) => ({ ...node, order: sortKey(node) }));
    const expected = this.model.nodes.map((node) => ({
      ...this.#expectedNode(node),
      order: sortKey({ from: node.from, to: node.to, path: node.path.join(" ") }),
    }));
    const byOrder = (left: { order: string }, right: { order: string }): number =>
      left.order < right.order ? -1 : 1;
    expect(actual.sort(byOrder), where).toEqual(expected.sort(byOrder));
    for (const row of this.model.rows.values()) {
      const seen = state.rows[row.name]!;
      expect(
        {
          allocated: seen.allocated,
          protected: seen.protected,
          cursors: seen.cursors,
          checkpoint: seen.checkpoint,
          ids: expand(seen["x_pages"] as Extents),
        },
        where,
      ).toEqual({
        allocated: row.allocated,
        protected: row.protected,
        cursors: Object.fromEntries(this.#windows.map((name) => [name, row.cursors.get(name)!])),
        checkpoint: row.checkpoint,
        ids: row.ids,
      });
    }
    this.#conserved(state, where);
    if (this.transcript.length % 11 === 0) this.#copies(where);
  }

  #expectedNode(node: ModelNode): Record<string, unknown> {
    const slots = this.model.slots.map((slot) => {
      const isThere = this.model.has(node, slot);
      const ids = slot === "mamba" ? [node.slot] : node.ids;
      return [
        slot,
        {
          ids: isThere ? ids : [],
          locks: this.model.count(node, slot),
          used: isThere ? node.used.get(slot) : null,
        },
      ];
    });
    return {
      path: node.path.join(" "),
      from: node.from,
      to: node.to,
      slots: Object.fromEntries(slots) as unknown,
    };
  }

  /** Every live page is held by exactly one row, one node or the open group. */
  #conserved(state: State, where: string): void {
    const group = (state.forwards["x_more"] as { group: { bands: Extents[] } | null }).group;
    for (const [index, pool] of this.chainOrder().entries()) {
      const holders: number[] = group === null ? [] : expand(group.bands[index]!);
      const isState = pool.kind === "state";
      for (const row of this.model.rows.values()) {
        if (isState) holders.push(...row.main, ...row.track.map(({ slot }) => slot));
        else
          for (const id of row.ids.slice(row.protected / this.config.page_size))
            if (id > 0 && (pool.window === undefined || this.model.bound.get(pool.name)!.has(id)))
              holders.push(id);
      }
      for (const node of this.model.nodes) {
        if (isState && node.slot > 0) holders.push(node.slot);
        if (!isState && (pool.window === undefined || node.windows.has(pool.name)))
          holders.push(...node.ids);
      }
      const band = state[pool.name] as BandState;
      const live = band.bindings.flatMap(([first, , count]) =>
        Array.from({ length: count }, (_, i) => first + i),
      );
      expect(sorted(live), `${where} ${pool.name}`).toEqual(sorted(holders));
      expect(band.live, where).toBe(holders.length);
    }
  }
  chainOrder(): DirectConfig["sub_pools"] {
    return this.config.sub_pools; // layoutConfig writes them so
  }

  #copies(where: string): void {
    const copy = this.storage.clone();
    expect(copy.endDigest(), where).toBe(this.storage.endDigest());
    expect(copy.state(), where).toEqual(this.storage.state());
  }

  // -- steps ------------------------------------------------------------------------------------------------------

  step(): void {
    const prng = this.#prng;
    if (this.open !== null) {
      this.#whileOpen();
      return;
    }
    const row = this.#row();
    if (row === null || prng.chance(1, 20)) {
      this.#arrive();
      return;
    }
    const steps: readonly (readonly [weight: number, step: () => void])[] = [
      [4, () => this.#extend(row)],
      [2, () => this.#insert(row)],
      [1, () => this.#finish(row)],
      [1, () => this.#launch()],
      [1, () => this.#process()],
      [1, () => this.#states(row)],
      [1, () => this.#donate(row)],
      [1, () => this.#retire(row)],
      [1, () => this.#lock()],
      [1, () => this.#unlock()],
      [1, () => this.#units()],
      [2, () => this.#demand()],
      [1, () => this.#matchOnly()],
      [1, () => this.#group()],
      [1, () => this.#questions()],
      [1, () => this.#oddities(row)],
      [1, () => this.#freeWindow(row)],
      [3, () => this.#checkpoint(row)],
    ];
    prng.pick(steps.flatMap(([weight, step]) => new Array<() => void>(weight).fill(step)))();
  }

  #row(): ModelRow | null {
    const rows = [...this.model.rows.values()];
    return rows.length === 0 ? null : this.#prng.pick(rows);
  }
  /** Prompts with a common beginning and few ways to go on, so that prefixes meet. */
  #key(): Key {
    const size = this.config.page_size;
    const key: [number | string, number][] = [
      [this.#prng.chance(4, 5) ? 7 : "sys", size * 2 + this.#prng.below(2)],
    ];
    for (let turn = this.#prng.between(1, 2); turn > 0; turn--)
      key.push([this.#prng.pick([1, "1"]), size + this.#prng.below(size + 1)]);
    key.push([`end${String(this.#prng.below(3))}`, size * 12]);
    return key;
  }

  #arrive(): void {
    const name = `r${String(this.#names++)}`;
    const answer = this.play({ op: "row.alloc", args: { reqs: [name] } });
    if (answer.err !== undefined) return;
    const row: ModelRow = {
      name,
      ids: [],
      allocated: 0,
      protected: 0,
      cursors: new Map(this.model.windows.map((window) => [window.name, 0])),
      main: [],
      track: [],
      trackCursor: 0,
      checkpoint: null,
    };
    this.model.rows.set(name, row);
    this.keys.set(name, this.#key());
    if (this.#prng.chance(4, 5)) this.#matchInto(row);
    if (this.#prng.chance(3, 4)) for (let times = 0; times < 2; times++) this.#states(row);
  }

  /** A chunk whose end is tracked, cached and given away, as a scheduler does it. */
  #checkpoint(row: ModelRow): void {
    const size = this.config.page_size;
    const to = row.allocated + size - (row.allocated % size);
    if (to > tokensOf(this.keys.get(row.name)!).length) return;
    const entry = { req: row.name, from: row.allocated, to };
    this.#grow(row, entry);
    if (row.allocated !== to || row.track.length === 0) return;
    const step = `f${String(this.#names++)}`;
    const batch = [{ ...entry, track: to }];
    this.play({ op: "forward.launch", args: { step, batch, mode: "extend" } });
    row.track[row.trackCursor]!.len = to;
    row.trackCursor = (row.trackCursor + 1) % row.track.length;
    this.play({ op: "forward.record", args: { step, writes: "known" } });
    this.forwards.push(step);
    this.#insertTo(row, to);
    this.#donateAt(row, to);
  }

  #matchInto(row: ModelRow): void {
    const key = this.keys.get(row.name)!;
    const expected = this.model.match(key);
    const answer = this.play({ op: "tree.match", args: { key, req: row.name } });
    expect(answer.ok).toMatchObject({ ...expected, host: expected.slots });
    if (expected.len > 0) this.count("match hit");
    const path = this.model.pathTo(tokensOf(key), expected.len)!;
    this.model.touch(path, this.#use());
    row.ids = path.flatMap(({ ids }) => ids);
    row.allocated = expected.len;
    row.protected = expected.len;
    row.checkpoint = expected.len;
    for (const name of row.cursors.keys()) row.cursors.set(name, expected.len);
    if (expected.len > 0) this.model.lock(row.name, path, true);
  }
  #matchOnly(): void {
    const key = this.#key();
    const expected = this.model.match(key);
    const answer = this.play({ op: "tree.match", args: { key } });
    expect(answer.ok).toMatchObject({ ...expected, host: expected.slots });
    this.model.touch(this.model.pathTo(tokensOf(key), expected.len)!, this.#use());
  }

  #extend(row: ModelRow): void {
    const size = this.config.page_size;
    const limit = tokensOf(this.keys.get(row.name)!).length;
    const to = Math.min(limit, row.allocated + this.#prng.between(1, size * 5));
    const tail = this.#prng.chance(1, 8) ? this.#prng.below(size * 3) : undefined;
    const skips = tail === undefined ? {} : { tail };
    this.#grow(row, { req: row.name, from: row.allocated, to, ...skips });
  }
  #grow(row: ModelRow, entry: { req: string; from: number; to: number; tail?: number }): void {
    const size = this.config.page_size;
    const { to, tail } = entry;
    const answer = this.play({ op: "tokens.extend", args: { batch: [entry] } });
    if (answer.err !== undefined) return;
    const first = Math.ceil(row.allocated / size);
    const windowFirst =
      tail === undefined ? first : Math.max(first, Math.floor(Math.max(0, to - tail) / size));
    const lists = (answer.ok as { pages: Record<string, PageLists> }).pages[row.name];
    for (const [index, id] of expand(lists?.["virtual"] ?? []).entries()) {
      row.ids[first + index] = id;
      if (first + index < windowFirst) continue;
      for (const name of this.#windows) this.model.bound.get(name)!.add(id);
    }
    row.allocated = to;
    if (tail !== undefined)
      for (const name of row.cursors.keys()) row.cursors.set(name, windowFirst * size);
  }

  #insert(row: ModelRow): void {
    this.#insertTo(
      row,
      this.#prng.chance(1, 5) ? this.#prng.below(row.allocated + 1) : row.allocated,
    );
  }
  #insertTo(row: ModelRow, len: number): void {
    const key = this.keys.get(row.name)!;
    const answer = this.play({ op: "tree.insert", args: { req: row.name, key, len } });
    const { new_pages, duplicates, rehomed, freed } = this.model.insert(row, key, len, this.#use());
    expect(answer.ok, this.transcript.at(-1)).toMatchObject({ new_pages, duplicates, rehomed });
    this.#freedIds(answer, freed);
    if (duplicates > 0) this.count("duplicates");
    if (Object.keys(rehomed).length > 0) this.count("rehomed");
  }
  #freedIds(answer: Answer, expected: readonly number[]): void {
    const { freed } = answer.ok as { freed: PageLists };
    if (this.model.inGroup) expect(freed, this.transcript.at(-1)).toEqual({});
    else expect(expand(freed["virtual"] ?? []), this.transcript.at(-1)).toEqual(expected);
  }

  #finish(row: ModelRow): void {
    const insert = this.#prng.chance(2, 3);
    const key = this.keys.get(row.name)!;
    const len = row.allocated;
    const answer = this.play({ op: "request.finish", args: { req: row.name, len, insert, key } });
    expect(answer.err, this.transcript.at(-1)).toBeUndefined();
    const freed: number[] = [];
    if (insert) {
      const use = this.#use();
      const last = this.#lastState(row);
      const result = this.model.insert(row, key, last.len, use);
      freed.push(...result.freed);
      const { new_pages, duplicates, rehomed } = result;
      expect((answer.ok as { tree: unknown }).tree).toEqual({ new_pages, duplicates, rehomed });
      const end = result.path.at(-1);
      if (last.slot > 0 && end?.to === last.len && end.slot === 0) {
        end.slot = last.slot;
        end.used.set("mamba", use);
        this.count("state given at a finish");
      }
    }
    freed.push(...row.ids.slice(row.protected / this.config.page_size).filter((id) => id > 0));
    for (const id of row.ids.slice(row.protected / this.config.page_size))
      for (const name of this.#windows)
        if (this.model.bound.get(name)!.has(id)) this.model.freeWindow(name, id);
    this.#freedIds(answer, freed);
    this.model.locks = this.model.locks.filter(({ holder }) => holder !== row.name);
    for (let at = this.locks.length - 1; at >= 0; at--)
      if (this.locks[at]!.holder === row.name) this.locks.splice(at, 1);
    this.model.rows.delete(row.name);
  }
  #lastState(row: ModelRow): { len: number; slot: number } {
    const strategy = this.config.checkpoint?.strategy;
    if (!this.model.hasState || strategy === undefined) return { len: row.allocated, slot: 0 };
    if (strategy === "no_buffer") return { len: row.allocated, slot: row.main[0] ?? 0 };
    const newest = this.#ring(row).find(({ len }) => len !== null && len <= row.allocated);
    return newest === undefined ? { len: 0, slot: 0 } : { len: newest.len!, slot: newest.slot };
  }
  /** The ring, newest written first. */
  #ring(row: ModelRow): { slot: number; len: number | null }[] {
    return [
      ...row.track.slice(0, row.trackCursor).reverse(),
      ...row.track.slice(row.trackCursor).reverse(),
    ];
  }

  #states(row: ModelRow): void {
    if (!this.model.hasState) return;
    const purpose = row.main.length === 0 ? "main" : "track";
    const count = purpose === "main" ? 1 : this.#prng.between(1, 2);
    if (row.track.length > 0 && purpose === "track") return;
    const answer = this.play({ op: "state.alloc", args: { req: row.name, count, purpose } });
    if (answer.err !== undefined) return;
    for (const slot of expand((answer.ok as { slots: Extents }).slots))
      if (purpose === "main") row.main.push(slot);
      else row.track.push({ slot, len: null });
  }

  #donate(row: ModelRow): void {
    const lens = row.track.map(({ len }) => len).filter((len) => len !== null);
    if (lens.length > 0) this.#donateAt(row, this.#prng.pick(lens));
  }
  #donateAt(row: ModelRow, len: number): void {
    const before = this.storage.clone();
    const answer = this.play({ op: "state.donate", args: { req: row.name, len } });
    const entry = this.#ring(row).find((tracked) => tracked.len === len)!;
    const own = this.model.locks.find(({ holder, isOwn }) => isOwn && holder === row.name);
    const node = this.model.nodes.find(
      ({ to, path }) =>
        own !== undefined &&
        to === len &&
        to <= own.path.length &&
        path.every((token, at) => token === own.path[at]),
    );
    if (node === undefined) {
      expect(answer.err).toEqual({ code: "invalid", rule: "no_node_at_len", req: row.name });
      return;
    }
    if (node.slot !== 0) {
      expect(answer.ok).toEqual({ slot: null, replacement: null });
      return;
    }
    const alone = before.apply({
      op: "state.alloc",
      args: { req: row.name, count: 1, purpose: "cow" },
    });
    if (alone.err !== undefined) {
      expect(answer.err).toEqual({ code: "checkpoint_stalled" });
      this.count("stalled");
      return;
    }
    const replacement = expand((alone.ok as { slots: Extents }).slots)[0]!;
    expect(answer.ok).toMatchObject({
      slot: entry.slot,
      replacement,
      step: (alone.ok as { step: string }).step,
    });
    expect(answer.fx).toEqual(alone.fx);
    node.slot = entry.slot;
    node.used.set("mamba", this.#use());
    entry.slot = replacement;
    entry.len = null;
    row.checkpoint = len;
  }

  #retire(row: ModelRow): void {
    const size = this.config.page_size;
    const answer = this.play({ op: "window.retire", args: { req: row.name, len: row.allocated } });
    const strategy = this.config.checkpoint?.strategy ?? "no_buffer";
    for (const { name, window } of this.model.windows) {
      const floor =
        strategy === "no_buffer"
          ? null
          : Math.max(0, Math.floor(((row.checkpoint ?? 0) - window) / size) * size);
      const threshold = Math.min(
        row.allocated - Math.max(window, size),
        floor ?? Number.POSITIVE_INFINITY,
      );
      const cursor = row.cursors.get(name)!;
      const next = Math.max(cursor, Math.floor(threshold / size) * size);
      for (let at = Math.max(cursor, row.protected); at < next; at += size) {
        const id = row.ids[at / size] ?? 0;
        if (this.model.bound.get(name)!.has(id)) this.model.freeWindow(name, id);
      }
      row.cursors.set(name, next);
      expect((answer.ok as Record<string, unknown>)[name]).toMatchObject({ cursor: next, floor });
    }
  }

  /** Lets some window pages of a row go that no cursor tells of. */
  #freeWindow(row: ModelRow): void {
    if (this.#windows.length === 0) return;
    const size = this.config.page_size;
    const name = this.#prng.pick(this.#windows);
    const bound = this.model.bound.get(name)!;
    const places = row.ids.flatMap((id, place) =>
      place >= row.protected / size && bound.has(id) ? [place] : [],
    );
    if (places.length === 0) return;
    const place = this.#prng.pick(places);
    const to = Math.min(row.allocated, (place + 1) * size);
    this.play({
      op: "tokens.free",
      args: { req: row.name, from: place * size, to, bands: [name] },
    });
    this.model.freeWindow(name, row.ids[place]!);
  }

  #launch(): void {
    const rows = [...this.model.rows.values()].filter(({ allocated }) => allocated > 0);
    const step = `f${String(this.#names++)}`;
    const batch = rows.map((row) => {
      const isTracked = row.track.length > 0 && this.#prng.chance(2, 3);
      const size = this.config.page_size;
      const ends = [row.allocated - (row.allocated % size), row.protected, row.allocated];
      return {
        req: row.name,
        from: Math.min(row.protected, row.allocated - 1),
        to: row.allocated,
        ...(isTracked ? { track: this.#prng.pick(ends) } : {}),
      };
    });
    this.play({ op: "forward.launch", args: { step, batch, mode: "extend" } });
    for (const { req, track } of batch) {
      const row = this.model.rows.get(req)!;
      if (track === undefined) continue;
      row.track[row.trackCursor]!.len = track;
      row.trackCursor = (row.trackCursor + 1) % row.track.length;
    }
    this.open = step;
  }
  #whileOpen(): void {
    const row = this.#row();
    if (this.#prng.chance(1, 3) && row !== null) {
      const key = this.keys.get(row.name)!;
      const refused: KvOperation[] = [
        { op: "tree.insert", args: { req: row.name, key, len: row.allocated } },
        { op: "tree.evict", args: { units: { full: "all" } } },
        { op: "request.finish", args: { req: row.name, len: row.allocated, insert: true, key } },
        { op: "contents.discard", args: {} },
      ];
      const answer = this.play(this.#prng.pick(refused));
      expect(answer.err).toMatchObject({ rule: "take_between_launch_and_record" });
      return;
    }
    const writes = this.#prng.chance(1, 6) ? "unknown" : "known";
    this.play({ op: "forward.record", args: { step: this.open!, writes } });
    this.forwards.push(this.open!);
    this.open = null;
  }
  #process(): void {
    const step = this.forwards.shift();
    if (step !== undefined) this.play({ op: "forward.process", args: { step } });
  }

  #lock(): void {
    const key = this.#key();
    const tokens = tokensOf(key);
    const lens = this.model.along(tokens).flatMap(({ node, to }) => [node.from, to]);
    const len = this.#prng.pick([0, ...lens]);
    const holder = this.#prng.pick(["a", "b", ...this.model.rows.keys()]);
    const answer = this.play({ op: "tree.lock", args: { key, len, req: holder } });
    if (len === 0) {
      expect(answer.err).toEqual({ code: "invalid", rule: "no_node_at_len", req: holder });
      return;
    }
    expect(answer).toEqual({ ok: {} });
    this.model.lock(holder, this.model.pathTo(tokens, len)!, false);
    this.locks.push({ holder, key, len });
  }
  #unlock(): void {
    if (this.locks.length === 0) return;
    const [{ holder, key, len }] = this.locks.splice(this.#prng.below(this.locks.length), 1) as [
      Story["locks"][number],
    ];
    expect(this.play({ op: "tree.unlock", args: { key, len, req: holder } })).toEqual({ ok: {} });
    expect(this.model.unlock(holder, tokensOf(key), len)).toBe(true);
  }

  #units(): void {
    const units: Record<string, number | "all"> = {};
    for (const slot of this.model.slots)
      if (this.#prng.chance(1, 2))
        units[slot] = this.#prng.chance(1, 4) ? "all" : this.#prng.between(0, 4);
    const answer = this.play({ op: "tree.evict", args: { units } });
    const freed: number[] = [];
    const sums: Record<string, number> = {};
    let nodes = 0;
    for (const slot of this.model.slots) {
      const wanted = units[slot];
      while (wanted !== undefined && (wanted === "all" || (sums[slot] ?? 0) < wanted)) {
        const victim = this.model.victim(this.model.isJoint ? this.model.slots : [slot]);
        if (victim === null) break;
        if (victim.slot === "full") {
          freed.push(...victim.node.ids);
          nodes += 1;
        }
        for (const [name, count] of Object.entries(this.model.evict(victim)))
          sums[name] = (sums[name] ?? 0) + count;
      }
    }
    expect((answer.ok as { nodes: number }).nodes, this.transcript.at(-1)).toBe(nodes);
    this.#freedIds(answer, freed);
    this.#freedSums(answer, sums);
    if (nodes > 0) this.count("nodes evicted");
  }
  #freedSums(answer: Answer, sums: Record<string, number>): void {
    if (this.model.inGroup) return;
    const { freed } = answer.ok as { freed: PageLists };
    for (const slot of this.model.slots)
      expect(expand(freed[slot] ?? []).length, `${slot} ${this.transcript.at(-1) ?? ""}`).toBe(
        sums[slot] ?? 0,
      );
  }

  #randomDemand(): Demand {
    const demand: Record<string, number> = {};
    for (const pool of this.chainOrder())
      if (this.#prng.chance(2, 3))
        demand[pool.name] = this.#prng.below(pool.kind === "state" ? 5 : 20);
    return demand;
  }

  /** As little as it takes in the order of the rules; nothing at all where all would not do. */
  #demand(): void {
    const demand = this.#randomDemand();
    const before = this.storage.clone();
    const whole = this.storage.clone();
    const isRefused = (storage: KVStorage): Answer["err"] =>
      storage.clone().apply({ op: "chain.relieve", args: { demand } }).err;
    const all = Object.fromEntries(this.model.slots.map((slot) => [slot, "all" as const]));
    whole.apply({ op: "tree.evict", args: { units: all } });
    const answer = this.play({ op: "tree.evict", args: { demand } });
    if (isRefused(whole) !== undefined) {
      expect(answer.err, this.transcript.at(-1)).toMatchObject({ code: "refused_capacity" });
      return;
    }
    expect(answer.err, this.transcript.at(-1)).toBeUndefined();
    let nodes = 0;
    for (let refusal = isRefused(before); refusal !== undefined; refusal = isRefused(before)) {
      const victim = this.#victimFor(refusal)!;
      if (victim.slot === "full") nodes += 1;
      this.model.evict(victim);
      expect(
        before.apply({ op: "tree.evict", args: { units: { [victim.slot]: 1 } } }).err,
      ).toBeUndefined();
      this.count("victims for a demand");
    }
    expect((answer.ok as { nodes: number }).nodes, this.transcript.at(-1)).toBe(nodes);
  }
  #victimFor(refusal: NonNullable<Answer["err"]>): ReturnType<TreeModel["victim"]> {
    const short =
      refusal.code === "refused_ids"
        ? "full"
        : refusal.code === "refused_state"
          ? "mamba"
          : refusal.limit!;
    const { model } = this;
    const list = (slot: string): readonly string[] => (model.isJoint ? model.slots : [slot]);
    return (
      (short === "bytes" ? null : model.victim(list(short))) ??
      model.victim(list("full")) ??
      model.victim(model.slots.filter((slot) => slot !== "full"))
    );
  }

  #group(): void {
    if (!this.model.inGroup) {
      this.play({ op: "group.begin", args: {} });
      this.model.inGroup = true;
      return;
    }
    this.play({ op: "group.end", args: {} });
    this.model.endGroup();
  }

  #questions(): void {
    const demand = this.#randomDemand();
    const asked = this.play({ op: "ask.fits_after_frees", args: { demand, frees: "evictable" } });
    const told = this.play({
      op: "ask.fits_after_frees",
      args: { demand, frees: this.model.evictable() },
    });
    expect(asked).toEqual(told);
    this.#admission();
  }

  /** Admitted exactly if, once the match is taken, eviction makes room for the price. */
  #admission(): void {
    if (this.model.inGroup) return;
    const key = this.#key();
    const input = this.#prng.between(1, tokensOf(key).length);
    const max_new = this.#prng.below(2 * this.config.page_size);
    const name = `r${String(this.#names++)}`;
    const asked: Key = cut(key, input - 1);
    const answer = this.play({
      op: "admit.pass",
      args: { queue: [{ req: name, key: asked, input, max_new }] },
    });
    const { verdict } = (answer.ok as Record<string, { verdict: string }>)[name]!;
    const trial = this.storage.clone();
    if (trial.apply({ op: "row.alloc", args: { reqs: [name] } }).err !== undefined) {
      expect(verdict).not.toBe("admit");
      return;
    }
    const matched = (
      trial.apply({ op: "tree.match", args: { key: asked, req: name } }).ok as { len: number }
    ).len;
    const fits = input + max_new <= this.config.row_tokens;
    const evicted = trial.apply({
      op: "tree.evict",
      args: { demand: this.#price(input, max_new, matched) },
    });
    expect(verdict === "admit", this.transcript.at(-1)).toBe(fits && evicted.err === undefined);
    this.count(`${verdict} ${matched > 0 ? "with a match" : "afresh"}`);
  }
  #price(input: number, maxNew: number, matched: number): Demand {
    const size = this.config.page_size;
    const { strategy = null, interval = 0 } = this.config.checkpoint ?? {};
    const isTracked = strategy !== null && strategy !== "no_buffer";
    const owner = Math.ceil((input + maxNew) / size) - matched / size;
    const demand: Record<string, number> = { full: owner };
    for (const { name, window } of this.model.windows) {
      const n = Math.max(window, size) + (isTracked ? interval : 0) + Math.max(1, input - matched);
      demand[name] = Math.min(owner, Math.ceil((n - 1) / size) + 1);
    }
    if (this.model.hasState)
      demand["mamba"] = 1 + (strategy === "extra_buffer" ? 2 : isTracked ? 1 : 0);
    return demand;
  }

  /** Broken contracts. */
  #oddities(row: ModelRow): void {
    const key = this.keys.get(row.name)!;
    const cases: [KvOperation, Record<string, unknown>][] = [
      [
        { op: "tree.insert", args: { req: "nobody", key, len: 0 } },
        { rule: "unknown_request", req: "nobody" },
      ],
      [
        { op: "tree.match", args: { key, req: "nobody" } },
        { rule: "unknown_request", req: "nobody" },
      ],
      [
        { op: "tree.insert", args: { req: row.name, key, len: row.allocated + 1 } },
        { rule: "beyond_row", req: row.name },
      ],
      [
        { op: "tree.unlock", args: { key: [["none", 1]], len: 0, req: "nobody" } },
        { rule: "lock_not_held", req: "nobody" },
      ],
      [
        { op: "tree.lock", args: { key: [["none", 64]], len: 64, req: "x" } },
        { rule: "no_node_at_len" },
      ],
      [
        { op: "state.donate", args: { req: row.name, len: 9999 } },
        { rule: "nothing_tracked", req: row.name },
      ],
      [
        { op: "contents.discard", args: {} },
        {
          code: "refused_busy",
          holders: [...new Set([...this.model.rows.keys(), ...this.#holders()])],
        },
      ],
    ];
    if (row.allocated > 0)
      cases.push([
        { op: "tree.match", args: { key, req: row.name } },
        { rule: "row_in_use", req: row.name },
      ]);
    if (row.protected > 0) {
      cases.push([
        { op: "tree.insert", args: { req: row.name, key: [["other", 999]], len: row.allocated } },
        { rule: "no_node_at_len", req: row.name },
      ]);
      cases.push([
        {
          op: "tokens.free",
          args: { req: row.name, from: 0, to: 0 + this.config.page_size, bands: "all" },
        },
        { rule: "free_of_tree_rows" },
      ]);
    }
    const [operation, err] = this.#prng.pick(cases);
    expect(this.play(operation).err, this.transcript.at(-1)).toMatchObject(err);
  }
  #holders(): string[] {
    const named = this.model.locks.filter(({ isOwn }) => !isOwn);
    return [...new Set(named.map(({ holder }) => holder))];
  }

  /** Ends and frees everything; the boot state must come back. */
  drain(): void {
    if (this.open !== null)
      this.play({ op: "forward.record", args: { step: this.open, writes: "known" } });
    if (this.open !== null) this.forwards.push(this.open);
    if (this.model.inGroup) this.#group();
    while (this.forwards.length > 0) this.#process();
    while (this.locks.length > 0) this.#unlock();
    for (const row of [...this.model.rows.values()]) this.#finish(row);
    this.check();
    if (this.#prng.chance(1, 2)) this.play({ op: "contents.discard", args: {} });
    else
      this.play({
        op: "tree.evict",
        args: { units: Object.fromEntries(this.model.slots.map((slot) => [slot, "all" as const])) },
      });
    this.play({ op: "chain.flush", args: {} });
    this.play({ op: "chain.flush", args: {} });
    expect(this.device.verifyAll()?.message ?? null).toBeNull();
    const state = this.storage.state();
    expect(state.tree).toEqual([]);
    expect(state.ledger).toEqual([]);
    for (const pool of this.chainOrder()) {
      const band = state[pool.name] as BandState;
      const first = this.boot[pool.name] as BandState;
      expect({ ...band, free_ids: sorted(expand(band.free_ids)) }).toEqual({
        ...first,
        free_ids: sorted(expand(first.free_ids)),
      });
    }
  }
}

interface ShownNode {
  readonly key: readonly (readonly [number | string, number, number])[];
  readonly from: number;
  readonly to: number;
  readonly slots: Record<string, { pages: Extents; locks: number; used: number }>;
}

/** Nodes of a state with their whole paths; a node's parent is the nearest earlier one that ends where it begins. */
function shownPaths(
  nodes: readonly ShownNode[],
): { path: string; from: number; to: number; slots: unknown }[] {
  const stack: { path: string[]; to: number }[] = [{ path: [], to: 0 }];
  return nodes.map(({ key, from, to, slots }) => {
    while (stack.at(-1)!.to > from) stack.pop();
    const own = key.flatMap(([hash, offset, count]) =>
      Array.from({ length: count }, (_, at) => `${typeof hash}:${hash}@${offset + at}`),
    );
    const path = [...stack.at(-1)!.path, ...own];
    stack.push({ path, to });
    const shown = Object.entries(slots).map(([name, { pages, locks, used }]) => [
      name,
      { ids: expand(pages), locks, used: pages.length > 0 ? used : null },
    ]);
    return { path: path.join(" "), from, to, slots: Object.fromEntries(shown) as unknown };
  });
}

function sorted(numbers: readonly number[]): number[] {
  return [...numbers].sort((left, right) => left - right);
}
function cut(key: Key, tokens: number): Key {
  const result: [number | string, number][] = [];
  let left = tokens;
  for (const [hash, count] of key) {
    if (left <= 0) break;
    result.push([hash, Math.min(count, left)]);
    left -= count;
  }
  return result;
}
