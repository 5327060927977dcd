// Random runs with transfers, host copies and load reservations on small, tight chains. Every operation's effects are
// followed byte by byte, and what must stay is compared before and after.
import { expect } from "vitest";
import type { Effect } from "../../src/base/effects.js";
import type {
  Answer,
  DirectConfig,
  KvArgs,
  KvOperationName,
  SubPoolConfig,
} from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import type { State } from "../../src/base/state.js";
import { type Band, PAGE } from "../../src/kv/alloc/band.js";
import { chainConfig } from "../../src/kv/config.js";
import { KvCore } from "../../src/kv/core.js";
import { chainFlush, chainRelieve } from "../../src/kv/operations/chain-ops.js";
import { forwardLaunch, forwardProcess, forwardRecord } from "../../src/kv/operations/forwards.js";
import {
  groupBegin,
  groupEnd,
  requestFinish,
  requestRetract,
  tokensFree,
  windowRetire,
} from "../../src/kv/operations/frees.js";
import { idleViolations } from "../../src/kv/operations/idle.js";
import { netEnd, netPublish, netReceive, netSend, netStall } from "../../src/kv/operations/net.js";
import { rowAlloc } from "../../src/kv/operations/rows.js";
import { stateAlloc, stateCopy, stateFree } from "../../src/kv/operations/states.js";
import { tokensDecode, tokensExtend } from "../../src/kv/operations/tokens.js";
import type { Request } from "../../src/kv/requests.js";
import { loadState, stateOf } from "../../src/kv/state-io.js";
import { ends, expectFlushed } from "./flush-laws.js";
import { ByteUses, type Range, type Seen } from "./byte-uses.js";

const PARTS = { layout: true, deep: true };

type Handlers = { readonly [K in KvOperationName]?: (core: KvCore, args: KvArgs[K]) => Answer<K> };
const HANDLERS: Handlers = {
  "row.alloc": rowAlloc,
  "tokens.extend": tokensExtend,
  "tokens.decode": tokensDecode,
  "tokens.free": tokensFree,
  "window.retire": windowRetire,
  "state.alloc": stateAlloc,
  "state.free": stateFree,
  "state.copy": stateCopy,
  "request.finish": requestFinish,
  "request.retract": requestRetract,
  "group.begin": groupBegin,
  "group.end": groupEnd,
  "forward.launch": forwardLaunch,
  "forward.record": forwardRecord,
  "forward.process": forwardProcess,
  "chain.flush": chainFlush,
  "chain.relieve": chainRelieve,
  "net.send": netSend,
  "net.receive": netReceive,
  "net.publish": netPublish,
  "net.stall": netStall,
  "net.end": netEnd,
};

/** A load under way, as host loads do it: reserved, window rows bound, submitted. */
interface Load {
  readonly request: Request;
  readonly positions: readonly number[]; // page indices
  readonly unbound: Map<Band, number[]>; // window pages not yet bound
}

/** A small chain of two to four bands, tight enough that takes need relief. */
export function tightConfig(prng: Prng): DirectConfig {
  const unit = (): number => prng.pick([3, 4, 5, 7, 8, 11]);
  const pools: SubPoolConfig[] = [];
  const windows = prng.pick([0, 0, 1, 1, 2]);
  const hasState = windows === 0 || prng.chance(2, 3);
  if (hasState) pools.push({ name: "mamba", kind: "state", unit_bytes: prng.between(4, 14) });
  if (windows > 0) pools.push({ name: "window_4", kind: "mha", window: 4, unit_bytes: unit() });
  if (windows > 1) pools.push({ name: "window_2", kind: "mha", window: 2, unit_bytes: unit() });
  pools.push({ name: "full", kind: "mha", unit_bytes: unit() });
  const pageSize = prng.pick([1, 1, 2]);
  return {
    page_size: pageSize,
    arena_bytes: pageSize * prng.between(50, 70 + 55 * pools.length),
    sub_pools: pools,
    rows: 6,
    row_tokens: 64,
    overlap: prng.chance(4, 5),
    move_cap: prng.pick([1, 3, 4096]),
  };
}

