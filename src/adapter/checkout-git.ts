// Asks git about a repository: commits, worktrees, histories. Always by argument lists, never through a shell.
import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { CandidateError, EnvironmentError } from "../base/errors.js";
import { isCommitHash } from "../base/commit-hash.js";
import { nearestWord } from "../base/nearest.js";

const OUTPUT_BYTES_MAX = 512 * 1024 * 1024; // a history of some millions of commits
const REFS_MAX = 20_000; // looked at for the nearest name
const TELLING_MAX = 200; // characters of what git said that are told

/** How long git may take over a question that it answers from a few files. @internal */
export const QUESTION_MS = 10_000;

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
 * installed, does not answer or names no folder, and the reason of `signal` when that ended it. @public
 */
export async function openRepository(
  folder: string,
  environment?: Environment,
  signal?: AbortSignal,
): Promise<Repository> {
  const place = { folder, ...(environment === undefined ? {} : { environment }) };
  const ask = async (...words: string[]): Promise<string> =>
    (await question(place, words, signal)).trim();
  let shared: string;
  try {
    shared = await ask("rev-parse", "--git-common-dir");
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw new CandidateError("candidate_start", `${folder}: ${error.message}`, {}, error);
  }
  const top = await ask("rev-parse", "--show-toplevel").catch(nothingOf);
  return {
    ...place,
    top: top === "" ? null : folderOf(folder, top),
    store: folderOf(folder, shared),
  };
}

function folderOf(folder: string, answer: string): string {
  try {
    return realpathSync(resolve(folder, answer));
  } catch (error) {
    throw strangeAnswer("rev-parse", answer, error);
  }
}

/** Where git answers, but with nothing that it could mean. @internal */
export function strangeAnswer(command: string, answer: string, cause?: unknown): EnvironmentError {
  const said = JSON.stringify(shortened(answer));
  return new EnvironmentError("environment", `git ${command} answered with ${said}`, {}, cause);
}

/** What git says to something that it refuses: nothing. */
function nothingOf(error: unknown): string {
  if (error instanceof GitFailure) return "";
  throw error;
}

/** The full hash of the commit that a ref names, or null. @public */
export async function findCommit(
  repository: Repository,
  ref: string,
  signal?: AbortSignal,
): Promise<string | null> {
  if (ref.startsWith("-")) return null; // no ref may begin so, and git would take it for a flag
  const words = ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`];
  const hash = (await question(repository, words, signal).catch(nothingOf)).trim();
  if (hash !== "" && !isCommitHash(hash)) throw strangeAnswer("rev-parse", hash);
  return hash === "" ? null : hash;
}

/** What to say of a ref that names no commit: one line, with the nearest branch or tag. @public */
export async function unknownRef(
  repository: Repository,
  ref: string,
  signal?: AbortSignal,
): Promise<string> {
  const words = ["for-each-ref", "--format=%(refname:short)", `--count=${String(REFS_MAX)}`];
  const kinds = ["refs/heads", "refs/tags", "refs/remotes"];
  const names = await question(repository, [...words, ...kinds], signal).catch(nothingOf);
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

type Place = Pick<Repository, "folder" | "environment">;

function question(place: Place, words: readonly string[], signal?: AbortSignal): Promise<string> {
  return git(place, words, signal, QUESTION_MS);
}

/**
 * The standard output of a git command. Throws `GitFailure` when it fails, `EnvironmentError` where git is not
 * installed or takes longer than `limitMs`, and the reason of `signal` when that ended it. @internal
 */
export function git(
  place: Place,
  words: readonly string[],
  signal?: AbortSignal,
  limitMs?: number,
): Promise<string> {
  const options = {
    cwd: place.folder,
    maxBuffer: OUTPUT_BYTES_MAX,
    windowsHide: true,
    // messages in English, because they are read
    ...(place.environment === undefined ? {} : { env: { ...place.environment, LC_ALL: "C" } }),
    ...(signal === undefined ? {} : { signal }),
    // a question leaves nothing half done, so that git need not be asked to end
    ...(limitMs === undefined ? {} : { timeout: limitMs, killSignal: "SIGKILL" as const }),
  };
  return new Promise((resolvePromise, reject) => {
    execFile("git", ["--no-optional-locks", ...words], options, (error, stdout, stderr) => {
      if (error === null) resolvePromise(stdout);
      else if (signal?.aborted === true) reject(asError(signal.reason));
      else if (limitMs !== undefined && error.killed === true) reject(tooSlow(words, limitMs));
      else reject(gitError(error, stderr, place.folder));
    });
  });
}

function tooSlow(words: readonly string[], limitMs: number): EnvironmentError {
  const asked = words.find((word) => !word.startsWith("-")) ?? "";
  const seconds = String(limitMs / 1000);
  return new EnvironmentError("environment", `git ${asked} did not answer within ${seconds} s`);
}

function gitError(error: Error, stderr: string, folder: string): Error {
  const isMissing = "code" in error && error.code === "ENOENT";
  if (isMissing && existsSync(folder)) {
    return new EnvironmentError("environment", "git is not installed here: install it first");
  }
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const telling = lines.find((line) => /^(fatal|error): /.test(line)) ?? lines[0] ?? error.message;
  return new GitFailure(shortened(telling.replace(/^(fatal|error): /, "")));
}

function shortened(text: string): string {
  return text.length <= TELLING_MAX ? text : `${text.slice(0, TELLING_MAX)}…`;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
