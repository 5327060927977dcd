// The lengths of every open row, checked after each processed forward where the run asks for it (`check_lengths`).
import type { KvCore } from "../core.js";
import type { Request } from "../requests.js";

/** Tells of rows whose lengths are out of order, or fails, as the run's level says. A caller gets there by retiring a window
 * at a length that its row does not have. @internal */
export function checkLengths(core: KvCore): void {
  const { invariants } = core.chain;
  for (const request of core.requests.open.values()) {
    const wrong = wrongLength(core, request);
    if (wrong !== null) invariants.check(false, "request.lengths", `${request.name}: ${wrong}`);
  }
}

/** Protected, cursors, allocated, row: none beyond the next, by page; null where that holds. */
function wrongLength(core: KvCore, request: Request): string | null {
  const { pageSize, rowTokens } = core.config;
  const { allocated, protected: owned } = request;
  if (allocated > rowTokens) return `${allocated} tokens allocated, the row has ${rowTokens}`;
  const end = core.pagesOf(allocated) * pageSize;
  if (owned > end) return `${owned} tokens protected, ${allocated} allocated`;
  for (const { index, plan } of core.windowBands) {
    const cursor = request.cursors[index]!; // one cursor a band
    if (cursor < owned) return `${plan.name} retired to ${cursor}, ${owned} tokens protected`;
    if (cursor > end) return `${plan.name} retired to ${cursor}, ${allocated} tokens allocated`;
  }
  return null;
}
