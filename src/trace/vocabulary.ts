// Specs that several operations share, named as in the operation types.
import type {
  Demand,
  EndedTransfers,
  Extent,
  FreedOk,
  Key,
  PageLists,
  Step,
} from "../base/operations.js";
import type { Fields, ObjectOf, OptionalField, Spec } from "./fields.js";
import {
  COUNT,
  EXTENT_MAX,
  EXTENTS,
  HOST_EXTENTS,
  PAGES,
  TOKENS,
  either,
  integer,
  list,
  map,
  name,
  object,
  optional,
  placement,
  text,
  tuple,
  word,
} from "./fields.js";

/** No fields. @public */
export const EMPTY: Spec<Readonly<Record<string, never>>> = object({});
/** Ids per band, `virtual` and `slots`. @public */
export const PAGE_LISTS: Spec<PageLists> = map("pages", EXTENTS);
/** Host pages per band. @public */
export const HOST_LISTS: Spec<PageLists> = map("band", HOST_EXTENTS);
/** Pages (slots for state) per band. @public */
export const DEMAND: Spec<Demand> = map("band", PAGES);
/** A key of the prefix tree. @public */
export const KEY: Spec<Key> = list(tuple(either(COUNT, text()), integer("tokens", 1)));
/** @public */
export const STEP: Spec<Step> = word("no_move", "flush_ends", "relayout");
/** @public */
export const REQ: Spec<string> = name("request");
/** @public */
export const PURPOSE: Spec<"main" | "track" | "replace" | "cow"> = word(
  "main",
  "track",
  "replace",
  "cow",
);
/** How something outside ended. @public */
export const OUTCOME: Spec<"ok" | "failed"> = word("ok", "failed");
/** A planned span `[first, count]`; an empty float is `[pages, 0]`. @public */
export const SPAN: Spec<Extent> = tuple(
  integer("pages", 0, EXTENT_MAX),
  integer("pages", 0, EXTENT_MAX),
);
/** Source and destination pages. @public */
export const MOVE_PAIRS: Spec<readonly (readonly [number, number])[]> = placement(
  list(tuple(PAGES, PAGES)),
);

/** What transfers had held back that an operation ended. @public */
export const ENDED: Spec<EndedTransfers> = object({
  transfers: list(name("transfer")),
  freed: PAGE_LISTS,
});

/** Fields of every answer that frees. */
interface FreedFields extends Fields {
  readonly freed: Spec<PageLists>;
  readonly deferred: OptionalField<PageLists>;
  readonly ended: OptionalField<EndedTransfers>;
}
/** @public */
export const FREED_FIELDS: FreedFields = {
  freed: PAGE_LISTS,
  deferred: optional(PAGE_LISTS),
  ended: optional(ENDED),
};
/** @public */
export const FREED: Spec<FreedOk> = object(FREED_FIELDS);

/** @public */
export type Range = ObjectOf<{ from: Spec<number>; to: Spec<number> }>;
/** Half-open token positions. @public */
export const RANGE_FIELDS: { readonly from: Spec<number>; readonly to: Spec<number> } = {
  from: TOKENS,
  to: TOKENS,
};