function coreOf(config: DirectConfig): KvCore {
  return new KvCore(config, chainConfig(config), PARTS);
}

/** One operation's answer with its effects. */
export interface Done {
  readonly answer: Answer;
  readonly fx: readonly Effect[];
}

/** Applies one operation to a core as the storage does. */
export function applyTo<K extends KvOperationName>(core: KvCore, op: K, args: KvArgs[K]): Done {
  const handler = HANDLERS[op] as ((core: KvCore, args: KvArgs[K]) => Answer<K>) | undefined;
  if (handler === undefined) throw new Error(`no handler for ${op}`);
  return within(core, () => handler(core, args));
}

function within(core: KvCore, work: () => Answer): Done {
  core.chain.steps.clock += 1;
  const answer = work();
  core.chain.endOperation();
  return { answer, fx: core.chain.scope.take() };
}

/** A copy of a run through its state. */
export function copyOf(config: DirectConfig, core: KvCore): KvCore {
  const copy = coreOf(config);
  loadState(copy, stateOf(core));
  return copy;
}

/** One random run. */
export class TransferRun {
  readonly config: DirectConfig;
  readonly core: KvCore;
  readonly bytes: ByteUses;
  readonly prng: Prng;
  readonly counts: Record<string, number> = {};
  readonly #where: string;
  #next = 0; // names
  #loads: Load[] = [];
  readonly #log: string[] = [];

  constructor(seed: number) {
    this.prng = new Prng(seed, 21);
    this.config = tightConfig(this.prng);
    this.core = coreOf(this.config);
    this.bytes = new ByteUses(this.core);
    this.#where = `seed ${String(seed)} ${JSON.stringify(this.config)}`;
  }

  get where(): string {
    return `${this.#where}\n${this.#log.slice(-12).join("\n")}`;
  }
  count(name: string, by = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + by;
  }
  name(letter: string): string {
    this.#next += 1;
    return `${letter}${String(this.#next)}`;
  }

  /** A demand that a take could have. */
  demand(): number[] {
    const { prng, core } = this;
    return core.chain.bands.map(() => (prng.chance(1, 3) ? 0 : prng.below(prng.pick([3, 5, 9]))));
  }

  /** A demand that the chain cannot serve as it stands, if there is one along a random direction. */
  tightDemand(): readonly number[] {
    const direction = this.demand().map((pages) => Math.min(pages, 3));
    if (direction.every((pages) => pages === 0)) return direction;
    const scaled = (factor: number): number[] => direction.map((pages) => pages * factor);
    for (let factor = 1; ; factor++) {
      const priced = this.core.chain.price(scaled(factor));
      if ("step" in priced && priced.inPlace) continue;
      // the least one that does not fit in place, or one page of it less
      const found = scaled(factor);
      const band = this.prng.below(found.length);
      if (this.prng.chance(1, 2)) found[band] = Math.max(0, found[band]! - 1);
      return found;
    }
  }

