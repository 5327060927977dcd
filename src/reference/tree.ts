// The prefix tree: nodes of whole pages, walked token by token, split where somebody needs an end.
import { byCodeUnit } from "../base/canonical-json.js";
import type { Key } from "../base/operations.js";
import {
  bandNamed,
  type HostPages,
  ownerOf,
  stateBandOf,
  type TreeNode,
  windowsOf,
  type World,
} from "./world.js";

/**
 * One label a whole page of a key: its runs of tokens, `HASH:OFFSET+TOKENS` between commas, so that two keys share pages
 * exactly as far as their labels agree. @internal
 */
export function labelsOf(world: World, key: Key): string[] {
  const { page_size: pageSize } = world.config;
  const labels: string[] = [];
  let runs: Run[] = [];
  let missing = pageSize; // tokens until the page is whole
  for (const [hash, tokens] of key) {
    for (let from = 0; from < tokens;) {
      const count = Math.min(missing, tokens - from);
      addRun(runs, { hash: JSON.stringify(hash), from, count });
      from += count;
      missing -= count;
      if (missing > 0) continue;
      labels.push(runs.map((run) => `${run.hash}:${run.from}+${run.count}`).join(","));
      runs = [];
      missing = pageSize;
    }
  }
  return labels;
}

/** Tokens of a key. @internal */
export function tokensOf(key: Key): number {
  return key.reduce((sum, [, tokens]) => sum + tokens, 0);
}

/** The labels of the first `len` tokens, whole pages. @internal */
export function firstOf(world: World, labels: readonly string[], len: number): string[] {
  return labels.slice(0, Math.floor(len / world.config.page_size));
}

// Tokens `[from, from + count)` of one segment of a key.
interface Run {
  readonly hash: string; // as JSON writes it
  readonly from: number;
  readonly count: number;
}

// Runs that touch are one.
function addRun(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (last?.hash === run.hash && last.from + last.count === run.from)
    runs[runs.length - 1] = { ...last, count: last.count + run.count };
  else runs.push(run);
}

// The runs of a label, in order.
function runsOf(label: string): Run[] {
  const runs = label.matchAll(/("(?:[^"\\]|\\.)*"|[^",:]+):(\d+)\+(\d+)/g);
  return [...runs].map(([, hash = "", from, count]) => ({
    hash,
    from: Number(from),
    count: Number(count),
  }));
}

/** A node on the way of a key, and how much of it the key shares (tokens, whole pages, from its start). @internal */
export interface PathStep {
  readonly node: TreeNode;
  readonly shared: number;
}

/** @internal */
export function childrenOf(world: World, node: TreeNode | null): TreeNode[] {
  return world.tree.filter((child) => child.parent === (node?.id ?? null));
}

/** All nodes, parents before children and siblings by key. @internal */
export function inKeyOrder(world: World, parent: TreeNode | null = null): TreeNode[] {
  return childrenOf(world, parent)
    .sort((left, right) => byKey(left.labels, right.labels))
    .flatMap((node) => [node, ...inKeyOrder(world, node)]);
}

// By the first page, in which siblings differ: by the first run that differs, numbers before texts, then by offset and length.
function byKey(left: readonly string[], right: readonly string[]): number {
  const others = runsOf(right[0] ?? "");
  const differences = runsOf(left[0] ?? "").map((run, index) => byRun(run, others[index]));
  return differences.find((difference) => difference !== 0) ?? 0;
}

function byRun(left: Run, right: Run | undefined): number {
  if (right === undefined) return 1;
  if (left.hash === right.hash) return left.from - right.from || left.count - right.count;
  const [isText, isOtherText] = [left.hash.startsWith('"'), right.hash.startsWith('"')];
  if (isText !== isOtherText) return isText ? 1 : -1;
  return isText ? byCodeUnit(left.hash, right.hash) : Number(left.hash) - Number(right.hash);
}

/** The way of the labels from the root, as far as whole pages agree. @internal */
export function walk(world: World, labels: readonly string[]): PathStep[] {
  const { page_size: pageSize } = world.config;
  const steps: PathStep[] = [];
  for (let at: TreeNode | null = null; ;) {
    const rest = labels.slice((at?.to ?? 0) / pageSize);
    const next: PathStep | undefined = childrenOf(world, at)
      .map((node) => ({ node, shared: sharedPages(node.labels, rest) * pageSize }))
      .find(({ shared }) => shared > 0);
    if (next === undefined) return steps;
    steps.push(next);
    if (next.shared < next.node.to - next.node.from) return steps;
    at = next.node;
  }
}

function sharedPages(left: readonly string[], right: readonly string[]): number {
  let shared = 0;
  while (shared < left.length && left[shared] === right[shared]) shared += 1;
  return shared;
}

/** Tokens that a way covers. @internal */
export function reachOf(steps: readonly PathStep[]): number {
  const last = steps.at(-1);
  return last === undefined ? 0 : last.node.from + last.shared;
}

