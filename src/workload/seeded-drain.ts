// The end of a run: how many operations ending everything would take, and the next of them.
import type { KvOperation } from "../base/operations.js";
import type { SeededDraws } from "./seeded-draws.js";
import { legalOperation } from "./seeded-legal.js";
import type { SeededModel } from "./seeded-model.js";

const TAIL_LENGTH = 3; // flush, flush, check.idle

/** Operations that ending everything would take now, at most. @internal */
export function drainLength(model: SeededModel): number {
  const { tree, host, net } = model;
  const open = model.forwards.filter((forward) => !forward.recorded && !forward.prebuilt).length;
  return (
    open +
    Number(model.isGroupOpen) +
    model.forwards.length +
    model.requests.size +
    host.loads.size +
    host.copies.size +
    net.open.size +
    tree.locks.length +
    Number(tree.isUsed || host.isUsed) +
    TAIL_LENGTH
  );
}

/** The next operation of a drain with `left` operations to go, this one included. @internal */
export function drainStep(draws: SeededDraws, left: number): KvOperation {
  const ending =
    legalOperation("forward.record", draws) ??
    legalOperation("group.end", draws) ??
    endOutside(draws.model) ??
    legalOperation("forward.process", draws) ??
    finishAny(draws) ??
    discard(draws.model);
  if (ending !== null) return ending;
  return left === 1 ? { op: "check.idle", args: {} } : { op: "chain.flush", args: {} };
}

/** Ends a load, copy, transfer or lock. */
function endOutside({ host, net, tree }: SeededModel): KvOperation | null {
  for (const load of host.loads.keys()) return { op: "host.load_cancel", args: { load } };
  for (const { kind, name: copy } of host.copies.values()) {
    const op = kind === "load" || kind === "restore" ? "host.load_done" : "host.backup_done";
    return { op, args: { copy, outcome: "ok" } };
  }
  for (const transfer of net.open.keys())
    return { op: "net.end", args: { transfer, outcome: "timeout" } };
  for (const lock of tree.locks) return { op: "tree.unlock", args: lock };
  return null;
}

function finishAny(draws: SeededDraws): KvOperation | null {
  const request = draws.request();
  if (request === undefined) return null;
  const { name: req, allocated: len } = request;
  return { op: "request.finish", args: { req, len, insert: false } };
}

/** What the tree holds goes, and with it what the host keeps of it and of retracted requests. */
function discard({ tree, host }: SeededModel): KvOperation | null {
  return tree.isUsed || host.isUsed ? { op: "contents.discard", args: {} } : null;
}
