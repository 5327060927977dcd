// From a direct configuration to an empty world: chain order, page grids, free ids, free rows.
import type { BandGeometry, BootOk, DirectConfig, SubPoolConfig } from "../base/operations.js";
import { Bindings } from "./bindings.js";
import { Refusal } from "./refusal.js";
import type { Band, World } from "./world.js";

/** The world after `boot`. Refuses with `refused_plan`. @internal */
export function bootWorld(config: DirectConfig, arenaBytes: number = config.arena_bytes): World {
  checkPlan(config.sub_pools);
  const pools = [...config.sub_pools].sort((left, right) => rankOf(right) - rankOf(left));
  const sinkBytes = Math.max(
    ...pools.map((pool) => pool.unit_bytes * tokensOf(pool, config.page_size)),
  );
  const bands = pools.map((pool, place) =>
    emptyBand(config, pool, arenaBytes, sinkBytes, growthAt(place, pools.length)),
  );
  return {
    config,
    bands,
    arenaBytes,
    sinkBytes,
    moveEpoch: 0,
    fences: [],
    forwards: [],
    retired: null,
    freeRows: range(1, config.rows + 1),
    marked: [],
    requests: new Map(),
    group: null,
    deferred: [],
    letGo: [],
    copies: [],
    loads: [],
    transfers: [],
    transferCount: 0,
    closedTransfers: [],
    saved: new Map(),
    hostFree: Object.fromEntries(
      bands.map(({ name }) => [name, range(0, config.host?.[name] ?? 0)]),
    ),
    tree: [],
    nodeCount: 0,
    locks: [],
    clock: 0,
    uses: 0,
    stages: null,
    asked: [],
    ended: [],
    hostNeeds: null,
    fx: [],
  };
}

/** What `boot` and `arena.resize` answer. @internal */
export function bootAnswer(world: World): BootOk {
  const bands: Record<string, BandGeometry> = {};
  for (const band of world.bands) {
    bands[band.name] = {
      grow: band.grow,
      unit_bytes: band.unitBytes,
      page_bytes: band.pageBytes,
      pages: band.pages,
      first_page: band.firstPage,
    };
  }
  return { bands, sink_bytes: world.sinkBytes };
}

// One owner, and no two sub-pools of one lifetime.
function checkPlan(pools: readonly SubPoolConfig[]): void {
  if (!pools.some(isOwner)) throw new Refusal({ code: "refused_plan", rule: "no_full_owner" });
  const lifetimes = pools.map((pool) =>
    pool.kind === "state" ? "state" : String(pool.window ?? (isOwner(pool) ? "full" : "unknown")),
  );
  const second = pools.find((_, place) => lifetimes.indexOf(lifetimes[place] ?? "") < place);
  if (second !== undefined)
    throw new Refusal({ code: "refused_plan", rule: "two_geometries", band: second.name });
}

function isOwner(pool: SubPoolConfig): boolean {
  return pool.kind !== "state" && pool.window === undefined;
}

// Chain order: state, windows from the longest (an unknown length is the longest), full.
function rankOf(pool: SubPoolConfig): number {
  if (pool.kind === "state") return Infinity;
  if (isOwner(pool)) return -1;
  return pool.window ?? Number.MAX_SAFE_INTEGER;
}

function growthAt(place: number, count: number): Band["grow"] {
  if (place === count - 1) return "down"; // also one band alone
  return place === 0 ? "up" : "float";
}

function tokensOf(pool: SubPoolConfig, pageSize: number): number {
  return pool.kind === "state" ? 1 : pageSize;
}

function emptyBand(
  config: DirectConfig,
  pool: SubPoolConfig,
  arenaBytes: number,
  sinkBytes: number,
  grow: Band["grow"],
): Band {
  const unitBytes = pool.unit_bytes;
  const tokens = tokensOf(pool, config.page_size);
  const pages = Math.floor(Math.floor(arenaBytes / unitBytes) / tokens);
  const firstPage = Math.ceil(Math.ceil(sinkBytes / unitBytes) / tokens);
  const start = grow === "up" ? firstPage : pages; // an empty float is parked behind its grid
  const role = pool.kind === "state" ? "state" : isOwner(pool) ? "owner" : "window";
  return {
    name: pool.name,
    role,
    isZeroed: role !== "state",
    window: pool.window ?? null,
    grow,
    unitBytes,
    pageBytes: unitBytes * tokens,
    pages,
    firstPage,
    low: start,
    high: start,
    holes: [],
    pending: [],
    vacated: [],
    bindings: new Bindings(),
    reserved: [],
    freeIds: role === "window" ? [] : range(firstPage, pages),
  };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}
