// One run on the simulated device: its arena, rows, forwards and open group, and the few words every part shares.
import type { BootOk, DirectConfig, Extents } from "../base/operations.js";
import { ModelArena } from "./model-arena.js";
import { type CopiedPage, HostCopies } from "./model-copies.js";
import type { DeferredFrees } from "./model-deferred.js";
import { fail } from "./model-fault.js";
import { ForwardStream } from "./model-forwards.js";
import { HostMemory } from "./model-host.js";
import { type KeptRow, ModelLoads } from "./model-loads.js";
import { NamedLocks } from "./model-named-locks.js";
import type { BandPages } from "./model-pages.js";
import { ModelRows } from "./model-rows.js";
import { Tokens } from "./model-tokens.js";
import { ModelTransfers } from "./model-transfers.js";
import { type ModelLock, type ModelNode, ModelTree } from "./model-tree.js";
import type { ModelTap } from "./model-tap.js";
import type { UnplacedSlots } from "./model-unplaced.js";

/** Frees of an open group: still bound and live until `group.end` lists them. @internal */
export interface OpenGroup {
  readonly virtual: Set<number>;
  readonly slots: Set<number>;
  /** Ids whose page may be listed, by band index. */
  readonly bands: readonly Set<number>[];
  /** The first operation in it that evicted from the tree, Infinity for none: what it took, the group's end tells. */
  evictsFrom: number;
  /** Slots given back that the tree has instead if the state that stood in their node turns out to be evicted. */
  readonly doubtful: Map<number, ModelNode>;
}

/** A copy of tree nodes to the host that is not done. @internal */
export interface OpenBackup {
  readonly pages: readonly CopiedPage[];
  readonly lock: ModelLock;
}

/** Everything the simulated device knows of a run. @internal */
export class ModelRun {
  readonly config: DirectConfig;
  readonly tap: ModelTap | null;
  readonly rows: ModelRows;
  arena: ModelArena;
  forwards: ForwardStream;
  tree: ModelTree;
  readonly transfers: ModelTransfers = new ModelTransfers(() => this.arena);
  readonly copies: HostCopies = new HostCopies(
    () => this.arena,
    () => this.forwards,
  );
  readonly loads: ModelLoads = new ModelLoads();
  readonly kept: Map<string, KeptRow> = new Map(); // retracted requests by the name of their copy
  readonly backups: Map<string, OpenBackup> = new Map(); // of tree nodes, by the name of their copy
  host: HostMemory;
  readonly locks: NamedLocks = new NamedLocks();
  group: OpenGroup | null = null;
  staged = false; // pipeline stages are installed: forwards are recorded without overlap too

  /** @param tap - told of everything that is issued */
  constructor(config: DirectConfig, boot: BootOk, tap: ModelTap | null = null) {
    this.config = config;
    this.tap = tap;
    this.rows = new ModelRows(config.rows, config.page_size, tap);
    this.arena = this.#makeArena(boot);
    this.forwards = this.#makeForwards();
    this.tree = this.#makeTree();
    this.host = new HostMemory(this.arena.bands, config);
  }

  /** Frees that wait for transfers. */
  get deferred(): DeferredFrees {
    return this.arena.deferred;
  }
  /** Slots whose page is not known yet. */
  get unplaced(): UnplacedSlots {
    return this.arena.unplaced;
  }

  /** Whether the open group has evicted from the tree: what is still there, its end tells. */
  get hidesEvictions(): boolean {
    return this.group !== null && this.group.evictsFrom < Infinity;
  }

  /** Whether forwards run beside the schedule stream. */
  get recordsForwards(): boolean {
    return this.config.overlap === true || this.staged;
  }

  /** Starts anew on another arena; nothing is live, open rows stay. */
  resize(boot: BootOk): void {
    this.drain();
    for (const band of this.arena.bands) {
      for (const id of band.liveIds())
        fail("bad_effect", `resize while ${this.arena.describe(band, band.placeOf(id))} is live`);
    }
    const { operation } = this.arena;
    this.arena = this.#makeArena(boot);
    this.arena.operation = operation;
    this.forwards = this.#makeForwards();
    this.tree = this.#makeTree();
  }

  /** Gives back every host page, those of retracted requests too. */
  releaseHost(): void {
    this.host.releaseAll();
    this.kept.clear();
  }

  /** Forgets what is on the host, and the nodes that stood for it. */
  forgetCached(): void {
    this.releaseHost();
    this.tree = this.#makeTree();
  }

  /** Lets every forward and copy run that was issued. */
  drain(): void {
    this.copies.drain();
    this.forwards.drain();
  }

  #makeTree(): ModelTree {
    return new ModelTree(this.config.page_size, new Tokens([]));
  }
  #makeArena(boot: BootOk): ModelArena {
    const names = {
      holder: (band: BandPages, id: number) =>
        this.rows.nameHolder(band, id) ||
        this.#nameCached(band, id) ||
        this.loads.nameHolder(band, id),
      forward: (serial: number) => this.forwards.nameOf(serial),
    };
    return new ModelArena(this.config, boot, this.transfers.strays, names, this.tap);
  }
  /** `the tree, tokens 8 to 11`, or nothing. */
  #nameCached(band: BandPages, id: number): string {
    const { page_size: size } = this.config;
    if (band.isState) {
      const node = this.tree.nodeOfState(id);
      return node === undefined ? "" : `the tree, ${node.endPage * size} tokens`;
    }
    const at = this.tree.pageOf(id);
    if (at === undefined) return "";
    return `the tree, tokens ${at.page * size} to ${(at.page + 1) * size - 1}`;
  }
  #makeForwards(): ForwardStream {
    return new ForwardStream(this.arena, this.rows, () => this.recordsForwards);
  }
}

/** Calls `visit` with every id of an extent list, in order; `[0, k]` gives k zeros. @internal */
export function eachId(extents: Extents, visit: (id: number) => void): void {
  for (const [first, count] of extents) {
    if (first === 0) for (let k = 0; k < count; k++) visit(0);
    else if (count > 0) for (let k = 0; k < count; k++) visit(first + k);
    else for (let k = 0; k > count; k--) visit(first + k);
  }
}

/** Refuses a page that lies outside its band's usable pages. @internal */
export function requireUsable(band: BandPages, page: number, what: string): void {
  if (band.isUsable(page)) return;
  const range = `${band.firstPage} to ${band.pages - 1}`;
  fail(
    "bad_effect",
    `${what} names ${band.name} page ${page}, usable are ${range}`,
    band.name,
    page,
  );
}
