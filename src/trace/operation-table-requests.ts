// Operations on the arena, request rows, state slots and tokens.
import type { StatePurpose } from "../base/operations.js";
import type { Spec } from "./fields.js";
import {
  BOOLEAN,
  BYTES,
  COUNT,
  EXTENTS,
  PAGES,
  POSITIVE,
  TOKENS,
  banded,
  either,
  id,
  integer,
  list,
  map,
  name,
  nullable,
  object,
  optional,
  text,
  word,
} from "./fields.js";
import type { OperationGroup } from "./operation-spec.js";
import { operation, take } from "./operation-spec.js";
import {
  DEMAND,
  EMPTY,
  ENDED,
  FREED,
  FREED_FIELDS,
  HOST_LISTS,
  KEY,
  PAGE_LISTS,
  PURPOSE,
  RANGE_FIELDS,
  REQ,
  STEP,
} from "./vocabulary.js";

const GEOMETRY = object({
  grow: word("up", "down", "float"),
  unit_bytes: BYTES,
  page_bytes: BYTES,
  pages: PAGES,
  first_page: PAGES,
});
const BOOT = object({
  bands: map("band", GEOMETRY),
  sink_bytes: BYTES,
  targets: optional(map("word", COUNT)),
  notices: optional(list(text("word"))),
});
const PLACE: Spec<{ readonly req: string; readonly purpose: StatePurpose }> = object({
  req: REQ,
  purpose: PURPOSE,
});
const EXTEND_ENTRY = object({ req: REQ, ...RANGE_FIELDS, tail: optional(TOKENS) });
const TAKEN = object({ pages: map("request", PAGE_LISTS), step: STEP, ended: optional(ENDED) });
const TREE_COUNTS = object({ new_pages: PAGES, duplicates: PAGES, rehomed: DEMAND });

/** @internal */
export const REQUEST_OPERATIONS: OperationGroup<
  | "boot"
  | "arena.resize"
  | "row.alloc"
  | "row.free"
  | "state.alloc"
  | "state.free"
  | "state.copy"
  | "state.donate"
  | "tokens.extend"
  | "tokens.decode"
  | "tokens.free"
  | "group.begin"
  | "group.end"
  | "window.retire"
  | "request.finish"
  | "request.retract"
  | "request.restore"
> = {
  boot: operation("boot", {
    doc: "Builds the arena from the run's configuration; always operation 0.",
    args: EMPTY,
    ok: BOOT,
    refusals: ["refused_plan", "refused_floor"],
  }),
  "arena.resize": operation("arena.resize", {
    doc: "Gives the empty arena another size; the backing grows in chunks.",
    args: object({
      arena_bytes: BYTES,
      chunk_bytes: optional(integer("bytes", 1)),
      fail_chunk: optional(POSITIVE),
    }),
    ok: BOOT,
    refusals: ["refused_backing"],
  }),
  "row.alloc": operation("row.alloc", {
    doc: "Opens requests, each with the oldest free row.",
    args: object({ reqs: list(name("request", "opens")) }),
    ok: object({ rows: map("request", id("rows")) }),
    refusals: ["refused_rows"],
  }),
  "row.free": operation("row.free", {
    doc: "Closes a request that holds nothing but its row.",
    args: object({ req: name("request", "closes") }),
    ok: EMPTY,
  }),
  "state.alloc": take("state.alloc", {
    doc: "Takes state slots for one purpose of a request.",
    args: object({ req: REQ, count: COUNT, purpose: PURPOSE }),
    ok: banded({ slots: EXTENTS }, EXTENTS, { step: STEP, ended: optional(ENDED) }),
  }),
  "state.free": operation("state.free", {
    doc: "Frees the slots of one purpose.",
    args: PLACE,
    ok: FREED,
  }),
  "state.copy": operation("state.copy", {
    doc: "Copies a state's bytes from a purpose or a tree node to a purpose.",
    args: object({ from: either(PLACE, object({ key: KEY, len: TOKENS })), to: PLACE }),
    ok: object({ ended: optional(ENDED) }),
    refusals: ["deadline"],
    effects: ["hostwait", "wait", "copy"],
  }),
  "state.donate": operation("state.donate", {
    doc: "Gives the tracked slot to the tree node that ends at `len` and takes another.",
    args: object({ req: REQ, len: TOKENS }),
    ok: object({
      slot: nullable(id("slots")),
      replacement: nullable(id("slots")),
      step: optional(STEP),
      ended: optional(ENDED),
    }),
    refusals: ["checkpoint_stalled", "deadline"],
    effects: ["hostread", "wait", "hostwait", "move"],
  }),
  "tokens.extend": take("tokens.extend", {
    doc: "Gives requests pages for new token positions, a prompt's chunk at a time.",
    args: object({ batch: list(EXTEND_ENTRY) }),
    ok: TAKEN,
  }),
  "tokens.decode": take("tokens.decode", {
    doc: "Adds one token to each request; a page where the last one is full.",
    args: object({ batch: list(object({ req: REQ, len: integer("tokens", 1) })) }),
    ok: TAKEN,
  }),
  "tokens.free": operation("tokens.free", {
    doc: "Frees the pages of token positions in all bands, in full, or in windows.",
    args: object({
      req: REQ,
      ...RANGE_FIELDS,
      bands: either(word("all", "full"), list(text("band"))),
    }),
    ok: FREED,
  }),
  "group.begin": operation("group.begin", {
    doc: "Opens a group: what is freed inside goes back together at its end.",
    args: EMPTY,
    ok: EMPTY,
    bracket: "opens",
  }),
  "group.end": operation("group.end", {
    doc: "Closes the group and frees what waited in it, in call order.",
    args: EMPTY,
    ok: FREED,
    bracket: "closes",
  }),
  "window.retire": operation("window.retire", {
    doc: "Frees the window pages that `len` computed tokens have left behind.",
    args: object({ req: REQ, len: TOKENS }),
    ok: map(
      "band",
      object({
        cursor: TOKENS,
        floor: nullable(TOKENS),
        freed: EXTENTS,
        deferred: optional(EXTENTS),
      }),
    ),
  }),
  "request.finish": operation("request.finish", {
    doc: "Ends a request: inserts it into the tree if asked, frees the rest, closes it.",
    args: object({
      req: name("request", "closes"),
      len: TOKENS,
      insert: BOOLEAN,
      key: optional(KEY),
    }),
    ok: object({ ...FREED_FIELDS, tree: optional(TREE_COUNTS) }),
  }),
  "request.retract": operation("request.retract", {
    doc: "Takes a running request out, with a copy to the host if one is named.",
    args: object({
      req: name("request", "closes"),
      backup: optional(name("copy", "opens")),
    }),
    ok: object({ ...FREED_FIELDS, host: optional(HOST_LISTS) }),
    refusals: ["refused_host"],
    effects: ["wait", "hostcopy"],
  }),
  "request.restore": take("request.restore", {
    doc: "Brings a retracted request back from its host copy.",
    args: object({ req: name("request", "opens"), copy: name("copy") }),
    ok: object({
      rows: map("request", id("rows")),
      pages: PAGE_LISTS,
      step: STEP,
      ended: optional(ENDED),
    }),
    refusals: ["refused_rows"],
    effects: ["hostcopy"],
  }),
};
