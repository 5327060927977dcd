// Domain `heap`: allocators that return addresses.
import type { OperationGroup } from "./operation-spec.js";
import {
  BYTES,
  COUNT,
  POSITIVE,
  either,
  id,
  list,
  name,
  object,
  optional,
  text,
} from "./fields.js";
import { operation } from "./operation-spec.js";
import { EMPTY } from "./vocabulary.js";

const POOL = text("any");
const ADDRESS = object({ address_offset: optional(id("address", "bytes")) });

/** @internal */
export const HEAP_OPERATIONS: OperationGroup<
  | "heap.alloc"
  | "heap.free"
  | "heap.realloc"
  | "heap.copy"
  | "heap.release"
  | "heap.coalesce"
  | "pool.make"
> = {
  "heap.alloc": operation("heap.alloc", {
    doc: "Allocates an object; `id` names this one lifetime.",
    args: object({
      id: name("object", "opens"),
      size_bytes: BYTES,
      align_bytes: optional(POSITIVE),
      stream: optional(text()),
      pool: optional(POOL),
    }),
    ok: ADDRESS,
    refusals: ["refused_capacity", "refused_ids"],
  }),
  "heap.free": operation("heap.free", {
    doc: "Frees an object.",
    args: object({ id: name("object", "closes"), stream: optional(text()) }),
    ok: EMPTY,
  }),
  "heap.realloc": operation("heap.realloc", {
    doc: "Gives an object another size.",
    args: object({ id: name("object"), size_bytes: BYTES }),
    ok: ADDRESS,
    refusals: ["refused_capacity", "refused_ids"],
  }),
  "heap.copy": operation("heap.copy", {
    doc: "Copies bytes between two objects.",
    args: object({ from: name("object"), to: name("object"), bytes: BYTES }),
    ok: EMPTY,
  }),
  "heap.release": operation("heap.release", {
    doc: "Gives back what a pool caches.",
    args: object({ pool: optional(POOL) }),
    ok: EMPTY,
  }),
  "heap.coalesce": operation("heap.coalesce", {
    doc: "Merges free neighbours in a pool.",
    args: object({ pool: optional(POOL) }),
    ok: EMPTY,
  }),
  "pool.make": operation("pool.make", {
    doc: "Makes a pool of a type.",
    args: object({ pool: POOL, type: text(), args: optional(list(either(text(), COUNT))) }),
    ok: EMPTY,
    refusals: ["refused_plan", "refused_backing"],
  }),
};
