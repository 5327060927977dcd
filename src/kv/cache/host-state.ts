// The host cache in the full state: free lists, copies under way, reservations, retracted requests.
import { expand, expandHost, hostExtents, toExtents } from "../../base/extents.js";
import type { Extents } from "../../base/operations.js";
import type { HostCopy, NetworkTransfer } from "../alloc/signals.js";
import type { KvCore } from "../core.js";
import type { BackupPart, KeptRequest, Load, LoadedRow, LoadPath, OpenCopy } from "./host-cache.js";
import { isLoadsOwn, positionsOf } from "./host-loads.js";
import type { PathLock } from "./tree-locks.js";
import type { TreeNode } from "./tree-node.js";

type Numbers = ReadonlyMap<TreeNode, number>;
const ROOT = -1;

type ByBand = Readonly<Record<string, Extents>>;

interface LoadState {
  readonly load: string;
  readonly virtual: Extents; // ids that it minted and that were not freed since
  readonly slots: Extents;
  readonly windows: ByBand; // device pages as they were taken
  readonly bound: ByBand | null; // owner ids of those pages, null before they are bound
  readonly row: {
    readonly req: string;
    readonly positions: Extents;
    readonly from: number;
    readonly cursors: Readonly<Record<string, readonly [before: number, set: number]>>;
  } | null; // null: in no row, or in one that was closed meanwhile
  readonly path: {
    readonly parts: readonly {
      readonly node: number;
      readonly full: boolean;
      readonly windows: readonly string[];
      readonly state: boolean;
    }[];
    readonly sources: readonly number[];
    readonly lock: LockState;
  } | null; // of a load by key
}
/** A lock of the path to a node; nodes are numbered in key order, the root is -1. */
interface LockState {
  readonly node: number;
  readonly windows: Readonly<Record<string, number>>; // first token of each window's part
}
interface PartState {
  readonly node: number;
  readonly host: ByBand; // slots that are copied
  readonly lock: LockState | null;
}
interface KeptState {
  readonly copy: string;
  readonly positions: Extents;
  readonly windows: ByBand; // places in `positions`
  readonly slots: number;
  readonly allocated: number;
  readonly cursors: Readonly<Record<string, number>>;
  readonly checkpoint: number | null;
  readonly host: ByBand;
}
interface CopyState {
  readonly copy: string;
  readonly kind: OpenCopy["kind"];
  readonly load: LoadState | null;
  readonly kept: KeptState | null;
  readonly parts: readonly PartState[] | null;
}
interface HostState {
  readonly free: ByBand;
  readonly copies: readonly CopyState[];
  readonly loads: readonly LoadState[];
  readonly kept: readonly KeptState[];
}

/** @internal */
export function hostState(core: KvCore): Readonly<Record<string, unknown>> {
  const { host } = core;
  const isUsed =
    host.pools.sizes.some((size) => size > 0) ||
    host.loads.size + host.copies.size + host.kept.size > 0;
  if (!isUsed) return {};
  const at = new Map([...core.tree.walk()].map((node, index) => [node, index]));
  return {
    free: host.pools.freeLists(),
    copies: [...host.copies.values()].map((copy) => ({
      copy: copy.name,
      kind: copy.kind,
      load: "load" in copy ? loadState(core, copy.load, at) : null,
      kept: "kept" in copy ? keptState(core, copy.name, copy.kept) : null,
      parts: "parts" in copy ? copy.parts.map((part) => partState(core, part, at)) : null,
    })),
    loads: [...host.loads.values()].map((load) => loadState(core, load, at)),
    kept: [...host.kept].map(([name, kept]) => keptState(core, name, kept)),
  } satisfies HostState;
}

function byBand(core: KvCore, lists: readonly (readonly number[])[]): ByBand {
  const named: Record<string, Extents> = {};
  for (const band of core.chain.bands) {
    const list = lists[band.index]!; // one a band
    if (list.length > 0) named[band.plan.name] = hostExtents(list);
  }
  return named;
}

function fromBands(core: KvCore, named: ByBand): number[][] {
  return core.chain.bands.map((band) => expandHost(named[band.plan.name] ?? []));
}

