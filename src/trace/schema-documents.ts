// Everything that `scripts/generate-schemas.mjs` writes: the published schemas as documents, and the schemas from which
// the quick validators are compiled.
import { INVALID_RULES } from "../base/operations.js";
import { BISECT_REPORT } from "./report-specs-bisect.js";
import { DIRECT_CONFIG, MODEL_CONFIG, STAGE_CONFIG, SUB_POOL } from "./config-spec.js";
import type { AnySpec } from "./fields.js";
import { EXTENTS, HOST_EXTENTS, ROW_EXTENTS, either } from "./fields.js";
import type { JsonSchema, SchemaDialect } from "./json-schema.js";
import { jsonSchema, keywords } from "./json-schema.js";
import {
  DIGESTS,
  EFFECT,
  EFFECTS,
  END_LINE,
  ERROR,
  HEADER_LINE,
  MARK_LINE,
  RUN_LINES,
  STATE_LINE,
  callLine,
  opLine,
} from "./line-specs.js";
import { TRACE_VERSION } from "./lines.js";
import type { OperationSpec } from "./operation-spec.js";
import { OPERATION_TABLE } from "./operation-table.js";
import { CONVERT_REPORT, EDIT_REPORT } from "./report-specs-formats.js";
import { PAGE_MAP, SHOW_REPORT, SHOWN_SIDE } from "./report-specs-show.js";
import { SWEEP_REPORT } from "./report-specs-sweep.js";
import { DOCTOR_REPORT, METAMORPH_REPORT, SHRINK_REPORT } from "./report-specs-tools.js";
import {
  AUDIT_REPORT,
  ANONYMIZE_REPORT,
  BUNDLE_REPORT,
  RECORD_REPORT,
  REPLAY_REPORT,
  STATS_REPORT,
  VALIDATE_REPORT,
} from "./report-specs-traces.js";
import {
  COMPARE_REPORT,
  CONFORMANCE_REPORT,
  ERROR_REPORT,
  IMPORT_REPORT,
  RUN_REPORT,
  STRESS_REPORT,
} from "./report-specs.js";
import { SCENARIO, SCENARIO_CONFIGS } from "./scenario-spec.js";
import { STATE } from "./state-spec.js";
import { DEMAND, ENDED, FREED, HOST_LISTS, KEY, MOVE_PAIRS, PAGE_LISTS } from "./vocabulary.js";

const DRAFT = "https://json-schema.org/draft/2020-12/schema";
const OPERATIONS: readonly OperationSpec[] = Object.values(OPERATION_TABLE);

const SHARED: Readonly<Record<string, AnySpec>> = {
  extents: EXTENTS,
  row_extents: ROW_EXTENTS,
  host_extents: HOST_EXTENTS,
  page_lists: PAGE_LISTS,
  host_lists: HOST_LISTS,
  demand: DEMAND,
  key: KEY,
  move_pairs: MOVE_PAIRS,
  ended: ENDED,
  freed: FREED,
  error: ERROR,
  effect: EFFECT,
  effects: EFFECTS,
  digests: DIGESTS,
  sub_pool: SUB_POOL,
  stage_config: STAGE_CONFIG,
  direct_config: DIRECT_CONFIG,
  model_config: MODEL_CONFIG,
  state: STATE,
  page_map: PAGE_MAP,
  shown_side: SHOWN_SIDE,
};

const PUBLISHED: SchemaDialect = {
  isCompiled: false,
  refs: new Map(Object.entries(SHARED).map(([key, spec]) => [spec, `#/$defs/${key}`])),
};

type Definitions = Record<string, JsonSchema>;

function definitions(specs: Readonly<Record<string, AnySpec>>): Definitions {
  return Object.fromEntries(
    Object.entries(specs).map(([key, spec]) => [key, jsonSchema(spec, PUBLISHED, true)]),
  );
}

/** A document that carries just those shared parts that it refers to. */
function document(title: string, root: JsonSchema, own: Definitions = {}): JsonSchema {
  const all: Definitions = { ...own, ...definitions(SHARED) };
  const used = new Set<string>();
  const visit = (schema: JsonSchema): void => {
    for (const match of JSON.stringify(schema).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
      // the expression has one group
      const key = match[1]!.replaceAll("~1", "/");
      const definition = all[key];
      if (used.has(key) || definition === undefined) continue;
      used.add(key);
      visit(definition);
    }
  };
  visit(root);
  const defs = Object.fromEntries(Object.entries(all).filter(([key]) => used.has(key)));
  const name = title.replaceAll(" ", "-");
  return {
    $schema: DRAFT,
    $id: `urn:unified-trace:schema:${TRACE_VERSION}:${name}`,
    title: `unified-trace ${title}, version ${TRACE_VERSION}`,
    ...keywords(root),
    ...(Object.keys(defs).length > 0 ? { $defs: defs } : {}),
  };
}

const ref = (key: string): JsonSchema => ({ $ref: `#/$defs/${key}` });

/** What holds for the answer of every operation: a broken contract names its rule, a remark stands beside `ok`. */
const ANSWER: JsonSchema = {
  if: { properties: { err: { properties: { code: { const: "invalid" } } } }, required: ["err"] },
  then: {
    properties: { err: { required: ["rule"], properties: { rule: { enum: [...INVALID_RULES] } } } },
  },
  dependentRequired: { message: ["ok"] },
};

