// Bands in the full state: spans, lists in order, bindings.
import { expand, idsOf, toExtents } from "../base/extents.js";
import type { BandState } from "../base/state.js";
import { type Band, PAGE } from "./alloc/band.js";
import { EndBand } from "./alloc/end-band.js";
import { FloatBand } from "./alloc/float-band.js";
import type { ForwardStep } from "./alloc/forward-steps.js";
import { isOver, type Signal } from "./alloc/signals.js";
import type { KvCore } from "./core.js";

/** @internal */
export function bandState(core: KvCore, band: Band): BandState {
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
      readers: readers.filter((reader) => !isOver(reader)).map(({ name }) => name),
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

/** Puts a band's state in place of a fresh one. @internal */
export function loadBand(
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
