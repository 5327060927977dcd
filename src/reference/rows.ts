// Requests and their rows: opening, closing, and what a row holds.
import type { Bindings } from "./bindings.js";
import { Faults, invalid, Refusal } from "./refusal.js";
import {
  type FreedUnit,
  type Load,
  ownerOf,
  PURPOSES,
  type Request,
  stateBandOf,
  windowsOf,
  type World,
} from "./world.js";

/** The open request of this name; refuses with `unknown_request`. @internal */
export function requestNamed(world: World, req: string): Request {
  return world.requests.get(req) ?? invalid("unknown_request", { req });
}

/** `row.alloc`: the oldest free row for each. @internal */
export function rowAlloc(
  world: World,
  { reqs }: { readonly reqs: readonly string[] },
): { rows: Record<string, number> } {
  const faults = new Faults();
  reqs.forEach((req, index) => {
    if (world.requests.has(req) || reqs.indexOf(req) < index) faults.add("row_in_use", { req });
  });
  faults.check();
  const free = world.freeRows.length;
  if (reqs.length > free) throw new Refusal({ code: "refused_rows", need: reqs.length, free });
  const rows: Record<string, number> = {};
  for (const req of reqs) rows[req] = openRequest(world, req).row;
  return { rows };
}

/** Opens a request on the oldest free row, which there must be. @internal */
export function openRequest(world: World, name: string): Request {
  const row = world.freeRows.shift();
  if (row === undefined) throw new Error("no free row");
  const request: Request = {
    name,
    row,
    allocated: 0,
    protected: 0,
    checkpoint: null,
    virtual: [],
    windows: Object.fromEntries(windowsOf(world).map((band) => [band.name, []])),
    cursors: Object.fromEntries(windowsOf(world).map((band) => [band.name, 0])),
    slots: { main: [], track: [], replace: [], cow: [] },
    ring: 0,
    tracked: [],
    labels: [],
  };
  world.requests.set(name, request);
  if (!world.marked.includes(row)) world.marked.push(row);
  return request;
}

/** Whether windows keep rows behind the latest checkpoint. @internal */
export function hasFloor(world: World): boolean {
  const { prefix_sharing: isSharing, checkpoint } = world.config;
  return isSharing === true && checkpoint !== undefined && checkpoint.strategy !== "no_buffer";
}

/** `row.free`: of a request that holds nothing else. @internal */
export function rowFree(world: World, { req }: { readonly req: string }): Record<string, never> {
  const request = requestNamed(world, req);
  const holdsSlots = PURPOSES.some((purpose) => request.slots[purpose].length > 0);
  const holdsLocks = world.locks.some((lock) => lock.holder === req);
  if (request.virtual.some((id) => id !== 0) || holdsSlots || holdsLocks)
    invalid("row_in_use", { req });
  closeRequest(world, request);
  return {};
}

/** @internal */
export function closeRequest(world: World, request: Request): void {
  for (const part of loadsOf(world, request).flatMap(({ parts }) => parts)) part.units = [];
  world.requests.delete(request.name);
  world.freeRows.push(request.row);
}

function loadsOf(world: World, request: Request): Load[] {
  const copied = world.copies.flatMap(({ work }) =>
    work.kind === "load" || work.kind === "restore" ? [work.load] : [],
  );
  return [...world.loads, ...copied].filter(({ req }) => req === request.name);
}

/** What a row gives up is its loads' no more: a load that fails leaves alone what comes under the same id later. @internal */
export function forgetLoaded(world: World, request: Request, units: readonly FreedUnit[]): void {
  for (const { parts } of loadsOf(world, request)) {
    for (const part of parts) {
      const given = units.filter(({ band }) => band === part.band).map(({ id }) => id);
      part.units = part.units.filter(({ id }) => !given.includes(id));
    }
  }
}

/** What a request would free at its end: pages beyond the protected ones by token position, then its slots. @internal */
export function allUnits(world: World, request: Request): FreedUnit[] {
  const first = Math.ceil(request.protected / world.config.page_size);
  const units: FreedUnit[] = [];
  for (let page = first; page < request.virtual.length; page++) {
    units.push(...dropPage(world, request, page));
  }
  const state = stateBandOf(world);
  for (const purpose of PURPOSES) {
    if (state !== null)
      units.push(...request.slots[purpose].map((id) => ({ band: state.name, id })));
  }
  return units;
}

/** Makes a row end earlier, at `len` tokens; states that were tracked beyond are no longer its own. @internal */
export function shorten(world: World, request: Request, len: number): void {
  request.allocated = len;
  request.virtual.length = Math.ceil(len / world.config.page_size);
  request.tracked = request.tracked.filter((entry) => entry.len <= len);
  for (const [name, cursor] of Object.entries(request.cursors))
    request.cursors[name] = Math.min(cursor, request.virtual.length * world.config.page_size);
}

/** Takes page `page` of the row out of it, in every band that it is bound in; the units to free. @internal */
export function dropPage(world: World, request: Request, page: number): FreedUnit[] {
  const id = request.virtual[page] ?? 0;
  if (id === 0) return [];
  const units: FreedUnit[] = [];
  for (const band of windowsOf(world)) units.push(...dropWindowPage(request, band.name, page));
  units.push({ band: ownerOf(world).name, id });
  request.virtual[page] = 0;
  return units;
}

/** The same in one window only. @internal */
export function dropWindowPage(request: Request, band: string, page: number): FreedUnit[] {
  const bound = request.windows[band] ?? [];
  const id = request.virtual[page] ?? 0;
  if (bound[page] !== true || id === 0) return [];
  bound[page] = false;
  return [{ band, id }];
}

/** The page of position `page` of a row in a token band; 0 where unbound. @internal */
export function placeOf(
  world: World,
  request: Request,
  band: {
    readonly name: string;
    readonly role: string;
    readonly bindings: Bindings;
  },
  page: number,
): number {
  const id = request.virtual[page] ?? 0;
  // Under the ids of protected rows the tree's windows come and go.
  const isTrees = page * world.config.page_size < request.protected;
  const isRows = band.role === "owner" || request.windows[band.name]?.[page] === true;
  const isThere = isTrees ? !isAwaited(world, band.name, id) : isRows;
  return id === 0 || !isThere ? 0 : (band.bindings.get(id) ?? 0);
}

/** Whether a page that is still bound waits to be freed. @internal */
export function isAwaited(world: World, band: string, id: number): boolean {
  const waiting = [...(world.group ?? []), ...world.deferred];
  return waiting.some((unit) => unit.band === band && unit.id === id);
}
