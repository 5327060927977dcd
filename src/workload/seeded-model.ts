// What the seeded workload knows of a run: requests, lengths, cursors, slots, forwards in launch order. It is updated
// from answers alone, and a refusal leaves it as it is. It knows no places: which pages they are is nobody's business
// here.
import type {
  Answer,
  DirectConfig,
  Operation,
  OperationOf,
  StatePurpose,
  RetiredWindow,
} from "../base/operations.js";
import { sinkBytes } from "./layouts.js";

/** A page row's residency and lengths. @internal */
export interface ModelRequest {
  readonly name: string;
  allocated: number; // tokens
  readonly full: boolean[]; // per page of the row: bound in the full band
  readonly windows: boolean[][]; // per window band, per page
  readonly cursors: number[]; // tokens, per window band
  readonly slots: Map<StatePurpose, number>; // slots held per purpose, none = absent
}
/** @internal */
export interface ModelForward {
  readonly name: string;
  readonly prebuilt: boolean;
  recorded: boolean;
}
/** One window band. @internal */
export interface ModelWindow {
  readonly name: string;
  readonly window: number; // tokens
}

/** @internal */
export class SeededModel {
  readonly config: DirectConfig;
  readonly pageSize: number; // tokens
  readonly windows: readonly ModelWindow[]; // chain order
  readonly state: string | null;
  readonly tokenBands: readonly string[]; // chain order, full last
  readonly pageBytes: ReadonlyMap<string, number>;
  readonly requests = new Map<string, ModelRequest>();
  readonly closedNames: string[] = []; // no longer open, or their opening was refused
  readonly forwards: ModelForward[] = []; // launched and not processed, launch order
  readonly doneForwards: string[] = []; // processed
  isGroupOpen = false;
  #usedBytes = 0; // bytes of bound pages and held slots, those waiting in a group included
  #groupedBytes = 0;
  readonly usableBytes: number; // the arena without the sink

  constructor(config: DirectConfig) {
    this.config = config;
    this.pageSize = config.page_size;
    const pools = config.sub_pools;
    this.windows = pools.flatMap((pool) =>
      pool.window === undefined ? [] : [{ name: pool.name, window: pool.window ?? 0 }],
    );
    this.state = pools.find((pool) => pool.kind === "state")?.name ?? null;
    this.tokenBands = [...this.windows.map((window) => window.name), "full"];
    this.pageBytes = new Map(
      pools.map((pool) => [
        pool.name,
        pool.kind === "state" ? pool.unit_bytes : pool.unit_bytes * config.page_size,
      ]),
    );
    this.usableBytes = config.arena_bytes - sinkBytes(pools, config.page_size);
  }

  /** Bytes that no page or slot holds; an estimate, since grids do not align. */
  get freeBytes(): number {
    return Math.max(0, this.usableBytes - this.#usedBytes);
  }
  /** The forward that was launched and not recorded, where that opens something. */
  get openForward(): ModelForward | undefined {
    if (this.config.overlap !== true) return undefined;
    return this.forwards.find((forward) => !forward.recorded && !forward.prebuilt);
  }
  bytesOf(band: string): number {
    return this.pageBytes.get(band) ?? 0;
  }
  /** Bytes of one page in every token band. */
  get tokenPageBytes(): number {
    let bytes = 0;
    for (const band of this.tokenBands) bytes += this.bytesOf(band);
    return bytes;
  }
  /** Pages a row of that many tokens has. */
  pagesOf(tokens: number): number {
    return Math.ceil(tokens / this.pageSize);
  }
  isEmpty(request: ModelRequest): boolean {
    const isBound =
      request.full.includes(true) || request.windows.some((pages) => pages.includes(true));
    return !isBound && request.slots.size === 0;
  }

  /** Learns what an operation did. */
  learn(operation: Operation, answer: Answer): void {
    if (answer.ok === undefined) {
      if (operation.op === "row.alloc") this.#refuseNames(operation.args.reqs);
      return;
    }
    switch (operation.op) {
      case "row.alloc":
        for (const name of operation.args.reqs) this.#open(name);
        break;
      case "row.free":
      case "request.finish":
      case "request.retract":
        this.#close(operation.args.req);
        break;
      case "state.alloc":
        this.#addSlots(operation.args.req, operation.args.purpose, operation.args.count);
        break;
      case "state.free":
        this.#dropSlots(this.requests.get(operation.args.req), operation.args.purpose);
        break;
      case "tokens.extend":
        for (const entry of operation.args.batch) this.#extend(entry.req, entry.to, entry.tail);
        break;
      case "tokens.decode":
        for (const entry of operation.args.batch) this.#extend(entry.req, entry.len, undefined);
        break;
      case "tokens.free":
        this.#freeTokens(operation);
        break;
      case "window.retire":
        this.#retire(operation.args.req, answer.ok as Readonly<Record<string, RetiredWindow>>);
        break;
      default:
        this.#learnSchedule(operation);
    }
  }

  #learnSchedule(operation: Operation): void {
    switch (operation.op) {
      case "group.begin":
        this.isGroupOpen = true;
        break;
      case "group.end":
        this.isGroupOpen = false;
        this.#usedBytes -= this.#groupedBytes;
        this.#groupedBytes = 0;
        break;
      case "forward.launch":
        this.forwards.push({
          name: operation.args.step,
          prebuilt: operation.args.mode === "prebuilt",
          recorded: false,
        });
        break;
      case "forward.record":
        for (const forward of this.forwards) {
          if (forward.name === operation.args.step) forward.recorded = true;
        }
        break;
      case "forward.process": {
        const index = this.forwards.findIndex((forward) => forward.name === operation.args.step);
        if (index >= 0) this.forwards.splice(index, 1);
        this.doneForwards.push(operation.args.step);
        break;
      }
      default:
    }
  }

