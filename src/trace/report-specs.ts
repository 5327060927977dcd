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
const FIELD = object({ path: text(), base: optional(ANYTHING), candidate: optional(ANYTHING) });
const POINT = object({ n: COUNT, op: text() });
const DIVERGENCE = openObject(
  {
    n: COUNT,
    op: nullable(text()),
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
    recovers: nullable(either(BOOLEAN, COUNT)),
    holds: list(text()),
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
    base: SIDE,
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
    file: text(),
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
