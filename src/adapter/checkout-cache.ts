// The folder of the user's cache that keeps built commits: what lies where, which are whole, which may go.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { join, relative, resolve } from "node:path";
import process from "node:process";
import { EnvironmentError } from "../base/errors.js";
import { git, GitFailure, QUESTION_MS } from "./checkout-git.js";
import type { Repository } from "./checkout-git.js";
import { isGone, touch } from "./checkout-hold.js";
import { dropUnusedModules } from "./checkout-modules.js";

const KEPT_MAX = 20; // built commits
const UNREGISTER_MS = 10_000;
const SPARED_MS = 3_600_000; // used within the last hour: a process may still run from it
const REMOVE = { recursive: true, force: true };

/** Places inside the cache. What is built depends on the machine and on Node, so each such pair has its own. @internal */
export interface CachePlaces {
  readonly commits: string; // a folder a built commit
  readonly modules: string; // packages, a folder a lock file
  readonly logs: string; // of builds that failed
}

/** @internal */
export function cachePlaces(cache: string): CachePlaces {
  const major = process.versions.node.replace(/\..*$/, "");
  const home = join(resolve(cache), `${process.platform}-${process.arch}-node${major}`);
  return {
    commits: join(home, "commits"),
    modules: join(home, "modules"),
    logs: join(home, "logs"),
  };
}

/** The name of what `commands` make of a commit; the usual ones go without saying. @internal */
export function entryName(commit: string, commands: readonly string[], usual: string[]): string {
  const text = JSON.stringify(commands);
  if (text === JSON.stringify(usual)) return commit;
  return `${commit}-${createHash("sha256").update(text).digest("hex").slice(0, 12)}`;
}

/** The checkout of a built commit, its time of last use set; null where it is not there as a whole. @internal */
export function builtEntry(entry: string): string | null {
  const checkout = join(entry, "checkout");
  if (!existsSync(join(entry, "build.json"))) return null;
  if (!existsSync(join(checkout, "bin", "unified-trace.js")) || lacksModules(checkout)) {
    // somebody cleared a part of the cache
    rmSync(entry, REMOVE);
    return null;
  }
  touch(join(entry, "build.json"));
  return checkout;
}

/** Refuses a cache whose files git would see as new files of the repository. @internal */
export async function checkCachePlace(
  cache: string,
  repository: Repository,
  signal?: AbortSignal,
): Promise<void> {
  const { top } = repository;
  if (top === null) return;
  const path = relative(top, resolve(cache));
  if (path === "" || (!path.startsWith("..") && resolve(path) !== path)) {
    try {
      if (path !== "") {
        const words = ["check-ignore", "--quiet", "--", path];
        await git({ ...repository, folder: top }, words, signal, QUESTION_MS);
        return;
      }
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
    }
    throw new EnvironmentError(
      "environment",
      `the cache ${resolve(cache)} lies inside the repository, where git does not ignore it; UNIFIED_TRACE_CACHE names another folder`,
    );
  }
}

/** Clears away what dead processes left: half-made builds with their worktrees, holds. @internal */
export async function sweep(places: CachePlaces): Promise<void> {
  mkdirSync(places.commits, { recursive: true });
  for (const name of readdirSync(places.commits)) {
    const path = join(places.commits, name);
    if (name.endsWith(".lock") && isGone(path)) rmSync(path, { force: true });
    if (name.startsWith(".gone-")) rmSync(path, REMOVE);
    if (!name.startsWith(".making-")) continue;
    if (isGone(join(path, "holder")) || isAbandoned(path)) await discard(path);
  }
}

/** Removes a half-made build, and its worktree from the repository's list. @internal */
export async function discard(making: string): Promise<void> {
  const store = readText(join(making, "repository"));
  if (store !== null) await unregister(store, join(making, "checkout"));
  rmSync(making, REMOVE);
}

/** Takes a worktree off the repository's list; its folder goes with it. Fails in silence where there is none. @internal */
export async function unregister(store: string, worktree: string): Promise<void> {
  const words = [`--git-dir=${store}`, "worktree", "remove", "--force", "--force", worktree];
  // also on the way out of an interrupt, where a git that hangs must not keep the process
  await git({ folder: store }, words, undefined, UNREGISTER_MS).catch(() => undefined);
}

/** Lets the least recently used commits go, beyond the number that is kept. @internal */
export function evict(places: CachePlaces, kept: string): void {
  const entries = readdirSync(places.commits)
    .filter((name) => /^[0-9a-f]{40}/.test(name) && !name.endsWith(".lock"))
    .map((name) => join(places.commits, name))
    .map((path) => ({ path, usedMs: usedAt(path) }))
    .sort((left, right) => right.usedMs - left.usedMs || (left.path < right.path ? -1 : 1));
  for (const { path, usedMs } of entries.slice(KEPT_MAX)) {
    if (path === kept || Date.now() - usedMs < SPARED_MS) continue;
    const gone = path.replace(/([^/\\]+)$/, `.gone-${String(process.pid)}-$1`);
    try {
      renameSync(path, gone); // at once, so that nobody finds a part of it
      rmSync(gone, REMOVE);
    } catch {
      // another process was quicker
    }
  }
  const checkouts = readdirSync(places.commits).map((name) =>
    join(places.commits, name, "checkout"),
  );
  dropUnusedModules(places.modules, checkouts);
}

function usedAt(entry: string): number {
  return statSync(join(entry, "build.json"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

// Its maker was killed before it could say who it is.
function isAbandoned(making: string): boolean {
  const since = statSync(making, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return !existsSync(join(making, "holder")) && Date.now() - since > SPARED_MS;
}

// A link to packages that are gone.
function lacksModules(checkout: string): boolean {
  const modules = join(checkout, "node_modules");
  const isThere = lstatSync(modules, { throwIfNoEntry: false }) !== undefined;
  return isThere && !existsSync(modules);
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
