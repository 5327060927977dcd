// Specs of the JSON documents that commands print with `--json`.
import { ERROR_CODES } from "../base/errors.js";
import type { AnySpec } from "./fields.js";
import {
  ANYTHING,
  BOOLEAN,
  COUNT,
  NULL,
  either,
  list,
  map,
  nullable,
  object,
  openObject,
  optional,
  text,
  word,
} from "./fields.js";

const SIDE = openObject({ name: text() }, ANYTHING);
// A side that has nothing there is null, and `absent` names it.
const FIELD = object({
  path: text(),
  base: ANYTHING,
  candidate: ANYTHING,
  absent: optional(word("base", "candidate")),
});
const POINT = object({ n: COUNT, op: text() });
const DIVERGENCE = openObject(
  {
    n: COUNT,
    op: nullable(text()),
    place: word("at", "after", "before"),
    kind: word(
      "result",
      "refusal",
      "effect",
      "state",
      "invariant",
      "crash",
      "hang",
      "protocol",
      "missing operation",
      "extra operation",
    ),
    component: nullable(text()),
    fields: list(FIELD),
    cause: nullable(POINT),
    recovers: nullable(either(BOOLEAN, COUNT)), // null: not determined
    holds: nullable(list(text())), // null: not determined
  },
  ANYTHING,
);
const RUN = openObject(
  {
    run: text(),
    verdict: word("equal", "agree", "divergent", "incomplete", "invalid", "flaky"),
    agreed: COUNT,
    divergence: optional(nullable(DIVERGENCE)),
    reproduce: optional(nullable(text())),
  },
  ANYTHING,
);

/** `compare --json`. @public */
export const COMPARE_REPORT: AnySpec = openObject(
  {
    command: word("compare"),
    verdict: word("equal", "agree", "divergent", "incomplete", "invalid", "flaky"),
    mode: word("exact", "renamed", "placement-free", "decisions", "quiescent"),
    base: nullable(SIDE), // null: nothing could be read of it
    candidates: list(SIDE),
    runs: list(RUN),
    first: either(NULL, object({ run: text(), n: COUNT })),
    operations: COUNT,
    hidden: either(COUNT, map("any", ANYTHING), list(ANYTHING)),
  },
  ANYTHING,
);

const SCENARIO_RESULT = openObject(
  {
    name: text(),
    config: nullable(text()),
    file: nullable(text()), // null: a workload, which stands in no scenario file
    verdict: word("passed", "failed", "invalid", "incomplete"),
    n: optional(nullable(COUNT)),
    message: optional(nullable(text())),
  },
  ANYTHING,
);

/** `run --json`. @public */
export const RUN_REPORT: AnySpec = openObject(
  {
    command: word("run"),
    verdict: word("passed", "failed", "invalid", "incomplete"),
    scenarios: list(SCENARIO_RESULT),
    operations: COUNT,
  },
  ANYTHING,
);

/** Any command's error with `--json`. @public */
export const ERROR_REPORT: AnySpec = object({
  error: object({
    code: word(...Object.keys(ERROR_CODES)),
    message: text(),
    file: optional(nullable(text())),
    line: optional(nullable(COUNT)),
    column: optional(nullable(COUNT)),
    path: optional(nullable(text())),
    expected: optional(nullable(text())),
  }),
});
