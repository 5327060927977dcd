// Removes the named output folders of this repository; refuses anything outside it.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join, relative } from "node:path";

const root = fileURLToPath(new URL("..", import.meta.url));
for (const name of process.argv.slice(2)) {
  const path = join(root, name);
  if (relative(root, path).startsWith("..") || path === root)
    throw new Error(`not inside: ${name}`);
  rmSync(path, { recursive: true, force: true });
}
