// Spec of the JSON document of `bisect`: one shape for each of its three searches.
import type { AnySpec, Fields } from "./fields.js";
import { ANYTHING, COUNT, either, list, map, nullable, openObject, text, word } from "./fields.js";

const HEAD: Fields = {
  command: word("bisect"),
  verdict: word("found", "several", "incomplete"),
  trace: nullable(text()), // hash of the file
  reproduce: nullable(text()), // one command
  skipped: COUNT, // of those tested
  runs: COUNT, // replayed, each as often as it was
  operations: COUNT, // replayed in all
};

const COMMIT: Fields = { commit: text(), subject: text(), author: text(), date: text() };
const DIVERGENCE = openObject(
  {
    ...{ run: text(), n: COUNT, op: text() },
    place: word("at", "after", "before"),
    kind: text(),
    component: nullable(text()),
  },
  ANYTHING,
);
const TESTED_COMMIT = openObject(
  {
    ...COMMIT,
    outcome: word("equal", "divergent", "skipped"),
    reason: nullable(text()), // why it was skipped
    divergence: nullable(DIVERGENCE),
    operations: COUNT, // compared
  },
  ANYTHING,
);
const OVER_COMMITS = openObject(
  {
    ...HEAD,
    over: word("commits"),
    good: TESTED_COMMIT,
    bad: TESTED_COMMIT,
    first: TESTED_COMMIT, // the earliest known to diverge
    candidates: list(openObject(COMMIT, ANYTHING)), // all that may be the first one, oldest first
    tested: list(TESTED_COMMIT), // in order
  },
  ANYTHING,
);

const POINTS: Fields = {
  tested: list(
    openObject({ value: COUNT, outcome: word("equal", "different", "skipped") }, ANYTHING),
  ),
};
const OPERATION: Fields = { run: text(), n: COUNT, op: text(), args: ANYTHING };
const OVER_OPERATIONS = openObject(
  {
    ...HEAD,
    ...OPERATION, // the first after which it differs
    ...POINTS, // value: operations
    over: word("operations"),
    by: word("state", "digest", "check"),
    agreed: COUNT, // operations after which it is known not to differ
    fields: list(openObject({ path: text(), base: ANYTHING, candidate: ANYTHING }, ANYTHING)),
    failure: nullable(text()), // how the candidate broke instead
    answers: nullable(openObject({ n: COUNT, op: text() }, ANYTHING)), // null: all agree
  },
  ANYTHING,
);

const KEY_ANSWER = openObject(
  { outcome: text(), answer: nullable(map("any", ANYTHING)) },
  ANYTHING,
);
const OVER_KEY = openObject(
  {
    ...HEAD,
    ...OPERATION, // where it shows, at `first`
    ...POINTS,
    over: word("key"),
    key: text(),
    by: word("refusals", "answers"),
    ...{ good: COUNT, bad: COUNT },
    last: COUNT, // the last value with the outcome of `good`
    first: COUNT, // the first one without
    base: KEY_ANSWER, // at `good`
    changed: KEY_ANSWER, // at `first`
  },
  ANYTHING,
);

/** `bisect --json`. @public */
export const BISECT_REPORT: AnySpec = either(OVER_COMMITS, OVER_OPERATIONS, OVER_KEY);
