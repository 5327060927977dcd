// The script of the report page: reads the packed data and starts the parts that draw.
import { CELL_CODES } from "../../../tools/view/view-data.js";
import { unpack } from "../shared/unpack.js";
import { themeOfPage, type Theme } from "./colours.js";
import { Controls } from "./controls.js";
import { CurvePlots } from "./curves.js";
import { Details } from "./details.js";
import { part } from "./dom.js";
import { Maps } from "./maps.js";
import { Model, type SideName } from "./model.js";

/** What the page tells of itself: for tests, and for a reader's own console. */
interface PageFace {
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

async function start(): Promise<void> {
  const block = part("data", HTMLScriptElement);
  const data = unpack(await inflated(block.textContent));
  block.remove(); // not needed any more
  const model = new Model(data);
  if (model.frames === 0) throw new Error("the run holds no operation");
  for (const id of ["bar", "curves", "maps", "details", "keys", "theme"])
    part(id, HTMLElement).hidden = false;
  let theme: Theme = themeOfPage();
  const current = (): Theme => theme;
  new Maps(model, current);
  const curves = new CurvePlots(model, current);
  const retheme = (): void => {
    theme = themeOfPage();
    curves.retheme();
    model.draw();
  };
  const toggle = (): void => {
    document.documentElement.dataset["theme"] = theme.isDark ? "light" : "dark";
    retheme();
  };
  part("theme", HTMLButtonElement).addEventListener("click", toggle);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", retheme);
  window.addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing"); // paper is light
    curves.fit(true);
    retheme();
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    curves.fit(false);
    retheme();
  });
  window.addEventListener("resize", () => {
    model.changed();
  });
  const controls = new Controls(model, toggle);
  new Details(model, (frames, means) => {
    controls.goThrough(frames, means);
  });
  showFirst(model);
  curves.showNear();
  part("loading", HTMLElement).remove();
  (window as unknown as { unifiedTrace: PageFace }).unifiedTrace = faceOf(model); // the page's only global
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

start().catch((error: unknown) => {
  const failed = part("failed", HTMLElement);
  const what = error instanceof Error ? error.message : String(error);
  failed.textContent = `Maps and curves cannot be shown: ${what}. What stands above and below is whole.`;
  failed.hidden = false;
});
