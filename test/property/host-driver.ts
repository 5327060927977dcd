// Drives the allocator at random around its host cache, on a memory that runs every copy as late as it may, and checks
// after each operation what must hold.
import { expect } from "vitest";
import { Prng } from "../../src/base/prng.js";
import type { Answer, DirectConfig, KvOperation, PageLists } from "../../src/base/operations.js";
import { countOf, expand, expandHost } from "../../src/base/extents.js";
import type { BandState, RowState, State } from "../../src/base/state.js";
import { KVStorage } from "../../src/kv/storage.js";
import { HostMemory } from "./host-memory.js";
import type { Counts } from "./sweep.js";

export function configOf(seed: number): DirectConfig {
  const prng = new Prng(seed, 7);
  const state = { name: "mamba", kind: "state" as const, unit_bytes: 12 };
  const windows = [
    { name: "window_8", kind: "mha" as const, window: 8, unit_bytes: prng.between(2, 4) },
    { name: "window_4", kind: "mha" as const, window: 4, unit_bytes: prng.between(2, 4) },
  ];
  const full = { name: "full", kind: "mha" as const, unit_bytes: prng.between(3, 6) };
  const used = windows.slice(0, prng.between(0, 2));
  return {
    page_size: prng.between(1, 3),
    arena_bytes: prng.between(300, 700),
    sub_pools: [...(prng.chance(2, 3) ? [state] : []), ...used, full],
    rows: 5,
    row_tokens: 40,
    overlap: prng.chance(2, 3),
    move_cap: prng.chance(1, 2) ? 2 : 64,
    ...(prng.chance(9, 10)
      ? { host: { full: prng.between(0, 24), window_8: 9, window_4: prng.between(0, 9), mamba: 3 } }
      : {}),
  };
}

/** What a request's row must hold, by position; absent: nothing. */
export interface Expected {
  readonly pages: Map<number, Map<string, number>>; // stamps by band name
  readonly slots: number[]; // stamps of the main slots
}
interface OpenLoad {
  readonly pages: PageLists;
  req: string | null;
  from: number;
  readonly fixed?: PageLists; // pages that stay fixed though it is bound
}
interface OpenCopy {
  readonly kind: "backup" | "retract" | "load" | "restore";
  readonly host: PageLists;
  readonly row: Expected | null; // what it holds; of a load the slots only
  readonly req: string | null;
  readonly fixed?: PageLists;
}

function ascending(left: number, right: number): number {
  return left - right;
}

export class HostDriver {
  readonly config: DirectConfig;
  readonly storage: KVStorage;
  readonly memory = new HostMemory();
  readonly prng: Prng;
  readonly size: number;
  readonly windows: string[];
  readonly hasState: boolean;
  readonly rows = new Map<string, Expected>();
  readonly loads = new Map<string, OpenLoad>();
  readonly copies = new Map<string, OpenCopy>();
  readonly kept = new Map<string, OpenCopy>();
  readonly forwards: { name: string; recorded: boolean }[] = [];
  readonly counts: Counts;
  boot!: State;
  names = 0;
  isGroupOpen = false;

  constructor(seed: number, counts: Counts, config = configOf(seed)) {
    this.config = config;
    this.prng = new Prng(seed, 11);
    this.size = this.config.page_size;
    this.storage = new KVStorage(this.config, { digestDepth: "deep" });
    this.windows = this.config.sub_pools.flatMap((pool) => (pool.window ? [pool.name] : []));
    this.hasState = this.config.sub_pools.some((pool) => pool.kind === "state");
    this.counts = counts;
    this.storage.apply({ op: "boot", args: {} });
    this.storage.takeDigest();
    this.boot = this.storage.state();
  }

  name(letter: string): string {
    return `${letter}${this.names++}`;
  }
  pick<T>(items: Iterable<T>): T | undefined {
    const list = [...items];
    return list.length === 0 ? undefined : list[this.prng.below(list.length)];
  }

