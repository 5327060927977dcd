// The commit of this checkout and whether its tracked files were changed. Null where the package is not the top folder
// of a git checkout (installed from a registry, unpacked from an archive) or where git is missing.
import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "./place.js";

const TIMEOUT_MS = 5000;

/** @internal */
export interface Revision {
  readonly revision: string | null; // full commit hash
  readonly dirty: boolean; // tracked files differ from the commit
}

let known: Promise<Revision> | undefined;

/** Reads the revision once; never fails. @internal */
export function readRevision(): Promise<Revision> {
  known ??= readFrom(PACKAGE_ROOT);
  return known;
}

async function readFrom(root: string): Promise<Revision> {
  // Only a checkout of its own counts: inside someone's node_modules git would name their commit.
  if (!existsSync(join(root, ".git"))) return { revision: null, dirty: false };
  const [places, status] = await Promise.all([
    git(root, ["rev-parse", "--show-toplevel", "HEAD"]),
    git(root, ["status", "--porcelain", "--untracked-files=no"]),
  ]);
  const [top, head] = places?.split("\n") ?? [];
  if (top === undefined || head === undefined || !isSameFolder(top, root)) {
    return { revision: null, dirty: false };
  }
  return { revision: head, dirty: status !== null && status !== "" };
}

function isSameFolder(left: string, right: string): boolean {
  try {
    return realpathSync(left) === realpathSync(right);
  } catch {
    return false;
  }
}

function git(root: string, words: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { cwd: root, timeout: TIMEOUT_MS, windowsHide: true };
    execFile("git", ["--no-optional-locks", ...words], options, (error, stdout) => {
      resolve(error === null ? stdout.trim() : null);
    });
  });
}
