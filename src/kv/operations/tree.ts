// tree.match, tree.insert, tree.lock, tree.unlock.
import type { Answer, KvArgs, OperationError } from "../../base/operations.js";
import type { PrefixTree } from "../cache/prefix-tree.js";
import { searchTree } from "../cache/tree-match.js";
import type { TreeNode } from "../cache/tree-node.js";
import { invalid, type KvCore } from "../core.js";
import type { Request } from "../requests.js";
import { brokenInsert, insertRow } from "./tree-insert.js";

/** @internal */
export function treeMatch(core: KvCore, args: KvArgs["tree.match"]): Answer<"tree.match"> {
  const { tree } = core;
  const request = args.req === undefined ? null : core.requests.find(args.req);
  if (request === undefined) return { err: invalid("unknown_request", { req: args.req! }) };
  if (request !== null && (request.allocated > 0 || request.pages.length > 0))
    return { err: invalid("row_in_use", { req: request.name }) };
  const { len, end: found, slots, host } = searchTree(tree, args.key);
  const end = found.to === len ? found : tree.split(found, len);
  tree.touch(end, tree.useOf(core.chain.steps.clock));
  if (request !== null) takeMatch(core, request, end);
  return { ok: { len, slots: named(tree, slots), host: named(tree, host) } };
}

function named(tree: PrefixTree, tokens: readonly number[]): Record<string, number> {
  return Object.fromEntries(tree.slots.map(({ name, band }) => [name, tokens[band]!]));
}

/** An empty row takes the ids of the path to `end` and locks it. */
function takeMatch(core: KvCore, request: Request, end: TreeNode): void {
  const { tree, requests } = core;
  const path: TreeNode[] = [];
  for (let node = end; !node.isRoot; node = node.parent!) path.push(node);
  for (const node of path.reverse()) {
    for (const virtual of node.pages ?? []) {
      core.noteShared(request, request.pages.length);
      request.pages.push(virtual);
    }
  }
  requests.setAllocated(request, end.to);
  requests.setProtected(request, end.to);
  requests.setCheckpoint(request, end.to);
  // What the tree owns is not the row's to retire.
  for (const { band } of tree.windows) requests.setCursor(request, band, end.to);
  tree.locks.setOwn(request.name, end);
}

/** @internal */
export function treeInsert(core: KvCore, args: KvArgs["tree.insert"]): Answer<"tree.insert"> {
  const request = core.requests.find(args.req);
  if (request === undefined) return { err: invalid("unknown_request", { req: args.req }) };
  const broken = brokenInsert(core, request, args.key, args.len);
  if (broken !== null) return { err: broken };
  const { counts } = insertRow(core, request, args.key, args.len);
  return { ok: { ...counts, ...core.freed() } };
}

/** @internal */
export function treeLock(core: KvCore, args: KvArgs["tree.lock"]): Answer<"tree.lock"> {
  const { tree } = core;
  const missing = noDeviceNode(tree, args);
  if (missing !== null) return { err: missing };
  const node = tree.nodeAt(args.key, args.len)!; // found above
  tree.locks.addNamed(args.req, tree.lock(node));
  return { ok: {} };
}

function noDeviceNode(tree: PrefixTree, at: KvArgs["tree.lock"]): OperationError | null {
  const found = tree.reach(at.key, at.len);
  const isThere = found?.isOnDevice === true && !found.isRoot;
  return isThere ? null : invalid("no_node_at_len", { req: at.req });
}

/** @internal */
export function treeUnlock(core: KvCore, args: KvArgs["tree.unlock"]): Answer<"tree.unlock"> {
  const { tree } = core;
  const node = tree.reach(args.key, args.len);
  const isHeld = node?.to === args.len && tree.locks.dropNamed(args.req, node);
  return isHeld ? { ok: {} } : { err: invalid("lock_not_held", { req: args.req }) };
}
