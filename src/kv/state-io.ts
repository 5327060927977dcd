// The full state of a run, written and read back. What a later operation can depend on is in it; a run that goes on
// from it gives the same answers.
import { assert } from "../base/assert.js";
import { expand, idsOf, toExtents } from "../base/extents.js";
import type { Extents, StageConfig } from "../base/operations.js";
import type { BandState, LedgerRecord, RowState, State } from "../base/state.js";
import { type Band, PAGE } from "./alloc/band.js";
import { EndBand } from "./alloc/end-band.js";
import { FloatBand } from "./alloc/float-band.js";
import type { ForwardStep } from "./alloc/forward-steps.js";
import { type HostCopy, isOver, type NetworkTransfer, type Signal } from "./alloc/signals.js";
import { planStages, StageCapacity, type StageFold } from "./alloc/stage-capacity.js";
import type { KvCore } from "./core.js";
import { PURPOSES, type Request } from "./requests.js";

/** What the contract's table does not name but a run needs to go on; under an extension key. */
interface ForwardsExtra {
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
  } | null;
  readonly told_estimates: boolean;
}

/** A copy or transfer of the ledger; its places stand in the ledger's records. */
interface UseExtra {
  readonly name: string;
  readonly kind: "copy" | "transfer";
  readonly direction: "out" | "in" | "send" | "receive";
  readonly order: number;
  readonly stalled: boolean;
}

/** @internal */
export function stateOf(core: KvCore): State {
  const { chain, requests } = core;
  const bands: Record<string, BandState> = {};
  for (const band of chain.bands) bands[band.plan.name] = bandState(core, band);
  const extra: ForwardsExtra = {
    clock: chain.steps.clock + 1,
    unrecorded: chain.steps.unrecorded.map(({ name, mode }) => ({ name, mode })),
    marks: toExtents(requests.marks),
    free_rows: toExtents(requests.freeRowList()),
    stages: chain.stages && {
      stages: chain.stages.stages,
      self: chain.stages.self,
      fold: chain.stages.save(),
    },
    uses: [...chain.ledger.copies, ...chain.ledger.transfers].map((use) => ({
      name: use.name,
      kind: use.kind,
      direction: use.direction,
      order: use.order,
      stalled: use.kind === "transfer" && use.isStalled,
    })),
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
    },
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
    tree: [],
    host: {},
    net: {},
  };
}

function names(signals: readonly Signal[]): string[] {
  return signals.map((signal) => signal.name);
}

function bandState(core: KvCore, band: Band): BandState {
  const ids = band.plan.isOwner
    ? core.chain.virtual
    : band.plan.kind === "state"
      ? core.chain.slots
      : null;
  return {
    span: [band.spanFirst, band.spanCount],
    live: band.live,
    holes: toExtents(band.holes.toArray()),
    pending: band.pending.map(({ forward, pages }) => ({
      key: forward.name,
      pages: toExtents(pages),
    })),
    vacated: band.vacated.map(({ page, readers }) => ({
      pages: [[page, 1]],
      readers: names(readers.filter((reader) => !isOver(reader))),
    })),
    fixed: toExtents([...band.fixed].sort((left, right) => left - right)),
    bindings: bindingRuns(band),
    free_ids: ids === null ? [] : toExtents(ids.free.toArray()),
  };
}

/** Runs of `[virtual, physical, count]` in which both ascend together. */
function bindingRuns(band: Band): [number, number, number][] {
  const runs: [number, number, number][] = [];
  for (const [virtual, page] of band.v2p.entries()) {
    if (page === 0) continue;
    const last = runs.at(-1);
    if (last !== undefined && last[0] + last[2] === virtual && last[1] + last[2] === page)
      last[2] += 1;
    else runs.push([virtual, page, 1]);
  }
  return runs;
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
  };
}

