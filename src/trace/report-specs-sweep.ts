// Spec of the JSON document of `sweep`.
import type { AnySpec } from "./fields.js";
import { ANYTHING, BYTES, COUNT, PAGES, list, nullable, openObject, text, word } from "./fields.js";
import { ERROR_BODY } from "./report-parts.js";

const REFUSAL = openObject(
  { op: text(), code: text(), count: COUNT, run: text(), n: COUNT }, // run, n: of the first one
  ANYTHING,
);
const POINT = openObject(
  {
    value: COUNT,
    outcome: word("swept", "refused", "broken"),
    message: nullable(text()), // why it is not swept
    operations: COUNT, // asked
    granted: COUNT,
    refused: COUNT,
    invalid: COUNT, // that break the contract, such as those on requests that were refused
    left: COUNT, // not asked: objects of a heap that were never allocated
    refusals: list(REFUSAL),
    moves: nullable(PAGES), // null: the implementation does not tell its effects
    bands: nullable(list(openObject({ band: text(), pages: PAGES, bytes: BYTES }, ANYTHING))), // peaks
    heap: nullable(openObject({ requested_bytes: BYTES, end_bytes: BYTES }, ANYTHING)), // peaks
  },
  ANYTHING,
);
const SPAN = openObject(
  {
    ...{ op: text(), code: text() },
    values: COUNT, // at how many it is refused
    ...{ first: COUNT, last: COUNT }, // values, in the order walked
    begins: nullable(openObject({ value: COUNT, run: text(), n: COUNT, count: COUNT }, ANYTHING)),
  },
  ANYTHING,
);

/** `sweep --json`. @public */
export const SWEEP_REPORT: AnySpec = openObject(
  {
    command: word("sweep"),
    verdict: word("swept", "broken", "incomplete"),
    trace: nullable(text()), // hash of the file
    key: text(),
    values: list(COUNT), // in the order walked
    refusals: list(SPAN),
    points: list(POINT), // one for each value that was reached
    runs: COUNT, // replayed in all
    operations: COUNT,
    error: nullable(ERROR_BODY), // what ended it early
  },
  ANYTHING,
);
