// The full state as the allocator of this project writes it: `src/trace/state-spec.ts` with what that leaves open. A state
// of another form is recognised by what this says nothing of.
import type { AnySpec } from "../../trace/fields.js";
import {
  BOOLEAN,
  BYTES,
  COUNT,
  EXTENTS,
  HOST_EXTENTS,
  TOKENS,
  banded,
  either,
  integer,
  list,
  map,
  name,
  nullable,
  object,
  optional,
  text,
  tuple,
  word,
} from "../../trace/fields.js";
import { STAGE_CONFIG } from "../../trace/config-spec.js";
import { BAND_STATE, CHAIN_STATE } from "../../trace/state-spec.js";
import { HOST_LISTS, PAGE_LISTS } from "../../trace/vocabulary.js";

/** Parts of keys in a node: hash, offset in its segment, tokens. @internal */
export const KEY_PIECES: AnySpec = list(tuple(either(COUNT, text()), COUNT, integer("tokens", 1)));

const FORWARD = name("forward");
const NAMES = list(either(word(""), text("holder"))); // the empty one: of a transfer without writers
const NODE = integer("", -1);
const TOKENS_OF = map("band", TOKENS);

const LANE = integer("", -(2 ** 31), 2 ** 31 - 1);
const STAGES = object({
  stages: list(STAGE_CONFIG),
  self: COUNT,
  fold: object({ a: LANE, b: LANE, questions: COUNT }),
});
const RESERVED = object({ page: COUNT, behind: COUNT });
const USE = object({
  name: text("signal"),
  kind: word("copy", "transfer"),
  direction: word("out", "in", "send", "receive"),
  order: COUNT,
  stalled: BOOLEAN,
});
const MORE = object({
  arena_bytes: optional(BYTES),
  clock: COUNT,
  unrecorded: list(object({ name: FORWARD, mode: text("word") })),
  marks: EXTENTS,
  free_rows: EXTENTS,
  stages: nullable(STAGES),
  uses: list(USE),
  submissions: COUNT,
  deferred: object({
    pages: list(object({ band: text("band"), id: COUNT, transfers: list(name("transfer")) })),
    virtual: EXTENTS,
    slots: EXTENTS,
  }),
  group: nullable(
    object({
      virtual: EXTENTS,
      slots: EXTENTS,
      bands: list(EXTENTS),
      reserved: list(list(RESERVED)),
    }),
  ),
  tree_uses: COUNT,
  told_estimates: BOOLEAN,
});
const FORWARDS = object({
  unprocessed: list(FORWARD),
  retired: nullable(FORWARD),
  open: nullable(FORWARD),
  x_more: MORE,
});
const LEDGER = list(
  object({ use: text("word"), band: text("band"), pages: EXTENTS, signal: text("signal") }),
);
const ROW = object({
  row: COUNT,
  allocated: TOKENS,
  protected: TOKENS,
  cursors: TOKENS_OF,
  checkpoint: nullable(TOKENS),
  slots: map("purpose", EXTENTS),
  reset: BOOLEAN,
  x_pages: EXTENTS,
  x_track: COUNT,
  x_tracked: list(nullable(TOKENS)),
});

const TREE = list(
  object({
    key: KEY_PIECES,
    from: TOKENS,
    to: TOKENS,
    slots: map("band", object({ pages: EXTENTS, locks: COUNT, used: COUNT, host: HOST_EXTENTS })),
    x_made: COUNT,
    x_named: list(tuple(text("holder"), TOKENS_OF, COUNT)),
    x_own: list(tuple(name("request"), TOKENS_OF)),
  }),
);

const LOCK = object({ node: NODE, windows: TOKENS_OF });
const PATH = object({
  parts: list(object({ node: NODE, full: BOOLEAN, windows: list(text("band")), state: BOOLEAN })),
  sources: list(NODE),
  lock: LOCK,
});
const LOAD = object({
  load: text("holder"), // of a restored request the copy's name
  virtual: EXTENTS,
  slots: EXTENTS,
  windows: PAGE_LISTS,
  bound: nullable(PAGE_LISTS),
  row: nullable(
    object({
      req: name("request"),
      positions: EXTENTS,
      from: TOKENS,
      cursors: map("band", tuple(TOKENS, TOKENS)),
    }),
  ),
  path: nullable(PATH),
});
const KEPT = object({
  copy: name("copy"),
  positions: EXTENTS,
  windows: PAGE_LISTS,
  slots: COUNT,
  allocated: TOKENS,
  cursors: TOKENS_OF,
  checkpoint: nullable(TOKENS),
  host: HOST_LISTS,
});
const COPY = object({
  copy: name("copy"),
  kind: text("word"),
  load: nullable(LOAD),
  kept: nullable(KEPT),
  parts: nullable(list(object({ node: NODE, host: HOST_LISTS, lock: nullable(LOCK) }))),
});
// empty where nothing on the host is in use
const HOST = object({
  free: optional(HOST_LISTS),
  copies: optional(list(COPY)),
  loads: optional(list(LOAD)),
  kept: optional(list(KEPT)),
});

const TRANSFER = object({
  direction: word("send", "receive"),
  phase: word("held", "published"),
  writers: NAMES,
  deferred: PAGE_LISTS,
  x_more: object({
    serial: COUNT,
    epoch: COUNT,
    req: text("holder"),
    pages: tuple(COUNT, COUNT),
    virtual: EXTENTS,
    slots: EXTENTS,
    named: NAMES,
    stalled: BOOLEAN,
  }),
});
const NET = object({ transfers: map("any", TRANSFER), x_closed: NAMES, x_serial: COUNT });

/** @internal */
export const OWN_STATE: AnySpec = banded({}, BAND_STATE, {
  chain: CHAIN_STATE,
  forwards: FORWARDS,
  ledger: LEDGER,
  rows: map("request", ROW),
  tree: TREE,
  host: HOST,
  net: NET,
});
