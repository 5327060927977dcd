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

const STRESS_FINDING = openObject(
  {
    check: text(),
    op: text(),
    component: nullable(text()),
    n: COUNT,
    message: text(),
    actors: list(text()),
    bytes: nullable(list(COUNT)),
    band: nullable(text()),
    run: text(),
    profile: nullable(text()),
    seed: COUNT,
    case: nullable(text()),
    reproduce: nullable(text()),
  },
  ANYTHING,
);
const COVERAGE_TABLE = object({
  name: text(),
  covered: COUNT,
  of: COUNT,
  items: list(object({ name: text(), count: COUNT, covered: BOOLEAN, note: nullable(text()) })),
});

/** `stress --json`. @public */
export const STRESS_REPORT: AnySpec = openObject(
  {
    command: word("stress"),
    verdict: word("passed", "failed", "incomplete", "not_repeated"),
    runs: COUNT,
    operations: COUNT,
    resumed: COUNT,
    cases: COUNT,
    scenarios: COUNT,
    left_out: COUNT,
    findings: list(STRESS_FINDING),
    counts: map("any", COUNT),
    coverage: list(COVERAGE_TABLE),
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
