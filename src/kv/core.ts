// The state of one run that operations work on: the chain, the request rows, the open free group.
import type {
  DirectConfig,
  EndedTransfers,
  Extents,
  FreedOk,
  OperationError,
} from "../base/operations.js";
import type { Band } from "./alloc/band.js";
import { ChainAllocator } from "./alloc/chain.js";
import type { ChainConfig } from "./config.js";
import { PageListBuilder } from "./freed-pages.js";
import { bandPlans } from "./memory/geometry.js";
import { type Request, RequestTable } from "./requests.js";
import { HostCache } from "./cache/host-cache.js";
import { PrefixTree } from "./cache/prefix-tree.js";
import { Transfers } from "./transfer/transfers.js";
import { DeferredFrees } from "./transfer/deferred-frees.js";
import { heldPlaces } from "./transfer/places.js";

/** Pages and ids whose frees wait for `group.end`, in call order. They stay bound and live until then. @internal */
export interface FreeGroup {
  readonly virtual: number[];
  readonly slots: number[];
  readonly bands: readonly number[][]; // virtual (slot) ids by band index
  readonly windows: readonly Set<number>[]; // by band index: virtual pages whose window page is freed already
  readonly reserved: readonly ReservedFree[][]; // by band index
}

/** A page of a given-up load that no id names, fixed until the group's end. @internal */
export interface ReservedFree {
  readonly page: number;
  readonly behind: number; // how many of the group's ids of this band were freed before it
}

/** Which parts of the content the digests cover. @internal */
export interface DigestParts {
  readonly layout: boolean; // order, bindings, pending batches
  readonly deep: boolean; // everything
}

/** What every operation of one run shares. @internal */
export class KvCore {
  readonly source: DirectConfig;
  readonly config: ChainConfig;
  readonly chain: ChainAllocator;
  readonly requests: RequestTable;
  readonly lists: PageListBuilder;
  readonly tokenBands: readonly Band[]; // chain order
  readonly windowBands: readonly Band[]; // chain order
  readonly deferred: DeferredFrees;
  readonly tree: PrefixTree;
  readonly host: HostCache;
  readonly net: Transfers;
  /** Transfers that the operation under way ended without a host wait: by finishing their request, for example. */
  readonly endedTransfers: string[] = [];
  group: FreeGroup | null = null;
  /** Whether this run was told once that a decision reads estimates. A remark, no part of what digests cover. */
  hasToldEstimates: boolean;
  readonly #deferredLists: PageListBuilder;
  readonly #parts: DigestParts;

  /** @param before - the run that a resize of the arena replaces */
  constructor(source: DirectConfig, config: ChainConfig, parts: DigestParts, before?: KvCore) {
    this.source = source;
    this.config = config;
    this.#parts = parts;
    this.chain = new ChainAllocator(config, bandPlans(config), parts, before?.chain);
    this.chain.mustBindFirst = () => this.#mustBindFirst();
    this.requests = before?.requests ?? new RequestTable(config.rows, parts.layout);
    this.hasToldEstimates = before?.hasToldEstimates ?? false;
    this.lists = new PageListBuilder(this.chain.bands);
    this.#deferredLists = new PageListBuilder(this.chain.bands);
    this.deferred = new DeferredFrees(this.chain.bands.length);
    this.tree =
      before?.tree ??
      new PrefixTree({
        plans: this.chain.bands.map((band) => band.plan),
        pageTokens: config.pageSize,
        primaryWindow: source.primary_window ?? null,
        digesting: parts.layout,
      });
    this.host = before?.host ?? this.#makeHost();
    this.tree.onSplit = (upper, lower) => this.host.split(upper, lower);
    this.net = before?.net ?? new Transfers();
    this.chain.heldPlaces = () => heldPlaces(this);
    this.tokenBands = this.chain.bands.filter((band) => band.plan.kind !== "state");
    this.windowBands = this.chain.bands.filter((band) => band.plan.isWindow);
  }

