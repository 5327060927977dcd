// Specs of the JSON documents of the commands that write and read traces.
import type { AnySpec } from "./fields.js";
import {
  RATIO,
  ANYTHING,
  BOOLEAN,
  COUNT,
  integer,
  list,
  map,
  nullable,
  object,
  openObject,
  optional,
  text,
  word,
} from "./fields.js";
import { COVERAGE_TABLE, ERROR_BODY, FAILURE, FINDING_PLACE, LATENCY } from "./report-parts.js";

/** `record --json`. @public */
export const RECORD_REPORT: AnySpec = openObject(
  {
    command: word("record"),
    verdict: word("recorded", "failed", "incomplete"),
    out: text(),
    partial: nullable(text()), // where a failed recording stands; `out` is then untouched
    runs: COUNT,
    operations: COUNT, // asked
    kept: COUNT, // of them written: fewer with --last
    refusals: COUNT,
    states: COUNT,
    counters: map("any", COUNT),
    failure: nullable(
      openObject({ run: text(), n: COUNT, place: word("at", "after"), failure: FAILURE }, ANYTHING),
    ),
  },
  ANYTHING,
);

/** `anonymize --json`. @public */
export const ANONYMIZE_REPORT: AnySpec = openObject(
  {
    command: word("anonymize"),
    verdict: word("anonymized", "incomplete", "failed"),
    out: nullable(text()), // null: nothing was written
    runs: COUNT,
    operations: COUNT,
    hashes: COUNT, // different ones in keys
    proved: COUNT, // runs that an implementation replayed under both sets of names
    differing: COUNT, // operations that it answers otherwise than recorded
    undigested: COUNT, // runs that lost their digests
    lost_states: COUNT,
    partial: BOOLEAN, // part of the trace was not read
    broken: nullable(openObject({ run: text(), n: COUNT, op: text() }, ANYTHING)), // its answer depends on a name
  },
  ANYTHING,
);

/** `bundle --json`. @public */
export const BUNDLE_REPORT: AnySpec = openObject(
  {
    command: word("bundle"),
    verdict: word("bundled", "incomplete", "failed"), // without --anonymize always the first
    out: nullable(text()), // null: nothing was written
    runs: COUNT,
    operations: COUNT,
    left_out: COUNT, // runs of the trace that are not in the bundle
  },
  ANYTHING,
);

const VIOLATION = openObject(
  { run: text(), n: COUNT, op: text(), args: ANYTHING, failure: FAILURE },
  ANYTHING,
);

/** `replay --json`. @public */
export const REPLAY_REPORT: AnySpec = openObject(
  {
    command: word("replay"),
    verdict: word("passed", "failed", "incomplete"),
    runs: COUNT,
    operations: COUNT,
    refusals: COUNT,
    passes: COUNT, // the trace from its beginning; runs and operations are those of one
    violations: list(VIOLATION),
    latencies: nullable(list(LATENCY)), // by kind of operation; null: not measured
    error: nullable(ERROR_BODY), // what ended it early
  },
  ANYTHING,
);

const VALIDATED_FILE = openObject(
  {
    file: text(),
    kind: word("trace", "scenario", "configurations", "unknown"),
    verdict: word("valid", "invalid", "incomplete"),
    runs: COUNT,
    operations: COUNT,
    error: nullable(ERROR_BODY),
  },
  ANYTHING,
);

/** `validate --json`. @public */
export const VALIDATE_REPORT: AnySpec = openObject(
  {
    command: word("validate"),
    verdict: word("valid", "invalid", "incomplete"),
    files: list(VALIDATED_FILE),
    operations: COUNT,
  },
  ANYTHING,
);

const AUDIT_VERDICT = word("clean", "broken", "invalid", "incomplete");
const AUDIT_FINDING = openObject(
  {
    run: text(),
    line: integer("", 1), // of the file
    rule: text(), // docs/audit.md lists them
    op: text(),
    component: nullable(text()),
    ...FINDING_PLACE,
  },
  ANYTHING,
);
const AUDITED_FILE = openObject(
  {
    file: text(),
    verdict: AUDIT_VERDICT,
    runs: COUNT,
    operations: COUNT,
    findings: list(AUDIT_FINDING),
    more: COUNT, // findings beyond those kept
    unchecked: list(object({ rules: text(), why: text(), runs: COUNT })),
    skipped: list(object({ run: text(), why: text() })),
    partial: BOOLEAN,
    error: nullable(ERROR_BODY), // why it could not be read, or what ended it early
  },
  ANYTHING,
);

