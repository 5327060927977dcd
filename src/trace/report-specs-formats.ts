// Specs of the JSON documents of the commands that write a trace in another form.
import type { AnySpec } from "./fields.js";
import {
  ANYTHING,
  BOOLEAN,
  COUNT,
  integer,
  list,
  nullable,
  openObject,
  text,
  word,
} from "./fields.js";

import { FAILURE } from "./report-parts.js";

const DAMAGE = openObject(
  {
    run: nullable(text()), // null: outside any run
    operation: nullable(COUNT), // last whole one, null: none
    line: COUNT,
    message: text(),
  },
  ANYTHING,
);
const RECOVERY = openObject(
  {
    damages: list(DAMAGE), // the first few
    damaged: COUNT, // places
    dropped_lines: COUNT,
    dropped_runs: COUNT,
    dropped_calls: COUNT, // asked and never answered
    closed_runs: COUNT, // got an end
  },
  ANYTHING,
);

/** `convert --json`. @public */
export const CONVERT_REPORT: AnySpec = openObject(
  {
    command: word("convert"),
    verdict: word("converted", "recovered", "incomplete"),
    format: word("jsonl", "csv", "parquet", "perfetto"),
    traces: list(text()),
    out: text(),
    runs: COUNT,
    operations: COUNT,
    bytes: integer("bytes"), // written, before packing
    recovery: nullable(RECOVERY), // null: --recover was not given
    ignored_keys: COUNT, // left out under --lenient
    truncated: nullable(text()), // where an accepted truncated trace stops
    notes: list(text()), // what the output could not be told
  },
  ANYTHING,
);

/** `edit --json`. @public */
export const EDIT_REPORT: AnySpec = openObject(
  {
    command: word("edit"),
    verdict: word("edited", "incomplete", "failed"),
    out: nullable(text()), // null: nothing was written
    runs: COUNT, // written
    operations: COUNT,
    dropped: COUNT, // operations
    changed: COUNT, // operations with other arguments
    stayed: COUNT, // operations that were to go and stay
    groundless: COUNT, // operations left out because the edit took their ground
    answered: COUNT, // runs asked anew
    renamed: COUNT, // runs
    left_out: COUNT, // runs
    lost_states: COUNT,
    partial: BOOLEAN, // unknown keys were left out
    broken: nullable(openObject({ run: text(), n: COUNT, op: text(), failure: FAILURE }, ANYTHING)),
  },
  ANYTHING,
);
