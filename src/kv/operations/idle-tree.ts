// What is wrong with the books of the prefix tree; empty when healthy.
import type { IdleViolation } from "../../base/operations.js";
import type { TreeNode } from "../cache/tree-node.js";
import type { KvCore } from "../core.js";

/** @internal */
export function treeViolations(core: KvCore): readonly IdleViolation[] {
  const { tree } = core;
  const violations: IdleViolation[] = [];
  const expected = lockCounts(core);
  const sources = hostLockCounts(core);
  const held = core.chain.bands.map(() => 0);
  const evictable = core.chain.bands.map(() => 0);
  let nodes = 0;
  for (const node of tree.walk()) {
    nodes += 1;
    if (node.hostLocks !== (sources.get(node) ?? 0))
      violations.push({ check: "host_locks", detail: `node of tokens ${node.from} to ${node.to}` });
    violations.push(...nodeViolations(core, node, expected.get(node)));
    for (const slot of tree.slots) {
      const units = tree.unitsOf(node, slot);
      held[slot.band]! += units;
      const isFree = slot.kind === "full" ? !node.isLocked : node.locks[slot.band] === 0;
      if (isFree) evictable[slot.band]! += units;
    }
  }
  const isCounted =
    nodes === tree.nodes &&
    held.every((units, band) => units === tree.held[band]) &&
    evictable.every((units, band) => units === tree.evictable[band]);
  if (!isCounted) violations.push({ check: "tree_counts" });
  const fresh = tree.recomputed();
  if (fresh.a !== tree.cells.a || fresh.b !== tree.cells.b)
    violations.push({ check: "digest_drift", detail: "tree" });
  return violations;
}

/** Loads by the nodes whose host copies they read. */
function hostLockCounts({ host }: KvCore): Map<TreeNode, number> {
  const counts = new Map<TreeNode, number>();
  for (const { path } of host.openLoads())
    for (const node of path?.sources ?? []) counts.set(node, (counts.get(node) ?? 0) + 1);
  return counts;
}

/** Lock counts by node and band as the locks that are held make them. */
function lockCounts({ tree }: KvCore): Map<TreeNode, number[]> {
  const counts = new Map<TreeNode, number[]>();
  for (const lock of tree.locks.all) {
    for (let node = lock.node; !node.isRoot; node = node.parent!) {
      const list = counts.get(node) ?? tree.orders.map(() => 0);
      counts.set(node, list);
      for (const { kind, band } of tree.slots) {
        const isLocked =
          kind === "full" ||
          (kind === "state" ? node === lock.node : node.from >= lock.windowFrom[band]!);
        if (isLocked) list[band]! += 1;
      }
    }
  }
  return counts;
}

function nodeViolations(
  { tree, chain }: KvCore,
  node: TreeNode,
  locks: readonly number[] | undefined,
): readonly IdleViolation[] {
  const violations: IdleViolation[] = [];
  const detail = `node of tokens ${node.from} to ${node.to}`;
  for (const { band, name } of tree.slots) {
    if (node.locks[band] !== (locks?.[band] ?? 0))
      violations.push({ check: "tree_locks", band: name, detail });
  }
  const full = node.locks[tree.full.band]!;
  const state = tree.state === null ? 0 : node.locks[tree.state.band]!;
  const windows = tree.windows.map(({ band }) => node.locks[band]!);
  if (windows.some((count) => count > full || count < state) || state > full)
    violations.push({ check: "tree_lock_order", detail });
  if (node.isOnDevice && !node.parent!.isOnDevice)
    violations.push({ check: "tree_parents", detail });
  if (!node.isOnDevice && !node.hasHost && !node.isLocked)
    violations.push({ check: "tree_empty_node", detail });
  for (const slot of tree.windows) {
    if (tree.unitsOf(node, slot) === 0) continue;
    const band = chain.bands[slot.band]!; // a slot's band
    if (node.pages!.some((virtual) => band.v2p[virtual] === 0))
      violations.push({ check: "tree_window_unbound", band: slot.name, detail });
  }
  return violations;
}