function partState(core: KvCore, { node, host, lock }: BackupPart, at: Numbers): PartState {
  const lists: Record<string, Extents> = {};
  for (const { index, plan } of core.chain.bands) {
    const list = host[index] ?? null;
    if (list !== null) lists[plan.name] = hostExtents(list);
  }
  return { node: at.get(node) ?? ROOT, host: lists, lock: lock && lockState(core, lock, at) };
}

function lockState(core: KvCore, { node, windowFrom }: PathLock, at: Numbers): LockState {
  const windows = core.tree.windows.map(({ name, band }) => [name, windowFrom[band]!]);
  return {
    node: at.get(node) ?? ROOT,
    windows: Object.fromEntries(windows) as LockState["windows"],
  };
}

function pathState(
  core: KvCore,
  { parts, sources, lock }: LoadPath,
  at: Numbers,
): LoadState["path"] {
  return {
    parts: parts.map(({ node, isFull, windows, hasState }) => ({
      node: at.get(node) ?? ROOT,
      full: isFull,
      windows: core.windowBands.filter(({ index }) => windows[index]).map(({ plan }) => plan.name),
      state: hasState,
    })),
    sources: sources.map((node) => at.get(node) ?? ROOT),
    lock: lockState(core, lock, at),
  };
}

function loadState(core: KvCore, load: Load, at: Numbers): LoadState {
  // A closed row has given its pages back, or will with the transfers and the group that hold them.
  const isClosed = load.row !== null && !isOpen(core, load.row);
  const own = isClosed ? [] : load.ids.filter((id) => isLoadsOwn(core, load, id));
  const slots = isClosed
    ? []
    : load.slots.filter((slot) => core.chain.slots?.loading.get(slot) === load);
  const pages = load.windows.map((windows) => windows.map(({ page }) => page));
  const bound = load.windows.map((windows) => windows.map(({ id }) => id));
  return {
    load: load.name,
    virtual: toExtents(own),
    slots: toExtents(slots),
    windows: byBand(core, pages),
    bound: load.isBound ? byBand(core, bound) : null,
    row: load.row === null || isClosed ? null : rowState(core, load, load.row),
    path: load.path && pathState(core, load.path, at),
  };
}

function isOpen(core: KvCore, { request }: LoadedRow): boolean {
  return core.requests.find(request.name) === request;
}

function rowState(core: KvCore, load: Load, row: LoadedRow): LoadState["row"] {
  const positions = row.positions.filter((_, index) => isLoadsOwn(core, load, load.ids[index]!));
  const cursors: Record<string, readonly [number, number]> = {};
  for (const { index, plan } of core.windowBands)
    cursors[plan.name] = [row.cursors[index]!, row.setCursors[index]!];
  const { request, from } = row;
  return { req: request.name, positions: hostExtents(positions), from, cursors };
}

function keptState(core: KvCore, copy: string, kept: KeptRequest): KeptState {
  const cursors: Record<string, number> = {};
  for (const { index, plan } of core.windowBands) cursors[plan.name] = kept.cursors[index]!;
  return {
    copy,
    positions: hostExtents(kept.positions),
    windows: byBand(core, kept.windows),
    slots: kept.slots,
    allocated: kept.allocated,
    cursors,
    checkpoint: kept.checkpoint,
    host: byBand(core, kept.host),
  };
}

/** Puts the host cache of a state in place of a fresh one; rows and bands are there already. @internal */
export function loadHost(
  core: KvCore,
  state: Readonly<Record<string, unknown>>,
  uses: ReadonlyMap<string, HostCopy | NetworkTransfer>,
): void {
  if (state["free"] === undefined) return;
  const { host } = core;
  const { free, copies, loads, kept } = state as unknown as HostState; // written by hostState
  const nodes = [...core.tree.walk()];
  for (const band of core.chain.bands)
    if (host.pools.sizes[band.index]! > 0)
      host.pools.setFreeList(band.index, expandHost(free[band.plan.name] ?? []));
  for (const load of loads) host.loads.set(load.load, readLoad(core, load, nodes, false));
  for (const { copy, kind, load, kept: record, parts } of copies) {
    const use = uses.get(copy);
    const signal = use?.kind === "copy" ? use : null;
    const made = {
      name: copy,
      kind,
      signal,
      ...(load === null ? {} : { load: readLoad(core, load, nodes, true) }),
      ...(record === null ? {} : { kept: readKept(core, record) }),
      ...(parts === null ? {} : { parts: parts.map((part) => readPart(core, part, nodes)) }),
    };
    host.copies.set(copy, made as OpenCopy); // each kind with what it was written with
  }
  for (const record of kept) host.kept.set(record.copy, readKept(core, record));
  host.touch();
}

