// Slider, buttons, search, keyboard.
import { grouped, visible } from "../../words.js";
import { parseQuery, search } from "../shared/search.js";
import { make, part } from "./dom.js";
import type { ColourBy, Model } from "./model.js";

const PLAY_MS = 60; // a frame

export class Controls {
  readonly #model: Model;
  readonly #toggleTheme: () => void;
  readonly #slider = part("slider", HTMLInputElement);
  readonly #query = part("query", HTMLInputElement);
  readonly #found = part("found", HTMLElement);
  readonly #earlier = part("earlier", HTMLButtonElement);
  readonly #later = part("later", HTMLButtonElement);
  readonly #play = part("play", HTMLButtonElement);
  readonly #now = part("now", HTMLElement);
  #means = "";
  #timer: number | null = null;

  /** @param signal - aborted: the keyboard is let go of, and nothing plays on */
  constructor(model: Model, toggleTheme: () => void, signal: AbortSignal) {
    this.#model = model;
    this.#toggleTheme = toggleTheme;
    this.#slider.max = String(Math.max(0, model.frames - 1));
    this.#slider.addEventListener("input", () => {
      model.seek(Number(this.#slider.value));
    });
    this.#on("back", () => {
      this.#step(-1);
    });
    this.#on("on", () => {
      this.#step(1);
    });
    this.#play.addEventListener("click", () => {
      this.#togglePlay();
    });
    for (const jump of document.querySelectorAll<HTMLElement>(".jump"))
      jump.addEventListener("click", () => {
        model.seekOperation(Number(jump.dataset["n"]));
      });
    part("search", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      this.#search();
    });
    this.#earlier.addEventListener("click", () => {
      this.#hop(-1);
    });
    this.#later.addEventListener("click", () => {
      this.#hop(1);
    });
    this.#colourChoice();
    const key = (event: KeyboardEvent): void => {
      this.#key(event);
    };
    document.addEventListener("keydown", key, { signal });
    signal.addEventListener("abort", () => {
      if (this.#timer !== null) this.#togglePlay();
    });
    model.listen(() => {
      this.#draw();
    });
  }

  /** Steps through these frames from now on; goes to the nearest behind the one at hand. */
  goThrough(frames: readonly number[], means: string): void {
    this.#model.found = frames;
    this.#means = means;
    const next = frames.find((frame) => frame >= this.#model.frame) ?? frames[0];
    if (next === undefined) this.#model.changed();
    else this.#model.seek(next);
  }

  #on(id: string, act: () => void): void {
    part(id, HTMLButtonElement).addEventListener("click", act);
  }

  #step(frames: number): void {
    this.#model.seek(this.#model.frame + frames);
  }

  #search(): void {
    const query = parseQuery(this.#query.value, this.#model.data);
    if (query === null) {
      this.goThrough([], "");
      return;
    }
    const { frames, means } = search(query, this.#model.data);
    if (query.kind === "page" || query.kind === "id") {
      const { lane, number } = query;
      const isId = query.kind === "id";
      this.#model.choose({
        side: "base",
        lane,
        page: isId ? -1 : number,
        virtual: isId ? number : 0,
      });
    }
    this.goThrough(frames, means);
  }

  #hop(direction: 1 | -1): void {
    const { found, frame } = this.#model;
    const next =
      direction > 0 ? found.find((each) => each > frame) : found.findLast((each) => each < frame);
    if (next !== undefined) this.#model.seek(next);
  }

  #togglePlay(): void {
    if (this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    } else {
      this.#timer = window.setInterval(() => {
        if (this.#model.frame >= this.#model.frames - 1) this.#togglePlay();
        else this.#step(1);
      }, PLAY_MS);
    }
    this.#play.setAttribute("aria-pressed", String(this.#timer !== null));
    this.#play.textContent = this.#timer === null ? "Play" : "Stop";
  }

  #colourChoice(): void {
    const select = make("select");
    const words: readonly (readonly [ColourBy, string])[] = [
      ["holder", "holder"],
      ["id", "page id"],
      ["band", "band"],
    ];
    for (const [value, word] of words) {
      const option = make("option", "", word);
      option.value = value;
      select.append(option);
    }
    select.addEventListener("change", () => {
      this.#model.colourBy = words.find(([value]) => value === select.value)?.[0] ?? "holder";
      this.#model.changed();
    });
    part("colour-by", HTMLElement).append(make("label", "", "colour by ", select));
  }

  #draw(): void {
    const { data, frame, operation, found, frames } = this.#model;
    this.#slider.value = String(frame);
    const op = visible(data.head.ops[data.op[frame] ?? 0] ?? "");
    this.#slider.setAttribute("aria-valuetext", `operation ${operation}, ${op}`);
    const shown = data.head.stride > 1 ? `, ${grouped(frame + 1)} of ${grouped(frames)} shown` : "";
    this.#now.textContent = `${this.#whereText()}: ${op}${shown}`;
    const place = found.indexOf(frame);
    const where = place < 0 ? "" : `${grouped(place + 1)} of `;
    this.#found.textContent =
      this.#means === "" ? "" : `${where}${grouped(found.length)} ${visible(this.#means)}`;
    this.#earlier.disabled = !found.some((each) => each < frame);
    this.#later.disabled = !found.some((each) => each > frame);
  }

  #whereText(): string {
    const { data, frame, operation, only } = this.#model;
    const { operations } = data.head;
    const base = `Operation ${grouped(operation)} of ${grouped(operations)}`;
    if (data.pairs === null) return base;
    const m = grouped(data.pairs.m[frame] ?? 0);
    if (only === "base") return `${base} of the base, only there`;
    if (only === "candidate") return `Operation ${m} of the candidate, only there`;
    return `${base} of the base, ${m} of the candidate`;
  }

  #key(event: KeyboardEvent): void {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof HTMLInputElement && target.type === "search") {
      if (key === "Escape") target.blur();
      return;
    }
    if (target instanceof HTMLSelectElement) return;
    const act = this.#actions(event)[key];
    // space on a button presses the button
    if (act === undefined || (key === " " && target instanceof HTMLButtonElement)) return;
    event.preventDefault();
    act();
  }

  #actions({ shiftKey }: KeyboardEvent): Readonly<Record<string, () => void>> {
    const model = this.#model;
    const leap = Math.max(10, Math.round(model.frames / 1000));
    const step = shiftKey ? 100 : 1;
    const jump = (kind: string) => (): void => {
      // without a mark of its own the cause is the divergence or the failure itself
      const [first] = model.marks;
      const mark = model.marks.find((each) => each.kind === kind) ?? first;
      if (mark !== undefined) model.seekOperation(mark.n);
    };
    const hop = (direction: 1 | -1) => (): void => {
      this.#hop(direction);
    };
    const seek = (frame: number) => (): void => {
      model.seek(frame);
    };
    return {
      ArrowLeft: seek(model.frame - step),
      ArrowRight: seek(model.frame + step),
      PageUp: seek(model.frame - leap),
      PageDown: seek(model.frame + leap),
      Home: seek(0),
      End: seek(model.frames - 1),
      "[": hop(-1),
      "]": hop(1),
      d: jump("divergence"),
      c: jump("cause"),
      " ": () => {
        this.#togglePlay();
      },
      "+": () => {
        model.zoom(0.5);
      },
      "=": () => {
        model.zoom(0.5);
      },
      "-": () => {
        model.zoom(2);
      },
      "0": () => {
        model.showAll();
      },
      "/": () => {
        this.#query.focus();
      },
      t: () => {
        this.#toggleTheme();
      },
    };
  }
}