  #refuseNames(names: readonly string[]): void {
    for (const name of names) {
      if (!this.requests.has(name) && !this.closedNames.includes(name)) this.closedNames.push(name);
    }
  }

  #open(name: string): void {
    const closed = this.closedNames.indexOf(name);
    if (closed >= 0) this.closedNames.splice(closed, 1);
    this.requests.set(name, {
      name,
      allocated: 0,
      full: [],
      windows: this.windows.map(() => []),
      cursors: this.windows.map(() => 0),
      slots: new Map(),
    });
  }

  #close(name: string): void {
    const request = this.requests.get(name);
    if (request === undefined) return;
    this.#unbind(
      request,
      0,
      request.full.length,
      true,
      this.windows.map((_, index) => index),
    );
    for (const purpose of [...request.slots.keys()]) this.#dropSlots(request, purpose);
    this.requests.delete(name);
    this.closedNames.push(name);
  }

  #addSlots(name: string, purpose: StatePurpose, count: number): void {
    const request = this.requests.get(name);
    if (request === undefined || this.state === null) return;
    request.slots.set(purpose, (request.slots.get(purpose) ?? 0) + count);
    this.#usedBytes += count * this.bytesOf(this.state);
  }

  #dropSlots(request: ModelRequest | undefined, purpose: StatePurpose): void {
    const count = request?.slots.get(purpose) ?? 0;
    request?.slots.delete(purpose);
    if (this.state !== null) this.#release(count * this.bytesOf(this.state));
  }

  #extend(name: string, to: number, tail: number | undefined): void {
    const request = this.requests.get(name);
    if (request === undefined) return;
    const first = this.pagesOf(request.allocated);
    const end = this.pagesOf(to);
    const firstWindow =
      tail === undefined ? first : Math.max(first, Math.floor((to - tail) / this.pageSize));
    for (let page = first; page < end; page++) {
      request.full[page] = true;
      this.#usedBytes += this.bytesOf("full");
      for (const [index, window] of this.windows.entries()) {
        const isBound = page >= firstWindow;
        // one list a window, made when the request was opened
        request.windows[index]![page] = isBound;
        if (isBound) this.#usedBytes += this.bytesOf(window.name);
      }
    }
    if (tail !== undefined) request.cursors.fill(firstWindow * this.pageSize);
    request.allocated = to;
  }

  #freeTokens(operation: OperationOf<"tokens.free">): void {
    const { req, from, to, bands } = operation.args;
    const request = this.requests.get(req);
    if (request === undefined) return;
    const every = this.windows.map((_, index) => index);
    const windows =
      bands === "all"
        ? every
        : bands === "full"
          ? []
          : every.filter((index) => bands.includes(this.windows[index]?.name ?? ""));
    const isFull = bands === "all" || bands === "full";
    this.#unbind(request, this.pagesOf(from), this.pagesOf(to), isFull, windows);
    if (bands === "all" && to === request.allocated) {
      request.allocated = from;
      request.full.length = this.pagesOf(from);
      for (const pages of request.windows) pages.length = request.full.length;
    }
  }

  #retire(name: string, retired: Readonly<Record<string, RetiredWindow>>): void {
    const request = this.requests.get(name);
    if (request === undefined) return;
    for (const [index, window] of this.windows.entries()) {
      const cursor = retired[window.name]?.cursor;
      if (cursor === undefined) continue;
      const from = (request.cursors[index] ?? 0) / this.pageSize;
      this.#unbind(request, from, cursor / this.pageSize, false, [index]);
      request.cursors[index] = cursor;
    }
  }

  #unbind(
    request: ModelRequest,
    from: number,
    to: number,
    isFull: boolean,
    windows: readonly number[],
  ): void {
    for (let page = from; page < to; page++) {
      if (isFull && request.full[page] === true) {
        request.full[page] = false;
        this.#release(this.bytesOf("full"));
      }
      for (const index of windows) {
        const pages = request.windows[index];
        if (pages?.[page] !== true) continue;
        pages[page] = false;
        this.#release(this.bytesOf(this.windows[index]?.name ?? ""));
      }
    }
  }

  #release(bytes: number): void {
    if (this.isGroupOpen) this.#groupedBytes += bytes;
    else this.#usedBytes -= bytes;
  }
}
