// Operations on the prefix tree.
import type { OperationGroup } from "./operation-spec.js";
import { COUNT, PAGES, TOKENS, either, map, object, optional, text, word } from "./fields.js";
import { operation } from "./operation-spec.js";
import { DEMAND, EMPTY, KEY, REQ, FREED_FIELDS } from "./vocabulary.js";

const LOCK = object({ key: KEY, len: TOKENS, req: text("holder") });

/** @internal */
export const TREE_OPERATIONS: OperationGroup<
  "tree.match" | "tree.insert" | "tree.lock" | "tree.unlock" | "tree.evict"
> = {
  "tree.match": operation("tree.match", {
    doc: "Finds the longest cached prefix; with `req` the empty row takes it.",
    args: object({ key: KEY, req: optional(REQ) }),
    ok: object({ len: TOKENS, slots: map("band", TOKENS), host: map("band", TOKENS) }),
  }),
  "tree.insert": operation("tree.insert", {
    doc: "Puts the row's first whole pages into the tree.",
    args: object({ req: REQ, key: KEY, len: TOKENS }),
    ok: object({ new_pages: PAGES, duplicates: PAGES, rehomed: DEMAND, ...FREED_FIELDS }),
  }),
  "tree.lock": operation("tree.lock", {
    doc: "Locks the path of a node for a holder.",
    args: LOCK,
    ok: EMPTY,
    bracket: "opens",
  }),
  "tree.unlock": operation("tree.unlock", {
    doc: "Undoes one lock of a holder.",
    args: LOCK,
    ok: EMPTY,
    bracket: "closes",
  }),
  "tree.evict": operation("tree.evict", {
    doc: "Evicts by last use until a demand fits, or so many units a slot.",
    args: object({
      demand: optional(DEMAND),
      units: optional(map("band", either(word("all"), PAGES))),
    }),
    ok: object({ ...FREED_FIELDS, nodes: COUNT }),
    refusals: ["refused_capacity"],
  }),
};