/** Reads and writes of every forward whose uses are not over, as physical pages. */
function ledgerRecords(core: KvCore): LedgerRecord[] {
  const records: LedgerRecord[] = [];
  const { steps, bands, usage } = core.chain;
  const live = steps.open === null ? steps.unretired() : [...steps.unretired(), steps.open];
  for (const step of live) {
    for (const band of bands) {
      if (step.unknownWrites) {
        records.push({ use: "unknown_writes", band: band.plan.name, pages: [], signal: step.name });
      }
      for (const use of ["reads", "writes"] as const) {
        const pages: number[] = [];
        for (let page = 0; page < band.status.length; page++) {
          if (band.status[page] === PAGE.live && usage.uses(step, band, page, use))
            pages.push(page);
        }
        if (pages.length > 0) {
          records.push({
            use: `forward_${use}`,
            band: band.plan.name,
            pages: toExtents(pages),
            signal: step.name,
          });
        }
      }
    }
  }
  return [...records, ...useRecords(core)];
}

/** What copies and transfers read or write, at the places where they were submitted. */
function useRecords(core: KvCore): LedgerRecord[] {
  const { bands, ledger } = core.chain;
  const records: LedgerRecord[] = [];
  for (const use of [...ledger.copies, ...ledger.transfers]) {
    for (const [index, pages] of use.places.entries()) {
      if (pages.length === 0) continue;
      records.push({
        use: USE_WORD[use.direction],
        band: bands[index]!.plan.name, // places by band
        pages: toExtents(pages),
        signal: use.name,
      });
    }
  }
  return records;
}

const USE_WORD = {
  out: "copy_read",
  in: "copy_write",
  send: "network_read",
  receive: "network_write",
} as const;

/** Puts a state in place of a fresh run's; returns the number of the next operation. @internal */
export function loadState(core: KvCore, state: State): number {
  const { chain, requests } = core;
  const extra = state.forwards["x_more"] as ForwardsExtra;
  const steps = loadForwards(core, state, extra);
  for (const [name, row] of Object.entries(state.rows)) loadRow(core, name, row);
  requests.marks.push(...idsOf(extra.marks));
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
    };
  }
  core.hasToldEstimates = extra.told_estimates;
  chain.steps.clock = extra.clock - 1;
  return extra.clock;
}

function loadUses(
  core: KvCore,
  state: State,
  extra: ForwardsExtra,
): Map<string, HostCopy | NetworkTransfer> {
  const uses = new Map<string, HostCopy | NetworkTransfer>();
  core.chain.ledger.submissions = extra.submissions;
  for (const { name, kind, direction, order, stalled } of extra.uses) {
    const places = core.chain.bands.map((band) =>
      state.ledger
        .filter(
          (record) =>
            record.signal === name &&
            record.band === band.plan.name &&
            record.use === USE_WORD[direction],
        )
        .flatMap((record) => expand(record.pages)),
    );
    const use =
      kind === "copy"
        ? { kind, name, direction, order, places, isOver: false }
        : { kind, name, direction, order, places, isOver: false, isStalled: stalled };
    uses.set(name, use as HostCopy | NetworkTransfer); // the direction is one of its kind
  }
  return uses;
}

/** A place that left its band is fenced by its bytes instead. */
function restoreUse(core: KvCore, use: HostCopy | NetworkTransfer): void {
  const { bands, ledger } = core.chain;
  ledger.restore(bands, use, (band, page) => band.status[page] !== PAGE.beyond);
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

function loadBand(
  core: KvCore,
  band: Band,
  state: BandState,
  steps: ReadonlyMap<string, ForwardStep>,
  signals: ReadonlyMap<string, Signal>,
): void {
  if (band instanceof EndBand) band.span = state.span[1];
  else if (band instanceof FloatBand) band.moveSpan(state.span[0], state.span[0] + state.span[1]);
  for (const [virtual, physical, count] of state.bindings) {
    for (let i = 0; i < count; i++) {
      band.status[physical + i] = PAGE.live;
      band.bind(virtual + i, physical + i, 0);
    }
  }
  for (const page of idsOf(state.fixed)) {
    band.status[page] = PAGE.live; // one not yet bound is live all the same
    band.fix(page);
  }
  band.live = state.live;
  for (const page of idsOf(state.holes)) band.addHole(page);
  for (const { key, pages } of state.pending) band.restorePending(steps.get(key)!, expand(pages));
  for (const { pages, readers } of state.vacated) {
    for (const page of idsOf(pages))
      band.addVacated(
        page,
        readers.map((reader) => signals.get(reader)!),
      );
  }
  const ids = band.plan.isOwner
    ? core.chain.virtual
    : band.plan.kind === "state"
      ? core.chain.slots
      : null;
  ids?.free.replace(idsOf(state.free_ids));
}
