// `npm pack` builds, then calls this: the commit goes into the package as dist/revision.json, because a package has no
// git to ask. With `--remove` (after packing) it goes away again, so that no later package tells an old commit.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const file = join(root, "dist", "revision.json");

/** What git prints, or null where it cannot answer. */
function git(...words) {
  const { status, stdout } = spawnSync("git", ["--no-optional-locks", ...words], {
    cwd: root,
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : null;
}

rmSync(file, { force: true });
if (!process.argv.includes("--remove") && existsSync(join(root, ".git"))) {
  const revision = git("rev-parse", "--verify", "HEAD");
  const changes = git("status", "--porcelain", "--untracked-files=no");
  if (revision !== null && changes !== null)
    writeFileSync(file, `${JSON.stringify({ revision, dirty: changes !== "" })}\n`);
}
