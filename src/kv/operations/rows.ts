// row.alloc, row.free.
import type { Answer, KvArgs } from "../../base/operations.js";
import { invalid, type KvCore } from "../core.js";
import { PURPOSES, type Request } from "../requests.js";

/** @internal */
export function rowAlloc(core: KvCore, args: KvArgs["row.alloc"]): Answer<"row.alloc"> {
  const { requests } = core;
  const seen = new Set<string>();
  for (const name of args.reqs) {
    if (requests.find(name) !== undefined || seen.has(name))
      return { err: invalid("row_in_use", { req: name }) };
    seen.add(name);
  }
  if (args.reqs.length > requests.freeRows) {
    return { err: { code: "refused_rows", need: args.reqs.length, free: requests.freeRows } };
  }
  const rows: Record<string, number> = {};
  for (const name of args.reqs) rows[name] = requests.add(name, core.chain.bands.length).row;
  return { ok: { rows } };
}

/** @internal */
export function rowFree(core: KvCore, args: KvArgs["row.free"]): Answer<"row.free"> {
  const request = core.requests.find(args.req);
  if (request === undefined) return { err: invalid("unknown_request", { req: args.req }) };
  const isLocking = core.tree.locks.named(request.name).length > 0;
  if (holdsAnything(request) || isLocking || core.net.holds(request))
    return { err: invalid("row_in_use", { req: args.req }) };
  core.requests.close(request);
  return { ok: {} };
}

function holdsAnything(request: Request): boolean {
  return (
    request.pages.some((page) => page > 0) ||
    PURPOSES.some((purpose) => request.slots[purpose].length > 0)
  );
}
