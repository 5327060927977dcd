// Everything that a trace has told so far, and where findings go. The parts of the audit share it.
import type {
  BandGeometry,
  BootOk,
  DirectConfig,
  Extents,
  KvOperationName,
  PageLists,
} from "../../base/operations.js";
import { IdQueue } from "../../base/id-queue.js";
import type { Finding } from "../findings.js";
import { BandBook, bytesOf } from "./band-book.js";
import type { FreeList } from "./free-list.js";
import type { HostCopies, LoadBook } from "./load-book.js";
import { PageTree, type PageNode, type PathLock } from "./page-tree.js";
import type { RowBook } from "./row-book.js";
import type { AuditRule } from "./rules.js";
import type { TransferBook } from "./transfer-book.js";
import { Uses } from "./uses.js";

/** What a finding is about, beside its words. @internal */
export interface About {
  readonly band?: BandBook | undefined;
  readonly page?: number; // of the band: gives the bytes
  readonly actors?: readonly string[];
  readonly component?: string; // where it is no band
}

/** Frees that wait for the end of the open group. @internal */
export interface OpenGroup {
  readonly list: FreeList;
  evicts: boolean; // from the tree: what went, its end tells
  /** Slots given back that the tree has instead if the state in their node turns out to be evicted. */
  readonly doubtful: Map<number, PageNode>;
}

/** A free that waits for transfers. @internal */
export interface DeferredPage {
  readonly band: BandBook;
  readonly id: number;
  readonly transfers: readonly { readonly isOver: boolean }[];
}

/** The state of the audit of one run. @internal */
export class Books {
  readonly config: DirectConfig;
  readonly pageSize: number;
  bands: BandBook[] = []; // chain order
  uses: Uses = new Uses();
  tree: PageTree;
  readonly rows: Map<string, RowBook> = new Map();
  readonly freeRows: IdQueue = new IdQueue();
  marked: number[] = []; // rows to be reset, in hand-out order
  readonly namedLocks: Map<string, PathLock[]> = new Map(); // by holder
  readonly copyLocks: Map<string, PathLock> = new Map(); // by copy or load
  readonly loads: Map<string, LoadBook> = new Map(); // not submitted
  readonly copies: HostCopies = { open: new Map(), kept: new Map() };
  readonly transfers: Map<string, TransferBook> = new Map(); // not over
  group: OpenGroup | null = null;
  deferred: DeferredPage[] = [];
  readonly deferredIds: { readonly virtual: Set<number>; readonly slots: Set<number> } = {
    virtual: new Set(),
    slots: new Set(),
  };
  /** Slots whose page no answer has named yet, with the operation that took them. */
  readonly unplaced: Map<number, number> = new Map();
  staged = false;
  /** Grids of all pipeline stages, null without any. */
  stages: readonly (readonly BandGeometry[])[] | null = null;
  moveEffects = 0;
  n = 0;
  op: KvOperationName = "boot";
  endedNow: string[] = []; // transfers that this operation ended by itself
  found: Finding[] = [];
  /** Findings that hold only if the trace has effects at all: told once it shows one. */
  #withheld: Finding[] | null = [];
  #holders = 0;

  constructor(config: DirectConfig, boot: BootOk) {
    this.config = config;
    this.pageSize = config.page_size;
    this.setArena(boot.bands);
    this.tree = new PageTree(this.bands, this.pageSize);
    for (let row = 1; row <= config.rows; row++) this.freeRows.push(row);
  }

  /** Begins with an empty arena of this geometry. */
  setArena(bands: Readonly<Record<string, BandGeometry>>): void {
    this.bands = Object.entries(bands).flatMap(([name, geometry], index) => {
      const pool = this.config.sub_pools.find((one) => one.name === name);
      return pool === undefined ? [] : [new BandBook(pool, geometry, index)];
    });
    this.tree = new PageTree(this.bands, this.pageSize);
  }

  get owner(): BandBook {
    return this.bands.at(-1)!; // the chain ends with the owner; a run without one is refused at boot
  }
  get stateBand(): BandBook | null {
    return this.bands.find((band) => band.isState) ?? null;
  }
  get tokenBands(): readonly BandBook[] {
    return this.bands.filter((band) => !band.isState);
  }
  get windows(): readonly BandBook[] {
    return this.bands.filter((band) => band.isWindow);
  }
  bandNamed(name: string): BandBook | undefined {
    return this.bands.find((band) => band.name === name);
  }
  /** Whether forwards run beside the operations and are recorded. */
  get recordsForwards(): boolean {
    return this.config.overlap === true || this.staged;
  }
  pagesOf(tokens: number): number {
    return Math.ceil(tokens / this.pageSize);
  }
  /** An id for a page that has none: below 0, never given twice. */
  placeholder(): number {
    this.#holders -= 1;
    return this.#holders;
  }
  /** Whether what the tree holds is uncertain until the open group ends. */
  get hidesEvictions(): boolean {
    return this.group?.evicts === true;
  }

  report(rule: AuditRule, message: string, about: About = {}): void {
    this.found.push(this.#finding(rule, message, about));
  }
  /** Reports what an effect should have shown, unless the whole trace shows none. */
  reportMissing(rule: AuditRule, message: string, about: About = {}): void {
    if (this.#withheld === null) this.report(rule, message, about);
    else if (this.#withheld.length < 32) this.#withheld.push(this.#finding(rule, message, about));
  }
  /** Called at the first effect of a run. */
  sawEffects(): void {
    if (this.#withheld === null) return;
    this.found.push(...this.#withheld);
    this.#withheld = null;
  }
  /** Whether effects were asked for and none was ever seen. */
  get lacksEffects(): boolean {
    return this.#withheld !== null && this.#withheld.length > 0;
  }

  #finding(rule: AuditRule, message: string, { band, page, actors, component }: About): Finding {
    const signature = { check: rule, op: this.op, component: band?.name ?? component ?? null };
    return {
      signature,
      n: this.n,
      message,
      ...(actors === undefined ? {} : { actors }),
      ...(band === undefined ? {} : { band: band.name }),
      ...(band === undefined || page === undefined ? {} : { bytes: bytesOf(band, page) }),
    };
  }
}

/** The lists of an answer by band or id space, absent = empty. @internal */
export function listOf(lists: PageLists | undefined, name: string): Extents {
  return lists?.[name] ?? [];
}