  /** The same run on an arena of another size, ids as at boot. Only while nothing is live. */
  resized(arenaBytes: number): KvCore {
    const source = { ...this.source, arena_bytes: arenaBytes };
    return new KvCore(source, { ...this.config, arenaBytes }, this.#parts, this);
  }

  /** Pools of the configuration; none without `host`. */
  #makeHost(): HostCache {
    const names = this.chain.bands.map((band) => band.plan.name);
    const sizes = names.map((name) => this.source.host?.[name] ?? 0);
    return new HostCache(names, sizes, this.chain.stateBand?.index ?? -1, this.#parts.layout);
  }

  /** Whether forwards are recorded: with overlap, or with stages. */
  get records(): boolean {
    return this.config.overlap || this.chain.stages !== null;
  }

  /** Pages that `tokens` cover, the last one perhaps in part. */
  pagesOf(tokens: number): number {
    return Math.ceil(tokens / this.config.pageSize);
  }

  /** Whether a window page is bound and not yet freed in the open group. */
  isWindowBound(band: Band, virtual: number): boolean {
    if (band.v2p[virtual]! <= 0 || this.deferred.has(band, virtual)) return false;
    return this.group?.windows[band.index]!.has(virtual) !== true;
  }

  /** Frees one band's page of a virtual page, or defers it to the group's end. */
  freeBandPage(band: Band, virtual: number): void {
    if (this.group !== null) {
      band.letGo(virtual, this.chain.steps.clock);
      this.group.bands[band.index]!.push(virtual);
      if (band.plan.isWindow) this.group.windows[band.index]!.add(virtual);
      return;
    }
    if (band.uses.size > 0) {
      const page = band.v2p[virtual]!; // bound, the caller says
      const transfers = band.usesAt(page).filter((use) => use.kind === "transfer");
      if (transfers.length > 0) {
        band.letGo(virtual, this.chain.steps.clock);
        this.deferred.add({ band, id: virtual, transfers });
        this.#deferredLists.bands[band.index]!.add(page);
        return;
      }
    }
    this.lists.bands[band.index]!.add(band.free(virtual, this.chain.steps.newestUnprocessed));
  }

  /** Frees a page that a load reserved and no id names. */
  freeReserved(band: Band, page: number): void {
    if (this.group !== null) {
      const behind = this.group.bands[band.index]!.length;
      this.group.reserved[band.index]!.push({ page, behind });
      return;
    }
    band.unfix(page);
    band.freeUnbound(page, this.chain.steps.newestUnprocessed);
    this.lists.bands[band.index]!.add(page);
  }

  /** Frees the page at `index` of a row in every band where it is bound, and its virtual id. */
  freeRowPage(request: Request, index: number): void {
    const virtual = request.pages[index]!;
    for (const band of this.windowBands)
      if (this.isWindowBound(band, virtual)) this.freeBandPage(band, virtual);
    this.freeBandPage(this.chain.owner, virtual);
    request.pages[index] = 0;
    this.retireVirtual(virtual);
  }

  /** Notes that a row takes the tree's page at `index`: forwards in flight read another one there, or none. */
  noteShared(request: Request, index: number): void {
    const { hasUnretired, open, clock } = this.chain.steps;
    if (hasUnretired || open !== null) request.sharedAt.set(index, clock);
  }

  /** Returns a virtual id, at once or at the group's end. */
  retireVirtual(virtual: number): void {
    const { virtual: ids } = this.chain;
    if (this.group !== null) {
      this.group.virtual.push(virtual);
      return;
    }
    if (
      !this.deferred.isEmpty &&
      this.tokenBands.some((band) => this.deferred.has(band, virtual))
    ) {
      this.deferred.virtual.add(virtual);
      this.#deferredLists.virtual.add(virtual);
      return;
    }
    ids.retire(virtual);
    this.lists.virtual.add(virtual);
  }

  /** Frees a state slot with its page, at once or at the group's end. */
  freeSlot(slot: number): void {
    const { stateBand } = this.chain;
    if (stateBand === null) return; // no state band, no slots
    this.freeBandPage(stateBand, slot);
    if (this.group !== null) {
      this.group.slots.push(slot);
      return;
    }
    this.retireSlot(slot);
  }

  /** Returns a slot id; with a page that waits for a transfer it waits too. */
  retireSlot(slot: number): void {
    const { stateBand, slots } = this.chain;
    if (stateBand !== null && this.deferred.has(stateBand, slot)) {
      this.deferred.slots.add(slot);
      this.#deferredLists.slots.add(slot);
      return;
    }
    slots?.retire(slot);
    this.lists.slots.add(slot);
  }

  /** What the operation freed: pages and ids, those that wait for transfers, and what transfers that it ended gave back. */
  freed(): FreedOk {
    const freed = this.lists.take();
    const deferred = this.#deferredLists.take();
    return {
      freed,
      ...(Object.keys(deferred).length > 0 ? { deferred } : {}),
      ...this.ended(),
    };
  }

  /** Pages of one band whose frees the operation deferred. */
  deferredIn(band: Band): Extents {
    return this.#deferredLists.bands[band.index]!.take();
  }

  /** `ended` of an answer: the transfers that the operation ended, with what they had held back; empty where none. */
  ended(): { readonly ended?: EndedTransfers } {
    const { ledger } = this.chain;
    if (ledger.ended.length === 0 && this.endedTransfers.length === 0) return {};
    const waited = ledger.ended.splice(0).map(({ name }) => name);
    for (const name of waited) this.net.close(name);
    const transfers = [...waited, ...this.endedTransfers.splice(0)];
    this.releaseDeferred();
    return { ended: { transfers, freed: this.lists.take() } };
  }

  /** Frees what no transfer holds back any more, in the order of the frees; lists it. A group that is open meanwhile
   * has nothing to do with these frees: like pending pages they come back when they are due. */
  releaseDeferred(): void {
    const { group } = this;
    this.group = null;
    this.#releaseReady();
    this.group = group;
  }

  #releaseReady(): void {
    const ready = this.deferred.takeReady();
    for (const { band, id } of ready) this.freeBandPage(band, id);
    for (const { id } of ready.filter(({ band }) => band.plan.kind === "state"))
      if (this.deferred.slots.delete(id)) this.retireSlot(id);
    const tokenIds = ready.flatMap(({ band, id }) => (band.plan.kind === "state" ? [] : [id]));
    for (const id of this.deferred.virtual.inOrder(tokenIds)) {
      if (this.tokenBands.some((other) => this.deferred.has(other, id))) continue;
      this.deferred.virtual.delete(id);
      this.retireVirtual(id);
    }
  }

  /** The rule broken by a take, flush or relief now: between a launch and its record, or, with stages, before a load named
   * its window pages, which cannot move until then. */
  takeBlocked(): OperationError | null {
    const open = this.launchOpen();
    if (open !== null || this.chain.stages === null) return open;
    return this.#mustBindFirst() ? invalid("name_state") : null;
  }

  /** Whether window pages of a load are fixed that no owner id names yet. */
  #mustBindFirst(): boolean {
    const waits = this.group?.reserved.some((pages) => pages.length > 0) === true;
    return this.host.pinsWindows || waits;
  }

  /** The rule broken by a take or free between a launch and its record, or null. */
  launchOpen(): OperationError | null {
    return this.chain.steps.open === null ? null : invalid("take_between_launch_and_record");
  }
}

/** A broken contract and what it names. @internal */
export function invalid(
  rule: string,
  names: Omit<OperationError, "code" | "rule"> = {},
): OperationError {
  return { code: "invalid", rule, ...names };
}