function publishedOp(spec: OperationSpec): JsonSchema {
  const codes = [...spec.refusals, "invalid"];
  return {
    description: spec.doc,
    ...keywords(jsonSchema(opLine(spec), PUBLISHED)),
    allOf: [
      { oneOf: [{ required: ["ok"] }, { required: ["err"] }] },
      { properties: { err: { properties: { code: { enum: codes } } } } },
      ref("answer"),
    ],
  };
}

function traceDocument(): JsonSchema {
  const lines: Definitions = {
    ...definitions({
      trace_line: HEADER_LINE,
      run_line_kv: RUN_LINES.kv,
      run_line_heap: RUN_LINES.heap,
      mark_line: MARK_LINE,
      state_line: STATE_LINE,
      end_line: END_LINE,
    }),
    op_line: { oneOf: OPERATIONS.map((spec) => ref(`op:${spec.name}`)) },
    call_line: { oneOf: OPERATIONS.map((spec) => ref(`call:${spec.name}`)) },
  };
  const own: Definitions = { ...lines, answer: ANSWER };
  for (const spec of OPERATIONS) own[`op:${spec.name}`] = publishedOp(spec);
  for (const spec of OPERATIONS) own[`call:${spec.name}`] = jsonSchema(callLine(spec), PUBLISHED);
  return document("trace", { description: "one line", oneOf: Object.keys(lines).map(ref) }, own);
}

function scenarioDocument(): JsonSchema {
  const own: Definitions = {};
  for (const spec of OPERATIONS) {
    own[`args:${spec.name}`] = {
      if: { properties: { op: { const: spec.name } } },
      then: { properties: { args: jsonSchema(spec.args, PUBLISHED) } },
    };
  }
  own["operation"] = { allOf: OPERATIONS.map((spec) => ref(`args:${spec.name}`)) };
  const root = jsonSchema(SCENARIO, PUBLISHED);
  return document(
    "scenario",
    {
      ...keywords(root),
      anyOf: [{ required: ["config"] }, { required: ["configs"] }],
      allOf: [{ properties: { ops: { items: ref("operation") } } }],
    },
    own,
  );
}

// What each command prints with `--json`.
const REPORTS: Readonly<Record<string, AnySpec>> = {
  compare: COMPARE_REPORT,
  run: RUN_REPORT,
  stress: STRESS_REPORT,
  record: RECORD_REPORT,
  replay: REPLAY_REPORT,
  validate: VALIDATE_REPORT,
  audit: AUDIT_REPORT,
  stats: STATS_REPORT,
  shrink: SHRINK_REPORT,
  bisect: BISECT_REPORT,
  sweep: SWEEP_REPORT,
  metamorph: METAMORPH_REPORT,
  show: SHOW_REPORT,
  doctor: DOCTOR_REPORT,
  import: IMPORT_REPORT,
  convert: CONVERT_REPORT,
  edit: EDIT_REPORT,
  anonymize: ANONYMIZE_REPORT,
  bundle: BUNDLE_REPORT,
  conformance: CONFORMANCE_REPORT,
};

/** The published schemas by file name below `schemas/`. @internal */
export function publishedSchemas(): Readonly<Record<string, JsonSchema>> {
  const plain = (title: string, spec: AnySpec): JsonSchema =>
    document(title, jsonSchema(spec, PUBLISHED, true));
  return {
    "trace.schema.json": traceDocument(),
    "config.schema.json": document(
      "config",
      jsonSchema(either(MODEL_CONFIG, DIRECT_CONFIG), PUBLISHED),
    ),
    "scenario.schema.json": scenarioDocument(),
    "scenario-configs.schema.json": plain("scenario configs", SCENARIO_CONFIGS),
    "state.schema.json": plain("state", STATE),
    ...Object.fromEntries(
      Object.entries(REPORTS).map(([command, spec]) => [
        `${command}-report.schema.json`,
        plain(`${command} report`, spec),
      ]),
    ),
    "error.schema.json": plain("error", ERROR_REPORT),
  };
}

// Small functions that many validators call: less code to load, and hot sooner than many copies.
const CALLED: Readonly<Record<string, AnySpec>> = {
  isExtents: EXTENTS,
  isHostExtents: HOST_EXTENTS,
  isPageLists: PAGE_LISTS,
  isHostLists: HOST_LISTS,
  isDemand: DEMAND,
  isKey: KEY,
  isMovePairs: MOVE_PAIRS,
  isEnded: ENDED,
};

const COMPILED: SchemaDialect = {
  isCompiled: true,
  refs: new Map(Object.entries(CALLED).map(([key, spec]) => [spec, key])),
};

/** The schemas of the quick validators: two an operation and those of what surrounds it. @internal */
export function compiledSchemas(): {
  readonly shared: Readonly<Record<string, JsonSchema>>;
  readonly args: Readonly<Record<string, JsonSchema>>;
  readonly ok: Readonly<Record<string, JsonSchema>>;
  readonly err: JsonSchema;
  readonly fx: JsonSchema;
  readonly digest: JsonSchema;
} {
  const each = (part: "args" | "ok"): Record<string, JsonSchema> =>
    Object.fromEntries(OPERATIONS.map((spec) => [spec.name, jsonSchema(spec[part], COMPILED)]));
  const shared = Object.entries(CALLED).map(([key, spec]): [string, JsonSchema] => [
    key,
    jsonSchema(spec, COMPILED, true),
  ]);
  return {
    shared: Object.fromEntries(shared),
    args: each("args"),
    ok: each("ok"),
    err: jsonSchema(ERROR, COMPILED),
    fx: jsonSchema(EFFECTS, COMPILED),
    digest: jsonSchema(DIGESTS, COMPILED),
  };
}
