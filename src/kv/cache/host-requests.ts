// Retracted requests: a row copied to the host whole, tree pages included, and put back into pages of its own.
import { HazardSet } from "../alloc/clearance.js";
import type { Taken } from "../alloc/chain.js";
import type { HostCopy } from "../alloc/signals.js";
import type { KvCore } from "../core.js";
import type { Request } from "../requests.js";
import type { KeptRequest, Load, LoadedWindow } from "./host-cache.js";
import { bindWindow, enterRow, listPlaces, reserveLoad, setLoadedCursor } from "./host-loads.js";

/** What a row holds, as its copy to the host will need it. @internal */
export interface RowShape {
  readonly kept: Omit<KeptRequest, "host">;
  readonly places: readonly (readonly number[])[]; // device pages by band index
}

/** Reads a row: full pages, window pages still bound, main states. @internal */
export function shapeOf(core: KvCore, request: Request): RowShape {
  const { bands, owner, stateBand } = core.chain;
  const positions: number[] = [];
  for (const [index, id] of request.pages.entries()) if (id > 0) positions.push(index);
  const idAt = (place: number): number => request.pages[positions[place]!]!;
  const windows = bands.map((band) =>
    band.plan.isWindow
      ? [...positions.keys()].filter((place) => core.isWindowBound(band, idAt(place)))
      : [],
  );
  const places = bands.map((band) => {
    if (band === owner) return [...positions.keys()].map((place) => band.v2p[idAt(place)]!);
    if (band === stateBand) return request.slots.main.map((slot) => band.v2p[slot]!);
    return windows[band.index]!.map((place) => band.v2p[idAt(place)]!);
  });
  const { allocated, checkpoint } = request;
  const cursors = [...request.cursors];
  const slots = request.slots.main.length;
  return { kept: { positions, windows, slots, allocated, cursors, checkpoint }, places };
}

/** Whether a transfer still writes any of these device pages: what they hold is not there yet. @internal */
export function isBeingReceived(core: KvCore, places: RowShape["places"]): boolean {
  return core.chain.bands.some((band) =>
    places[band.index]!.some((page) =>
      band.usesAt(page).some((use) => use.kind === "transfer" && use.direction === "receive"),
    ),
  );
}

/** Submits a copy out of device pages, behind the copies that still write them. Lists the pages in its effect.
 * @internal */
export function submitCopyOut(core: KvCore, name: string, places: RowShape["places"]): HostCopy {
  const { chain } = core;
  const hazards = new HazardSet(chain.counts);
  for (const band of chain.bands)
    for (const page of places[band.index]!)
      chain.clear("schedule_copy", hazards, band, page, "reads");
  hazards.clear(chain.scope, chain.ledger);
  const copy = chain.ledger.startCopy(chain.bands, name, "out", places);
  chain.scope.emit(["hostcopy", name, "out", listPlaces(core, places)]);
  return copy;
}

/** Pages by band index (slots for state) that a kept request takes. @internal */
export function demandOf(core: KvCore, kept: Omit<KeptRequest, "host">): number[] {
  return core.chain.bands.map((band) => {
    if (band.plan.isOwner) return kept.positions.length;
    return band.plan.isWindow ? kept.windows[band.index]!.length : kept.slots;
  });
}

/** Opens the request again on taken pages, every page where it was; nothing is marked for a reset. Lists the pages,
 * window lists aligned with the full ones. Returns the load that the copy fills. @internal */
export function reopen(
  core: KvCore,
  name: string,
  copy: string,
  kept: KeptRequest,
  taken: Taken,
): { request: Request; load: Load } {
  const { chain, lists, requests } = core;
  const request = requests.add(name, chain.bands.length);
  requests.clearMark(request);
  const load = reserveLoad(core, copy, taken);
  lists.take(); // listed below, aligned
  for (const position of Array.from({ length: core.pagesOf(kept.allocated) }).keys())
    request.pages[position] = 0;
  enterRow(core, load, request, kept.positions);
  requests.setAllocated(request, kept.allocated);
  for (const id of load.ids) lists.virtual.add(id);
  for (const slot of load.slots) lists.slots.add(slot);
  for (const band of chain.bands) {
    const builder = lists.bands[band.index]!;
    if (!band.plan.isWindow) {
      for (const page of taken.pages[band.index]!) builder.add(page);
      continue;
    }
    const loaded = load.windows[band.index]!;
    let next = 0; // place in `positions`
    for (const [index, place] of kept.windows[band.index]!.entries()) {
      const window: LoadedWindow = loaded[index]!; // as many were taken
      bindWindow(core, band, window, load.ids[place]!);
      builder.addUnbound(place - next);
      builder.add(window.page);
      next = place + 1;
    }
    if (loaded.length > 0) builder.addUnbound(kept.positions.length - next);
    // enterRow set load.row
    setLoadedCursor(core, load.row!, band, kept.cursors[band.index]!);
  }
  requests.setCheckpoint(request, kept.checkpoint);
  load.isBound = true;
  return { request, load };
}
