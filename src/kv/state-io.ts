// The full state of a run, written and read back. What a later operation can depend on is in it; a run that goes on
// from it gives the same answers.
import { assert } from "../base/assert.js";
import { expand, idsOf, toExtents } from "../base/extents.js";
import type { Extents, StageConfig } from "../base/operations.js";
import type { BandState, RowState, State } from "../base/state.js";
import type { ForwardStep } from "./alloc/forward-steps.js";
import { isOver, type NetworkTransfer, type Signal } from "./alloc/signals.js";
import { planStages, StageCapacity, type StageFold } from "./alloc/stage-capacity.js";
import { hostState, loadHost } from "./cache/host-state.js";
import type { KvCore, ReservedFree } from "./core.js";
import { PURPOSES, type Request } from "./requests.js";
import { bandState, loadBand } from "./state-bands.js";
import { loadNet, type NetState, netState } from "./transfer/net-state.js";
import { loadTree, treeState } from "./state-tree.js";
import { ledgerRecords, loadUses, restoreUse, type UseExtra, usesState } from "./state-ledger.js";

/** What the contract's table does not name but a run needs to go on; under an extension key. */
interface ForwardsExtra {
  readonly arena_bytes?: number; // as the last resize left it; absent in states of before this key: as configured
  readonly clock: number; // number of the next operation
  readonly unrecorded: readonly { readonly name: string; readonly mode: ForwardStep["mode"] }[];
  readonly marks: Extents; // rows to reset, hand-out order
  readonly free_rows: Extents;
  readonly stages: {
    readonly stages: readonly StageConfig[];
    readonly self: number;
    readonly fold: StageFold;
  } | null;
  readonly uses: readonly UseExtra[];
  readonly submissions: number;
  readonly deferred: {
    readonly pages: readonly {
      readonly band: string;
      readonly id: number;
      readonly transfers: readonly string[];
    }[];
    readonly virtual: Extents;
    readonly slots: Extents;
  };
  readonly group: {
    readonly virtual: Extents;
    readonly slots: Extents;
    readonly bands: readonly Extents[];
    readonly reserved: readonly (readonly ReservedFree[])[];
  } | null;
  readonly tree_uses: number; // operations that used the tree
  readonly told_estimates: boolean;
}

/** @internal */
export function stateOf(core: KvCore): State {
  const { chain, requests } = core;
  const bands: Record<string, BandState> = {};
  for (const band of chain.bands) bands[band.plan.name] = bandState(core, band);
  const extra: ForwardsExtra = {
    arena_bytes: core.config.arenaBytes,
    clock: chain.steps.clock + 1,
    unrecorded: chain.steps.unrecorded.map(({ name, mode }) => ({ name, mode })),
    marks: toExtents([...requests.marks]),
    free_rows: toExtents(requests.freeRowList()),
    stages: chain.stages && {
      stages: chain.stages.stages,
      self: chain.stages.self,
      fold: chain.stages.save(),
    },
    uses: usesState(core),
    submissions: chain.ledger.submissions,
    deferred: {
      pages: core.deferred.pages.map(({ band, id, transfers }) => ({
        band: band.plan.name,
        id,
        transfers: names(transfers.filter((transfer) => !transfer.isOver)),
      })),
      virtual: toExtents([...core.deferred.virtual]),
      slots: toExtents([...core.deferred.slots]),
    },
    group: core.group && {
      virtual: toExtents(core.group.virtual),
      slots: toExtents(core.group.slots),
      bands: core.group.bands.map((ids) => toExtents(ids)),
      reserved: core.group.reserved.map((pages) => pages.map((page) => ({ ...page }))),
    },
    tree_uses: core.tree.uses,
    told_estimates: core.hasToldEstimates,
  };
  const rows: Record<string, RowState> = {};
  for (const request of requests.open.values()) rows[request.name] = rowState(core, request);
  return {
    ...bands,
    chain: {
      move_epoch: chain.moveEpoch,
      fences: chain.fences.list.map(({ from, to, readers }) => ({
        bytes: [from, to],
        signals: names(readers.filter((reader) => !isOver(reader))),
      })),
    },
    forwards: {
      unprocessed: names(chain.steps.unprocessed),
      retired: chain.steps.newestRetired,
      open: chain.steps.open?.name ?? null,
      x_more: extra,
    },
    ledger: ledgerRecords(core),
    rows,
    tree: treeState(core),
    host: hostState(core),
    net: { ...netState(core) },
  };
}

function names(signals: readonly Signal[]): string[] {
  return signals.map((signal) => signal.name);
}

function rowState(core: KvCore, request: Request): RowState {
  const cursors: Record<string, number> = {};
  for (const band of core.windowBands) cursors[band.plan.name] = request.cursors[band.index]!;
  const slots: Record<string, Extents> = {};
  for (const purpose of PURPOSES) {
    if (request.slots[purpose].length > 0) slots[purpose] = toExtents(request.slots[purpose]);
  }
  return {
    row: request.row,
    allocated: request.allocated,
    protected: request.protected,
    cursors,
    checkpoint: request.checkpoint,
    slots,
    reset: request.reset,
    x_pages: toExtents(request.pages),
    x_track: request.trackCursor,
    x_tracked: Array.from(request.tracked, (tokens) => tokens ?? null), // a copy: the request goes on
  };
}

/** The arena that a state was taken in; null: as configured. @internal */
export function arenaBytesOf(state: State): number | null {
  return (state.forwards["x_more"] as ForwardsExtra).arena_bytes ?? null;
}

