// check.idle: conservation of pages, ids and bytes, leaks by identity, and the running digests against recomputed ones.
import type { Answer, IdleViolation } from "../../base/operations.js";
import { type Band, PAGE } from "../alloc/band.js";
import { recomputedCells } from "../digests.js";
import type { KvCore } from "../core.js";
import { PURPOSES } from "../requests.js";
import { treeViolations } from "./idle-tree.js";

/** Open requests are holders, not leaks. While transfers hold frees back, leaks are not looked for. @internal */
export function checkIdle(core: KvCore): Answer<"check.idle"> {
  return { ok: { violations: idleViolations(core), skipped: !core.deferred.isEmpty } };
}

/** Everything that is wrong with the run's books; empty when healthy. @internal */
export function idleViolations(core: KvCore): readonly IdleViolation[] {
  const violations: IdleViolation[] = [];
  let cursor = 0;
  for (const band of core.chain.bands) {
    violations.push(...conservation(band), ...bindings(core, band));
    if (core.deferred.isEmpty) violations.push(...leaks(core, band));
    const low = band.spanFirst * band.plan.page_bytes;
    if (band.spanCount > 0 && low < cursor) {
      violations.push({ check: "bytes_disjoint", band: band.plan.name, page: band.spanFirst });
    }
    if (band.spanCount > 0) cursor = (band.spanFirst + band.spanCount) * band.plan.page_bytes;
    const fresh = recomputedCells(band);
    if (fresh.a !== band.cells.a || fresh.b !== band.cells.b) {
      violations.push({ check: "digest_drift", band: band.plan.name });
    }
  }
  for (const { plan } of core.chain.staleSnapshots())
    violations.push({ check: "stale_snapshot", band: plan.name });
  violations.push(...treeViolations(core));
  const rows = core.requests.recomputed();
  if (rows.a !== core.requests.cells.a || rows.b !== core.requests.cells.b) {
    violations.push({ check: "digest_drift", detail: "rows" });
  }
  const net = core.net.recomputed();
  if (net.a !== core.net.cells.a || net.b !== core.net.cells.b)
    violations.push({ check: "digest_drift", detail: "net" });
  if (core.chain.steps.unprocessed.length === 0) {
    for (const band of core.chain.bands) {
      if (band.pendingPages > 0)
        violations.push({ check: "pending_without_forward", band: band.plan.name });
    }
  }
  const openRows = new Set([...core.requests.open.values()].map((request) => request.row));
  if (openRows.size + core.requests.freeRows !== core.requests.rows) {
    violations.push({ check: "row_conservation" });
  }
  return violations;
}

/** span = live + holes + pending + vacated, and every list agrees with the page states. */
function conservation(band: Band): IdleViolation[] {
  const seen = [0, 0, 0, 0, 0];
  for (const state of band.status) seen[state]! += 1;
  const lists = band.live + band.holes.length + band.pendingPages + band.vacated.length;
  const agree =
    seen[PAGE.live] === band.live &&
    seen[PAGE.hole] === band.holes.length &&
    seen[PAGE.pending] === band.pendingPages &&
    seen[PAGE.vacated] === band.vacated.length &&
    new Set(band.holes.toArray()).size === band.holes.length;
  if (band.spanCount === lists && agree) return [];
  return [
    {
      check: "page_conservation",
      band: band.plan.name,
      detail: `span ${String(band.spanCount)}, listed ${String(lists)}`,
    },
  ];
}

/** Virtual and physical maps are inverse on the live pages. */
function bindings(core: KvCore, band: Band): IdleViolation[] {
  const violations: IdleViolation[] = [];
  let bound = 0;
  for (const [virtual, page] of band.v2p.entries()) {
    if (page === 0) continue;
    bound += 1;
    if (band.p2v[page] !== virtual || band.status[page] !== PAGE.live) {
      violations.push({ check: "binding", band: band.plan.name, page });
    }
  }
  let reserved = 0; // live under a load's reservation, not bound yet
  for (const page of band.fixed) if (band.p2v[page] === 0) reserved += 1;
  if (bound + reserved !== band.live)
    violations.push({ check: "binding", band: band.plan.name, detail: "live pages unbound" });
  if (band.plan.isOwner || band.plan.kind === "state") {
    const ids = band.plan.isOwner ? core.chain.virtual : core.chain.slots;
    if (ids !== null && ids.free.length + band.live + waitingIds(core, band) !== ids.count) {
      violations.push({ check: "id_conservation", band: band.plan.name });
    }
  }
  return violations;
}

/** Ids whose own page is free while another band's page of theirs waits for a transfer. */
function waitingIds(core: KvCore, band: Band): number {
  if (!band.plan.isOwner) return 0;
  let waiting = 0;
  for (const virtual of core.deferred.virtual) if (band.v2p[virtual] === 0) waiting += 1;
  return waiting;
}

/** Live pages that no open request, no node of the tree and no open free group holds, with the operation that bound them
 * last. A row's protected pages are the tree's. */
function leaks(core: KvCore, band: Band): IdleViolation[] {
  const held = new Set<number>();
  for (const request of core.requests.open.values()) {
    if (band.plan.kind === "state")
      for (const purpose of PURPOSES) for (const slot of request.slots[purpose]) held.add(slot);
    else {
      const own = request.pages.slice(core.pagesOf(request.protected));
      for (const virtual of own) if (virtual > 0) held.add(virtual);
    }
  }
  const slot = core.tree.slots.find((member) => member.band === band.index)!; // a slot a band
  for (const node of core.tree.walk()) {
    if (core.tree.unitsOf(node, slot) === 0) continue;
    for (const id of slot.kind === "state" ? [node.slot] : (node.pages ?? [])) held.add(id);
  }
  for (const id of core.group?.bands[band.index] ?? []) held.add(id);
  const ids = band.plan.kind === "state" ? core.chain.slots : core.chain.virtual;
  for (const id of ids?.loading.keys() ?? []) held.add(id);
  for (const { windows } of core.host.openLoads())
    for (const { id } of windows[band.index]!) held.add(id);
  const violations: IdleViolation[] = [];
  for (const [page, virtual] of band.p2v.entries()) {
    if (virtual === 0 || held.has(virtual)) continue;
    violations.push({ check: "leak", band: band.plan.name, page, taken_by: band.boundAt[page]! });
  }
  return violations;
}
