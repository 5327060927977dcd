// Specs of the JSON documents of the commands that run allocators, and of an error. A reader of a document must pass over
// keys that it does not know: later versions add some.
import type { AnySpec } from "./fields.js";
import {
  ANYTHING,
  BOOLEAN,
  COUNT,
  NULL,
  either,
  integer,
  list,
  map,
  nullable,
  object,
  openObject,
  optional,
  RATIO,
  text,
  tuple,
  word,
} from "./fields.js";
import { COVERAGE_TABLE, ERROR_BODY, FAILURE, FINDING, LATENCY } from "./report-parts.js";

const SIDE = openObject(
  {
    spec: text(), // as the user named it
    name: text(),
    version: text(),
    revision: nullable(text()),
    dirty: nullable(BOOLEAN),
    format_version: nullable(COUNT), // null: an implementation
    digest: nullable(word("light", "layout", "deep")),
    fx: BOOLEAN,
    config_hash: nullable(text()), // of the first run
    page_sizes: list(COUNT),
    operation_kinds: COUNT,
    trace: optional(nullable(text())), // hash of the base's file
  },
  ANYTHING,
);
// A side that has nothing there is null, and `absent` names it.
const FIELD = object({
  path: text(),
  base: ANYTHING,
  candidate: ANYTHING,
  absent: optional(word("base", "candidate")),
});
const POINT = object({ n: COUNT, op: text() });
// As loose as the protocol: a candidate of someone else's answers with results and effects that no table knows.
const ANSWER = openObject(
  {
    ok: optional(map("any", ANYTHING)),
    err: optional(map("any", ANYTHING)),
    fx: optional(list(list(ANYTHING))),
    digest: optional(map("any", ANYTHING)),
    message: optional(text()),
  },
  ANYTHING,
);
const ANSWERED = openObject(
  { n: COUNT, op: text(), args: ANYTHING, answer: nullable(ANSWER) },
  ANYTHING,
);
const COMPONENT = object({
  component: text(),
  base: nullable(text()),
  candidate: nullable(text()),
});
const RENAMING = object({
  space: text(),
  base: COUNT,
  candidate: COUNT,
  expected: nullable(COUNT), // what stands for the base's id; null: the candidate's is another one's
});
const ORIGIN = object({
  side: word("base", "candidate"),
  space: text(),
  id: COUNT,
  n: COUNT,
  op: text(),
  use: word("given", "returned", "moved here", "moved away"),
});
const DIVERGENCE = openObject(
  {
    n: COUNT,
    op: nullable(text()),
    place: word("at", "after", "before"),
    args: ANYTHING,
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
    component: nullable(text()), // the first of them
    components: list(COMPONENT), // whose digests differ
    agreeing_components: list(text()),
    fields: list(FIELD),
    base: nullable(ANSWER),
    candidate: nullable(ANSWER),
    failure: nullable(FAILURE),
    cause: nullable(POINT),
    renaming: optional(nullable(RENAMING)), // the two ids that cannot stand for each other
    recovers: nullable(either(BOOLEAN, COUNT)), // null: not determined
    holds: nullable(list(word("renamed", "placement-free", "decisions", "quiescent"))), // null: not determined
    looked_up_to: optional(nullable(COUNT)),
    looked_whole: optional(nullable(BOOLEAN)), // false: not to the end of the run
    differing: optional(nullable(COUNT)),
    origins: optional(list(ORIGIN)),
    states: optional(nullable(object({ base: text(), fields: list(FIELD) }))),
    before: list(ANSWERED), // the last operations that agreed, oldest first
  },
  ANYTHING,
);
const SIDES = { base: COUNT, candidate: COUNT };
const RANGE = object({
  from: COUNT, // operation numbers, half open
  to: COUNT,
  events: nullable(tuple(COUNT, COUNT)), // positions in the foreign log, half open; null: no log, or an empty range
});
// Operations of two recorded runs past their first difference.
const ALIGNMENT = openObject(
  {
    blocks: list(
      object({
        kind: word("inserted", "removed", "moved", "changed"),
        base: RANGE,
        candidate: RANGE,
        operations: object(SIDES),
        summary: list(object({ op: text(), ...SIDES })),
        opens: list(object({ what: text(), ...SIDES })), // names opened inside
        cause: COUNT, // index of the block that it follows from
      }),
    ),
    agreed: COUNT,
    read: object(SIDES),
    recovers: nullable(object(SIDES)), // the first operation behind the last block
    whole: BOOLEAN, // false: a limit was reached
  },
  ANYTHING,
);
const RUN = openObject(
  {
    run: text(),
    verdict: word("equal", "agree", "divergent", "incomplete", "invalid", "flaky"),
    agreed: COUNT,
    agreed_refusals: COUNT,
    operations: COUNT, // read
    skipped: COUNT, // left out on request
    divergence: optional(nullable(DIVERGENCE)),
    alignment: nullable(ALIGNMENT), // null: equal, or not two recorded runs
    reproduce: optional(nullable(text())),
    note: nullable(text()), // why it is incomplete or invalid
    candidate: optional(nullable(text())), // of several
    unstable: optional(nullable(object({ n: COUNT, op: text(), fields: list(FIELD) }))),
    accepted: optional(nullable(text())),
  },
  ANYTHING,
);
const VOTE = object({
  run: text(),
  n: COUNT,
  op: text(),
  groups: list(list(text())),
  majority: nullable(list(text())),
});
const ACCEPTED = object({ kind: text(), op: text(), component: nullable(text()), reason: text() });
// One candidate of several: which of the document's runs and differences are its own follows from their numbers.
const COMPARISON = openObject(
  {
    base: nullable(SIDE),
    candidate: nullable(SIDE),
    verdict: word("equal", "agree", "divergent", "incomplete", "invalid", "flaky"),
    differences: COUNT, // of those of the document, in order
    runs: COUNT, // of those of the document, in order
    first: either(NULL, object({ run: text(), n: COUNT })),
    operations: COUNT,
    skipped: COUNT,
    unread: BOOLEAN,
    hidden: COUNT,
    left_out: optional(COUNT),
    gone: list(ACCEPTED),
    error: nullable(ERROR_BODY),
  },
  ANYTHING,
);

