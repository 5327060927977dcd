// Reader of the Bailian (Qwen) usage traces: one JSON object a line, time in seconds, one hash id for each 16 tokens, and
// turns: a row names the chat whose answer it goes on from.
import {
  blocksField,
  checkCover,
  checkOrder,
  rowObject,
  secondsField,
  wholeField,
  wordField,
  wrongField,
} from "./request-fields.js";
import type { Row, RowPlace } from "./request-fields.js";
import type { RequestReader } from "./request-rows.js";
import { shown } from "../trace/messages.js";

const BLOCK_TOKENS = 16;
const ROOT = -1; // parent of a first turn

/** @internal */
export const BAILIAN: RequestReader = {
  name: "bailian",
  about: "Bailian (Qwen): JSON lines, timestamp in seconds, one hash id for each 16 tokens, turns",
  blockTokens: BLOCK_TOKENS,
  open() {
    let latest = 0;
    const turns = new Turns();
    return {
      take(line, place) {
        const row = rowObject(line, place);
        const arrival = secondsField(row, "timestamp", place);
        const input = wholeField(row, "input_length", place);
        const output = wholeField(row, "output_length", place);
        const blocks = blocksField(row, "hash_ids", place);
        const keys = { ids: "hash_ids", input: "input_length" };
        checkCover({ input, blocks }, BLOCK_TOKENS, true, keys, place);
        checkOrder("timestamp (in ms)", arrival, latest, place);
        latest = arrival;
        turns.take(row, place);
        return { arrival, input, output, blocks };
      },
      account: () => ({ facts: turns.facts() }),
    };
  },
};

/** Who goes on from whom. A parent outside the file is counted: published traces are cut out of longer ones. */
class Turns {
  readonly #turnOf = new Map<number, number>(); // chat → its turn
  readonly #awaited = new Set<number>(); // parents that no row above tells
  readonly #facts: Record<string, number> = {
    first_turns: 0,
    later_turns: 0,
    turns_whose_parent_is_not_in_the_file: 0,
  };

  take(row: Row, place: RowPlace): void {
    const chat = wholeField(row, "chat_id", place);
    const turn = wholeField(row, "turn", place);
    const parent = parentOf(row, place);
    if (this.#turnOf.has(chat))
      wrongField(place, "chat_id", "an id of its own", `chat_id ${String(chat)} stands twice`);
    if (this.#awaited.has(chat)) {
      const message = `chat_id ${String(chat)} comes after a row that goes on from it`;
      wrongField(place, "chat_id", "rows in the order of their arrival", message);
    }
    if (parent === null) this.#count("first_turns");
    else this.#follow(turn, parent, place);
    this.#turnOf.set(chat, turn);
    this.#count(`of_type_${wordField(row, "type", place)}`);
  }

  facts(): Readonly<Record<string, number>> {
    return this.#facts;
  }

  #follow(turn: number, parent: number, place: RowPlace): void {
    const before = this.#turnOf.get(parent);
    if (before === undefined) {
      this.#awaited.add(parent);
      this.#count("turns_whose_parent_is_not_in_the_file");
    } else if (turn <= before) {
      const message = `turn ${String(turn)} goes on from turn ${String(before)} (chat ${String(parent)})`;
      wrongField(place, "turn", `more than ${String(before)}`, message);
    }
    this.#count("later_turns");
  }

  #count(what: string): void {
    this.#facts[what] = (this.#facts[what] ?? 0) + 1;
  }
}

function parentOf(row: Row, place: RowPlace): number | null {
  const value = Object.hasOwn(row, "parent_chat_id") ? row["parent_chat_id"] : undefined;
  if (value === ROOT) return null;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  const expected = "-1 or the chat_id of an earlier row";
  const message = `parent_chat_id must be ${expected}, found ${shown(value)}`;
  return wrongField(place, "parent_chat_id", expected, message);
}
