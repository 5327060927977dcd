// Operations on the host cache: backups, loads, evictions.
import type { OperationGroup } from "./operation-spec.js";
import { COUNT, TOKENS, name, object, optional } from "./fields.js";
import { operation, take } from "./operation-spec.js";
import {
  DEMAND,
  EMPTY,
  ENDED,
  FREED,
  HOST_LISTS,
  KEY,
  OUTCOME,
  PAGE_LISTS,
  REQ,
  STEP,
} from "./vocabulary.js";

const DONE = object({ copy: name("copy", "closes"), outcome: OUTCOME });

/** @internal */
export const HOST_OPERATIONS: OperationGroup<
  | "host.backup"
  | "host.backup_done"
  | "host.load_reserve"
  | "host.load_bind"
  | "host.load_submit"
  | "host.load_cancel"
  | "host.load_done"
  | "host.evict"
> = {
  "host.backup": operation("host.backup", {
    doc: "Copies tree nodes of a path to the host, parents first.",
    args: object({ copy: name("copy", "opens"), key: KEY, len: TOKENS }),
    ok: object({ host: HOST_LISTS }),
    refusals: ["refused_host"],
    effects: ["wait", "hostcopy"],
  }),
  "host.backup_done": operation("host.backup_done", {
    doc: "Ends a host copy; a failed one gives its host pages back.",
    args: DONE,
    ok: EMPTY,
  }),
  "host.load_reserve": take("host.load_reserve", {
    doc: "Reserves the device pages of a load, for a key or a stated demand.",
    args: object({
      load: name("load", "opens"),
      key: optional(KEY),
      len: optional(TOKENS),
      demand: optional(DEMAND),
    }),
    ok: object({ pages: PAGE_LISTS, step: STEP, ended: optional(ENDED) }),
  }),
  "host.load_bind": operation("host.load_bind", {
    doc: "Binds a load's window pages to the owner's ids of their positions.",
    args: object({ load: name("load"), req: optional(REQ), from: optional(TOKENS) }),
    ok: object({ bound: PAGE_LISTS }),
  }),
  "host.load_submit": operation("host.load_submit", {
    doc: "Starts the copy of a load and ends its reservations.",
    args: object({ load: name("load", "closes"), copy: name("copy", "opens") }),
    ok: object({ pages: PAGE_LISTS }),
    effects: ["wait", "hostcopy"],
  }),
  "host.load_cancel": operation("host.load_cancel", {
    doc: "Gives a load up before it is submitted.",
    args: object({ load: name("load", "closes") }),
    ok: FREED,
  }),
  "host.load_done": operation("host.load_done", {
    doc: "Ends the copy of a load; a failed one frees what was loaded.",
    args: DONE,
    ok: FREED,
  }),
  "host.evict": operation("host.evict", {
    doc: "Evicts host copies until the demand in host units fits.",
    args: object({ demand: DEMAND }),
    ok: object({ freed: HOST_LISTS, nodes: COUNT }),
    refusals: ["refused_host"],
  }),
};
