// What the seeded workload knows of a run: requests, lengths, cursors, slots, forwards in launch order, and the books of
// tree, host and transfers. It is updated from answers alone, and a refusal leaves it as it is. It knows no places:
// which pages they are is nobody's business here.
import type {
  Answer,
  DirectConfig,
  Operation,
  OperationOf,
  RetiredWindow,
} from "../base/operations.js";
import { sinkBytes } from "./layouts.js";
import { SeededBytes } from "./seeded-bytes.js";
import { HostBooks } from "./seeded-host-books.js";
import { NetBooks } from "./seeded-net-books.js";
import {
  addSlots,
  dropSlots,
  emptyRequest,
  extendRow,
  type ModelRequest,
  shortenRow,
  unbindPages,
} from "./seeded-rows.js";
import { TreeBooks } from "./seeded-tree-books.js";

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
  readonly bytes: SeededBytes;
  readonly requests = new Map<string, ModelRequest>();
  readonly closedNames: string[] = []; // no longer open, or their opening was refused
  readonly forwards: ModelForward[] = []; // launched and not processed, launch order
  readonly doneForwards: string[] = []; // processed
  readonly tree: TreeBooks;
  readonly host: HostBooks;
  readonly net = new NetBooks();
  isGroupOpen = false;
  hasStages = false;
  digests = 0; // agreement digests so far
  hasTaken = false; // whether anything was ever taken since boot

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
    const usable = config.arena_bytes - sinkBytes(pools, config.page_size);
    this.bytes = new SeededBytes(this.pageBytes, this.state, usable);
    this.tree = new TreeBooks(this);
    this.host = new HostBooks(this);
  }

  /** Bytes that no page or slot holds; an estimate, since grids do not align. */
  get freeBytes(): number {
    return this.bytes.free;
  }
  get usableBytes(): number {
    return this.bytes.usable;
  }
  /** The forward that was launched and not recorded, where that opens something. */
  get openForward(): ModelForward | undefined {
    if (this.config.overlap !== true && !this.hasStages) return undefined;
    return this.forwards.find((forward) => !forward.recorded && !forward.prebuilt);
  }
  /** Whether forwards are recorded. */
  get records(): boolean {
    return this.config.overlap === true || this.hasStages;
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

  /** Learns what an operation did. */
  learn(operation: Operation, answer: Answer): void {
    if (answer.ok === undefined) {
      if (operation.op === "row.alloc") this.#refuseNames(operation.args.reqs);
      return;
    }
    this.bytes.learn(operation, answer);
    this.hasTaken ||= !this.bytes.isEmpty;
    // The books look at requests as they were before the operation.
    this.tree.learn(operation, answer);
    this.host.learn(operation, answer);
    this.net.learn(operation, answer);
    this.#learnRequests(operation, answer);
    this.#learnSchedule(operation);
  }

  #learnRequests(operation: Operation, answer: Answer): void {
    switch (operation.op) {
      case "row.alloc":
        for (const name of operation.args.reqs) this.open(name);
        break;
      case "row.free":
      case "request.finish":
      case "request.retract":
        if (this.requests.delete(operation.args.req)) this.closedNames.push(operation.args.req);
        break;
      case "state.alloc": {
        const request = this.requests.get(operation.args.req);
        if (request !== undefined && this.state !== null)
          addSlots(request, operation.args.purpose, operation.args.count);
        break;
      }
      case "state.free": {
        const request = this.requests.get(operation.args.req);
        if (request !== undefined) dropSlots(request, operation.args.purpose);
        break;
      }
      case "tokens.extend":
        for (const { req, to, tail } of operation.args.batch) this.#extend(req, to, tail);
        break;
      case "tokens.decode":
        for (const { req, len } of operation.args.batch) this.#extend(req, len, undefined);
        break;
      case "net.receive": {
        const { req, to, tail, state } = operation.args;
        this.#extend(req, to, tail);
        const request = this.requests.get(req);
        if (request !== undefined) addSlots(request, "main", state ?? 0);
        break;
      }
      case "tokens.free":
        this.#freeTokens(operation);
        break;
      case "window.retire":
        this.#retire(operation.args.req, answer.ok as Readonly<Record<string, RetiredWindow>>);
        break;
      default:
    }
  }

  #learnSchedule(operation: Operation): void {
    switch (operation.op) {
      case "group.begin":
        this.isGroupOpen = true;
        break;
      case "group.end":
        this.isGroupOpen = false;
        break;
      case "forward.launch":
        this.forwards.push({
          name: operation.args.step,
          prebuilt: operation.args.mode === "prebuilt",
          recorded: false,
        });
        for (const { req, track } of operation.args.batch) {
          const request = this.requests.get(req);
          if (request !== undefined && track !== undefined) request.tracked = track;
        }
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
      case "stages.digest":
        this.digests += 1;
        break;
      case "stages.install":
        this.hasStages = true;
        break;
      default:
    }
  }

  #refuseNames(names: readonly string[]): void {
    for (const name of names) {
      if (!this.requests.has(name) && !this.closedNames.includes(name)) this.closedNames.push(name);
    }
  }

  /** Opens a request with an empty row. */
  open(name: string): ModelRequest {
    const closed = this.closedNames.indexOf(name);
    if (closed >= 0) this.closedNames.splice(closed, 1);
    const request = emptyRequest(name, this.pageSize, this.windows.length);
    this.requests.set(name, request);
    return request;
  }

  #extend(name: string, to: number, tail: number | undefined): void {
    const request = this.requests.get(name);
    if (request !== undefined) extendRow(request, to, tail);
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
    unbindPages(request, this.pagesOf(from), this.pagesOf(to), isFull, windows);
    if (bands === "all" && to === request.allocated) shortenRow(request, from);
  }

  #retire(name: string, retired: Readonly<Record<string, RetiredWindow>>): void {
    const request = this.requests.get(name);
    if (request === undefined) return;
    for (const [index, window] of this.windows.entries()) {
      const cursor = retired[window.name]?.cursor;
      if (cursor === undefined) continue;
      const from = (request.cursors[index] ?? 0) / this.pageSize;
      unbindPages(request, from, cursor / this.pageSize, false, [index]);
      request.cursors[index] = cursor;
    }
  }
}