/** `audit --json`. @public */
export const AUDIT_REPORT: AnySpec = openObject(
  {
    command: word("audit"),
    verdict: AUDIT_VERDICT,
    files: list(AUDITED_FILE),
    operations: COUNT,
  },
  ANYTHING,
);

const COUNTS = map("any", COUNT);
const CURVE = list(list(COUNT)); // [operation, requested, used, end], in bytes
const COUNTED_HEAP = openObject(
  {
    objects: COUNT,
    failed: COUNT,
    live: COUNT,
    peak_objects: COUNT,
    peak_requested_bytes: COUNT,
    peak_bytes: nullable(COUNT),
    curve: CURVE,
  },
  ANYTHING,
);
const PEAK = object({ value: COUNT, n: COUNT });
const SHARE_PEAK = nullable(object({ value: RATIO, n: COUNT })); // null: nothing tells
const RUN_CURVE = openObject(
  {
    run: text(),
    domain: word("kv", "heap"),
    operations: COUNT,
    parted: nullable(COUNT), // from there on spans are known where the trace holds a full state alone
    parts: list(
      object({ name: text(), unit: word("pages", "requests"), page_bytes: nullable(COUNT) }),
    ),
    peaks: object({
      live_bytes: PEAK,
      occupancy: SHARE_PEAK,
      capacity: SHARE_PEAK, // the lowest
      fragmentation: SHARE_PEAK,
      parts: list(PEAK),
    }),
    columns: list(text()),
    points: list(list(nullable(RATIO))), // one number a column
  },
  ANYTHING,
);
const COUNTED_FILE = openObject(
  {
    file: text(),
    runs: COUNT,
    operations: COUNT,
    marks: COUNT,
    states: COUNT,
    operation_kinds: COUNTS,
    refusals: COUNTS, // by code; broken contracts as `invalid/RULE`
    refused: COUNT,
    steps: COUNTS,
    effects: COUNTS,
    moves: object({ effects: COUNT, pages: COUNT, operations: COUNT }),
    waits: object({ effects: COUNT, operations: COUNT }),
    retirements: object({ operations: COUNT, pages: COUNT }),
    retractions: COUNT,
    retractions_with_backup: COUNT,
    host_waits: COUNT,
    tree: COUNTS,
    host: COUNTS,
    transfers: COUNTS,
    heap: nullable(COUNTED_HEAP), // null: no run of that domain
    operations_with_pending: COUNT,
    curves: nullable(list(RUN_CURVE)), // of the runs with the most live bytes; null: not asked for
    curves_left_out: COUNT,
    truncated: BOOLEAN,
  },
  ANYTHING,
);
const HEAP_STUDY = openObject(
  {
    file: text(),
    run: text(),
    allocator: text(),
    arena_bytes: nullable(COUNT), // null: as large as need be
    fits: BOOLEAN,
    operations: COUNT,
    failed: COUNT,
    first_failure: nullable(COUNT),
    left: COUNT,
    peak_objects: COUNT,
    peak_requested_bytes: COUNT,
    peak_used_bytes: COUNT,
    peak_bytes: COUNT,
    idle_share: RATIO,
    operations_per_second: nullable(COUNT),
    curve: CURVE,
  },
  ANYTHING,
);
const COVERAGE = openObject(
  {
    files: list(text()),
    runs: COUNT,
    operations: COUNT,
    percent: integer("percent", 0, 100),
    violations: COUNT, // of the replay: then its tables are not to be trusted
    tables: list(COVERAGE_TABLE),
  },
  ANYTHING,
);

/** `stats --json`: `files`, or with `--coverage` what they exercise together. @public */
export const STATS_REPORT: AnySpec = openObject(
  {
    command: word("stats"),
    verdict: word("counted", "incomplete", "short"), // short: below the floor
    files: optional(list(COUNTED_FILE)),
    coverage: optional(COVERAGE),
    allocators: optional(list(HEAP_STUDY)),
    operations: COUNT,
  },
  ANYTHING,
);
