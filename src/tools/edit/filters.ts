// Which runs, operations and requests an edit keeps: `KEY=WORD,WORD…` keeps those that one of the words fits, `KEY!=…` those
// that none does. Several filters have to hold together. A `*` in a word stands for any text.
import { UsageError } from "../../base/errors.js";
import { nearestWord } from "../../base/nearest.js";
import { OPERATION_TABLE } from "../../trace/operation-table.js";

/** What a filter looks at. @public */
export const FILTER_KEYS = ["run", "op", "req"] as const;
/** @public */
export type FilterKey = (typeof FILTER_KEYS)[number];

/** @public */
export interface Filter {
  readonly text: string; // as it was given
  readonly key: FilterKey;
  readonly isNot: boolean;
  readonly words: readonly string[];
}

/** Reads `KEY=WORDS` or `KEY!=WORDS`. Throws `UsageError`. @public */
export function parseFilter(text: string): Filter {
  const match = /^([a-z]+)(!?)=(.+)$/s.exec(text);
  const key = FILTER_KEYS.find((word) => word === match?.[1]);
  const words = match?.[3]?.split(",") ?? [];
  if (match === null || key === undefined || words.includes("")) {
    const expected = "run=, op= or req= (or !=) with words separated by commas";
    throw new UsageError(`--filter ${text}: expected ${expected}`, expected);
  }
  const filter = { text, key, isNot: match[2] === "!", words };
  if (key === "op") for (const word of words) refuseUnknownKind(text, word);
  return filter;
}

function refuseUnknownKind(text: string, word: string): void {
  const kinds = Object.keys(OPERATION_TABLE);
  if (kinds.some(fitting(word))) return;
  const nearest = nearestWord(word, kinds);
  const meant = nearest === null ? "" : `; did you mean ${nearest}?`;
  throw new UsageError(`--filter ${text}: there is no operation ${word}${meant}`);
}

/** Whether a text fits a word with stars. @internal */
export function fitting(word: string): (text: string) => boolean {
  if (!word.includes("*")) return (text) => text === word;
  const parts = word.split("*").map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  const pattern = new RegExp(`^${parts.join(".*")}$`, "s");
  return (text) => pattern.test(text);
}

/** The filters of one key. @internal */
export class Chosen {
  readonly #filters: readonly {
    readonly filter: Filter;
    readonly fits: readonly ((text: string) => boolean)[];
  }[];
  readonly #met = new Set<string>(); // words that fitted something

  constructor(filters: readonly Filter[], key: FilterKey) {
    this.#filters = filters
      .filter((filter) => filter.key === key)
      .map((filter) => ({ filter, fits: filter.words.map(fitting) }));
  }

  get isEmpty(): boolean {
    return this.#filters.length === 0;
  }

  /** Whether all filters keep it. */
  keeps(text: string): boolean {
    let isKept = true;
    for (const { filter, fits } of this.#filters) {
      let isFound = false;
      for (const [index, fit] of fits.entries()) {
        if (!fit(text)) continue;
        isFound = true;
        this.#met.add(filter.words[index]!); // a word a test
      }
      if (isFound === filter.isNot) isKept = false;
    }
    return isKept;
  }

  /** A filter with a word that has fitted nothing so far, null where there is none. */
  unmet(): { readonly text: string; readonly word: string } | null {
    for (const { filter } of this.#filters) {
      const word = filter.words.find((one) => !this.#met.has(one));
      if (word !== undefined) return { text: filter.text, word };
    }
    return null;
  }
}
