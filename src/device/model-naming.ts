// A window page of a load gets its owner's id in place of its placeholder.
import { fail } from "./model-fault.js";
import type { LoadedWindow } from "./model-loads.js";
import type { BandPages } from "./model-pages.js";
import type { ModelRun } from "./model-run.js";

/** Gives a window page of a load its owner's id. @internal */
export function nameWindow(run: ModelRun, band: BandPages, window: LoadedWindow, id: number): void {
  if (band.placeOf(id) !== 0)
    fail("bad_effect", `${run.arena.describe(band, band.placeOf(id))} is bound again`, band.name);
  band.rename(window.id, id);
  run.loads.recycle(window.id);
  window.id = id;
  window.isNamed = true;
}
