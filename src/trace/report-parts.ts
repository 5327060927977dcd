// Parts that the JSON documents of several commands have.
import { ERROR_CODES } from "../base/errors.js";
import type { AnySpec, Fields } from "./fields.js";
import {
  ANYTHING,
  BOOLEAN,
  COUNT,
  list,
  nullable,
  object,
  openObject,
  optional,
  RATIO,
  text,
  tuple,
  word,
} from "./fields.js";

/** An error; file, line, column and path say where. @internal */
export const ERROR_BODY: AnySpec = object({
  code: word(...(Object.keys(ERROR_CODES) as [string, ...string[]])), // it has many
  message: text(),
  file: optional(nullable(text())),
  line: optional(nullable(COUNT)),
  column: optional(nullable(COUNT)),
  path: optional(nullable(text())),
  expected: optional(nullable(text())),
});

/** How long operations of a kind took, in microseconds. @internal */
export const LATENCY: AnySpec = openObject(
  {
    op: text(),
    count: COUNT,
    median: RATIO,
    low: nullable(RATIO), // the median lies between low and high with 95 %; null: too few values
    high: nullable(RATIO),
    p99: RATIO,
    max: RATIO,
  },
  ANYTHING,
);

const SIGNATURE_FIELDS: Fields = { check: text(), op: text(), component: nullable(text()) };

/** Which failure it is. @internal */
export const SIGNATURE: AnySpec = object(SIGNATURE_FIELDS);

/** The fields of a finding that need no words of their own. @internal */
export const FINDING_PLACE: Fields = {
  n: COUNT,
  message: text(),
  actors: list(text()),
  bytes: nullable(tuple(COUNT, COUNT)), // half open, of the arena
  band: nullable(text()),
};

/** The fields of a finding. @internal */
export const FINDING: Fields = { ...SIGNATURE_FIELDS, ...FINDING_PLACE };

/** How an implementation broke its promise. @internal */
export const FAILURE: AnySpec = openObject(
  {
    kind: word("crash", "hang", "protocol", "invariant"),
    message: text(),
    stderrTail: optional(text()), // of another process
  },
  ANYTHING,
);

/** A table of `stats --coverage` and of `stress`. @internal */
export const COVERAGE_TABLE: AnySpec = object({
  name: text(),
  covered: COUNT,
  of: COUNT,
  items: list(object({ name: text(), count: COUNT, covered: BOOLEAN, note: nullable(text()) })),
});
