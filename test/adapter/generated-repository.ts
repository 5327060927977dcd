// A small git repository whose package serves the adapter protocol after a build that takes no time: rows are handed out
// by the allocator of examples/adapters/minimal.mjs, and each commit says in which order they come back.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MINIMAL = fileURLToPath(new URL("../../examples/adapters/minimal.mjs", import.meta.url));

const BUILD = `
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
if (process.env.BUILDS) appendFileSync(process.env.BUILDS, "built\\n");
const text = readFileSync("src/order.txt", "utf8").trim();
if (text === "slow") await new Promise((resolve) => setTimeout(resolve, 60_000));
if (!/^(push|unshift|none)$/.test(text)) throw new SyntaxError("what does " + text + " mean?");
mkdirSync("dist/cli", { recursive: true });
writeFileSync("dist/cli/main.js", "");
const server = readFileSync("src/server.mjs", "utf8");
const changed = text === "none" ? server.replace('"row.free"]', "]") : server.replace("this.free.push(", "this.free." + text + "(");
writeFileSync("dist/server.mjs", changed);
console.log("built " + text);
`;

/** What a commit does with rows: FIFO, LIFO, no `row.free` at all, a build that fails, a build that takes a minute. */
export type Order = "push" | "unshift" | "none" | "broken" | "slow";

export class GeneratedRepository {
  readonly folder: string; // of the repository
  readonly home: string; // a folder around it, for caches and counts
  readonly environment: Readonly<Record<string, string | undefined>>;
  #seconds = 1_700_000_000;

  constructor() {
    this.home = realpathSync(mkdtempSync(join(tmpdir(), "unified-trace-git-")));
    this.folder = join(this.home, "repository");
    this.environment = {
      ...process.env,
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
      BUILDS: join(this.home, "builds"),
    };
    mkdirSync(join(this.folder, "src"), { recursive: true });
    mkdirSync(join(this.folder, "bin"));
    this.git("init", "--quiet", "--initial-branch=main");
    this.git("config", "user.name", "Somebody");
    this.git("config", "user.email", "somebody@example.org");
    cpSync(MINIMAL, join(this.folder, "src", "server.mjs"));
    this.write("build.mjs", BUILD);
    this.write("bin/unified-trace.js", `await import("../dist/server.mjs");\n`);
    this.write(".gitignore", "dist/\nnode_modules/\n");
    const named = { name: "generated", version: "1.0.0" };
    const scripts = { build: "node build.mjs" };
    this.write("package.json", JSON.stringify({ ...named, type: "module", scripts }));
    const lock = { ...named, lockfileVersion: 3, requires: true, packages: { "": named } };
    this.write("package-lock.json", JSON.stringify(lock));
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  git(...words: readonly string[]): string {
    const date = `${String(this.#seconds)} +0000`;
    const env = { ...this.environment, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    const options = { cwd: this.folder, env, encoding: "utf8" } as const;
    return execFileSync("git", words, { ...options, stdio: ["ignore", "pipe", "pipe"] }).trim();
  }

  /** Commits; gives the full hash. */
  commit(subject: string, order: Order): string {
    this.#seconds += 3600;
    this.write("src/order.txt", order);
    this.git("add", "--all");
    this.git("commit", "--quiet", "--allow-empty", "--message", subject);
    return this.git("rev-parse", "HEAD");
  }

  /** What a visitor must leave as it was: branches, bisect state, worktrees, index and files. */
  fingerprint(): string {
    const refs = this.git("for-each-ref");
    const status = this.git("status", "--porcelain=v2", "--branch");
    return [refs, status, this.git("worktree", "list"), this.git("ls-files", "--stage")].join("\n");
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}
