// Which operations are answered yet: a group of the generator begins with the day on which its kinds are.
import type { KvOperation, KvOperationName } from "../base/operations.js";
import { KV_OPERATIONS } from "../kv/storage.js";

const ANSWERED: ReadonlySet<KvOperationName> = new Set(KV_OPERATIONS);

/** Whether the allocator answers an operation. @internal */
export function isAnswered(operation: KvOperation): boolean {
  if (!ANSWERED.has(operation.op)) return false;
  switch (operation.op) {
    case "request.finish":
      return !operation.args.insert || ANSWERED.has("tree.insert");
    case "request.retract":
      return operation.args.backup === undefined || ANSWERED.has("request.restore");
    case "state.copy":
      return !("key" in operation.args.from) || ANSWERED.has("tree.insert");
    case "host.load_reserve":
      return operation.args.key === undefined || ANSWERED.has("host.backup");
    default:
      return true;
  }
}
