// The commit of this checkout and whether its tracked files were changed. Null where the package is not the top folder
// of a git checkout (installed from a registry, unpacked from an archive) or where git is missing.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
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
  const unknown = { revision: null, dirty: false };
  // Only a checkout of its own counts: inside someone's node_modules git would name their commit.
  if (!existsSync(join(root, ".git"))) return unknown;
  const words = ["status", "--porcelain=v2", "--branch", "--untracked-files=no"];
  const lines = (await git(root, words))?.split("\n") ?? [];
  const revision = /^# branch\.oid ([0-9a-f]{40,64})$/m.exec(lines.join("\n"))?.[1];
  if (revision === undefined) return unknown;
  return { revision, dirty: lines.some((line) => line !== "" && !line.startsWith("#")) };
}

function git(root: string, words: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { cwd: root, timeout: TIMEOUT_MS, windowsHide: true };
    execFile("git", ["--no-optional-locks", ...words], options, (error, stdout) => {
      resolve(error === null ? stdout : null);
    });
  });
}
