// The table of runs, and the one failure that is shown in full, with its maps where the page holds them.
import { grouped } from "../../words.js";
import { part } from "./dom.js";
import { showRun, tellFailure } from "./run-view.js";
import type { ThemeSwitch } from "./theme-switch.js";

interface Row {
  readonly element: HTMLTableRowElement;
  readonly text: string; // in small letters
}

export class Cases {
  readonly #themes: ThemeSwitch;
  readonly #rows: readonly Row[];
  readonly #buttons: readonly HTMLElement[]; // by failure
  readonly #articles: readonly HTMLElement[];
  readonly #filter = part("filter", HTMLInputElement);
  #chosen = -1;
  #shown = new AbortController(); // of what stands on the stage

  constructor(themes: ThemeSwitch) {
    this.#themes = themes;
    const rows = document.querySelectorAll<HTMLTableRowElement>("#cases tbody tr");
    this.#rows = [...rows].map((element) => ({
      element,
      text: element.textContent.toLowerCase(),
    }));
    this.#buttons = [...document.querySelectorAll<HTMLElement>("#cases .choose")];
    this.#articles = [...document.querySelectorAll<HTMLElement>(".failure")];
    this.#filter.hidden = false;
    this.#filter.addEventListener("input", () => {
      this.#search();
    });
    for (const button of this.#buttons)
      button.addEventListener("click", () => {
        this.choose(Number(button.dataset["case"]));
        part("failures", HTMLElement).scrollIntoView({ block: "start" });
      });
    document.addEventListener("keydown", (event) => {
      this.#key(event);
    });
    this.#steps();
    this.#search();
    if (this.#articles.length > 0) this.choose(0);
  }

  /** Shows one failure, and its maps where there are any. */
  choose(index: number): void {
    if (index === this.#chosen || this.#articles[index] === undefined) return;
    this.#chosen = index;
    for (const [at, article] of this.#articles.entries())
      article.classList.toggle("unchosen", at !== index);
    for (const button of this.#buttons) {
      const isChosen = Number(button.dataset["case"]) === index;
      button.closest("tr")?.classList.toggle("chosen", isChosen);
      button.setAttribute("aria-pressed", String(isChosen));
    }
    const now = document.getElementById("case-now");
    if (now !== null)
      now.textContent = `${grouped(index + 1)} of ${grouped(this.#articles.length)}`;
    this.#stage(index);
  }

  #stage(index: number): void {
    this.#shown.abort();
    this.#shown = new AbortController();
    const stage = part("stage", HTMLElement);
    stage.replaceChildren();
    const frame = document.getElementById(`view-${index}`);
    if (!(frame instanceof HTMLTemplateElement)) return;
    stage.append(frame.content.cloneNode(true));
    const { textContent: base64 } = part(`data-${index}`, HTMLScriptElement);
    const { signal } = this.#shown;
    showRun(base64, this.#themes, signal).catch((error: unknown) => {
      if (!signal.aborted) tellFailure(error);
    });
  }

  #steps(): void {
    const steps = document.getElementById("steps");
    if (steps === null) return;
    steps.hidden = false;
    for (const [id, by] of [
      ["case-back", -1],
      ["case-on", 1],
    ] as const)
      part(id, HTMLButtonElement).addEventListener("click", () => {
        this.choose(this.#chosen + by);
      });
  }

  #search(): void {
    const words = this.#filter.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    let count = 0;
    for (const { element, text } of this.#rows) {
      element.hidden = !words.every((word) => text.includes(word));
      if (!element.hidden) count += 1;
    }
    const all = grouped(this.#rows.length);
    part("filtered", HTMLElement).textContent =
      words.length === 0 ? all : `${grouped(count)} of ${all}`;
  }

  #key(event: KeyboardEvent): void {
    const { target, key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    if (target instanceof HTMLInputElement && target.type === "search") {
      if (key === "Escape" && target === this.#filter) target.blur();
      return;
    }
    if (target instanceof HTMLSelectElement) return;
    if (key === "f") {
      event.preventDefault();
      this.#filter.focus();
    } else if (key === "n") this.choose(this.#chosen + 1);
    else if (key === "p") this.choose(this.#chosen - 1);
    // without maps on the stage nobody else listens for it
    else if (key === "t" && document.getElementById("slider") === null) this.#themes.toggle();
  }
}
