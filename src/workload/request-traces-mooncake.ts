// Reader of Mooncake request traces: one JSON object a line with `timestamp` (ms), `input_length`, `output_length`
// (tokens) and `hash_ids`, one id for each 512 tokens of the input. Lengths and ids must agree, else the file is
// refused with the line: a trace that lost blocks would silently share less.
import { blocksField, checkCover, checkOrder, rowObject, wholeField } from "./request-fields.js";
import type { RequestReader } from "./request-rows.js";

const BLOCK_TOKENS = 512;

/** @internal */
export const MOONCAKE: RequestReader = {
  name: "mooncake",
  about: "Mooncake: JSON lines, timestamp in ms, one hash id for each 512 tokens",
  blockTokens: BLOCK_TOKENS,
  open() {
    let latest = 0;
    return {
      take(line, place) {
        const row = rowObject(line, place);
        const arrival = wholeField(row, "timestamp", place);
        const input = wholeField(row, "input_length", place);
        const output = wholeField(row, "output_length", place);
        const blocks = blocksField(row, "hash_ids", place);
        const keys = { ids: "hash_ids", input: "input_length" };
        checkCover({ input, blocks }, BLOCK_TOKENS, true, keys, place);
        checkOrder("timestamp", arrival, latest, place);
        latest = arrival;
        return { arrival, input, output, blocks };
      },
    };
  },
};
