// The commit of this checkout and whether its tracked files were changed: what git says, in a package what was written
// into it when it was packed. Null in an archive without git, and where git is missing.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Commit } from "../adapter/adapter.js";
import { isCommitHash } from "../base/commit-hash.js";
import { PACKAGE_ROOT } from "./place.js";

const TIMEOUT_MS = 5000;

interface Asked {
  readonly answer: Promise<Commit>;
  readonly stop: AbortController;
}

let asked: Asked | undefined;

/** Reads the revision once; never fails. @internal */
export function readRevision(): Promise<Commit> {
  if (asked === undefined) {
    const stop = new AbortController();
    asked = { answer: readFrom(PACKAGE_ROOT, stop.signal), stop };
  }
  return asked.answer;
}

/** Ends a git that has not answered yet: whoever waits for it gets an unknown commit. @internal */
export function stopReading(): void {
  asked?.stop.abort();
}

/** The same at the end of a command, where nobody needs the answer any more; a git that hangs would keep the process. @internal */
export function forgetRevision(): void {
  stopReading();
  asked = undefined;
}

const UNKNOWN: Commit = { revision: null, dirty: null };

/** The revision of the package in `root`; never fails. @internal */
export async function readFrom(root: string, signal?: AbortSignal): Promise<Commit> {
  // Only a checkout of its own counts: inside someone's node_modules git would name their commit.
  if (!existsSync(join(root, ".git"))) return packedRevision(root);
  const words = ["status", "--porcelain=v2", "--branch", "--untracked-files=no"];
  const lines = (await git(root, words, signal))?.split("\n") ?? [];
  const revision = /^# branch\.oid ([0-9a-f]{40,64})$/m.exec(lines.join("\n"))?.[1];
  if (revision === undefined) return UNKNOWN;
  return { revision, dirty: lines.some((line) => line !== "" && !line.startsWith("#")) };
}

// Written by scripts/pack-revision.mjs.
function packedRevision(root: string): Commit {
  try {
    const packed = JSON.parse(readFileSync(join(root, "dist", "revision.json"), "utf8")) as unknown;
    const { revision, dirty } = packed as Readonly<Record<string, unknown>>;
    if (typeof revision !== "string" || !isCommitHash(revision)) return UNKNOWN;
    return { revision, dirty: typeof dirty === "boolean" ? dirty : null };
  } catch {
    return UNKNOWN; // not made by npm pack
  }
}

function git(root: string, words: readonly string[], signal?: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const options = {
      ...{ cwd: root, timeout: TIMEOUT_MS, windowsHide: true },
      killSignal: "SIGKILL" as const, // it only reads, and may hang
    };
    const child = execFile("git", ["--no-optional-locks", ...words], options, (error, stdout) => {
      resolve(error === null ? stdout : null);
    });
    const stop = (): void => {
      // where git is missing there is no process, and a signal to it would reach all of this process's group
      if (child.pid !== undefined) child.kill("SIGKILL");
      // what it started may live on and hold them open
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(null);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