function readPart(core: KvCore, part: PartState, nodes: readonly TreeNode[]): BackupPart {
  const host = core.chain.bands.map(({ plan }) => {
    const list = part.host[plan.name];
    return list === undefined ? null : expandHost(list);
  });
  const lock = part.lock && readLock(core, part.lock, nodes);
  return { node: nodes[part.node] ?? core.tree.root, host, lock };
}

/** Takes a lock again as it was. */
function readLock(core: KvCore, lock: LockState, nodes: readonly TreeNode[]): PathLock {
  const node = nodes[lock.node] ?? core.tree.root;
  const windowFrom = core.tree.orders.map(() => node.to);
  for (const { name, band } of core.tree.windows) windowFrom[band] = lock.windows[name]!;
  return core.tree.locks.restore({ node, windowFrom });
}

function readPath(
  core: KvCore,
  { parts, sources, lock }: NonNullable<LoadState["path"]>,
  nodes: readonly TreeNode[],
): LoadPath {
  const nodeOf = (index: number): TreeNode => nodes[index] ?? core.tree.root;
  for (const index of sources) core.tree.addHostLocks(nodeOf(index), 1);
  return {
    parts: parts.map(({ node, full, windows, state }) => ({
      node: nodeOf(node),
      isFull: full,
      windows: core.chain.bands.map(({ plan }) => windows.includes(plan.name)),
      hasState: state,
    })),
    sources: sources.map((index) => nodeOf(index)),
    lock: readLock(core, lock, nodes),
  };
}

function readLoad(
  core: KvCore,
  state: LoadState,
  nodes: readonly TreeNode[],
  isSubmitted: boolean,
): Load {
  const pages = fromBands(core, state.windows);
  const bound = state.bound === null ? null : fromBands(core, state.bound);
  const load: Load = {
    name: state.load,
    ids: expand(state.virtual),
    slots: expand(state.slots),
    windows: pages.map((list, band) =>
      list.map((page, index) => ({ page, id: bound === null ? 0 : bound[band]![index]! })),
    ),
    isBound: state.bound !== null,
    isSubmitted,
    row: state.row && readRow(core, state.row),
    path: state.path && readPath(core, state.path, nodes),
  };
  const { virtual, slots } = core.chain;
  const positions = load.path === null ? [] : positionsOf(load.path, core.config.pageSize);
  for (const [index, id] of load.ids.entries()) {
    virtual.loading.set(id, load);
    if (load.row === null) virtual.share(id, positions[index] ?? 0);
  }
  for (const slot of load.slots) slots?.loading.set(slot, load);
  return load;
}

function readRow(core: KvCore, row: NonNullable<LoadState["row"]>): LoadedRow {
  const request = core.requests.find(row.req)!; // written only while it was open
  const pairs = core.chain.bands.map((band) => row.cursors[band.plan.name] ?? [0, 0]);
  return {
    request,
    positions: expandHost(row.positions),
    from: row.from,
    cursors: pairs.map(([before]) => before),
    setCursors: pairs.map(([, set]) => set),
  };
}

function readKept(core: KvCore, kept: KeptState): KeptRequest {
  return {
    positions: expandHost(kept.positions),
    windows: fromBands(core, kept.windows),
    slots: kept.slots,
    allocated: kept.allocated,
    cursors: core.chain.bands.map((band) => kept.cursors[band.plan.name] ?? 0),
    checkpoint: kept.checkpoint,
    host: fromBands(core, kept.host),
  };
}