  /** Applies an operation to the run and, now and then, to a copy of it; checks what holds after every operation. */
  do(op: string, args: object, hostPages: PageLists = {}): Answer {
    const operation = { op, args } as KvOperation;
    const copy = this.prng.chance(1, 4) ? this.storage.clone() : null;
    const answer = this.storage.apply(operation);
    const digest = this.storage.takeDigest();
    this.counts["operations"] = (this.counts["operations"] ?? 0) + 1;
    const word = answer.err === undefined ? op : (answer.err.rule ?? answer.err.code);
    this.counts[word] = (this.counts[word] ?? 0) + 1;
    const where = `${op} ${JSON.stringify(args)} ${JSON.stringify(answer)}`;
    if (answer.err !== undefined) {
      expect(digest, where).toBeUndefined();
      expect(answer.fx, where).toBeUndefined();
    }
    if (copy !== null) {
      expect(copy.apply(operation), where).toEqual(answer);
      expect(copy.state(), where).toEqual(this.storage.state());
      expect(copy.endDigest(), where).toBe(this.storage.endDigest());
    }
    const host = (answer.ok as { host?: PageLists } | undefined)?.host ?? hostPages;
    this.memory.apply(answer.fx ?? [], host);
    expect(this.memory.wrong, where).toBeNull();
    return answer;
  }

  check(where: string): void {
    const idle = this.storage.apply({ op: "check.idle", args: {} });
    expect((idle.ok as { violations: unknown[] }).violations, where).toEqual([]);
    const state = this.storage.state();
    this.#hostConserved(state, where);
    this.#fixedAsReserved(state, where);
    this.#rowsHold(state, where);
  }

  /** Host pages of what is cached on the host, a list an entry. */
  protected cachedHost(_state: State): readonly PageLists[] {
    return [];
  }

