// Specs of the JSON documents of the commands that take runs apart, and of those that only look.
import { DIRECT_CONFIG } from "./config-spec.js";
import type { AnySpec } from "./fields.js";
import {
  ANYTHING,
  BOOLEAN,
  COUNT,
  list,
  map,
  nullable,
  object,
  openObject,
  optional,
  text,
  word,
} from "./fields.js";
import { ERROR_BODY, FINDING, SIGNATURE } from "./report-parts.js";

const FOUND = openObject(FINDING, ANYTHING);
const JUDGEMENT = openObject(
  { kind: word("passes", "invalid", "fails"), n: nullable(COUNT), finding: nullable(FOUND) },
  ANYTHING,
);
const CASE = object({
  config: DIRECT_CONFIG,
  ops: list(openObject({ op: text(), args: map("any", ANYTHING) }, ANYTHING)),
});

/** `shrink --json`. @public */
export const SHRINK_REPORT: AnySpec = openObject(
  {
    command: word("shrink"),
    verdict: word("shrunk", "stopped", "not_repeated"),
    run: nullable(text()), // or scenario; null: nothing fails
    by: nullable(word("divergence", "scenario")), // what judges it
    note: nullable(text()),
    stopped: nullable(word("time budget", "interrupted")), // null: nothing can go
    signature: nullable(SIGNATURE), // of the failure that was looked for
    finding: nullable(FOUND), // of the smallest case
    judgements: list(JUDGEMENT), // what its runs showed, where it did not repeat
    out: nullable(text()), // null: nothing was written
    from: COUNT, // operations of the first case
    resumed: BOOLEAN,
    alone: nullable(BOOLEAN), // whether it fails in the same way alone; null: not tried
    shown_by_run: nullable(BOOLEAN),
    tried: COUNT,
    runs: COUNT, // cases that were run
    judged: COUNT, // operations in them, up to where they failed
    passes: list(openObject({ name: text(), tried: COUNT, kept: COUNT }, ANYTHING)),
    others: list(openObject({ file: text(), operations: COUNT, finding: FOUND }, ANYTHING)),
    case: nullable(CASE),
    operations: COUNT, // of the smallest case
  },
  ANYTHING,
);

const METAMORPH_FINDING = openObject(
  {
    ...FINDING, // n: of the run as it was
    run: text(),
    rewrite: text(),
    seed: COUNT,
    at: COUNT, // operation of the rewritten run
    reproduce: nullable(text()),
  },
  ANYTHING,
);

/** `metamorph --json`. @public */
export const METAMORPH_REPORT: AnySpec = openObject(
  {
    command: word("metamorph"),
    verdict: word("passed", "failed", "incomplete"),
    runs: COUNT,
    rewritten: COUNT, // runs replayed after a rewrite
    operations: COUNT,
    applied: map("any", COUNT), // rewritten runs by rewrite
    findings: list(METAMORPH_FINDING),
    notes: list(text()), // why it is incomplete
    error: nullable(ERROR_BODY), // what ended it early
  },
  ANYTHING,
);

const BAND = openObject(
  {
    name: text("band"),
    kind: word("mha", "mla", "state"),
    grow: word("up", "down", "float"),
    window: nullable(COUNT), // tokens
    unit_bytes: COUNT,
    page_bytes: COUNT,
    pages: COUNT,
    first_page: COUNT,
    usable_pages: COUNT,
    top_bytes: COUNT,
    layers: nullable(object({ target: list(COUNT), draft: list(COUNT) })),
    layer_bytes: nullable(COUNT),
  },
  ANYTHING,
);
const PLAN = openObject(
  {
    model: nullable(text()), // null in the direct form, as what follows from a model
    source: nullable(text()),
    page_tokens: COUNT,
    context_ranks: COUNT,
    arena_bytes: COUNT,
    sink_bytes: COUNT,
    rows: COUNT,
    row_tokens: COUNT,
    bands: list(BAND), // low to high in the arena
    tree_slots: list(text()),
    targets: map("any", COUNT),
    floor: map("any", COUNT), // bytes
    notices: list(text()),
    layout: nullable(map("any", ANYTHING)),
    host: nullable(map("any", ANYTHING)),
  },
  ANYTHING,
);

/** `show --plan --json`. @internal */
export const PLAN_REPORT: AnySpec = openObject(
  {
    command: word("show"),
    verdict: word("planned", "refused"),
    config: text(),
    refusal: nullable(
      openObject(
        {
          code: word("refused_plan", "refused_floor"),
          message: text(),
          rule: optional(text()),
          band: optional(text()),
          terms: optional(map("any", COUNT)), // bytes by name
        },
        ANYTHING,
      ),
    ),
    plan: nullable(PLAN),
  },
  ANYTHING,
);

/** `doctor --json`. @public */
export const DOCTOR_REPORT: AnySpec = openObject(
  {
    command: word("doctor"),
    verdict: word("ready", "wrong", "passed", "failed"), // the latter two with `--self-test`
    findings: list(
      openObject(
        {
          what: text(),
          state: word("there", "missing", "wrong"),
          text: text(),
          advice: nullable(text()),
        },
        ANYTHING,
      ),
    ),
    // With `--self-test`.
    self_test: optional(
      openObject(
        {
          device: text(),
          verdict: word("passed", "failed"),
          checks: list(
            openObject(
              {
                name: text(),
                verdict: word("passed", "failed", "skipped"),
                message: nullable(text()),
              },
              ANYTHING,
            ),
          ),
        },
        ANYTHING,
      ),
    ),
  },
  ANYTHING,
);
