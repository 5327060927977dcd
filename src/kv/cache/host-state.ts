// The host cache in the full state: free lists, copies under way, reservations, retracted requests.
import { expand, toExtents } from "../../base/extents.js";
import type { Extents } from "../../base/operations.js";
import type { HostCopy, NetworkTransfer } from "../alloc/signals.js";
import type { KvCore } from "../core.js";
import type { KeptRequest, Load, LoadedRow, OpenCopy } from "./host-cache.js";
import { isLoadsOwn } from "./host-loads.js";
import { expandHost, hostExtents } from "./host-pools.js";

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
  return {
    free: host.pools.freeLists(),
    copies: [...host.copies.values()].map((copy) => ({
      copy: copy.name,
      kind: copy.kind,
      load: "load" in copy ? loadState(core, copy.load) : null,
      kept: "kept" in copy ? keptState(core, copy.name, copy.kept) : null,
    })),
    loads: [...host.loads.values()].map((load) => loadState(core, load)),
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

function loadState(core: KvCore, load: Load): LoadState {
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
  for (const band of core.chain.bands)
    if (host.pools.sizes[band.index]! > 0)
      host.pools.setFreeList(band.index, expandHost(free[band.plan.name] ?? []));
  for (const load of loads) host.loads.set(load.load, readLoad(core, load, false));
  for (const { copy, kind, load, kept: record } of copies) {
    const use = uses.get(copy);
    const signal = use?.kind === "copy" ? use : null;
    const made = {
      name: copy,
      kind,
      signal,
      ...(load === null ? {} : { load: readLoad(core, load, true) }),
      ...(record === null ? {} : { kept: readKept(core, record) }),
    };
    host.copies.set(copy, made as OpenCopy); // each kind with what it was written with
  }
  for (const record of kept) host.kept.set(record.copy, readKept(core, record));
  host.touch();
}

function readLoad(core: KvCore, state: LoadState, isSubmitted: boolean): Load {
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
  };
  const { virtual, slots } = core.chain;
  for (const id of load.ids) {
    virtual.loading.set(id, load);
    if (load.row === null) virtual.share(id, 0);
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
