// Operations on network transfers.
import type { OperationGroup } from "./operation-spec.js";
import {
  BOOLEAN,
  COUNT,
  TOKENS,
  integer,
  list,
  name,
  object,
  optional,
  placement,
  word,
} from "./fields.js";
import { operation, take } from "./operation-spec.js";
import { EMPTY, ENDED, PAGE_LISTS, REQ, STEP, RANGE_FIELDS } from "./vocabulary.js";

const TRANSFER = name("transfer");
const WRITERS = optional(list(name("writer", "opens")));
const EPOCH_FIELDS = { pages: PAGE_LISTS, epoch: placement(COUNT) } as const;

/** @internal */
export const NET_OPERATIONS: OperationGroup<
  "net.send" | "net.receive" | "net.publish" | "net.stall" | "net.end"
> = {
  "net.send": operation("net.send", {
    doc: "Sends a request's pages and a state slot to another machine.",
    args: object({
      transfer: name("transfer", "opens"),
      req: REQ,
      ...RANGE_FIELDS,
      state: optional(word("main", "track", "replace", "cow")),
      held: optional(BOOLEAN),
      writers: WRITERS,
    }),
    ok: object(EPOCH_FIELDS),
    effects: ["wait", "net"],
  }),
  "net.receive": take("net.receive", {
    doc: "Takes pages and slots that another machine will fill.",
    args: object({
      transfer: name("transfer", "opens"),
      req: REQ,
      ...RANGE_FIELDS,
      tail: optional(TOKENS),
      state: optional(integer("slots")),
      writers: WRITERS,
    }),
    ok: object({ ...EPOCH_FIELDS, step: STEP, ended: optional(ENDED) }),
    effects: ["net"],
  }),
  "net.publish": operation("net.publish", {
    doc: "Tells the other machine the places of a held transfer, read again if need be.",
    args: object({ transfer: TRANSFER, deferred: optional(BOOLEAN) }),
    ok: object({ ...EPOCH_FIELDS, reread: placement(BOOLEAN) }),
    effects: ["hostread", "wait", "net"],
  }),
  "net.stall": operation("net.stall", {
    doc: "From now on a host wait for this transfer ends in `deadline`.",
    args: object({ transfer: TRANSFER }),
    ok: EMPTY,
  }),
  "net.end": operation("net.end", {
    doc: "A writer of a transfer ended, well or not.",
    args: object({
      transfer: name("transfer", "closes"),
      writer: optional(name("writer")),
      outcome: word("ok", "failed", "timeout"),
    }),
    ok: object({ released: PAGE_LISTS, late: BOOLEAN }),
  }),
};
