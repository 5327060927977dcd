// Questions: they change nothing.
import type { OperationGroup } from "./operation-spec.js";
import {
  BOOLEAN,
  EXTENTS,
  PAGES,
  TOKENS,
  either,
  integer,
  list,
  map,
  name,
  nullable,
  object,
  optional,
  placement,
  text,
  word,
} from "./fields.js";
import { question } from "./operation-spec.js";
import { DEMAND, KEY, PAGE_LISTS, REQ, SPAN } from "./vocabulary.js";

const QUEUED = name("request", "asks"); // who waits has no row yet
const FITS = object({ fits: BOOLEAN });

/** @internal */
export const QUESTION_OPERATIONS: OperationGroup<
  | "admit.pass"
  | "ask.plan"
  | "ask.fits"
  | "ask.fits_after_frees"
  | "ask.prealloc"
  | "ask.max_new_tokens"
  | "ask.translate"
  | "ask.estimates"
> = {
  "admit.pass": question("admit.pass", {
    doc: "Judges a queue in order: admit, a chunk, wait, or abort.",
    args: object({
      queue: list(object({ req: QUEUED, key: optional(KEY), input: TOKENS, max_new: TOKENS })),
      chunk: optional(TOKENS),
      reserve: optional(DEMAND),
    }),
    ok: map(
      "request",
      object({
        verdict: word("admit", "chunk", "wait", "abort"),
        tokens: TOKENS,
        reason: nullable(word("never_fits", "unschedulable")),
      }),
    ),
  }),
  "ask.plan": question("ask.plan", {
    doc: "The step that a take of this demand would need, and where bands would lie.",
    args: object({ demand: DEMAND }),
    ok: object({
      step: word("no_move", "flush_ends", "relayout", "none"),
      spans: optional(map("band", SPAN)),
      moves: optional(placement(map("band", PAGES))),
    }),
  }),
  "ask.fits": question("ask.fits", {
    doc: "Whether exactly this take would succeed now.",
    args: object({ demand: DEMAND }),
    ok: FITS,
  }),
  "ask.fits_after_frees": question("ask.fits_after_frees", {
    doc: "Whether this take would succeed after these frees.",
    args: object({ demand: DEMAND, frees: either(word("evictable"), DEMAND) }),
    ok: FITS,
  }),
  "ask.prealloc": question("ask.prealloc", {
    doc: "Whether this demand would fit beside another that is held.",
    args: object({ demand: DEMAND, held: DEMAND }),
    ok: FITS,
  }),
  "ask.max_new_tokens": question("ask.max_new_tokens", {
    doc: "The longest output that a request of this input could have on an empty chain.",
    args: object({ input: TOKENS, max_new: TOKENS, chunk: optional(TOKENS) }),
    ok: object({ tokens: nullable(TOKENS) }),
  }),
  "ask.translate": question("ask.translate", {
    doc: "The physical pages of virtual ids or of token positions; 0 where unbound.",
    args: object({
      virtual: optional(EXTENTS),
      req: optional(REQ),
      from: optional(TOKENS),
      to: optional(TOKENS),
    }),
    ok: object({ pages: PAGE_LISTS }),
  }),
  "ask.estimates": question("ask.estimates", {
    doc: "Observer's figures a band; never a basis of decisions.",
    args: object({ inside: optional(text()) }),
    ok: map(
      "band",
      object({
        held: integer("tokens, slots for state"),
        available: integer("tokens, slots for state"),
        usage: integer("percent"),
      }),
    ),
  }),
};
