// The script of the page of `stats`: reads the curves and starts what draws them.
import { grouped, visible } from "../../words.js";
import type { StatsPageData } from "../shared/stats-data.js";
import { make, part } from "./dom.js";
import { StatsModel } from "./stats-model.js";
import { StatsPlots } from "./stats-plots.js";
import { ThemeSwitch } from "./theme-switch.js";

const FAR = 10; // points

function start(): void {
  const block = part("data", HTMLScriptElement);
  const data = JSON.parse(block.textContent) as StatsPageData; // this project's own
  block.remove(); // not needed any more
  const themes = new ThemeSwitch();
  if (data.runs.length === 0) return; // counts alone
  const model = new StatsModel(data);
  for (const id of ["bar", "curves", "keys"]) part(id, HTMLElement).hidden = false;
  const plots = new StatsPlots(model, () => themes.current);
  let wasPrinting = false;
  themes.listen((isPrinting) => {
    if (isPrinting !== wasPrinting) plots.fit(isPrinting);
    wasPrinting = isPrinting;
    plots.retheme();
  }, new AbortController().signal);
  chooseRuns(model);
  scrub(model);
  document.addEventListener("keydown", (event) => {
    key(event, model, plots, themes);
  });
  part("loading", HTMLElement).remove();
  (window as unknown as { unifiedTrace: { model: StatsModel } }).unifiedTrace = { model }; // the page's only global
}

function chooseRuns(model: StatsModel): void {
  const select = part("run", HTMLSelectElement);
  const hasFiles = new Set(model.runs.map(({ file }) => file)).size > 1;
  for (const [index, { file, curve }] of model.runs.entries()) {
    const option = make("option", "", visible(hasFiles ? `${file}: ${curve.run}` : curve.run));
    option.value = String(index);
    select.append(option);
  }
  select.addEventListener("change", () => {
    model.choose(Number(select.value));
  });
  part("runs", HTMLElement).hidden = model.runs.length < 2;
  for (const [id, step] of [
    ["run-back", -1],
    ["run-on", 1],
  ] as const)
    part(id, HTMLButtonElement).addEventListener("click", () => {
      model.choose(model.run + step);
    });
  const shown = (): void => {
    select.value = String(model.run);
    part("run-back", HTMLButtonElement).disabled = model.run === 0;
    part("run-on", HTMLButtonElement).disabled = model.run === model.runs.length - 1;
    offerPeaks(model);
  };
  model.listen({ run: shown, point: () => undefined });
  shown();
}

/** A button for each peak of the run. */
function offerPeaks(model: StatsModel): void {
  const { live_bytes: live, capacity, fragmentation } = model.shown.curve.peaks;
  const peaks = [
    ["Most live bytes", live],
    ["Least capacity", capacity],
    ["Most fragmentation", fragmentation],
  ] as const;
  const buttons = peaks.flatMap(([name, peak]) => {
    if (peak === null) return [];
    const jump = make("button", "jump", name);
    jump.type = "button";
    jump.title = `operation ${grouped(peak.n)}`;
    jump.addEventListener("click", () => {
      model.seekOperation(peak.n);
    });
    return [jump];
  });
  part("jumps", HTMLElement).replaceChildren(...buttons);
}

function scrub(model: StatsModel): void {
  const slider = part("slider", HTMLInputElement);
  slider.addEventListener("input", () => {
    model.seek(Number(slider.value));
  });
  for (const [id, step] of [
    ["back", -1],
    ["on", 1],
  ] as const)
    part(id, HTMLButtonElement).addEventListener("click", () => {
      model.seek(model.point + step);
    });
  const told = (): void => {
    slider.max = String(model.points - 1);
    slider.value = String(model.point);
    const { operations } = model.shown.curve;
    const text = `Operation ${grouped(model.operation)} of ${grouped(operations)}`;
    slider.setAttribute("aria-valuetext", text);
    part("now", HTMLElement).textContent = text;
  };
  model.listen({ run: told, point: told });
  told();
}

function key(
  event: KeyboardEvent,
  model: StatsModel,
  plots: StatsPlots,
  themes: ThemeSwitch,
): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLSelectElement) return;
  const far = event.shiftKey ? FAR : 1;
  const acts: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => {
      model.seek(model.point - far);
    },
    ArrowRight: () => {
      model.seek(model.point + far);
    },
    Home: () => {
      model.seek(0);
    },
    End: () => {
      model.seek(model.points - 1);
    },
    p: () => {
      model.seekOperation(model.shown.curve.peaks.live_bytes.n);
    },
    "[": () => {
      model.choose(model.run - 1);
    },
    "]": () => {
      model.choose(model.run + 1);
    },
    "+": () => {
      plots.zoom(0.5);
    },
    "-": () => {
      plots.zoom(2);
    },
    "0": () => {
      plots.showAll();
    },
    t: () => {
      themes.toggle();
    },
  };
  if (!Object.hasOwn(acts, event.key)) return;
  event.preventDefault();
  acts[event.key]?.();
}

try {
  start();
} catch (error: unknown) {
  const failed = document.getElementById("failed");
  if (failed === null) throw error;
  const what = error instanceof Error ? error.message : String(error);
  failed.textContent = `Curves cannot be shown: ${what}. What stands below is whole.`;
  failed.hidden = false;
}
