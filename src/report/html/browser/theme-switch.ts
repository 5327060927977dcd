// Light, dark, paper: what the reader's system or the button says. Parts that draw in its colours listen.
import { themeOfPage, type Theme } from "./colours.js";
import { part } from "./dom.js";

export class ThemeSwitch {
  #theme = themeOfPage();
  readonly #listeners = new Set<(isPrinting: boolean) => void>();

  constructor() {
    const switched = part("theme", HTMLButtonElement);
    switched.hidden = false;
    switched.addEventListener("click", () => {
      this.toggle();
    });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.#changed(false);
    });
    window.addEventListener("beforeprint", () => {
      document.documentElement.classList.add("printing"); // paper is light
      this.#changed(true);
    });
    window.addEventListener("afterprint", () => {
      document.documentElement.classList.remove("printing");
      this.#changed(false);
    });
  }

  get current(): Theme {
    return this.#theme;
  }

  toggle(): void {
    document.documentElement.dataset["theme"] = this.#theme.isDark ? "light" : "dark";
    this.#changed(false);
  }

  /** @param draw - told whether the page is about to be printed */
  listen(draw: (isPrinting: boolean) => void, signal: AbortSignal): void {
    this.#listeners.add(draw);
    signal.addEventListener("abort", () => this.#listeners.delete(draw));
  }

  #changed(isPrinting: boolean): void {
    this.#theme = themeOfPage();
    for (const draw of this.#listeners) draw(isPrinting);
  }
}
