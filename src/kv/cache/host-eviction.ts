// Eviction of host copies.
import type { OperationError } from "../../base/operations.js";
import type { KvCore } from "../core.js";

/** Takes host pages by band index, evicting host copies where the pools lack some; or the refusal, changing nothing.
 * @internal */
export function takeHostPages(core: KvCore, need: readonly number[]): number[][] | OperationError {
  const { pools } = core.host;
  const short = pools.shortage(need);
  return short ?? pools.take(need);
}
