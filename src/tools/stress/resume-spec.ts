// What stands in a state of `stress`, checked before anything goes on from it.
import type { AnySpec } from "../../trace/fields.js";
import {
  ANYTHING,
  COUNT,
  list,
  nullable,
  object,
  openObject,
  optional,
  text,
  tuple,
} from "../../trace/fields.js";
import { inspect, inspectContext } from "../../trace/inspect.js";
import type { Problem } from "../../trace/inspect.js";
import { noStressCounts } from "./run.js";

const FINDING = openObject(
  {
    signature: object({ check: text(), op: text(), component: nullable(text()) }),
    n: COUNT,
    message: text(),
    actors: optional(list(text())),
    bytes: optional(tuple(COUNT, COUNT)),
    band: optional(text()),
  },
  ANYTHING,
);
const UNIT = openObject(
  {
    run: text(),
    profile: text(),
    findings: list(FINDING),
    counts: object(
      Object.fromEntries(Object.keys(noStressCounts()).map((name) => [name, COUNT] as const)),
    ),
    coverage: list(tuple(text(), COUNT)),
    case: nullable(text()),
  },
  ANYTHING,
);

/** Of any version there will be: the rest is known to that version alone. */
const ANY_STATE: AnySpec = openObject({ version: COUNT, key: text() }, ANYTHING);
const STATE: AnySpec = openObject({ version: COUNT, key: text(), units: list(UNIT) }, ANYTHING);

/** The first thing that is wrong with a state; of another version only what all have is looked at. @internal */
export function stateProblem(value: unknown, version: number): Problem | null {
  const problem = inspect(ANY_STATE, value, inspectContext());
  if (problem !== null || (value as { version: number }).version !== version) return problem;
  return inspect(STATE, value, inspectContext());
}