const TIMED_SIDE = openObject({ spec: text(), rows: list(LATENCY) }, ANYTHING);
const TIME_RATIO = openObject({ op: text(), ratio: RATIO, low: RATIO, high: RATIO }, ANYTHING);
const TIMES = openObject(
  { base: TIMED_SIDE, candidate: TIMED_SIDE, ratios: list(TIME_RATIO) }, // ratios: candidate over base
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
    differences: list(
      openObject({ what: text(), base: text(), candidate: text(), loss: BOOLEAN }, ANYTHING),
    ), // of the two sides, found before the replay
    runs: list(RUN),
    first: either(NULL, object({ run: text(), n: COUNT })),
    operations: COUNT,
    skipped: COUNT,
    unread: BOOLEAN, // stopped before the end of the input on request
    hidden: COUNT, // differing fields that masks hid
    left_out: COUNT, // runs not begun: of other shards, or after the time
    gone: optional(list(ACCEPTED)), // accepted divergences that were not met
    votes: optional(list(VOTE)), // of several candidates
    comparisons: optional(list(COMPARISON)), // of several candidates, each for itself
    times: optional(list(nullable(TIMES))), // of --time: both sides, one entry a candidate
    error: nullable(ERROR_BODY), // what ended it early
  },
  ANYTHING,
);

const SCENARIO_RESULT = openObject(
  {
    name: text(),
    config: nullable(text()),
    file: nullable(text()), // null: a workload, which stands in no scenario file
    verdict: word("passed", "failed", "invalid", "incomplete"),
    n: optional(nullable(COUNT)), // the operation at fault
    op: nullable(text()),
    message: optional(nullable(text())),
    operations: COUNT,
  },
  ANYTHING,
);

// What `run --coverage` counted; another implementation's lacks the tables of what happens inside the allocator.
const RUN_COVERAGE = object({
  percent: integer("percent", 0, 100),
  floor: nullable(integer("percent", 0, 100)), // null: none was asked
  tables: list(COVERAGE_TABLE),
});
/** `run --json`. @public */
export const RUN_REPORT: AnySpec = openObject(
  {
    command: word("run"),
    verdict: word("passed", "failed", "invalid", "incomplete", "short"), // short: below the floor
    scenarios: list(SCENARIO_RESULT),
    operations: COUNT,
    counters: map("any", COUNT),
    left_out: optional(COUNT), // runs of other shards, or that the time did not suffice for
    coverage: optional(RUN_COVERAGE),
  },
  ANYTHING,
);

const STRESS_FINDING = openObject(
  {
    ...FINDING,
    run: text(),
    profile: nullable(text()),
    seed: COUNT,
    case: nullable(text()),
    reproduce: nullable(text()),
  },
  ANYTHING,
);
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

/** `import --json`. @public */
export const IMPORT_REPORT: AnySpec = openObject(
  {
    command: word("import"),
    verdict: word("imported", "incomplete"),
    format: text(),
    file: text(),
    out: text(),
    runs: COUNT,
    operations: COUNT,
    events: COUNT, // operations, joined, marks and dropped together
    joined: COUNT,
    marks: COUNT,
    dropped: map("any", COUNT),
    unknown: COUNT,
    facts: map("any", COUNT),
    objects: object({ allocated: COUNT, freed: COUNT, live: COUNT }),
  },
  ANYTHING,
);

const RATES = object({ window_1: COUNT, window_256: COUNT }); // operations a second
const CONFORMANCE_CHECK = object({
  number: COUNT,
  domain: nullable(word("heap", "kv")), // null: of the program, whatever it answers
  name: text(),
  verdict: word("passed", "failed", "skipped"),
  message: nullable(text()),
  sent: list(text()),
  came: list(text()),
});

// What its hello says; a name of null: there was no hello.
const IMPLEMENTATION = openObject(
  {
    spec: text(),
    name: nullable(text()),
    version: optional(text()),
    revision: optional(nullable(text())),
    dirty: optional(nullable(BOOLEAN)),
    domains: optional(list(text())),
    ops: optional(list(text())),
    digest: optional(nullable(word("light", "layout", "deep"))),
    fx: optional(BOOLEAN),
    from_state: optional(BOOLEAN),
  },
  ANYTHING,
);

/** `conformance --json`. @public */
export const CONFORMANCE_REPORT: AnySpec = openObject(
  {
    command: word("conformance"),
    verdict: word("passed", "failed"),
    implementation: IMPLEMENTATION,
    checks: list(CONFORMANCE_CHECK),
    runs: COUNT, // opened
    operations: COUNT,
    unasked: list(text()),
    rates: nullable(object({ heap: optional(RATES), kv: optional(RATES) })),
  },
  ANYTHING,
);

/** Any command's error with `--json`. @public */
export const ERROR_REPORT: AnySpec = object({ error: ERROR_BODY });
