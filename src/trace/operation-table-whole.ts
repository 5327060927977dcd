// Operations on the whole: pipeline stages, contents, the idle check.
import type { OperationGroup } from "./operation-spec.js";
import { STAGE_CONFIG } from "./config-spec.js";
import { BOOLEAN, COUNT, id, list, object, optional, setOf, text } from "./fields.js";
import { operation } from "./operation-spec.js";
import { EMPTY, PAGE_LISTS } from "./vocabulary.js";

const VIOLATION = object({
  check: text("word"),
  band: optional(text("band")),
  page: optional(id("unnamed", "pages")),
  slot: optional(id("unnamed")),
  row: optional(id("unnamed")),
  taken_by: optional(COUNT),
  detail: optional(text()),
});

/** @internal */
export const WHOLE_OPERATIONS: OperationGroup<
  "stages.install" | "stages.digest" | "contents.discard" | "check.idle"
> = {
  "stages.install": operation("stages.install", {
    doc: "From now on every answer holds for all these pipeline stages.",
    args: object({ stages: list(STAGE_CONFIG), self: COUNT }),
    ok: EMPTY,
    refusals: ["refused_plan"],
  }),
  "stages.digest": operation("stages.digest", {
    doc: "The digest of questions and answers since the last; a peer's must be equal.",
    args: object({ iteration: COUNT, peer: optional(text("hex64")) }),
    ok: object({ digest: text("hex64") }),
  }),
  "contents.discard": operation("contents.discard", {
    doc: "Empties the tree when nothing holds its contents.",
    args: EMPTY,
    ok: object({ freed: PAGE_LISTS }),
    refusals: ["refused_busy"],
  }),
  "check.idle": operation("check.idle", {
    doc: "Looks for leaks and broken conservation by identity.",
    args: EMPTY,
    ok: object({ violations: setOf(VIOLATION), skipped: BOOLEAN }),
  }),
};