  /** Takes one random step. */
  step(): void {
    const { prng } = this;
    if (this.core.group !== null && prng.chance(1, 3)) {
      this.#op("group.end", {});
      return;
    }
    // Two ends alone: sends whose pages flushes move and frontiers retreat past.
    const isEnds = this.core.chain.bands.length === 2;
    const steps: readonly [weight: number, () => unknown][] = [
      [2, () => this.#op("row.alloc", { reqs: [this.name("r")] })],
      [9, () => this.#extend()],
      [5, () => this.#decode()],
      [6, () => this.#free()],
      [3, () => this.#retire()],
      [isEnds ? 12 : 4, () => this.#state()],
      [3, () => this.#close()],
      [4, () => this.#forward()],
      [3, () => this.#process()],
      [isEnds ? 14 : 8, () => this.#op("chain.flush", {})],
      [3, () => this.#relieve()],
      [isEnds ? 14 : 7, () => this.#send()],
      [4, () => this.#receive()],
      [4, () => this.#publish()],
      [1, () => this.#stall()],
      [isEnds ? 2 : 5, () => this.#end()],
      [3, () => this.#copy()],
      [4, () => this.#load()],
      [1, () => this.core.group === null && this.#op("group.begin", {})],
    ];
    steps[prng.weighted(steps.map(([weight]) => weight))]![1]();
  }

  #requests(): Request[] {
    const busy = new Set(this.#loads.map(({ request }) => request));
    return [...this.core.requests.open.values()].filter((request) => !busy.has(request));
  }
  #withRequest(visit: (request: Request) => void): void {
    const requests = this.#requests();
    if (requests.length > 0) visit(this.prng.pick(requests));
  }

  #extend(): void {
    this.#withRequest(({ name, allocated }) => {
      const to = allocated + this.prng.between(1, 7);
      const tail = this.prng.chance(1, 4) ? { tail: this.prng.between(0, 3) } : {};
      this.#op("tokens.extend", { batch: [{ req: name, from: allocated, to, ...tail }] });
    });
  }
  #decode(): void {
    this.#withRequest(({ name, allocated }) => {
      this.#op("tokens.decode", { batch: [{ req: name, len: allocated + 1 }] });
    });
  }
  #free(): void {
    this.#withRequest(({ name, allocated }) => {
      const size = this.config.page_size;
      const windows = this.core.windowBands.map((band) => band.plan.name);
      const what = this.prng.pick(["tail", "windows", "windows", "inside"] as const);
      const pages = Math.ceil(allocated / size);
      const first = this.prng.below(pages + 1);
      if (what === "tail") {
        this.#op("tokens.free", { req: name, from: first * size, to: allocated, bands: "all" });
      } else if (what === "inside") {
        const to = Math.min(allocated, (first + this.prng.below(3)) * size);
        if (to >= first * size)
          this.#op("tokens.free", { req: name, from: first * size, to, bands: "all" });
      } else if (windows.length > 0) {
        const to = Math.min(allocated, (first + 1 + this.prng.below(2)) * size);
        if (to >= first * size)
          this.#op("tokens.free", {
            req: name,
            from: first * size,
            to,
            bands: [this.prng.pick(windows)],
          });
      }
    });
  }
  #retire(): void {
    this.#withRequest(({ name, allocated }) => {
      this.#op("window.retire", { req: name, len: allocated });
    });
  }
  #state(): void {
    if (this.core.chain.stateBand === null) return;
    this.#withRequest(({ name, slots }) => {
      const purpose = this.prng.pick(["main", "track"] as const);
      if (slots[purpose].length > 0 && this.prng.chance(1, 2))
        this.#op("state.free", { req: name, purpose });
      else this.#op("state.alloc", { req: name, count: this.prng.between(1, 2), purpose });
    });
  }
  #close(): void {
    this.#withRequest(({ name, allocated }) => {
      if (this.prng.chance(1, 2)) this.#op("request.retract", { req: name });
      else this.#op("request.finish", { req: name, len: allocated, insert: false });
    });
  }
  #relieve(): void {
    const vector = this.demand();
    const demand = Object.fromEntries(
      this.core.chain.bands.map((band, index) => [band.plan.name, vector[index]!]),
    );
    this.#op("chain.relieve", { demand });
  }

  #forward(): void {
    this.#withRequest((request) => {
      const { name, allocated } = request;
      const step = this.name("f");
      const from = this.prng.below(allocated + 1);
      const batch = [{ req: name, from, to: allocated }];
      const launched = this.#op("forward.launch", { step, batch, mode: "extend" });
      if (launched.answer.ok === undefined) return;
      if (this.config.overlap === true) this.#noteForward(step, request, from);
      const writes = this.prng.chance(1, 6) ? "unknown" : "known";
      this.#op("forward.record", { step, writes });
      if (writes === "unknown") this.bytes.setWritesAnything(step);
    });
  }
  #noteForward(step: string, request: Request, from: number): void {
    const reads: Range[] = [];
    const writes: Range[] = [];
    const size = this.config.page_size;
    for (const band of this.core.tokenBands) {
      for (let index = 0; index < this.core.pagesOf(request.allocated); index++) {
        const page = band.v2p[request.pages[index] ?? 0]!;
        if (page === 0) continue;
        const isWritten = from < request.allocated && (index + 1) * size > from;
        (isWritten ? writes : reads).push(this.bytes.rangeOf(band.plan.name, page));
      }
    }
    const main = request.slots.main[0];
    const { stateBand } = this.core.chain;
    if (main !== undefined && stateBand !== null)
      writes.push(this.bytes.rangeOf(stateBand.plan.name, stateBand.v2p[main]!));
    this.bytes.add(step, "forward", reads, writes);
  }
  #process(): void {
    const { unprocessed, unrecorded } = this.core.chain.steps;
    const step = (unprocessed[0] ?? unrecorded[0])?.name;
    if (step === undefined) return;
    this.#op("forward.process", { step });
    this.bytes.endThrough(step);
  }

  #writers(): { writers?: string[] } {
    const count = this.prng.pick([0, 0, 1, 2, 3]);
    return count === 0 ? {} : { writers: Array.from({ length: count }, () => this.name("w")) };
  }
  #send(): void {
    this.#withRequest(({ name, allocated, slots }) => {
      const from = this.prng.below(allocated + 1);
      const to = this.prng.between(from, allocated);
      const state =
        slots.main.length > 0 && this.prng.chance(1, 2) ? { state: "main" as const } : {};
      const held = this.prng.chance(1, 3) ? { held: true } : {};
      const transfer = this.name("t");
      this.#op("net.send", {
        transfer,
        req: name,
        from,
        to,
        ...state,
        ...held,
        ...this.#writers(),
      });
    });
  }
  #receive(): void {
    this.#withRequest(({ name, allocated }) => {
      const to = allocated + this.prng.between(0, 5);
      const tail = this.prng.chance(1, 3) ? { tail: this.prng.between(0, 3) } : {};
      const state =
        this.core.chain.stateBand !== null && this.prng.chance(1, 2)
          ? { state: this.prng.between(1, 2) }
          : {};
      const transfer = this.name("t");
      const args = { transfer, req: name, from: allocated, to, ...tail, ...state };
      this.#op("net.receive", { ...args, ...this.#writers() });
    });
  }
  #publish(): void {
    const held = [...this.core.net.held];
    if (held.length === 0) return;
    const deferred = this.prng.chance(1, 2) ? { deferred: true } : {};
    this.#op("net.publish", { transfer: this.prng.pick(held).name, ...deferred });
  }
  #stall(): void {
    const open = [...this.core.net.open.keys()];
    if (open.length > 0) this.#op("net.stall", { transfer: this.prng.pick(open) });
  }
  #end(): void {
    const open = [...this.core.net.open.values()];
    if (open.length === 0) return;
    const { name, writers } = this.prng.pick(open);
    const writer = this.prng.pick([...writers]);
    const outcome = this.prng.pick(["ok", "ok", "failed", "timeout"] as const);
    this.#op("net.end", { transfer: name, ...(writer === "" ? {} : { writer }), outcome });
    if (!this.core.net.open.has(name)) this.bytes.end(name);
  }

  // Copies as backups make them: out of pages that some row holds; or the end of one.
  #copy(): void {
    const { ledger } = this.core.chain;
    const copies = ledger.copies;
    if (copies.length > 0 && this.prng.chance(2, 3)) {
      const copy = this.prng.pick(copies);
      this.#custom(`end ${copy.name}`, () => {
        ledger.endCopy(copy);
      });
      this.bytes.end(copy.name);
      return;
    }
    this.#withRequest((request) => {
      const places = this.core.chain.bands.map((band) =>
        band.plan.kind === "state"
          ? []
          : request.pages.map((id) => band.v2p[id]!).filter((page) => page > 0),
      );
      // a copy stream does not wait a peer; pages under a receive are not backed up
      const isReceived = this.core.chain.bands.some((band) =>
        places[band.index]!.some((page) =>
          band.usesAt(page).some((use) => use.direction === "receive"),
        ),
      );
      if (isReceived) return;
      const name = this.name("c");
      this.#custom(`copy out ${name}`, () => {
        ledger.startCopy(this.core.chain.bands, name, "out", places);
      });
      this.bytes.add(name, "copy", this.#ranges(places), []);
    });
  }
  #ranges(places: readonly (readonly number[])[]): Range[] {
    return this.core.chain.bands.flatMap((band) =>
      places[band.index]!.map((page) => this.bytes.rangeOf(band.plan.name, page)),
    );
  }

  #load(): void {
    if (this.#loads.length > 0 && this.prng.chance(2, 3)) {
      this.#goOnLoading(this.prng.pick(this.#loads));
      return;
    }
    if (this.core.group !== null) return;
    this.#withRequest((request) => {
      if (request.allocated % this.config.page_size === 0) this.#reserve(request);
    });
  }

  #reserve(request: Request): void {
    const { core, prng } = this;
    const { chain } = core;
    const full = prng.between(0, 4);
    if (request.allocated + full * this.config.page_size > this.config.row_tokens) return;
    const demand = chain.bands.map((band) =>
      band.plan.isOwner ? full : band.plan.isWindow ? prng.between(0, full) : 0,
    );
    const load: Load = { request, positions: [], unbound: new Map() };
    const handed: Range[] = [];
    this.#custom(
      `reserve ${JSON.stringify(demand)} for ${request.name}`,
      () => {
        const plan = chain.price(demand);
        if (!("step" in plan)) return;
        const taken = chain.take(demand, plan, "host_load");
        for (const band of chain.bands) {
          const pages = taken.pages[band.index]!;
          for (const page of pages) {
            band.fix(page);
            handed.push(this.bytes.rangeOf(band.plan.name, page));
          }
          if (!band.plan.isOwner) load.unbound.set(band, [...pages]);
          else
            for (const page of pages) {
              const index = request.pages.length;
              const virtual = chain.virtual.mint(request, index);
              request.pages.push(virtual);
              (load.positions as number[]).push(index);
              band.bind(virtual, page, chain.steps.clock);
            }
        }
        core.requests.setAllocated(request, request.allocated + full * this.config.page_size);
        core.ended();
        this.#loads.push(load);
        this.count("reservations");
      },
      () => handed,
    );
  }

  #goOnLoading(load: Load): void {
    const { core } = this;
    const { chain } = core;
    const { request, positions, unbound } = load;
    if (core.group !== null) return;
    const isBound = [...unbound.values()].every((pages) => pages.length === 0);
    const isCancelled = this.prng.chance(1, 4);
    if (isCancelled || isBound) this.#loads = this.#loads.filter((other) => other !== load);
    if (isCancelled) {
      this.#custom(`cancel load of ${request.name}`, () => {
        for (const [band, pages] of unbound)
          for (const page of pages) {
            band.unfix(page);
            band.freeUnbound(page, chain.steps.newestUnprocessed);
          }
        for (const index of positions) {
          for (const band of core.tokenBands) band.unfix(band.v2p[request.pages[index]!]!);
          core.freeRowPage(request, index);
        }
        request.pages.length -= positions.length;
        core.requests.setAllocated(request, request.pages.length * this.config.page_size);
        core.freed();
      });
    } else if (!isBound) {
      this.#custom(`bind windows of ${request.name}`, () => {
        for (const [band, pages] of unbound) {
          for (const [rank, page] of pages.splice(0).entries()) {
            band.bind(request.pages[positions.at(-1 - rank)!]!, page, chain.steps.clock);
            band.unfix(page);
          }
        }
      });
    } else {
      const name = this.name("c");
      const places = chain.bands.map((band) =>
        band.plan.kind === "state"
          ? []
          : positions.map((index) => band.v2p[request.pages[index]!]!).filter((page) => page > 0),
      );
      this.#custom(`submit load of ${request.name} as ${name}`, () => {
        for (const band of chain.bands) for (const page of places[band.index]!) band.unfix(page);
        chain.ledger.startCopy(chain.bands, name, "in", places);
      });
      this.bytes.add(name, "copy", [], this.#ranges(places));
    }
  }

  /** Books of fixed and held pages, to be compared after an operation. */
  #fixedNow(): Map<string, number> {
    const fixed = new Map<string, number>();
    for (const band of this.core.chain.bands)
      for (const page of band.fixed)
        fixed.set(`${band.plan.name} ${String(page)}`, band.p2v[page]!);
    return fixed;
  }

  #custom(what: string, work: () => void, handedOut: () => readonly Range[] = () => []): void {
    const done = within(this.core, () => {
      work();
      return {};
    });
    this.#judge("custom", what, done, new Map(), handedOut());
  }

  #op<K extends KvOperationName>(op: K, args: KvArgs[K]): Done {
    const fixed = this.#fixedNow();
    const isCopied = this.prng.chance(1, 6);
    const copy = isCopied ? copyOf(this.config, this.core) : null;
    const flushed = op === "chain.flush" ? ends(this.core) : null;
    const done = applyTo(this.core, op, args);
    if (flushed !== null && done.answer.ok !== undefined) {
      for (const end of flushed)
        expectFlushed(end, done.answer as Answer<"chain.flush">, this.config, this.where);
    }
    this.#judge(op, JSON.stringify(args), done, fixed, this.#slotsOf(op, done.answer));
    if (copy !== null) this.#expectSame(copy, op, args, done);
    return done;
  }

  #slotsOf(op: string, answer: Answer): readonly Range[] {
    const { stateBand } = this.core.chain;
    if (stateBand === null || answer.ok === undefined) return [];
    const ok = answer.ok as Record<string, unknown>;
    const name = stateBand.plan.name;
    const lists =
      op === "state.alloc" ? ok : op === "net.receive" ? (ok["pages"] as typeof ok) : {};
    const pages = lists[name] as readonly (readonly [number, number])[] | undefined;
    return (pages ?? []).flatMap(([first, count]) =>
      Array.from({ length: Math.abs(count) }, (_, i) =>
        this.bytes.rangeOf(name, count > 0 ? first + i : first - i),
      ),
    );
  }

  /** A run that goes on from its state gives the same answer and the same state. */
  #expectSame<K extends KvOperationName>(copy: KvCore, op: K, args: KvArgs[K], done: Done): void {
    const again = applyTo(copy, op, args);
    expect(JSON.stringify(again), this.where).toBe(JSON.stringify(done));
    expect(comparable(stateOf(copy)), this.where).toBe(comparable(stateOf(this.core)));
    this.count("copies");
  }

  #judge(
    op: string,
    what: string,
    { answer, fx }: Done,
    fixed: ReadonlyMap<string, number>,
    handedOut: readonly Range[],
  ): void {
    this.#log.push(`${op} ${what} ${JSON.stringify(answer)} ${JSON.stringify(fx)}`);
    const isRefused = answer.err !== undefined;
    this.count(op);
    if (isRefused) this.count(`${op} ${answer.err?.rule ?? answer.err?.code ?? ""}`);
    if (isRefused) expect(fx, this.where).toEqual([]);
    const seen = this.bytes.follow(fx, handedOut, op === "custom");
    expect(seen.problems, this.where).toEqual([]);
    if (op !== "chain.flush" && op !== "custom") this.#expectWaits(op, seen);
    for (const [key, virtual] of fixed) {
      const [name, page] = key.split(" ");
      const band = this.core.chain.bandNamed(name!)!;
      expect(band.p2v[Number(page)], `${key} is fixed\n${this.where}`).toBe(virtual);
      expect(band.status[Number(page)], `${key} is fixed\n${this.where}`).toBe(PAGE.live);
    }
    const violations = idleViolations(this.core).filter(({ check }) => check !== "leak");
    expect(violations, this.where).toEqual([]);
    const step = (answer.ok as { readonly step?: string } | undefined)?.step;
    if (step !== undefined) this.count(`step ${step}`);
    this.count("hostwaits", seen.waited.length);
  }

  #expectWaits(op: string, seen: Seen): void {
    if (op === "forward.launch" || op === "net.send" || op === "net.publish") return;
    const waited = new Set(seen.waited);
    expect(waited.size, this.where).toBe(seen.waited.length);
    // a relief alone also waits what the take would write
    if (op === "chain.relieve")
      for (const name of seen.touched) expect(waited, this.where).toContain(name);
    else expect([...waited].sort(), this.where).toEqual([...seen.touched].sort());
  }
}

function comparable(state: State): string {
  return JSON.stringify(state);
}
