// Holders and signals of cells as short texts, each once.
import type { Cell } from "./page-map.js";
import type { Holder } from "./holders.js";
import type { CellLabel } from "./view-data.js";

const NOBODY: CellLabel = { text: "", owner: "" };

/** Numbers the labels of a run. 0 is nobody's. @internal */
export class Labels {
  readonly list: CellLabel[] = [NOBODY];
  readonly #numbers = new Map<string, number>();
  // cells with the same holders share one list, so that most cells are found without making a text
  #known = new WeakMap<object, number>();

  of(cell: Cell): number {
    const source = cell.holders.length > 0 ? cell.holders : cell.waits;
    if (source.length === 0) return 0;
    let number = this.#known.get(source);
    if (number === undefined) {
      number = this.#number(cell.holders.length > 0 ? heldBy(cell.holders) : waitsFor(cell.waits));
      this.#known.set(source, number);
    }
    return number;
  }

  #number(label: CellLabel): number {
    const known = this.#numbers.get(label.text);
    if (known !== undefined) return known;
    this.list.push(label);
    this.#numbers.set(label.text, this.list.length - 1);
    return this.list.length - 1;
  }
}

function waitsFor(signals: readonly string[]): CellLabel {
  return { text: `waits ${signals.join(", ")}`, owner: "" };
}

function heldBy(holders: readonly Holder[]): CellLabel {
  const words = [...new Set(holders.map(holderText))];
  const [first] = holders;
  const named = holders.find(({ kind }) => kind === "request") ?? first;
  const owner =
    named === undefined ? "" : named.kind === "request" ? named.name : holderText(named);
  return { text: words.join(" + "), owner };
}

// A node's number changes with every node before it; on the page the tree is one holder.
function holderText({ kind, name, purpose }: Holder): string {
  switch (kind) {
    case "request":
      return purpose === undefined ? name : `${name} ${purpose}`;
    case "node":
      return "tree";
    case "group":
      return "open group";
    case "load":
    case "transfer":
      return `${kind} ${name}`;
  }
}