  /** Every host page is free or held by exactly one copy. */
  #hostConserved(state: State, where: string): void {
    this.#readersKept(state, where);
    const cached = this.cachedHost(state);
    const free = (state.host["free"] ?? {}) as PageLists;
    const held = [...this.copies.values(), ...this.kept.values()];
    for (const [band, size] of Object.entries(this.config.host ?? {})) {
      if (!this.config.sub_pools.some((pool) => pool.name === band)) continue;
      const pages = [
        ...expandHost(free[band] ?? []),
        ...held.flatMap(({ host }) => expandHost(host[band] ?? [])),
        ...cached.flatMap((host) => expandHost(host[band] ?? [])),
      ].sort(ascending);
      expect(pages, `${where}: host pages of ${band}`).toEqual(
        Array.from({ length: size }, (_, i) => i),
      );
    }
  }

  /** No host page that a copy still reads or writes is free. */
  #readersKept(state: State, where: string): void {
    const free = (state.host["free"] ?? {}) as PageLists;
    for (const [name, { host }] of this.memory.pending)
      for (const [band, pages] of host) {
        const given = new Set(expandHost(free[band] ?? []));
        expect(
          pages.filter((page) => given.has(page)),
          `${where}: ${name} ${band}`,
        ).toEqual([]);
      }
  }

  /** Reserved pages are fixed where they were taken, window pages until they are bound. */
  #fixedAsReserved(state: State, where: string): void {
    for (const { name, window } of this.config.sub_pools) {
      if (this.isGroupOpen) return; // given-up window pages stay fixed until its end
      const pages = [...this.loads.values()].flatMap(({ pages: taken, req, fixed }) =>
        expand((window !== undefined && req !== null ? fixed?.[name] : taken[name]) ?? []),
      );
      for (const { fixed } of this.copies.values()) pages.push(...expand(fixed?.[name] ?? []));
      const fixed = expand((state[name] as BandState).fixed);
      expect(fixed, `${where}: fixed ${name}`).toEqual(pages.sort(ascending));
    }
  }

  /** Physical page by id, by band. */
  placed(state: State): Map<string, Map<number, number>> {
    const placed = new Map<string, Map<number, number>>();
    for (const { name } of this.config.sub_pools) {
      const map = new Map<number, number>();
      for (const [virtual, physical, count] of (state[name] as BandState).bindings)
        for (let i = 0; i < count; i++) map.set(virtual + i, physical + i);
      placed.set(name, map);
    }
    return placed;
  }

  #rowsHold(state: State, where: string): void {
    const placed = this.placed(state);
    const loading = new Set([...this.loads.values()].map((load) => load.req));
    for (const [req, expected] of this.rows) {
      if (loading.has(req)) continue; // nothing has arrived yet
      const row = state.rows[req]!;
      const pages = expand(row["x_pages"] as PageLists[string]);
      for (const [position, stamps] of expected.pages) {
        for (const [band, stamp] of stamps) {
          const page = placed.get(band)!.get(pages[position]!);
          expect(page, `${where}: ${req} ${band} position ${position}`).toBeDefined();
          expect(this.memory.settled(band, page!), `${where}: ${req} ${band} ${position}`).toBe(
            stamp,
          );
        }
      }
      const slots = expand(row.slots["main"] ?? []);
      const found = slots.map((slot) =>
        this.memory.settled("mamba", placed.get("mamba")!.get(slot)!),
      );
      expect(found.sort(ascending), `${where}: ${req} main`).toEqual(
        [...expected.slots].sort(ascending),
      );
    }
  }

  // --- the operations -----------------------------------------------------------------------------------------------

  allocatedOf(req: string): number {
    return (this.storage.state().rows[req] as RowState).allocated;
  }

  open(): void {
    const req = this.name("r");
    if (this.do("row.alloc", { reqs: [req] }).ok !== undefined)
      this.rows.set(req, { pages: new Map(), slots: [] });
  }

  extend(): void {
    const req = this.pick(this.rows.keys());
    if (req === undefined) return;
    const from = this.allocatedOf(req);
    const to = Math.min(40, from + this.prng.between(1, 9));
    const tail = this.prng.chance(1, 4) ? { tail: this.prng.between(0, 8) } : {};
    const answer = this.do("tokens.extend", { batch: [{ req, from, to, ...tail }] });
    const pages = (answer.ok as { pages: Record<string, PageLists> } | undefined)?.pages[req];
    if (pages === undefined) return;
    const expected = this.rows.get(req)!;
    for (const [index] of expand(pages["virtual"]!).entries()) {
      const position = Math.ceil(from / this.size) + index;
      const stamps = new Map<string, number>();
      for (const band of [...this.windows, "full"]) {
        const page = expand(pages[band] ?? [])[index] ?? 0;
        if (page === 0) continue;
        stamps.set(band, this.memory.stamp());
        this.memory.write(this.memory.device, band, page, stamps.get(band)!);
      }
      expected.pages.set(position, stamps);
    }
  }

  slot(): void {
    const req = this.pick(this.rows.keys());
    if (req === undefined || !this.hasState) return;
    const answer = this.do("state.alloc", { req, count: 1, purpose: "main" });
    if (answer.ok === undefined) return;
    const stamp = this.memory.stamp();
    this.rows.get(req)!.slots.push(stamp);
    const [[page]] = (answer.ok as unknown as { mamba: [[number]] }).mamba;
    this.memory.write(this.memory.device, "mamba", page, stamp);
  }

  trim(): void {
    const req = this.pick(this.rows.keys());
    if (req === undefined) return;
    const to = this.allocatedOf(req);
    const from = this.prng.between(0, to);
    const bands = this.prng.chance(2, 3) || this.windows.length === 0 ? "all" : this.windows;
    const answer = this.do("tokens.free", { req, from, to, bands });
    if (answer.ok === undefined) return;
    const { pages } = this.rows.get(req)!;
    for (const position of [...pages.keys()]) {
      if (position < Math.ceil(from / this.size)) continue;
      if (bands === "all") pages.delete(position);
      else for (const band of this.windows) pages.get(position)!.delete(band);
    }
  }

  retire(): void {
    const req = this.pick(this.rows.keys());
    if (req === undefined || this.windows.length === 0) return;
    const answer = this.do("window.retire", { req, len: this.allocatedOf(req) });
    if (answer.ok === undefined) return;
    for (const [band, { cursor }] of Object.entries(
      answer.ok as Record<string, { cursor: number }>,
    ))
      for (const [position, stamps] of this.rows.get(req)!.pages)
        if (position < cursor / this.size) stamps.delete(band);
  }

  close(op: "request.finish" | "request.retract"): void {
    const req = this.pick(this.rows.keys());
    if (req === undefined) return;
    const args = op === "request.finish" ? { req, len: 0, insert: false } : { req };
    if (this.do(op, args).ok !== undefined) this.rows.delete(req);
  }

  retract(): void {
    const req = this.pick(this.rows.keys());
    if (req === undefined) return;
    const copy = this.name("c");
    const answer = this.do("request.retract", { req, backup: copy });
    if (answer.ok === undefined) return;
    const { host } = answer.ok as { host: PageLists };
    this.copies.set(copy, { kind: "retract", host, row: this.rows.get(req)!, req });
    this.rows.delete(req);
  }

  endCopyOut(outcome: "ok" | "failed"): void {
    const isOut = ({ kind }: OpenCopy): boolean => kind === "retract" || kind === "backup";
    const name = this.pick([...this.copies].filter(([, copy]) => isOut(copy)))?.[0];
    const answer = this.do("host.backup_done", { copy: name ?? "c999999", outcome });
    if (name === undefined) {
      expect(answer.err?.rule).toBe("name_state");
      return;
    }
    this.memory.end(name, outcome === "ok");
    const copy = this.copies.get(name)!;
    if (outcome === "ok" && copy.kind === "retract") this.kept.set(name, copy);
    this.copies.delete(name);
  }

  restore(): void {
    const name = this.pick(this.prng.chance(1, 6) ? this.copies.keys() : this.kept.keys());
    if (name === undefined) return;
    const copy = this.kept.get(name);
    const req = this.name("r");
    const answer = this.do("request.restore", { req, copy: name }, copy?.host ?? {});
    if (answer.ok === undefined) return;
    const { rows } = answer.ok as { rows: Record<string, number> };
    expect(Object.keys(rows)).toEqual([req]);
    this.kept.delete(name);
    this.copies.set(name, { ...copy!, kind: "restore", req });
    const { pages, slots } = copy!.row!;
    const again = new Map([...pages].map(([position, stamps]) => [position, new Map(stamps)]));
    this.rows.set(req, { pages: again, slots: [...slots] });
  }

  reserve(): void {
    const load = this.name("l");
    const full = this.prng.between(0, 5);
    const demand: Record<string, number> = { full };
    for (const band of this.windows) demand[band] = this.prng.between(0, full);
    if (this.hasState && this.prng.chance(1, 4)) demand["mamba"] = 1;
    const before = this.storage.state();
    const answer = this.do("host.load_reserve", { load, demand });
    if (answer.ok === undefined) return;
    const { pages, step } = answer.ok as { pages: PageLists; step: string };
    expect(countOf(pages["virtual"] ?? [])).toBe(full);
    for (const [band, wanted] of Object.entries(demand))
      expect(countOf(pages[band] ?? [])).toBe(wanted);
    expect((answer.fx ?? []).some(([kind]) => kind === "zero")).toBe(false);
    this.loads.set(load, { pages, req: null, from: 0 });
    if (this.prng.chance(1, 3)) this.cancel(load, step === "no_move" ? before : null);
  }

  /** @param before - the state that must be there again, but for the order of what was taken and given back */
  cancel(load: string, before: State | null = null): void {
    const { req, from, pages } = this.loads.get(load)!;
    const answer = this.do("host.load_cancel", { load });
    if (answer.ok === undefined) return;
    this.#forget(this.loads.get(load)!);
    this.loads.delete(load);
    // Reserved pages keep the row's tail; a load of none keeps nothing.
    if (req !== null && this.rows.has(req) && countOf(pages["virtual"] ?? []) > 0)
      expect(this.allocatedOf(req)).toBeGreaterThanOrEqual(from);
    if (before === null || this.isGroupOpen) return;
    const after = this.storage.state();
    for (const { name } of this.config.sub_pools) {
      const was = before[name] as BandState;
      const is = after[name] as BandState;
      expect([is.live, is.fixed, is.bindings], name).toEqual([was.live, was.fixed, was.bindings]);
      const sorted = (band: BandState): number[] => expand(band.free_ids).sort((a, b) => a - b);
      expect(sorted(is), name).toEqual(sorted(was));
    }
    expect(after.rows).toEqual(before.rows);
    expect(after.host).toEqual(before.host);
  }

  /** What a load brought is gone from its row. */
  #forget({ pages, req, from }: OpenLoad): void {
    const row = req === null ? undefined : this.rows.get(req);
    if (row === undefined) return;
    const first = from / this.size;
    const count = countOf(pages["virtual"] ?? []);
    for (let position = first; position < first + count; position++) row.pages.delete(position);
  }

  protected isKeyLoad(_load: string): boolean {
    return false;
  }

  bind(): void {
    const isFree = (name: string, { req }: OpenLoad): boolean =>
      req === null && !this.isKeyLoad(name);
    const load = this.pick([...this.loads].filter(([name, record]) => isFree(name, record)))?.[0];
    const taken = [...this.loads.values()].map(({ req }) => req);
    const req = this.pick([...this.rows.keys()].filter((name) => !taken.includes(name)));
    if (load === undefined || req === undefined) return;
    const record = this.loads.get(load)!;
    const before = this.storage.state().rows[req];
    const from = this.allocatedOf(req);
    const answer = this.do("host.load_bind", { load, req, from });
    if (answer.ok === undefined) {
      if (from % this.size === 0 && from + 5 * this.size <= 40) expect.fail("a bind was refused");
      return;
    }
    record.req = req;
    record.from = from;
    if (!this.prng.chance(1, 4)) return;
    this.cancel(load);
    if (!this.loads.has(load)) expect(this.storage.state().rows[req], "undone").toEqual(before);
  }

  submit(load = this.pick(this.loads.keys())): void {
    if (load === undefined) return;
    const copy = this.name("c");
    const record = this.loads.get(load)!;
    const answer = this.do("host.load_submit", { load, copy });
    if (record.req === null) expect(answer.err?.rule).toBe("name_state");
    if (answer.ok === undefined) return;
    this.loads.delete(load);
    const slots = [...(this.memory.pending.get(copy)!.stamps.get("mamba") ?? [])];
    const row = { pages: new Map(), slots };
    this.copies.set(copy, { kind: "load", host: {}, row, req: record.req });
    this.#expectLoaded(copy, record);
  }

  /** The row of a submitted load will hold what the copy brings. */
  #expectLoaded(copy: string, { pages, req, from }: OpenLoad): void {
    const row = this.rows.get(req!);
    if (row === undefined) return; // the load was empty, and its row is closed
    const { stamps, device } = this.memory.pending.get(copy)!;
    row.slots.push(...(stamps.get("mamba") ?? []));
    const state = this.storage.state();
    const placed = this.placed(state);
    const ids = expand(state.rows[req!]!["x_pages"] as PageLists[string]);
    const first = from / this.size;
    const end = first + countOf(pages["virtual"] ?? []);
    for (let position = first; position < end; position++) {
      const held = new Map<string, number>();
      for (const band of [...this.windows, "full"]) {
        const page = placed.get(band)!.get(ids[position]!);
        if (page === undefined) continue;
        const index = device.get(band)?.indexOf(page) ?? -1;
        if (index < 0 && this.isGroupOpen && band !== "full") continue; // freed, and bound until its end
        expect(index, `${copy} ${band} position ${position}`).toBeGreaterThanOrEqual(0);
        held.set(band, stamps.get(band)![index]!);
      }
      row.pages.set(position, held);
    }
  }

  endCopyIn(outcome: "ok" | "failed"): void {
    const name = this.pick(
      [...this.copies].filter(([, { kind }]) => kind === "load" || kind === "restore"),
    )?.[0];
    if (name === undefined) return;
    const copy = this.copies.get(name)!;
    const held = this.rows.get(copy.req!);
    // The copy writes at its end; a failed one leaves whatever, and nobody may come to own that.
    const answer = this.do("host.load_done", { copy: name, outcome });
    if (answer.ok === undefined) return;
    this.memory.end(name, outcome === "ok");
    this.copies.delete(name);
    if (outcome === "ok") return;
    if (copy.kind === "restore") this.kept.set(name, { ...copy, kind: "retract" });
    if (held === undefined) return;
    const state = this.storage.state();
    const after = expand(state.rows[copy.req!]!["x_pages"] as PageLists[string]);
    for (const position of [...held.pages.keys()])
      if ((after[position] ?? 0) === 0) held.pages.delete(position);
    const gone = new Set(copy.row?.slots ?? []);
    held.slots.splice(0, held.slots.length, ...held.slots.filter((stamp) => !gone.has(stamp)));
  }

  launch(): void {
    const open = this.forwards.find(({ recorded }) => !recorded);
    if (open !== undefined) {
      this.do("forward.record", {
        step: open.name,
        writes: this.prng.chance(1, 8) ? "unknown" : "known",
      });
      open.recorded = true;
      return;
    }
    const req = this.pick(this.rows.keys());
    if (req === undefined) return;
    const step = this.name("f");
    const to = this.allocatedOf(req);
    const batch = [{ req, from: this.prng.between(0, to), to }];
    if (this.do("forward.launch", { step, batch, mode: "extend" }).ok === undefined) return;
    const forward = { name: step, recorded: this.config.overlap !== true };
    this.forwards.push(forward);
    if (forward.recorded || this.prng.chance(1, 4)) return;
    this.do("forward.record", { step, writes: "known" });
    forward.recorded = true;
  }

  process(): void {
    const oldest = this.forwards[0];
    if (oldest?.recorded !== true) return;
    this.forwards.shift();
    this.do("forward.process", { step: oldest.name });
  }

  group(): void {
    const answer = this.do(this.isGroupOpen ? "group.end" : "group.begin", {});
    if (answer.ok !== undefined) this.isGroupOpen = !this.isGroupOpen;
  }

  relieve(): void {
    const demand: Record<string, number> = { full: this.prng.between(0, 30) };
    for (const band of this.windows) demand[band] = this.prng.between(0, 12);
    this.do("chain.relieve", { demand });
  }

  /** Ends all that is open and frees everything: what is left is the boot state. */
  drain(): void {
    for (const { name, recorded } of this.forwards)
      if (!recorded) this.do("forward.record", { step: name, writes: "known" });
    if (this.isGroupOpen) this.group();
    for (const load of [...this.loads.keys()]) this.cancel(load);
    const isOut = ({ kind }: OpenCopy): boolean => kind === "retract" || kind === "backup";
    while ([...this.copies.values()].some(isOut)) this.endCopyOut("failed");
    while (this.copies.size > 0) this.endCopyIn("ok");
    for (const { name } of this.forwards) this.do("forward.process", { step: name });
    for (const req of this.rows.keys()) this.do("request.finish", { req, len: 0, insert: false });
    this.rows.clear();
    this.empty();
    while (this.kept.size > 0) {
      this.restore();
      this.endCopyIn("ok");
      for (const req of this.rows.keys()) this.do("request.finish", { req, len: 0, insert: false });
      this.rows.clear();
    }
    for (let round = 0; round < 2; round++) this.do("chain.flush", {});
    const state = this.storage.state();
    for (const { name } of this.config.sub_pools) {
      const { free_ids: ids, ...band } = state[name] as BandState;
      const { free_ids: bootIds, ...boot } = this.boot[name] as BandState;
      expect(band).toEqual(boot);
      expect(expand(ids).sort(ascending)).toEqual(expand(bootIds).sort(ascending));
    }
    expect(state.ledger).toEqual([]);
    expect(state.chain.fences).toEqual([]);
    const { free, ...rest } = state.host as { free?: PageLists };
    const { free: bootFree, ...bootRest } = this.boot.host as { free?: PageLists };
    expect(rest).toEqual(bootRest);
    for (const [band, pages] of Object.entries(bootFree ?? {}))
      expect(expandHost(free![band]!).sort(ascending)).toEqual(expandHost(pages));
  }

  /** Empties what a run keeps beside requests, loads and copies. */
  protected empty(): void {
    return;
  }

  /** Weights and operations to draw from. */
  protected moves(): readonly (readonly [number, () => void])[] {
    return [
      [5, () => this.open()],
      [12, () => this.extend()],
      [4, () => this.slot()],
      [3, () => this.trim()],
      [4, () => this.retire()],
      [2, () => this.close("request.finish")],
      [1, () => this.close("request.retract")],
      [6, () => this.retract()],
      [6, () => this.endCopyOut(this.prng.chance(1, 4) ? "failed" : "ok")],
      [7, () => this.restore()],
      [6, () => this.reserve()],
      [7, () => this.bind()],
      [5, () => this.submit()],
      [
        1,
        () => {
          const load = this.pick(this.loads.keys());
          if (load !== undefined) this.cancel(load);
        },
      ],
      [7, () => this.endCopyIn(this.prng.chance(1, 3) ? "failed" : "ok")],
      [6, () => this.launch()],
      [5, () => this.process()],
      [2, () => this.group()],
      [4, () => void this.do("chain.flush", {})],
      [2, () => this.relieve()],
    ];
  }

  step(): void {
    const moves = this.moves();
    let draw = this.prng.below(moves.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, move] of moves) {
      if (draw < weight) {
        move();
        return;
      }
      draw -= weight;
    }
  }
}
