// The history between two commits, asked of git: what is left to test, where two lines meet, who wrote what.
import { isCommitHash } from "../base/commit-hash.js";
import { EnvironmentError } from "../base/errors.js";
import { git, GitFailure, strangeAnswer } from "./checkout-git.js";
import type { Repository } from "./checkout-git.js";

/** A commit as a reader knows it. @public */
export interface CommitInfo {
  readonly commit: string; // full hash
  readonly subject: string;
  readonly author: string;
  readonly date: string; // of the author, ISO 8601
}

/** How a history is walked. @public */
export interface HistoryOptions {
  readonly firstParent?: boolean; // merges count as one step
  readonly signal?: AbortSignal;
}

/** Questions about one repository. @public */
export class History {
  readonly #repository: Repository;
  readonly #options: HistoryOptions;

  constructor(repository: Repository, options: HistoryOptions = {}) {
    this.#repository = repository;
    this.#options = options;
  }

  /** The commits of `bad` that none of `goods` has, `bad` too, those first that halve them best. */
  async between(bad: string, goods: readonly string[]): Promise<string[]> {
    const walk = this.#options.firstParent === true ? ["--first-parent"] : [];
    const words = ["rev-list", "--bisect-all", ...walk, bad, "--not", ...goods];
    return this.#commits(words); // a line is a hash, then the distance in brackets
  }

  /** The same commits, oldest first. */
  async inOrder(bad: string, goods: readonly string[]): Promise<string[]> {
    const walk = this.#options.firstParent === true ? ["--first-parent"] : [];
    const words = ["rev-list", "--topo-order", "--reverse", ...walk, bad, "--not", ...goods];
    return this.#commits(words);
  }

  /** Where the lines of two commits meet; none where they have no history in common. */
  async mergeBases(left: string, right: string): Promise<string[]> {
    return this.#commits(["merge-base", "--all", left, right]).catch(() => []);
  }

  /** What is known of a commit. */
  async describe(commit: string): Promise<CommitInfo> {
    const format = "--format=%aI%n%an%n%s";
    const words = ["show", "--no-patch", "--no-show-signature", format, commit];
    const [date = "", author = "", subject = ""] = (await this.#text(words)).split("\n");
    return { commit, subject, author, date };
  }

  async #commits(words: readonly string[]): Promise<string[]> {
    const lines = (await this.#text(words)).split("\n").filter((line) => line !== "");
    const commits = lines.map((line) => line.split(" ", 1)[0] ?? "");
    const strange = commits.findIndex((commit) => !isCommitHash(commit));
    if (strange >= 0) throw strangeAnswer(words[0] ?? "", lines[strange] ?? "");
    return commits;
  }

  async #text(words: readonly string[]): Promise<string> {
    try {
      return await git(this.#repository, words, this.#options.signal);
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      const message = `git ${words[0] ?? ""}: ${error.message}`;
      throw new EnvironmentError("environment", message, {}, error);
    }
  }
}
