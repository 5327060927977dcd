// Who holds an id, as far as a full state tells it: rows, tree nodes, loads, transfers, an open group. Rows, tree and
// host are open in the format, so that a state of another implementation may tell less: what is not there as
// this project writes it is passed over in silence.
import type { State } from "../../base/state.js";
import type { Extents } from "../../base/values.js";
import type { LaneGeometry } from "./geometry.js";
import { ascendingRuns, type Run } from "./runs.js";

/** Somebody who holds a page or a slot. @public */
export interface Holder {
  readonly kind: "request" | "node" | "load" | "transfer" | "group";
  /** The name of the request, load or transfer; of a tree node its place in the state's list; of a group nothing. */
  readonly name: string;
  readonly purpose?: string; // of a state slot in a row
}

/** Ids with the same holders. @internal */
export interface HeldRun extends Run {
  readonly holders: readonly Holder[];
}

/** Who holds what of one band, sorted and disjoint. @internal */
export interface Held {
  readonly ids: readonly HeldRun[]; // by virtual id; of the state band by slot id
  readonly pages: readonly HeldRun[]; // by physical page: of loads that are not bound yet
}

interface Claim extends Run {
  readonly holder: Holder;
}
type Fields = Readonly<Record<string, unknown>>;

/** @param index - the band's place in the chain @internal */
export function heldOf(state: State, lane: LaneGeometry, index: number): Held {
  const ids: Claim[] = [];
  const pages: Claim[] = [];
  claimRows(state, lane, ids);
  claimNodes(state, lane, ids);
  claimLoads(state, lane, ids, pages);
  claimWaiting(state, lane, index, ids);
  return { ids: mergedClaims(ids), pages: mergedClaims(pages) };
}

function claimRows(state: State, lane: LaneGeometry, claims: Claim[]): void {
  for (const [name, row] of Object.entries(state.rows)) {
    if (lane.kind === "state") {
      for (const [purpose, slots] of Object.entries(row.slots))
        claim(claims, slots, { kind: "request", name, purpose });
    } else {
      claim(claims, row["x_pages"], { kind: "request", name });
    }
  }
}

function claimNodes(state: State, lane: LaneGeometry, claims: Claim[]): void {
  for (const [place, node] of state.tree.entries()) {
    const slot = fieldsOf(fieldsOf(fieldsOf(node)["slots"])[lane.band]);
    claim(claims, slot["pages"], { kind: "node", name: String(place) });
  }
}

function claimLoads(state: State, lane: LaneGeometry, ids: Claim[], pages: Claim[]): void {
  const { loads, copies } = state.host;
  const all = [...listOf(loads), ...listOf(copies).map((copy) => fieldsOf(copy)["load"])];
  for (const entry of all) {
    const load = fieldsOf(entry);
    if (typeof load["load"] !== "string") continue;
    const holder: Holder = { kind: "load", name: load["load"] };
    if (lane.kind === "full") claim(ids, load["virtual"], holder);
    else if (lane.kind === "state") claim(ids, load["slots"], holder);
    else claim(pages, fieldsOf(load["windows"])[lane.band], holder);
  }
}

/** What left its row already and waits to be freed: for a group's end or for transfers. */
function claimWaiting(state: State, lane: LaneGeometry, index: number, claims: Claim[]): void {
  const more = fieldsOf(state.forwards["x_more"]);
  claim(claims, listOf(fieldsOf(more["group"])["bands"])[index], { kind: "group", name: "" });
  for (const [name, transfer] of Object.entries(fieldsOf(state.net["transfers"]))) {
    const deferred = fieldsOf(fieldsOf(transfer)["deferred"]);
    claim(claims, deferred[lane.band], { kind: "transfer", name });
  }
}

function claim(claims: Claim[], value: unknown, holder: Holder): void {
  if (!isExtents(value)) return;
  for (const { first, count } of ascendingRuns(value)) claims.push({ first, count, holder });
}

/** Claims as disjoint runs; ids that several hold name all of them, in the order in which they were claimed. */
function mergedClaims(claims: readonly Claim[]): HeldRun[] {
  const edges: { at: number; claim: number; opens: boolean }[] = [];
  for (const [index, { first, count }] of claims.entries()) {
    edges.push({ at: first, claim: index, opens: true });
    edges.push({ at: first + count, claim: index, opens: false });
  }
  edges.sort((left, right) => left.at - right.at);
  const active = new Set<number>();
  const interned = new Map<string, readonly Holder[]>();
  const runs: HeldRun[] = [];
  for (const [place, edge] of edges.entries()) {
    if (edge.opens) active.add(edge.claim);
    else active.delete(edge.claim);
    const next = edges[place + 1]?.at ?? edge.at;
    if (active.size === 0 || next === edge.at) continue;
    const order = [...active].sort((left, right) => left - right);
    const holders = order.map((index) => claims[index]!.holder); // a claim of the list
    const key = JSON.stringify(holders);
    const known = interned.get(key) ?? holders;
    interned.set(key, known);
    const last = runs.at(-1);
    if (last?.holders === known && last.first + last.count === edge.at)
      runs[runs.length - 1] = { ...last, count: next - last.first };
    else runs.push({ first: edge.at, count: next - edge.at, holders: known });
  }
  return runs;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function isExtents(value: unknown): value is Extents {
  return (
    Array.isArray(value) &&
    value.every(
      (entry) =>
        Array.isArray(entry) && entry.length === 2 && entry.every((part) => Number.isInteger(part)),
    )
  );
}
