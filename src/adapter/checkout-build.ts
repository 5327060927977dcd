// Builds a commit into the cache: a worktree of its own, `npm ci` and `npm run build` or what the user names, and a
// rename once it is whole. The user's working tree, index and branches are not touched.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { CandidateError } from "../base/errors.js";
import {
  builtEntry,
  cachePlaces,
  checkCachePlace,
  discard,
  entryName,
  evict,
  sweep,
  unregister,
} from "./checkout-cache.js";
import type { CachePlaces } from "./checkout-cache.js";
import { git, GitFailure } from "./checkout-git.js";
import type { Environment, Repository } from "./checkout-git.js";
import { holdAlone, tryHold } from "./checkout-hold.js";
import { giveModules } from "./checkout-modules.js";
import { splitCommandWords } from "./command-words.js";
import { tellingLine } from "./log-lines.js";
import { logTail, runCommand } from "./process-command.js";

const INSTALL = "npm ci";
const USUAL = [INSTALL, "npm run build"];
const TAIL_LINES = 12;

/** Where and how commits are built. @public */
export interface BuildOptions {
  readonly cache?: string; // default: `.cache/unified-trace` in the user's home
  readonly commands?: readonly string[]; // one after another, default `npm ci` and `npm run build`
  readonly environment?: Environment; // of git and of the commands
  readonly signal?: AbortSignal;
  readonly onProgress?: (text: string) => void; // told only where something is built
  readonly onFailure?: (logTail: string) => void; // the last lines of the log of a build that failed
}

/**
 * The folder of a built checkout of a commit, from the cache or made now. Throws `CandidateError` when the build fails,
 * `UsageError` for a command that cannot be split. @internal
 */
export async function builtCheckout(
  repository: Repository,
  commit: string,
  label: string,
  options: BuildOptions,
): Promise<string> {
  const cache = options.cache ?? join(homedir(), ".cache", "unified-trace");
  const commands = options.commands ?? USUAL;
  commands.forEach(splitCommandWords); // wrong ones are refused before anything is made
  const places = cachePlaces(cache);
  const name = entryName(commit, commands, USUAL);
  const entry = join(places.commits, name);
  const known = builtEntry(entry);
  if (known !== null) return known;
  const { signal, onProgress } = options;
  await checkCachePlace(cache, repository, signal);
  const hold = await holdAlone(`${entry}.lock`, {
    ...(signal === undefined ? {} : { signal }),
    onWait: (pid) => onProgress?.(`${label}: waiting for process ${String(pid)}, which builds it`),
  });
  try {
    const made = builtEntry(entry); // by who held it before
    if (made !== null) return made;
    await sweep(places);
    await new Build(repository, commit, label, commands, places, options).make(entry);
    evict(places, entry);
  } finally {
    hold.release();
  }
  return join(entry, "checkout");
}

class Build {
  readonly #repository: Repository;
  readonly #commit: string;
  readonly #label: string;
  readonly #commands: readonly string[];
  readonly #places: CachePlaces;
  readonly #options: BuildOptions;
  #log = "";

  constructor(
    repository: Repository,
    commit: string,
    label: string,
    commands: readonly string[],
    places: CachePlaces,
    options: BuildOptions,
  ) {
    this.#repository = repository;
    this.#commit = commit;
    this.#label = label;
    this.#commands = commands;
    this.#places = places;
    this.#options = options;
  }

  async make(entry: string): Promise<void> {
    const making = mkdtempSync(join(this.#places.commits, ".making-"));
    const hold = tryHold(join(making, "holder"));
    this.#log = join(making, "build.log");
    try {
      const checkout = await this.#checkOut(making);
      for (const command of this.#commands) await this.#run(command, checkout);
      if (!existsSync(join(checkout, "bin", "unified-trace.js")))
        throw this.#failure("it has no bin/unified-trace.js after its build");
      await this.#detach(making);
      const note = { commit: this.#commit, commands: this.#commands };
      writeFileSync(join(making, "build.json"), `${JSON.stringify(note, null, 2)}\n`);
      hold?.release();
      rmSync(entry, { recursive: true, force: true });
      renameSync(making, entry);
    } catch (error) {
      if (error instanceof CandidateError)
        this.#options.onFailure?.(logTail(this.#log, TAIL_LINES));
      throw error;
    } finally {
      hold?.release();
      if (existsSync(making)) await discard(making);
    }
  }

  async #checkOut(making: string): Promise<string> {
    const { store } = this.#repository;
    const checkout = join(making, "checkout");
    const hooks = join(making, "no-hooks"); // the user's hooks are about the user's checkout
    mkdirSync(hooks);
    writeFileSync(join(making, "repository"), store); // who finds this half made knows where to tidy up
    const words = ["-c", `core.hooksPath=${hooks}`, "worktree", "add", "--quiet", "--detach"];
    try {
      await git(this.#repository, [...words, checkout, this.#commit], this.#options.signal);
    } catch (error) {
      if (error instanceof GitFailure) throw this.#failure(`git worktree add: ${error.message}`);
      throw error;
    }
    return checkout;
  }

  async #run(command: string, checkout: string): Promise<void> {
    if (command.trim() !== INSTALL) {
      this.#options.onProgress?.(`${this.#label}: ${command}`);
      await this.#runIn(command, checkout);
      return;
    }
    const { signal } = this.#options;
    const { top } = this.#repository;
    await giveModules(checkout, {
      store: this.#places.modules,
      donor: top,
      install: (folder) => {
        this.#options.onProgress?.(`${this.#label}: ${command}`);
        return this.#runIn(command, folder);
      },
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async #runIn(command: string, folder: string): Promise<void> {
    const { environment, signal } = this.#options;
    const { problem } = await runCommand(splitCommandWords(command), {
      folder,
      log: this.#log,
      ...(environment === undefined ? {} : { environment }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (problem !== null) throw this.#failure(`"${command}" ${problem}`);
  }

  /** The build is whole: it stays as a plain folder, and the repository's list of worktrees as it was. */
  async #detach(making: string): Promise<void> {
    const checkout = join(making, "checkout");
    const built = join(making, "built");
    // git removes a folder together with its entry of the list, so it gets one that holds nothing but its own file
    renameSync(checkout, built);
    mkdirSync(checkout);
    renameSync(join(built, ".git"), join(checkout, ".git"));
    await unregister(this.#repository.store, checkout);
    rmSync(checkout, { recursive: true, force: true });
    renameSync(built, checkout);
    rmSync(join(making, "repository"));
    rmSync(join(making, "no-hooks"), { recursive: true });
  }

  #failure(problem: string): CandidateError {
    const { logs } = this.#places;
    const tail = logTail(this.#log, TAIL_LINES);
    const line = tellingLine(tail);
    let message = `${this.#label} cannot be built: ${problem}`;
    if (tail !== "") {
      mkdirSync(logs, { recursive: true });
      const kept = join(logs, `${this.#commit}.log`);
      renameSync(this.#log, kept);
      this.#log = kept;
      message += ` (${line.slice(0, 200)}); its log: ${kept}`;
    }
    return new CandidateError("candidate_start", message, {}, new Error(tail));
  }
}
