// Specs of scenario files. The arguments of each operation follow the operation table; `expect` is a partial match.
import { DIRECT_CONFIG, MODEL_CONFIG } from "./config-spec.js";
import type { AnySpec } from "./fields.js";
import {
  ANYTHING,
  BOOLEAN,
  COUNT,
  either,
  list,
  map,
  nullable,
  object,
  optional,
  text,
  word,
} from "./fields.js";
import { operationNames } from "./operation-table.js";

const CONFIG = either(MODEL_CONFIG, DIRECT_CONFIG);
const OPERATION_WORD = word(...operationNames("kv"), ...operationNames("heap"));

/** What an operation must answer: keys given must be equal, others are free. @public */
export const EXPECT: AnySpec = object({
  ok: optional(ANYTHING),
  err: optional(ANYTHING),
  fx: optional(ANYTHING),
  state: optional(ANYTHING),
});

/** One operation of a scenario. @public */
export const SCENARIO_OPERATION: AnySpec = object({
  op: OPERATION_WORD,
  args: optional(ANYTHING),
  expect: optional(EXPECT),
});

/** Of a shrunk case: the failure that was found, and what judges it. @public */
export const FOUND: AnySpec = object({
  by: text("word"), // divergence, scenario, stress
  check: text(),
  op: OPERATION_WORD,
  component: optional(nullable(text())),
  n: COUNT, // boot is 0
  message: text(),
  base: optional(text()), // the implementation that answers right
  candidate: optional(text()),
  settings: optional(map("any", ANYTHING)), // further ones of the judge
});

/** A scenario file. It has `config` or `configs`, which a rule beside this spec demands. @public */
export const SCENARIO: AnySpec = object({
  name: text(),
  story: text(),
  tags: optional(list(text())),
  config: optional(CONFIG),
  configs: optional(list(text())),
  ops: list(SCENARIO_OPERATION),
  finally: optional(
    object({
      quiescent: optional(BOOLEAN),
      ledger: optional(word("empty")),
      drain: optional(BOOLEAN),
    }),
  ),
  found: optional(FOUND),
});

/** `scenarios/configs.json`: configurations by name, and rules that derive further ones. @public */
export const SCENARIO_CONFIGS: AnySpec = object({
  configs: map("any", CONFIG),
  rules: optional(map("any", ANYTHING)),
});
