// The operation at hand: what was asked, both answers and where they differ, what changed in the maps, the chosen page.
import { CELL_CODES } from "../../../tools/view/view-data.js";
import type { Answer } from "../../../base/operations.js";
import { answerDiff } from "../../answer-diff.js";
import { answerText, effectsText, valueText } from "../../values.js";
import { grouped, visible } from "../../words.js";
import type { DecodedChanges } from "../shared/changes-code.js";
import { search } from "../shared/search.js";
import { button, make, part } from "./dom.js";
import { pageWords } from "./maps.js";
import type { Chosen, Model, SideName } from "./model.js";

const CHANGES_MAX = 12;
const TEXT_MAX = 4000;

export class Details {
  readonly #model: Model;
  readonly #place = part("details", HTMLElement);
  readonly #operation = make("div", "operation");
  readonly #page = make("div", "page");
  readonly #goThrough: (frames: readonly number[], means: string) => void;
  #shown = -1;
  #shownChosen: Chosen | null = null;

  /** @param goThrough - takes frames that the reader may want to step through */
  constructor(model: Model, goThrough: (frames: readonly number[], means: string) => void) {
    this.#model = model;
    this.#goThrough = goThrough;
    this.#place.append(this.#operation, this.#page);
    model.listen(() => {
      this.#draw();
    });
  }

  #draw(): void {
    const { frame, chosen } = this.#model;
    if (frame === this.#shown && chosen === this.#shownChosen) return;
    this.#shown = frame;
    this.#shownChosen = chosen;
    this.#operation.replaceChildren(...this.#operationParts());
    this.#page.replaceChildren(...(chosen === null ? [this.#hint()] : this.#pageParts(chosen)));
  }