/** The nodes from the root to the one that ends at `len`, which is split off if need be; null: the key does not reach it. @internal */
export function pathTo(world: World, labels: readonly string[], len: number): TreeNode[] | null {
  if (len % world.config.page_size !== 0) return null;
  const first = firstOf(world, labels, len);
  if (reachOf(walk(world, first)) < len) return null;
  splitAt(world, labels, len);
  return walk(world, first).map(({ node }) => node);
}

/** The node that the labels reach and that ends at `len`; nothing is split for it. Null: there is none. @internal */
export function nodeEndingAt(
  world: World,
  labels: readonly string[],
  len: number,
): TreeNode | null {
  const step = walk(world, firstOf(world, labels, len)).at(-1);
  return step?.node.to === len && step.node.from + step.shared === len ? step.node : null;
}

/** Makes a node end at `at` on the way of the labels, which must reach it. @internal */
export function splitAt(world: World, labels: readonly string[], at: number): void {
  const step = walk(world, firstOf(world, labels, at)).at(-1);
  if (step === undefined || step.node.to <= at) return;
  split(world, step.node, at);
}

// The lower part stays the node, with the state at its end; the upper part is new. Locks hold on both.
function split(world: World, node: TreeNode, at: number): void {
  const { page_size: pageSize } = world.config;
  const pages = (at - node.from) / pageSize;
  const state = stateBandOf(world)?.name;
  const upper: TreeNode = {
    ...node,
    id: world.nodeCount,
    to: at,
    labels: node.labels.slice(0, pages),
    ids: node.ids?.slice(0, pages) ?? null,
    windows: { ...node.windows },
    state: null,
    used: { ...node.used },
    host: upperPart(node.host, pages, state),
    copying: mapped(node.copying, (host) => upperPart(host, pages, state)),
  };
  world.nodeCount += 1;
  node.parent = upper.id;
  node.from = at;
  node.labels = node.labels.slice(pages);
  node.ids = node.ids?.slice(pages) ?? null;
  node.host = lowerPart(node.host, pages, state);
  node.copying = mapped(node.copying, (host) => lowerPart(host, pages, state));
  world.tree.push(upper);
  for (const lock of world.locks) {
    for (const [band, nodes] of Object.entries(lock.nodes))
      if (band !== state && nodes.includes(node.id)) nodes.push(upper.id);
    if (lock.hostNodes.includes(node.id)) lock.hostNodes.push(upper.id);
  }
}

function mapped(
  copying: TreeNode["copying"],
  part: (host: HostPages) => HostPages,
): TreeNode["copying"] {
  return Object.fromEntries(Object.entries(copying).map(([name, host]) => [name, part(host)]));
}

function upperPart(host: HostPages, pages: number, state: string | undefined): HostPages {
  const kept = Object.entries(host).filter(([band]) => band !== state);
  return Object.fromEntries(kept.map(([band, list]) => [band, list.slice(0, pages)]));
}

function lowerPart(host: HostPages, pages: number, state: string | undefined): HostPages {
  return Object.fromEntries(
    Object.entries(host).map(([band, list]) => [band, band === state ? list : list.slice(pages)]),
  );
}

/** The tree's slots: full, the primary window, the other windows from the longest, state. @internal */
export function slotNames(world: World): string[] {
  const windows = windowsOf(world).map(({ name }) => name); // chain order: from the longest
  const primary = world.config.primary_window ?? windows[0];
  const state = stateBandOf(world);
  return [
    ownerOf(world).name,
    ...windows.filter((name) => name === primary),
    ...windows.filter((name) => name !== primary),
    ...(state === null ? [] : [state.name]),
  ];
}

/** Whether a node has a slot on the device. @internal */
export function isOnDevice(world: World, node: TreeNode, slot: string): boolean {
  const { role } = bandNamed(world, slot);
  if (role === "owner") return node.ids !== null;
  return role === "state" ? node.state !== null : node.windows[slot] === true;
}

/** Whether a node has a slot on the device or as a finished copy on the host. @internal */
export function isAnywhere(world: World, node: TreeNode, slot: string): boolean {
  return isOnDevice(world, node, slot) || node.host[slot] !== undefined;
}

/** Nodes of a path that matter to a slot at its end: all, those of the last tokens of a window, the end. @internal */
export function reachedBy(
  world: World,
  path: readonly TreeNode[],
  slot: string,
  extra: number = 0,
): TreeNode[] {
  const band = bandNamed(world, slot);
  const last = path.at(-1);
  if (last === undefined) return [];
  if (band.role === "owner" || (band.role === "window" && band.window === null)) return [...path];
  if (band.role === "state") return [last];
  const from = last.to - (band.window ?? 0) - extra;
  return path.filter((node) => node.to > from);
}

/** Marks what a path has on the device as used by this operation: of a window its last tokens and a page more. @internal */
export function touch(world: World, path: readonly TreeNode[]): void {
  for (const slot of slotNames(world)) {
    for (const node of reachedBy(world, path, slot, world.config.page_size))
      if (isOnDevice(world, node, slot)) node.used[slot] = world.uses;
  }
}
