// Questions and what concerns the arena as a whole: resizing it, agreement between stages, its books.
import type { KvOperation, QueueEntry } from "../base/operations.js";
import type { Builders, SeededDraws } from "./seeded-draws.js";
import { cutKey } from "./seeded-keys.js";

/** Tokens on whose multiples chunks end (`docs/trace-format.md`, admission). @internal */
export function chunkGrid({ model }: SeededDraws): number {
  const { checkpoint, prefix_sharing, page_size: size } = model.config;
  const hasFloor =
    prefix_sharing === true &&
    model.state !== null &&
    model.windows.length > 0 &&
    checkpoint !== undefined &&
    checkpoint.strategy !== "no_buffer";
  const interval = hasFloor ? (checkpoint.interval ?? 0) : 0;
  if (interval === 0) return size;
  let [left, right] = [size, interval];
  while (right > 0) [left, right] = [right, left % right];
  return (size / left) * interval;
}

function admitPass(draws: SeededDraws): KvOperation {
  const { prng } = draws;
  const names = draws.requestNames(prng.between(1, 3));
  const queue = names.map((req) => queueEntry(draws, req, 0));
  const open = draws.request();
  if (open !== undefined && prng.chance(1, 2))
    queue.push(queueEntry(draws, open.name, open.allocated));
  const chunk = chunkGrid(draws) * prng.between(1, 4);
  const args = {
    queue,
    ...(prng.chance(2, 3) ? { chunk } : {}),
    ...(prng.chance(1, 4) ? { reserve: draws.demand() } : {}),
  };
  return { op: "admit.pass", args };
}

function queueEntry(draws: SeededDraws, req: string, allocated: number): QueueEntry {
  const { prng, model } = draws;
  const pages = draws.amount(model.tokenPageBytes);
  const input = allocated + Math.max(1, pages * model.pageSize - prng.below(model.pageSize));
  const max_new = prng.below(1 + 3 * model.pageSize);
  if (allocated > 0 || model.config.prefix_sharing !== true || prng.chance(1, 3))
    return { req, input, max_new };
  return { req, key: cutKey(draws.keys.document(prng), input), input, max_new };
}

function askMaxNewTokens(draws: SeededDraws): KvOperation {
  const { prng, model } = draws;
  const input = prng.between(1, Math.max(1, Math.floor(model.config.row_tokens / 2)));
  const max_new = prng.below(model.config.row_tokens);
  const chunk = chunkGrid(draws) * prng.between(1, 4);
  return {
    op: "ask.max_new_tokens",
    args: { input, max_new, ...(prng.chance(1, 2) ? { chunk } : {}) },
  };
}

function askEstimates(draws: SeededDraws): KvOperation {
  const isInside = draws.model.config.invariants !== 2 && draws.prng.chance(1, 4);
  return { op: "ask.estimates", args: isInside ? { inside: "admission" } : {} };
}

function askTranslate(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  const request = draws.request((each) => each.allocated > 0);
  if (request === undefined || prng.chance(1, 4)) {
    return { op: "ask.translate", args: { virtual: [[prng.between(1, 8), prng.between(1, 6)]] } };
  }
  const to = prng.between(1, request.allocated);
  const from = Math.max(0, to - prng.between(1, 6 * model.pageSize));
  return { op: "ask.translate", args: { req: request.name, from, to } };
}

/** Only before anything was taken; a failing chunk leaves all as it was. */
function arenaResize(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  if (model.hasTaken || model.hasStages || model.isGroupOpen || model.forwards.length > 0)
    return null;
  const { arena_bytes: bytes } = model.config;
  const arena_bytes = bytes + prng.below(1 + Math.floor(bytes / 2));
  const chunk_bytes = prng.between(1, Math.max(1, Math.floor(bytes / 8)));
  const chunks = Math.ceil((arena_bytes - bytes) / chunk_bytes);
  // The run's own figures stay those of its configuration: what a resize grants is not counted on.
  const fail = chunks > 0 && prng.chance(1, 2) ? { fail_chunk: prng.between(1, chunks) } : {};
  return { op: "arena.resize", args: { arena_bytes, chunk_bytes, ...fail } };
}

/** This stage's agreement digest; what the peer says is nobody's business here. */
function stagesDigest({ model }: SeededDraws): KvOperation | null {
  if (!model.hasStages) return null;
  return { op: "stages.digest", args: { iteration: model.digests + 1 } };
}

/** @internal */
export const QUESTION_BUILDERS: Builders = {
  "admit.pass": admitPass,
  "ask.plan": (draws) => ({ op: "ask.plan", args: { demand: draws.demand() } }),
  "ask.fits": (draws) => ({ op: "ask.fits", args: { demand: draws.demand() } }),
  "ask.fits_after_frees": (draws) => ({
    op: "ask.fits_after_frees",
    args: {
      demand: draws.demand(),
      frees: draws.isWhole && draws.prng.chance(1, 2) ? "evictable" : draws.demand(),
    },
  }),
  "ask.prealloc": (draws) => ({
    op: "ask.prealloc",
    args: { demand: draws.demand(), held: draws.demand() },
  }),
  "ask.max_new_tokens": askMaxNewTokens,
  "ask.translate": askTranslate,
  "ask.estimates": askEstimates,
  "arena.resize": arenaResize,
  "stages.digest": stagesDigest,
  "check.idle": () => ({ op: "check.idle", args: {} }),
};
