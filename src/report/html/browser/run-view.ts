// The maps, curves and controls of one run, from its packed data.
import { CELL_CODES } from "../../../tools/view/view-data.js";
import { unpack } from "../shared/unpack.js";
import { Controls } from "./controls.js";
import { CurvePlots } from "./curves.js";
import { Details } from "./details.js";
import { part } from "./dom.js";
import { Maps } from "./maps.js";
import { Model, type SideName } from "./model.js";
import type { ThemeSwitch } from "./theme-switch.js";

/** What the page tells of itself: for tests, and for a reader's own console. */
export interface PageFace {
  readonly model: Model;
  readonly seek: (operation: number) => void;
  /** Cells of a band at the operation at hand: `[class, label, id]` by page. */
  readonly cells: (
    side: SideName,
    band: string,
  ) => readonly (readonly [string, string, number])[] | null;
}

async function inflated(text: string): Promise<Uint8Array> {
  const bytes = Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Draws a run into the frame that stands in the page.
 * @param signal - aborted: the frame is about to go, or went while the data was unpacked
 */
export async function showRun(
  base64: string,
  themes: ThemeSwitch,
  signal: AbortSignal,
): Promise<void> {
  const block = await inflated(base64);
  if (signal.aborted) return;
  const model = new Model(unpack(block));
  if (model.frames === 0) throw new Error("the run holds no operation");
  for (const id of ["bar", "curves", "maps", "details", "keys"])
    part(id, HTMLElement).hidden = false;
  const current = (): ThemeSwitch["current"] => themes.current;
  new Maps(model, current, signal);
  const curves = new CurvePlots(model, current);
  let wasPrinting = false;
  const retheme = (isPrinting: boolean): void => {
    if (isPrinting !== wasPrinting) curves.fit(isPrinting);
    wasPrinting = isPrinting;
    curves.retheme();
    model.draw();
  };
  themes.listen(retheme, signal);
  const resized = (): void => {
    model.changed();
  };
  window.addEventListener("resize", resized, { signal });
  const toggle = (): void => {
    themes.toggle();
  };
  const controls = new Controls(model, toggle, signal);
  new Details(model, (frames, means) => {
    controls.goThrough(frames, means);
  });
  showFirst(model);
  curves.showNear();
  part("loading", HTMLElement).remove();
  (window as unknown as { unifiedTrace: PageFace }).unifiedTrace = faceOf(model); // the page's only global
}

/** Says in the page why there are no maps. */
export function tellFailure(error: unknown): void {
  const failed = part("failed", HTMLElement);
  const what = error instanceof Error ? error.message : String(error);
  failed.textContent = `Maps and curves cannot be shown: ${what}. What stands above and below is whole.`;
  failed.hidden = false;
}

/** Begins at the divergence, where there is one, with the first differing page chosen. */
function showFirst(model: Model): void {
  const [mark] = model.marks;
  if (mark === undefined) model.seek(Math.floor(model.frames / 2));
  else model.seekOperation(mark.n);
  model.draw();
}

function faceOf(model: Model): PageFace {
  return {
    model,
    seek: (operation) => {
      model.seekOperation(operation);
      model.draw();
    },
    cells: (side, band) => {
      const lane = model.arena?.lanes.findIndex((each) => each.band === band) ?? -1;
      const cells = model.lane(side, lane);
      if (cells === null) return null;
      return Array.from(cells.code, (code, page) => [
        CELL_CODES[code] ?? "",
        model.data.head.labels[cells.label[page] ?? 0]?.[0] ?? "",
        cells.virtual[page] ?? 0,
      ]);
    },
  };
}
