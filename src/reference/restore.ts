// The restoring of a retracted request: it takes what its host copy has, and the copy brings it back.
import type { KvArgs, KvOk } from "../base/operations.js";
import { append, type Lists, pageLists, appendAll } from "./answers.js";
import { submit } from "./backup.js";
import { checkBetween } from "./forwards.js";
import { Faults, invalid, Refusal } from "./refusal.js";
import { openRequest } from "./rows.js";
import { takeSlots } from "./slots.js";
import { take } from "./take.js";
import {
  type Load,
  type LoadPart,
  ownerOf,
  type Request,
  type SavedRequest,
  stateBandOf,
  windowsOf,
  type World,
} from "./world.js";

/** @internal */
export function restore(
  world: World,
  { req, copy: name }: KvArgs["request.restore"],
): KvOk["request.restore"] {
  const saved = world.saved.get(name);
  const faults = new Faults();
  if (world.requests.has(req)) faults.add("row_in_use", { req });
  checkBetween(world, faults);
  if (saved === undefined) faults.add("name_state");
  faults.check();
  if (saved === undefined) invalid("name_state");
  if (world.freeRows.length === 0) throw new Refusal({ code: "refused_rows", need: 1, free: 0 });
  const owner = ownerOf(world);
  const state = stateBandOf(world);
  const count = (flags: readonly boolean[]): number => flags.filter((isThere) => isThere).length;
  const demand: Record<string, number> = { [owner.name]: count(saved.full) };
  if (state !== null) demand[state.name] = saved.states;
  for (const band of windowsOf(world)) demand[band.name] = count(saved.windows[band.name] ?? []);
  const { step, pages } = take(world, demand, "host_load");
  const request = openRequest(world, req);
  world.marked = world.marked.filter((row) => row !== request.row); // it is written whole
  request.allocated = saved.allocated;
  request.checkpoint = saved.checkpoint;
  request.cursors = { ...saved.cursors };
  const lists = fillRow(world, request, saved, pages);
  const slots = (state === null ? [] : (pages[state.name] ?? [])).map((page) => ({
    slot: state!.freeIds.shift()!, // pages of a state band, whose ids the take checked
    page,
  }));
  takeSlots(world, request, "main", slots);
  appendAll(
    lists,
    "slots",
    slots.map(({ slot }) => slot),
  );
  if (state !== null)
    appendAll(
      lists,
      state.name,
      slots.map(({ page }) => page),
    );
  world.saved.delete(name);
  const load = loadOf(world, request);
  const bound = Object.fromEntries(
    world.bands.map((band) => [band.name, [...(pages[band.name] ?? [])]]),
  );
  submit(world, name, "in", bound, { kind: "restore", saved, load });
  return { rows: { [req]: request.row }, pages: pageLists(world, lists), step };
}

function fillRow(
  world: World,
  request: Request,
  saved: SavedRequest,
  pages: Readonly<Record<string, readonly number[]>>,
): Lists {
  const owner = ownerOf(world);
  const left = Object.fromEntries(Object.entries(pages).map(([name, list]) => [name, [...list]]));
  const lists: Lists = {};
  saved.full.forEach((isThere, page) => {
    if (!isThere) {
      request.virtual[page] = 0;
      return;
    }
    const id = owner.freeIds.shift()!; // the take checked that there are enough
    request.virtual[page] = id;
    append(lists, "virtual", id);
    for (const band of [...windowsOf(world), owner]) {
      const isBound = band === owner || saved.windows[band.name]?.[page] === true;
      const place = isBound ? left[band.name]!.shift()! : 0; // as many as are there
      if (left[band.name] !== undefined) append(lists, band.name, place); // a window without a page is left out
      if (isBound) band.bindings.set(id, place);
      if (band !== owner) request.windows[band.name]![page] = isBound; // every window has a list
    }
  });
  return lists;
}

// What the row has now, as if a load had brought it: if the copy fails, it goes the same way.
function loadOf(world: World, request: Request): Load {
  const ofBand = (name: string, ids: readonly number[]): LoadPart => ({
    band: name,
    units: ids.map((id, position) => ({ position, id, page: 0 })),
  });
  const owner = ofBand(
    ownerOf(world).name,
    request.virtual.filter((id) => id !== 0),
  );
  const state = stateBandOf(world);
  const parts = state === null ? [owner] : [ofBand(state.name, request.slots.main), owner];
  const place = { req: request.name, from: 0, isBound: true, reservedBands: [] };
  const moved = Object.entries(request.cursors).filter(([, cursor]) => cursor > 0);
  const cursors = Object.fromEntries(moved.map(([name, after]) => [name, { before: 0, after }]));
  return { name: request.name, path: null, parts, cursors, ...place };
}
