// Operations on forwards and on the chain of bands.
import type { OperationGroup } from "./operation-spec.js";
import {
  COUNT,
  ROW_EXTENTS,
  PAGES,
  TOKENS,
  list,
  map,
  name,
  object,
  optional,
  placement,
  text,
  word,
} from "./fields.js";
import { operation, take } from "./operation-spec.js";
import {
  DEMAND,
  EMPTY,
  ENDED,
  MOVE_PAIRS,
  PAGE_LISTS,
  REQ,
  SPAN,
  STEP,
  RANGE_FIELDS,
} from "./vocabulary.js";

const FORWARD = name("forward");
const FORWARD_ENTRY = object({ req: REQ, ...RANGE_FIELDS, track: optional(TOKENS) });

/** @internal */
export const FORWARD_OPERATIONS: OperationGroup<
  | "forward.launch"
  | "forward.record"
  | "forward.barrier"
  | "forward.process"
  | "event.fire"
  | "chain.flush"
  | "chain.relieve"
> = {
  "forward.launch": operation("forward.launch", {
    doc: "Issues a forward over rows; it reads `[0,to)` and writes `[from,to)` of each.",
    args: object({
      step: name("forward", "opens"),
      batch: list(FORWARD_ENTRY),
      mode: word("extend", "decode", "verify", "prebuilt"),
    }),
    ok: object({ resets: ROW_EXTENTS, ended: optional(ENDED) }),
    refusals: ["deadline"],
    effects: ["hostwait", "wait", "reset", "forward"],
  }),
  "forward.record": operation("forward.record", {
    doc: "Records the launched forward's event.",
    args: object({ step: FORWARD, writes: word("known", "unknown") }),
    ok: EMPTY,
    effects: ["event"],
  }),
  "forward.barrier": operation("forward.barrier", {
    doc: "Orders the schedule stream behind a forward's reads.",
    args: object({ step: FORWARD }),
    ok: EMPTY,
    effects: ["barrier"],
  }),
  "forward.process": operation("forward.process", {
    doc: "Takes in a forward's result, in launch order; what pended under it is free.",
    args: object({ step: name("forward", "closes") }),
    ok: object({ released: PAGE_LISTS }),
  }),
  "event.fire": operation("event.fire", {
    doc: "Tells one rank's device that an event has fired; changes no line.",
    args: object({ event: text("signal"), rank: COUNT }),
    ok: EMPTY,
  }),
  "chain.flush": operation("chain.flush", {
    doc: "Moves pages into holes and absorbs boundary holes, blocking on nothing.",
    args: EMPTY,
    ok: map("band", object({ moves: MOVE_PAIRS, absorbed: placement(PAGES) })),
    effects: ["wait", "move"],
  }),
  "chain.relieve": take("chain.relieve", {
    doc: "Does what a take of this demand does before it hands out.",
    args: object({ demand: DEMAND }),
    ok: object({
      spans: map("band", SPAN),
      moves: placement(map("band", PAGES)),
      step: STEP,
      ended: optional(ENDED),
    }),
  }),
};