/** Puts a state in place of a fresh run's; returns the number of the next operation. @internal */
export function loadState(core: KvCore, state: State): number {
  const { chain, requests } = core;
  const extra = state.forwards["x_more"] as ForwardsExtra;
  const steps = loadForwards(core, state, extra);
  for (const [name, row] of Object.entries(state.rows)) loadRow(core, name, row);
  for (const row of idsOf(extra.marks)) requests.marks.add(row);
  requests.setFreeRows(expand(extra.free_rows));
  const uses = loadUses(core, state, extra);
  const signals = new Map<string, Signal>([...steps, ...uses]);
  for (const band of chain.bands)
    loadBand(core, band, state[band.plan.name] as BandState, steps, signals);
  for (const use of uses.values()) restoreUse(core, use);
  for (const { band, id, transfers } of extra.deferred.pages) {
    core.deferred.add({
      band: chain.bandNamed(band)!, // a band of this run
      id,
      transfers: transfers.map((name) => uses.get(name) as NetworkTransfer),
    });
  }
  for (const id of idsOf(extra.deferred.virtual)) core.deferred.virtual.add(id);
  for (const id of idsOf(extra.deferred.slots)) core.deferred.slots.add(id);
  chain.moveEpoch = state.chain.move_epoch;
  for (const { bytes, signals: users } of state.chain.fences) {
    chain.fences.add(
      bytes[0],
      bytes[1],
      users.map((user) => signals.get(user)!),
    );
  }
  if (extra.stages !== null) {
    const { stages, self, fold } = extra.stages;
    const planned = planStages(core.config, stages, self);
    assert(!("rule" in planned), "state.stages_fit");
    chain.stages = new StageCapacity(stages, self, planned);
    chain.stages.restore(fold);
  }
  if (extra.group !== null) {
    const bands = extra.group.bands.map((ids) => expand(ids));
    core.group = {
      virtual: expand(extra.group.virtual),
      slots: expand(extra.group.slots),
      bands,
      windows: bands.map((ids) => new Set(ids)),
      reserved: extra.group.reserved.map((pages) => pages.map((page) => ({ ...page }))),
    };
  }
  // What waits to be freed left its row before any forward to come; those in flight carry their pages themselves.
  for (const band of chain.bands)
    for (const id of core.group?.bands[band.index] ?? []) band.letGo(id, 0);
  for (const { band, id } of core.deferred.pages) band.letGo(id, 0);
  loadNet(core, state.net as unknown as NetState, uses); // what netState wrote
  core.tree.uses = extra.tree_uses;
  core.hasToldEstimates = extra.told_estimates;
  loadTree(core, state.tree);
  loadHost(core, state.host, uses);
  chain.steps.clock = extra.clock - 1;
  return extra.clock;
}

function loadForwards(core: KvCore, state: State, extra: ForwardsExtra): Map<string, ForwardStep> {
  const { steps, bands } = core.chain;
  const known = new Map<string, ForwardStep>();
  const make = (name: string, mode: ForwardStep["mode"], retired: boolean): ForwardStep => {
    const sets = (use: string): ReadonlySet<number>[] =>
      bands.map((band) => {
        const records = state.ledger.filter(
          (record) =>
            record.signal === name && record.band === band.plan.name && record.use === use,
        );
        return new Set(records.flatMap((record) => expand(record.pages)));
      });
    const step: ForwardStep = {
      kind: "forward",
      name,
      mode,
      launch: known.size + 1, // order is all that counts: loaded pages are bound at 0
      entries: new Map(),
      explicit: { reads: sets("forward_reads"), writes: sets("forward_writes") },
      unknownWrites: state.ledger.some(
        (record) => record.use === "unknown_writes" && record.signal === name,
      ),
      retired,
    };
    known.set(name, step);
    return step;
  };
  const { unprocessed, retired, open } = state.forwards;
  const lastRetired = retired === null ? -1 : unprocessed.indexOf(retired);
  for (const [index, name] of unprocessed.entries())
    steps.restore(make(name, "extend", index <= lastRetired));
  steps.newestRetired = retired;
  if (open !== null) steps.open = make(open, "extend", false);
  for (const { name, mode } of extra.unrecorded) steps.unrecorded.push(make(name, mode, false));
  assert(extra.clock > known.size, "state.clock_past_forwards");
  return known;
}

function loadRow(core: KvCore, name: string, row: RowState): void {
  const cursors = core.chain.bands.map((band) => row.cursors[band.plan.name] ?? 0);
  const request: Request = {
    name,
    row: row.row,
    pages: expand(row["x_pages"] as Extents),
    sharedAt: new Map(),
    cursors,
    slots: { main: [], track: [], replace: [], cow: [] },
    allocated: row.allocated,
    protected: row.protected,
    checkpoint: row.checkpoint,
    trackCursor: row["x_track"] as number,
    tracked: [...(row["x_tracked"] as readonly (number | null)[])],
    reset: row.reset,
    grownBy: null,
  };
  for (const purpose of PURPOSES) {
    const slots = row.slots[purpose];
    if (slots === undefined) continue;
    for (const [index, slot] of expand(slots).entries()) {
      request.slots[purpose].push(slot);
      core.chain.slots?.assign(slot, request, index);
    }
  }
  for (const [index, virtual] of request.pages.entries()) {
    if (virtual > 0) core.chain.virtual.assign(virtual, request, index);
  }
  core.requests.restore(request);
}
