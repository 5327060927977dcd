// Asks git about a repository: commits, worktrees, histories. Always by argument lists, never through a shell.
import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { CandidateError, EnvironmentError } from "../base/errors.js";
import { nearestWord } from "../base/nearest.js";

const OUTPUT_BYTES_MAX = 512 * 1024 * 1024; // a history of some millions of commits
const REFS_MAX = 20_000; // looked at for the nearest name

/** The environment that git and builds get: that of this process where it is left out. @public */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A call of git that failed; `message` is the line in which it says why. @internal */
export class GitFailure extends Error {}
GitFailure.prototype.name = "GitFailure";

/** A repository on this machine. @public */
export interface Repository {
  readonly folder: string; // where git is asked: a folder inside of it
  readonly top: string | null; // top folder of the working tree, null in a bare repository
  readonly store: string; // the folder that all its worktrees share, `.git` as a rule
  readonly environment?: Environment;
}

/**
 * The repository around `folder`. Throws `CandidateError` where there is none, `EnvironmentError` where git is not
 * installed. @public
 */
export async function openRepository(
  folder: string,
  environment?: Environment,
): Promise<Repository> {
  const place = { folder, ...(environment === undefined ? {} : { environment }) };
  const ask = async (...words: string[]): Promise<string> => (await git(place, words)).trim();
  let shared: string;
  try {
    shared = await ask("rev-parse", "--git-common-dir");
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw new CandidateError("candidate_start", `${folder}: ${error.message}`, {}, error);
  }
  const top = await ask("rev-parse", "--show-toplevel").catch(() => "");
  return {
    ...place,
    top: top === "" ? null : realpathSync(top),
    store: realpathSync(resolve(folder, shared)),
  };
}

/** The full hash of the commit that a ref names, or null. @public */
export async function findCommit(repository: Repository, ref: string): Promise<string | null> {
  if (ref.startsWith("-")) return null; // no ref may begin so, and git would take it for a flag
  try {
    const words = ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`];
    const hash = (await git(repository, words)).trim();
    return /^[0-9a-f]{40,64}$/.test(hash) ? hash : null;
  } catch (error) {
    if (error instanceof GitFailure) return null;
    throw error;
  }
}

/** What to say of a ref that names no commit: one line, with the nearest branch or tag. @public */
export async function unknownRef(repository: Repository, ref: string): Promise<string> {
  const words = ["for-each-ref", "--format=%(refname:short)", `--count=${String(REFS_MAX)}`];
  const names = await git(repository, [...words, "refs/heads", "refs/tags", "refs/remotes"]).catch(
    () => "",
  );
  const nearest = nearestWord(ref, names.split("\n"));
  const isShallow = existsSync(resolve(repository.store, "shallow"));
  const hint =
    nearest !== null && nearest !== ""
      ? `; did you mean ${nearest}?`
      : isShallow
        ? "; the clone is shallow: git fetch --unshallow brings its older commits"
        : "";
  return `${JSON.stringify(ref)} names no commit of this repository${hint}`;
}

/**
 * The standard output of a git command. Throws `GitFailure` when it fails, `EnvironmentError` where git is not
 * installed, and the reason of `signal` when that ended it. @internal
 */
export function git(
  place: Pick<Repository, "folder" | "environment">,
  words: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const options = {
    cwd: place.folder,
    maxBuffer: OUTPUT_BYTES_MAX,
    windowsHide: true,
    // messages in English, because they are read
    ...(place.environment === undefined ? {} : { env: { ...place.environment, LC_ALL: "C" } }),
    ...(signal === undefined ? {} : { signal }),
  };
  return new Promise((resolvePromise, reject) => {
    execFile("git", ["--no-optional-locks", ...words], options, (error, stdout, stderr) => {
      if (error === null) resolvePromise(stdout);
      else if (signal?.aborted === true) reject(asError(signal.reason));
      else reject(gitError(error, stderr, place.folder));
    });
  });
}

function gitError(error: Error, stderr: string, folder: string): Error {
  const isMissing = "code" in error && error.code === "ENOENT";
  if (isMissing && existsSync(folder)) {
    return new EnvironmentError("environment", "git is not installed here: install it first");
  }
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const telling = lines.find((line) => /^(fatal|error): /.test(line)) ?? lines[0] ?? error.message;
  return new GitFailure(telling.replace(/^(fatal|error): /, ""));
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