  #hint(): HTMLElement {
    const words =
      "Click a page in the maps: it is followed by its id, on both sides, wherever it moves.";
    return make("p", "about", words);
  }

  #operationParts(): HTMLElement[] {
    const { data, frame, operation, sides, only } = this.#model;
    const op = data.head.ops[data.op[frame] ?? 0] ?? "";
    const number = only === "candidate" ? (data.pairs?.m[frame] ?? 0) : operation;
    const parts: HTMLElement[] = [make("h2", "", `Operation ${grouped(number)}: ${visible(op)}`)];
    if (only !== null) parts.push(make("p", "", "Only in the ", make("b", only, only), "."));
    const details = data.details(frame);
    if (details === null) {
      parts.push(
        make("p", "about", "Arguments and answers of this operation are not in the page."),
      );
      for (const side of sides) {
        const outcome = data.head.outcomes[data.outcome[side][frame] ?? 0] ?? "";
        parts.push(make("p", "", make("b", side, side), ` ${visible(outcome)}`));
      }
    } else {
      const asked = valueText(JSON.parse(details.args));
      parts.push(make("p", "asked", make("b", "", "asked"), ` ${cut(asked)}`));
      const base = parsed(details.base);
      const candidate = parsed(details.candidate);
      const isSame = details.base === details.candidate;
      if (sides.length === 1) parts.push(...answerParts("base", "answer", base));
      else if (only !== null)
        parts.push(...answerParts(only, only, only === "base" ? base : candidate));
      else if (isSame) parts.push(...answerParts("", "both", base));
      else {
        parts.push(...answerParts("base", "base", base));
        parts.push(...answerParts("candidate", "candidate", candidate));
        parts.push(this.#difference(base, candidate));
      }
    }
    parts.push(...this.#changes());
    return parts;
  }

  #difference(base: Answer | null, candidate: Answer | null): HTMLElement {
    const tone = { "-": "base", "+": "candidate", " ": "same" };
    const lines = answerDiff(base, candidate, false).map(({ sign, text }) =>
      make("div", tone[sign], make("span", "", sign), text),
    );
    return make("div", "diff", ...lines);
  }

  #changes(): HTMLElement[] {
    const { data, frame, sides } = this.#model;
    const own = data.changes.base[frame];
    const other = data.changes.candidate[frame];
    if (own === undefined) return [];
    const isSame = sides.length === 1 || other === own || other === undefined;
    const lists = isSame
      ? [changesList(own, this.#model, "", null)]
      : [
          changesList(own, this.#model, "base", comparable(own, other)),
          changesList(other, this.#model, "candidate", comparable(other, own)),
        ];
    return [make("h3", "", "Changes in the maps"), ...lists];
  }

  #pageParts(chosen: Chosen): HTMLElement[] {
    const geometry = this.#model.arena?.lanes[chosen.lane];
    if (geometry === undefined) return [];
    const { lane, page, virtual } = chosen;
    const title =
      virtual > 0
        ? `Page with id ${grouped(virtual)} of ${geometry.band}`
        : `Page ${grouped(page)} of ${geometry.band}`;
    const rows = this.#model.sides.map((side) => {
      const cells = this.#model.lane(side, lane);
      const at = cells === null ? -1 : virtual > 0 ? cells.virtual.indexOf(virtual) : page;
      const text =
        cells === null
          ? "not known here"
          : at < 0
            ? "nowhere at this operation"
            : pageWords(this.#model, cells, geometry, at);
      return make("p", "", make("b", side, this.#model.sides.length === 1 ? "" : side), ` ${text}`);
    });
    const query =
      virtual > 0
        ? ({ kind: "id", lane, number: virtual } as const)
        : ({ kind: "page", lane, number: page } as const);
    return [
      make("h2", "", title),
      ...rows,
      make(
        "p",
        "row",
        button("Operations that change it", "finds them; [ and ] step through", () => {
          const { frames, means } = search(query, this.#model.data);
          this.#goThrough(frames, means);
        }),
        button("Let go", "chooses no page", () => {
          this.#model.choose(null);
        }),
      ),
    ];
  }
}

function parsed(text: string | null): Answer | null {
  return text === null ? null : (JSON.parse(text) as Answer); // as the collection wrote it
}

function answerParts(tone: string, word: string, answer: Answer | null): HTMLElement[] {
  const effects = effectsText(answer);
  return [
    make("p", "", make("b", tone, word), ` ${cut(answerText(answer))}`),
    ...(effects === "none" ? [] : [make("p", "effects", `effects: ${cut(effects)}`)]),
  ];
}

function cut(text: string): string {
  return text.length <= TEXT_MAX
    ? text
    : `${text.slice(0, TEXT_MAX)}… (${grouped(text.length - TEXT_MAX)} characters more)`;
}

function changesList(
  { geometry, runs }: DecodedChanges,
  model: Model,
  side: SideName | "",
  opposite: DecodedChanges | null,
): HTMLElement {
  const list = make("ul", "changes");
  if (side !== "") list.append(make("li", "", make("b", side, side)));
  if (geometry !== null) list.append(make("li", "", "the arena is laid out"));
  const shown: number[] = [];
  // room that opens or closes outside the spans says nothing that the spans do not say
  for (let at = 0; at < runs.length; at += 6) if ((runs[at + 1] ?? 0) >= 2) shown.push(at);
  const known = new Set(opposite === null ? [] : textsOf(opposite, model));
  const texts = shown.map((at) => runText(runs, at, model));
  // what only this side changed is what a reader looks for
  const own = opposite === null ? [] : texts.filter((text) => !known.has(text));
  const alike = texts.filter((text) => opposite === null || known.has(text));
  for (const text of own) list.append(make("li", "", make("b", "", "only here: "), text));
  for (const text of alike.slice(0, Math.max(0, CHANGES_MAX - own.length)))
    list.append(make("li", "", text));
  const left = alike.length - Math.max(0, CHANGES_MAX - own.length);
  if (left > 0) {
    const what = opposite === null ? "more" : "more, the same on both sides";
    list.append(make("li", "", `… and ${left} ${what}`));
  }
  if (shown.length === 0 && geometry === null)
    list.append(make("li", "about", runs.length === 0 ? "none" : "only room outside the spans"));
  return list;
}

/** The other side's changes, unless one side alone lays its whole map anew. */
function comparable(own: DecodedChanges, other: DecodedChanges): DecodedChanges | null {
  return (own.geometry === null) === (other.geometry === null) ? other : null;
}

function textsOf({ runs }: DecodedChanges, model: Model): string[] {
  const texts: string[] = [];
  for (let at = 0; at < runs.length; at += 6) texts.push(runText(runs, at, model));
  return texts;
}

function runText(runs: readonly number[], at: number, model: Model): string {
  const [lane = 0, code = 0, first = 0, count = 1, label = 0, virtual = 0] = runs.slice(at, at + 6);
  const band = model.data.head.geometries[0]?.lanes[lane]?.band ?? "";
  const pages =
    count === 1
      ? `page ${grouped(first)}`
      : `pages ${grouped(first)}–${grouped(first + count - 1)}`;
  const text = model.data.head.labels[label]?.[0] ?? "";
  const name = CELL_CODES[code] ?? "";
  const id =
    virtual === 0
      ? ""
      : count === 1
        ? `, id ${grouped(virtual)}`
        : `, ids ${grouped(virtual)}–${grouped(virtual + count - 1)}`;
  return `${band} ${pages}: ${name}${text === "" ? "" : `, ${visible(text)}`}${id}`;
}
