// Specs of what surrounds an operation on its line: errors, effects, digests, and the other kinds of line.
import type { Effect } from "../base/effects.js";
import type { Digests, Domain, OperationError } from "../base/operations.js";
import { DIRECT_CONFIG, MODEL_CONFIG } from "./config-spec.js";
import type { AnySpec, MustEqual, Spec, TypeOf } from "./fields.js";
import {
  ANYTHING,
  BOOLEAN,
  COUNT,
  EXTENTS,
  NULL,
  PAGES,
  POSITIVE,
  RATIO,
  ROW_EXTENTS,
  either,
  integer,
  list,
  map,
  name,
  nullable,
  object,
  openObject,
  optional,
  setOf,
  tagged,
  text,
  word,
} from "./fields.js";
import { TRACE_FORMAT } from "./lines.js";
import type { OperationSpec } from "./operation-spec.js";
import { STATE } from "./state-spec.js";
import { DEMAND, MOVE_PAIRS } from "./vocabulary.js";

function exactly<T>() {
  return <S extends AnySpec>(spec: S & MustEqual<TypeOf<S>, T>): Spec<T> => spec as Spec<T>;
}

/** A refusal or a broken contract. @public */
export const ERROR: Spec<OperationError> = exactly<OperationError>()(
  object({
    code: word(
      "refused_plan",
      "refused_floor",
      "refused_backing",
      "refused_rows",
      "refused_ids",
      "refused_state",
      "refused_capacity",
      "deadline",
      "checkpoint_stalled",
      "refused_host",
      "refused_busy",
      "invalid",
      "unsupported",
    ),
    rule: optional(text("word")),
    req: optional(text("holder")),
    band: optional(text("band")),
    page: optional(PAGES),
    need: optional(COUNT),
    free: optional(COUNT),
    demand: optional(DEMAND),
    limit: optional(text("limit")),
    terms: optional(map("word", COUNT)),
    transfers: optional(list(name("transfer"))),
    holders: optional(setOf(text())),
    message: optional(text()),
  }),
);

const FORWARD = name("forward");
const DEVICE_PAGES = map("band", EXTENTS);

/** One effect. @public */
export const EFFECT: Spec<Effect> = exactly<Effect>()(
  tagged({
    zero: [text("band"), EXTENTS],
    wait: [text("signal")],
    move: [text("band"), MOVE_PAIRS],
    event: [FORWARD],
    forward: [FORWARD],
    reset: [ROW_EXTENTS],
    hostread: [word("recovery", "publish")],
    hostwait: [name("transfer")],
    copy: [text("band"), MOVE_PAIRS],
    barrier: [FORWARD],
    hostcopy: [name("copy"), word("out", "in"), DEVICE_PAGES],
    net: [name("transfer"), word("send", "receive"), DEVICE_PAGES],
  }),
);
/** The effects of one operation, in order. @public */
export const EFFECTS: Spec<readonly Effect[]> = list(EFFECT);
/** Component hashes. @public */
export const DIGESTS: Spec<Digests> = map("component", text("hex64"));

const PRODUCER = object({
  name: text(),
  version: text(),
  revision: nullable(text()),
  dirty: nullable(BOOLEAN),
});

/** The first line of a file. @public */
export const HEADER_LINE: AnySpec = object({
  kind: word("trace"),
  format: word(TRACE_FORMAT),
  version: POSITIVE,
  producer: PRODUCER,
  created: nullable(text()),
  note: nullable(text()),
});

const SCALAR = either(NULL, BOOLEAN, RATIO, text());
const SOURCE = either(
  object({ type: word("seed"), seed: COUNT, ops: COUNT, weights: text() }),
  object({ type: word("scenario", "live"), name: text() }),
  openObject({ type: word("workload", "import"), name: text() }, SCALAR),
);

function runLine(domain: Domain, config: AnySpec): AnySpec {
  return object({
    kind: word("run"),
    run: text(),
    domain: word(domain),
    config,
    derived: optional(DIRECT_CONFIG),
    source: SOURCE,
    digest_depth: optional(nullable(word("light", "layout", "deep"))),
    starts_at: optional(COUNT),
    dropped: optional(COUNT),
  });
}

/** Opens a run, by domain. @public */
export const RUN_LINES: Readonly<Record<Domain, AnySpec>> = {
  kv: runLine("kv", either(MODEL_CONFIG, DIRECT_CONFIG)),
  heap: runLine("heap", map("any", ANYTHING)),
};

/** @public */
export const MARK_LINE: AnySpec = object({ kind: word("mark"), n: COUNT, text: text() });
/** @public */
export const STATE_LINE: AnySpec = object({ kind: word("state"), n: COUNT, state: STATE });
/** @public */
export const END_LINE: AnySpec = object({
  kind: word("end"),
  run: text(),
  ops: COUNT,
  digest: optional(nullable(text("hex64"))),
});

const opLines = new Map<OperationSpec, AnySpec>();

/** An `op` line of one operation; that exactly one of `ok` and `err` stands, and `message` only beside `ok`, are rules of
 * their own. @public */
export function opLine(spec: OperationSpec): AnySpec {
  let line = opLines.get(spec);
  if (line === undefined) {
    line = makeOpLine(spec);
    opLines.set(spec, line);
  }
  return line;
}

function makeOpLine(spec: OperationSpec): AnySpec {
  return object({
    kind: word("op"),
    n: COUNT,
    op: word(spec.name),
    args: spec.args,
    ok: optional(spec.ok),
    err: optional(ERROR),
    fx: optional(EFFECTS),
    digest: optional(DIGESTS),
    message: optional(text()),
    site: optional(text()),
    at_us: optional(integer("us")),
  });
}

/** A `call` line of one operation. @public */
export function callLine(spec: OperationSpec): AnySpec {
  return object({ kind: word("call"), n: COUNT, op: word(spec.name), args: spec.args });
}

/** Keys of the kinds of line whose body an operation decides, for messages. @public */
export const OP_KEYS: readonly string[] = [
  "kind",
  "n",
  "op",
  "args",
  "ok",
  "err",
  "fx",
  "digest",
  "message",
  "site",
  "at_us",
];
