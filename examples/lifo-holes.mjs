// An allocator that differs from this project's own in one decision: of the free pages inside a band it reuses the one
// freed last, not the one freed first. Everything else is the same code. `npm run demo` shows how compare finds it.
//
//   unified-trace compare --trace base.jsonl --candidate module:examples/lifo-holes.mjs
import { KV_OPERATIONS, KVStorage } from "../dist/index.js";
import { Band } from "../dist/kv/alloc/band.js";

// While a take picks pages, the oldest hole and the newest change places. This reaches into the allocator, as a change
// of its source would; an implementation of your own needs nothing but createImplementation.
const acquire = Band.prototype.acquire;
Band.prototype.acquire = function (...request) {
  const { holes } = this;
  holes.shift = holes.pop; // shadows the method of the prototype
  try {
    return acquire.apply(this, request);
  } finally {
    delete holes.shift;
  }
};

export const info = {
  name: "lifo-holes",
  version: "1.0.0",
  ops: KV_OPERATIONS,
  digest: "layout",
  fx: true,
};

/** One run: an object that answers operations. */
export function createImplementation(config, { digestDepth }) {
  const storage = new KVStorage(config, { digestDepth });
  return {
    apply(operation) {
      const answer = storage.apply(operation);
      const digest = storage.takeDigest();
      return digest === undefined ? answer : { ...answer, digest };
    },
    state: () => storage.state(),
    close: () => storage.endDigest(),
  };
}
