// Specs of the JSON documents of the commands that write a trace in another form.
import type { AnySpec } from "./fields.js";
import { ANYTHING, COUNT, integer, list, nullable, openObject, text, word } from "./fields.js";

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
