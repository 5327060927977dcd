// A candidate with a planted change: at the first take from an operation on (60,000, or UT_PLANT_FROM) that gets two or more
// pages of `full`, it hands them out the other way round, once. Needs a built checkout.
import { Band } from "../../dist/kv/alloc/band.js";
import { KV_OPERATIONS, KVStorage } from "../../dist/kv/storage.js";

const FROM = Number(process.env.UT_PLANT_FROM ?? 60_000); // operation

let operations = 0;
let isPlanted = false;
const { acquire } = Band.prototype;
Band.prototype.acquire = function (...args) {
  const pages = acquire.apply(this, args);
  if (isPlanted || operations <= FROM || this.plan.name !== "full" || pages.length < 2)
    return pages;
  isPlanted = true;
  return pages.reverse();
};

export const info = {
  name: "pages-swapped-once",
  version: "1",
  ops: KV_OPERATIONS,
  digest: "layout",
  fx: true,
};

export function createImplementation(config, { digestDepth }) {
  const storage = new KVStorage(config, { digestDepth });
  operations = 0;
  isPlanted = false;
  return {
    apply(operation) {
      operations += 1;
      const answer = storage.apply(operation);
      const digest = digestDepth === null ? undefined : storage.takeDigest(undefined);
      return digest === undefined ? answer : { ...answer, digest };
    },
    state: () => storage.state(),
    close: () => (digestDepth === null ? null : storage.endDigest(undefined)),
  };
}
